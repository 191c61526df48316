"""A signal in the moments before a node waits for it."""

import os
import signal
import subprocess
import sys

SWALLOWED = """
import os, signal
from alpha_chaos.nodes.stop import StopSignals

class Swallows:
    def __del__(self):  # Python reports an exception in here, and goes on
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass

signals = StopSignals()
Swallows()
print('stopped' if signals.wake(None).done() else 'waits for ever')
"""


def test_a_signal_whose_exception_was_swallowed_is_not_lost():
    done = subprocess.run(
        [sys.executable, '-c', SWALLOWED],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    )
    assert 'Exception ignored' in done.stderr  # or this shows nothing
    assert done.stdout == 'stopped\n'


IMPORTING = """
import os, signal, sys
from alpha_chaos import cli

class Swallows:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == 'alpha_chaos.run.steady_state':
            Swallows()

sys.meta_path.insert(0, Finder())
sys.argv = ['alpha-chaos', 'steady-state', 'no_such_file.yaml']
cli.main()
"""


def test_a_trial_that_is_interrupted_while_it_is_imported_does_not_begin():
    done = subprocess.run(
        [sys.executable, '-c', IMPORTING],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == 130, done.stderr  # 2 if it has looked for the file
