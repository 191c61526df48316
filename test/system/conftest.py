"""Runs of the shipped experiment `smoke`, made once and looked at by many tests."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from alpha_chaos import journal
from alpha_chaos.journal import Row

PATIENCE_S = 300.0  # for a whole run; the machine may be busy
MARK = 'ALPHA_CHAOS_TEST'  # in the environment of everything that a run starts
SCRIPTED = ('--arms', 'oracle,oracle_json')


class Runner:
    """One call of `alpha-chaos` under way."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'alpha_chaos.cli', *arguments],
            cwd=folder,
            env={**os.environ, MARK: self.mark, 'COLUMNS': '200'},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.out = self.err = ''
        self.shared_memory: set[str] = set()

    def end(self, seconds: float = PATIENCE_S) -> int:
        """Wait for the end and return the exit code."""
        try:
            self.out, self.err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            pytest.fail(f'still running after {seconds:g} s; it said:\n{self.out}\n{self.err}')
        return self.process.returncode

    def interrupt(self) -> None:
        """Do what Ctrl-C in a terminal does: signal the whole process group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill the runner, as the system would if memory were short."""
        self.process.kill()
        self.out, self.err = self.process.communicate(timeout=60)

    def processes(self) -> dict[int, str]:
        """Return what it started and what still runs, by process id."""
        found = {}
        for process in psutil.process_iter():
            try:
                if process.pid != self.process.pid and process.environ().get(MARK) == self.mark:
                    found[process.pid] = process.name()
            except psutil.Error:
                continue
        return found

    def node(self, name: str) -> int:
        """Return the process id of a node that is there."""
        return next(pid for pid, known in self.processes().items() if known == name)

    def note_shared_memory(self) -> bool:
        """Remember the segments and ports that its processes use now; return whether any do."""
        used = {name for pid in self.processes() for name in mapped(Path('/proc') / str(pid))}
        self.shared_memory |= used
        return bool(used)

    def assert_no_shared_memory_is_left(self) -> None:
        """Check that they are gone, but for those that somebody else uses."""
        assert self.shared_memory
        # Ports have numbers that others take next, and their end takes a moment, too.
        wait_for(lambda: not self._shared_memory_left(), 'the end of all shared memory', 30.0)

    def _shared_memory_left(self) -> set[str]:
        there = {name for name in self.shared_memory if any(Path('/dev/shm').glob(f'*{name}*'))}
        for process in Path('/proc').glob('[0-9]*'):
            there -= mapped(process)
        return there

    def assert_nothing_is_left(self, seconds: float = 30.0) -> None:
        """Check that everything that it started is gone, or goes soon."""
        wait_for(lambda: not self.processes(), 'the end of every process', seconds)

    def assert_no_traceback(self) -> None:
        assert 'Traceback' not in self.out + self.err, self.out + self.err


@dataclass
class Run:
    """A folder and what the calls on it said."""

    folder: Path
    calls: list[Runner] = field(default_factory=list)

    def start(
        self, *arguments: str, arms: tuple[str, ...] = SCRIPTED, experiment: str = 'smoke'
    ) -> Runner:
        common = ('matrix', '-e', experiment, '-o', str(self.folder), '--no-report')
        call = Runner(self.folder.parent, *common, *arms, *arguments)
        self.calls.append(call)
        return call

    def finish(self, *arguments: str, arms: tuple[str, ...] = SCRIPTED) -> 'Run':
        call = self.start(*arguments, arms=arms)
        code = call.end()
        assert code == 0, f'exit code {code}\n{call.out}\n{call.err}\n{self.log()}'
        call.assert_no_traceback()
        call.assert_nothing_is_left()
        return self

    @property
    def rows(self) -> list[Row]:
        return list(journal.read(self.folder).rows)

    @property
    def final(self) -> dict[str, Row]:
        """Return the row that counts, by episode."""
        return {f'{run_id}/{arm}': row for (run_id, arm), row in journal.final(self.rows).items()}

    @property
    def ledger(self) -> list[dict[str, Any]]:
        text = (self.folder / 'ledger.jsonl').read_text('utf-8')
        return [json.loads(line) for line in text.splitlines()]

    def log(self) -> str:
        path = self.folder / 'nodes.log'
        return path.read_text('utf-8', 'replace')[-5000:] if path.exists() else ''

    def verdicts(self) -> dict[str, tuple[Any, ...]]:
        """Return what must not depend on how an experiment was run."""
        return {
            name: (
                row.status,
                row.reason,
                row.success,
                row.final_error_m,
                row.steps,
                row.digest,
                row.observation,
                row.slip,
                row.corruption,
                row.offset_m,
                row.plan,
                row.safety,
                row.faults,
                row.recording.messages,
                row.recording.lost,
            )
            for name, row in self.final.items()
        }


def mapped(process: Path) -> set[str]:
    """Return the shared memory of DDS that a process uses, by name."""
    try:
        return set(re.findall(r'/dev/shm/(fastrtps_[0-9a-z]+)', (process / 'maps').read_text()))
    except OSError:  # it has ended, or is not ours
        return set()


def wait_for(
    done: Callable[[], Any],
    what: str,
    seconds: float = PATIENCE_S,
    runner: Runner | None = None,
) -> None:
    """Wait until `done`; fail if that takes too long, or if the runner ends before."""
    deadline = time.monotonic() + seconds
    while not done():
        if runner is not None and runner.process.poll() is not None and not done():
            runner.end()
            pytest.fail(f'the runner ended before {what}:\n{runner.out}\n{runner.err}')
        assert time.monotonic() < deadline, f'{what} did not come within {seconds:g} s'
        time.sleep(0.01)


@pytest.fixture(scope='session')
def wait() -> Callable[..., None]:
    """Return the function that waits for something, but not for ever."""
    return wait_for


@pytest.fixture(scope='session')
def new_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Run]]:
    """Return a function that makes a run; what its calls started ends with the tests."""
    made: list[Run] = []

    def make(name: str) -> Run:
        made.append(Run(tmp_path_factory.mktemp(name) / 'run'))
        return made[-1]

    yield make
    for call in (call for run in made for call in run.calls):
        if call.process.poll() is None:
            call.kill()
        for pid in call.processes():
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope='session')
def fresh(new_run: Callable[[str], Run]) -> Run:
    """Return the run of the scripted arms that nothing disturbed, in fresh processes."""
    return new_run('fresh').finish('--workers', '2')


@pytest.fixture(scope='session')
def reused(new_run: Callable[[str], Run]) -> Run:
    """Return the same over processes that are used again."""
    return new_run('reused').finish('--isolation', 'worker', '--workers', '2')


@pytest.fixture(scope='session')
def composed(new_run: Callable[[str], Run]) -> Run:
    """Return the same with all nodes of a graph in one process."""
    return new_run('composed').finish('--composition', '--isolation', 'worker', '--workers', '2')


@pytest.fixture(scope='session')
def cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that calls `alpha-chaos` and waits for its end."""

    def call(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, '-m', 'alpha_chaos.cli', *map(str, arguments)],
            cwd=folder,
            env={**os.environ, 'COLUMNS': '200'},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    return call
