"""The nodes of a graph as processes, forked from one server that has imported everything once.

Importing rclpy, numpy and the messages takes most of a node's start; a fork has them at once. Each
node is still a process of its own, with its own DDS participant.
"""

import ctypes
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from alpha_chaos.graph import Graph, NodeSpec
from alpha_chaos.journal import Row
from alpha_chaos.resources import config_folder
from alpha_chaos.run.job import Job

STOP_S = 3.0  # a node that was told to stop has this long
LOOK_S = 0.2  # between two looks whether the run shall stop
# The graph is tuned to it, and the profile in config/ is its.
RMW = 'rmw_fastrtps_cpp'
_PR_SET_NAME = 15
_PRELOAD = [
    'alpha_chaos.run.preload',
]


class NodeDied(RuntimeError):
    """A node ended while it was needed."""


class Overdue(RuntimeError):
    """The supervisor did not answer in time."""


@dataclass
class PipeFeed:
    """The supervisor's end of the connection to the runner."""

    connection: Connection

    def receive(self) -> Job | None:
        """Return the next job, None when the runner has closed the connection."""
        try:
            job: Job | None = self.connection.recv()
        except (EOFError, OSError):
            return None
        return job

    def tell(self, text: str) -> None:
        """Send what is being done."""
        try:
            self.connection.send(text)
        except OSError:
            return

    def answer(self, row: Row, ledger: list[dict[str, Any]]) -> None:
        """Send the row of the last job."""
        try:
            self.connection.send((row, ledger))
        except OSError:  # the runner is gone, and with it everyone who wanted the answer
            return


def context() -> Any:
    """Return the multiprocessing context whose server has everything imported."""
    os.environ['RMW_IMPLEMENTATION'] = RMW  # read when rclpy is imported, in the server
    made = multiprocessing.get_context('forkserver')
    made.set_forkserver_preload(_PRELOAD)
    # The terminal sends Ctrl-C to the server, too, which would die of it while it imports. Blocked
    # here, it waits for this process, and for ever in the server; the nodes unblock it. The
    # tracker comes first, because starting it unblocks.
    resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return made


def environment(domain: int) -> dict[str, str]:
    """Return what a graph's processes need in their environment."""
    return {
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'RMW_IMPLEMENTATION': RMW,
        'FASTRTPS_DEFAULT_PROFILES_FILE': str(config_folder() / 'fastdds.xml'),
    }


def users_environment() -> dict[str, str]:
    """Return what a process needs to join the user's graph, as far as they have not set it."""
    wanted = environment(0)
    del wanted['ROS_DOMAIN_ID']
    return {key: value for key, value in wanted.items() if key not in os.environ}


def node_class(spec: NodeSpec) -> Callable[..., Any]:
    """Return the class of a node."""
    module = importlib.import_module(f'alpha_chaos.nodes.{spec.executable}_node')
    name = ''.join(part.capitalize() for part in spec.executable.split('_')) + 'Node'
    made: Callable[..., Any] = getattr(module, name)
    return made


def make_node(spec: NodeSpec, feed: PipeFeed | None) -> Any:
    """Construct a node with its parameters and remappings."""
    from rclpy.parameter import Parameter

    arguments = ['--ros-args']
    for source, target in spec.remappings:
        arguments += ['-r', f'{source}:={target}']
    overrides = [
        # An empty list does not tell its type.
        Parameter(name, Parameter.Type.STRING_ARRAY if isinstance(value, list) else None, value)
        for name, value in spec.parameters.items()
    ]
    options: dict[str, Any] = {'cli_args': arguments, 'parameter_overrides': overrides}
    if feed is not None:
        options['feed'] = feed
    return node_class(spec)(**options)


