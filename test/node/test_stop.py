"""A signal in the moments before a node waits for it."""

import os
import signal
import subprocess
import sys

from alpha_chaos.run.processes import environment

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


BUSY = """
import os, signal
from rclpy.node import Node
from alpha_chaos.nodes.spin import run

class Busy(Node):
    done = 0

    def __init__(self):
        super().__init__('busy')
        self.create_timer(0.01, self.begin)

    def begin(self):
        for _ in range(100):
            self.executor.create_task(self.work)

    def work(self):
        self.done += 1
        os.kill(os.getpid(), signal.SIGTERM)

    def destroy_node(self):
        print(self.done)
        super().destroy_node()

raise SystemExit(run(Busy, ['busy']))
"""


def test_a_stop_does_not_wait_for_what_else_there_is_to_do(domains):
    domain = domains.claim()
    done = subprocess.run(
        [sys.executable, '-c', BUSY],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment(domain)},
        preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    )
    domains.free(domain)
    assert (done.returncode, done.stdout) == (0, '1\n'), done.stderr


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
