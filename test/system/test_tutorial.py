"""Every command of docs/tutorial.md, as it is written there, does what the page says."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from alpha_chaos.run.domains import Domains

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs/tutorial.md').read_text('utf-8')
PATIENCE_S = 60.0


class Terminals:
    """Shells in the environment that the page asks for."""

    def __init__(self, domain, folder):
        self.folder = folder
        self.opened = []
        self.environment = {
            **os.environ,
            'PATH': os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']]),
            'PYTHONUNBUFFERED': '1',
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'ROS_DOMAIN_ID': str(domain),
        }
        (folder / 'docs').symlink_to(ROOT / 'docs')

    def open(self, command):
        """Start what is to run in a terminal of its own."""
        log = self.folder / f'{len(self.opened)}.log'
        with log.open('w') as out:
            process = subprocess.Popen(
                ['bash', '-c', f'exec {command}'],
                cwd=self.folder,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.opened.append((process, log))

    def run(self, command):
        """Run a command to its end; return its exit code and what it said."""
        done = subprocess.run(
            ['bash', '-c', command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
        )
        return done.returncode, done.stdout

    def wait_for(self, said, number):
        """Wait until the last terminal says something for a number of times."""
        deadline = time.monotonic() + PATIENCE_S
        _, log = self.opened[-1]
        while len(re.findall(said, log.read_text())) < number:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)


@pytest.fixture
def terminals(tmp_path):
    domains = Domains()
    made = Terminals(domains.claim(), tmp_path)
    yield made
    for process, _ in made.opened:
        if process.poll() is None:
            process.kill()
            process.wait()
    domains.close()


# What a command of the page must say, and its exit code, in the order of the page.
EXPECTED = [
    (r'armed with number 0', 0),
    (r'"kind": "lag".* looked at \d+ messages, struck \d+', 0),
    (r"refused: unknown fault 'lagg', did you mean 'lag'\?", 1),
    (r'disarmed', 0),
    (r'(?s)at y = 0\.40 m.*at y = -0\.40 m', 0),
    (r'armed', 0),
    (r'armed', 0),
    (r'(?s) [3-9]\.\d s  .*SUCCEEDED.*at y = -0\.40 m', 0),
    (r'disarmed', 0),
    (r'armed', 0),
    (r'(?s)rejected.*rejected', 1),
    (r'disarmed', 0),
    (r'(?s)listener hears +held +deviated +held.*deviated \(during: listener hears', 4),
]


def test_every_command_does_what_the_page_says(terminals):
    blocks = re.findall(r'^```sh\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE)
    commands = []
    for block in blocks:
        title, *rest = block.splitlines()
        if title.startswith('# terminal'):
            terminals.open(*rest)
        else:
            commands += [title, *rest]
    # The listener is the last; it hears the talker through the relay.
    terminals.wait_for(r'(8|9|10|11|12) messages', 2)
    for command, (said, code) in zip(commands, EXPECTED, strict=True):
        found = terminals.run(command)
        assert (re.search(said, found[1]) is not None, found[0]) == (True, code), (command, *found)
    for process, _ in terminals.opened:
        process.send_signal(signal.SIGINT)
    assert [process.wait(PATIENCE_S) for process, _ in terminals.opened] == [0, 0, 0, 0]
    assert (terminals.folder / 'runs/break.jsonl').is_file()


def test_the_page_shows_the_file_that_is_there():
    file = yaml.safe_load((ROOT / 'docs/examples/break.yaml').read_text())
    shown = {}
    for block in re.findall(r'^```yaml\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE):
        shown |= yaml.safe_load(block)
    assert shown == {key: value for key, value in file.items() if key != 'seed'}


def test_the_arm_of_the_page_keeps_the_contract_of_a_driver(terminals):
    terminals.open('python docs/examples/fake_arm.py')
    code, said = terminals.run('alpha-chaos check-driver --node fake_arm')
    assert code == 0, said
    assert '16 kept, 0 broken, 5 not judged' in said  # these are for drivers inside episodes