def _be(
    specs: Sequence[NodeSpec],
    env: Mapping[str, str],
    log: str,
    connection: Connection | None,
) -> None:
    """Be the process of one node, or of several."""
    os.environ.update(env)
    title = specs[0].name if len(specs) == 1 else 'alpha_chaos'
    ctypes.CDLL(None).prctl(_PR_SET_NAME, title.encode()[:15], 0, 0, 0)
    os.setpgid(0, 0)  # the terminal's Ctrl-C is for the runner, which ends its nodes in order
    if log:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        os.close(descriptor)
    if signal.sigtimedwait({signal.SIGINT}, 0) is not None:
        sys.exit(0)  # stopped before it began
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    from alpha_chaos.nodes.spin import run_all

    feed = PipeFeed(connection) if connection is not None else None

    def maker(spec: NodeSpec) -> Callable[[], Any]:
        return lambda: make_node(spec, feed if spec.name == 'supervisor' else None)

    # What the nodes log goes to `log`; files of their own they would write into the user's home.
    sys.exit(
        run_all([maker(spec) for spec in specs], ['--ros-args', '--disable-external-lib-logs'])
    )


def _leave_with_parent() -> None:
    """End this process when the runner is gone, however it went.

    The signal of a dead parent does not tell: that parent is the server all are forked from, and
    it lives as long as they do.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(STOP_S)
    os._exit(1)


class GraphProcesses:
    """One running graph."""

    def __init__(
        self, forks: Any, graph: Graph, domain: int, log: Path | None, composed: bool
    ) -> None:
        """Start it; returns before the nodes have found each other."""
        self._connection, theirs = forks.Pipe()
        self.processes: dict[str, ForkServerProcess] = {}
        self.answered = 0
        self._needed: list[str] = []
        groups: list[Sequence[NodeSpec]] = (
            [graph.nodes] if composed else [[node] for node in graph.nodes]
        )
        for group in groups:
            name = 'graph' if composed else group[0].name
            supervises = any(node.name == 'supervisor' for node in group)
            process = forks.Process(
                target=_be,
                args=(group, environment(domain), str(log or ''), theirs if supervises else None),
                name=name,
                daemon=True,
            )
            process.start()
            self.processes[name] = process
            if any(node.needed for node in group):
                self._needed.append(name)
        theirs.close()

    def run(
        self,
        job: Job,
        limit_s: float,
        stop: threading.Event,
        tell: Callable[[str], None] = lambda text: None,
    ) -> tuple[Row, list[dict[str, Any]]]:
        """Run one attempt and return its row and what its faults decided.

        :param tell: is told what is being done, while it is done
        :raises NodeDied: if a node ends before the answer is there, or `stop` is set
        :raises Overdue: if there is no answer within the limit
        """
        try:
            self._connection.send(job)
        except OSError:
            raise NodeDied(self._dead() or 'supervisor (connection lost)') from None
        sentinels = [self.processes[name].sentinel for name in self._needed]
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            ready = wait([self._connection, *sentinels], LOOK_S)
            if stop.is_set() and not ready:
                raise NodeDied('stopped')
            if self._connection in ready:
                try:
                    said: str | tuple[Row, list[dict[str, Any]]] = self._connection.recv()
                except (EOFError, OSError):
                    raise NodeDied(self._dead() or 'supervisor (connection lost)') from None
                if not isinstance(said, str):
                    self.answered += 1
                    return said
                tell(said)
            elif ready:
                raise NodeDied(self._dead())
        raise Overdue(f'no answer from the supervisor within {limit_s:g} s')

    def memory_bytes(self) -> int:
        """Return the resident memory of all processes together."""
        import psutil

        total = 0
        for process in self.processes.values():
            try:
                total += psutil.Process(process.pid).memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total

    def stop(self) -> None:
        """End all processes; those that do not leave in order are killed."""
        self._connection.close()
        for process in self.processes.values():
            if process.is_alive():
                _signal(process, signal.SIGINT)
        deadline = time.monotonic() + STOP_S
        for process in self.processes.values():
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        self.processes = {}

    def _dead(self) -> str:
        time.sleep(0.05)  # so that all that died together are seen, not the first alone
        dead = [
            f'{name} ({_how(self.processes[name].exitcode)})'
            for name in self._needed
            if self.processes[name].exitcode is not None
        ]
        return ', '.join(dead)


def _how(code: int | None) -> str:
    return f'signal {-code}' if code is not None and code < 0 else f'exit code {code}'


def _signal(process: ForkServerProcess, number: int) -> None:
    try:
        os.kill(process.pid or 0, number)
    except ProcessLookupError:
        return
