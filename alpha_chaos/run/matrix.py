"""The matrix: every episode of an experiment once, over several graphs side by side.

A run can be stopped anywhere, by anything; the same call goes on with what is missing.
"""

import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from alpha_chaos.catalogues import planners
from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.experiment import Episode
from alpha_chaos.graph import PLANNERS, Graph, episode_graph
from alpha_chaos.journal import Journal, Row, missing
from alpha_chaos.ledger import Ledger
from alpha_chaos.plugins import parse
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.job import Job, entries, next_job, set_apart
from alpha_chaos.run.processes import GraphProcesses, NodeDied, Overdue, context
from alpha_chaos.run.shared_memory import clean

Isolation = Literal['episode', 'worker']

# A graph that is used again is replaced when it has grown past this: a leak must not end a run.
RECYCLE_BYTES = 4 * 1024**3
LOOK_EVERY = 20  # episodes between two looks at the memory


@dataclass(frozen=True)
class Options:
    """How a matrix runs; nothing here changes a result.

    :param isolation: 'episode': fresh processes and a fresh domain for each episode; 'worker': the
        processes are used again
    :param composed: all nodes of a graph in one process
    :param retries: further attempts at an episode whose attempt was aborted
    :param limit_s: wall-clock time after which an attempt is given up
    :param replies: folder of recorded replies of language models
    :param again: run episodes that have a result, too
    :param view: with the node that shows an episode to viewers
    :param tell: is told what an attempt is doing, while it does it
    """

    workers: int = 2
    isolation: Isolation = 'episode'
    composed: bool = False
    retries: int = 2
    limit_s: float = 600.0
    replies: str = ''
    again: bool = False
    view: bool = False
    tell: Callable[[str], None] = lambda text: None


@dataclass
class Outcome:
    """What a call has done."""

    ran: int = 0  # attempts
    left: list[Episode] = field(default_factory=list)  # episodes without a result
    stopped: bool = False


OnRow = Callable[[Row], None]


def run_matrix(
    episodes: Sequence[Episode],
    out: Path,
    options: Options,
    on_row: OnRow = lambda row: None,
    stop: threading.Event | None = None,
) -> Outcome:
    """Run every episode that has no result in `out` yet.

    :param on_row: called after each attempt, by one thread at a time
    :param stop: set it to end the run early and in order
    :raises jsonl.Busy: when another runner works in `out`
    """
    with Journal(out) as journal, Ledger(out) as ledger:
        return _Matrix(episodes, out, options, journal, ledger, on_row, stop).run()


class _Matrix:
    def __init__(
        self,
        episodes: Sequence[Episode],
        out: Path,
        options: Options,
        journal: Journal,
        ledger: Ledger,
        on_row: OnRow,
        stop: threading.Event | None,
    ) -> None:
        self._episodes = list(episodes)
        self._out = out
        self._options = options
        self._journal = journal
        self._ledger = ledger
        self._on_row = on_row
        self._stop = stop or threading.Event()
        self._todo: queue.SimpleQueue[Episode] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._forks = context()
        self._domains = Domains()
        self._nodes = sorted({_planner_node(episode) for episode in episodes})
        self._guarded = any(episode.guard != 'off' for episode in episodes)
        self._failure: BaseException | None = None
        self._working = 0  # workers that have not been seen to end
        self._ended = threading.Semaphore(0)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        done = [] if self._options.again else self._journal.rows
        todo = missing(self._episodes, done)
        for episode in todo:
            self._todo.put(episode)
        workers = [
            threading.Thread(target=self._work, name=f'worker-{number}', daemon=True)
            for number in range(min(self._options.workers, len(todo)))
        ]
        for worker in workers:
            worker.start()
        self._working = len(workers)
        try:
            self._wait()
        except KeyboardInterrupt:
            self._end()
            self._failure = None  # of a worker whose processes the same signal has ended
        if self._failure is not None:
            raise self._failure
        self.outcome.stopped = self._stop.is_set()
        self.outcome.left = missing(self._episodes, self._journal.rows)
        clean()
        return self.outcome

    def _wait(self) -> None:
        """Wait until every worker has ended.

        Not by joining the threads: a join with a time limit that Ctrl-C interrupts makes Python
        3.11 take a running thread for an ended one.
        """
        while self._working:
            if self._ended.acquire(timeout=0.2):
                self._working -= 1

    def _end(self) -> None:
        """Let every worker end in order; whoever presses Ctrl-C again must wait for that."""
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._stop.set()
        self._wait()
        signal.signal(signal.SIGINT, before)

    # -- one worker

    def _work(self) -> None:
        graph: _Running | None = None
        try:
            while not self._stop.is_set():
                try:
                    episode = self._todo.get_nowait()
                except queue.Empty:
                    return
                for _ in range(1 + self._options.retries):
                    graph = graph or self._start(episode)
                    with self._lock:
                        job = next_job(episode, self._journal, self._out)
                    row, ledger = self._attempt(graph, job)
                    aborted = row is None or row.status == 'aborted'
                    if aborted or self._options.isolation == 'episode' or graph.grown():
                        graph.end()
                        graph = None
                    if row is not None:
                        self._keep(row, ledger)
                    if not aborted or self._stop.is_set():
                        break
        except BaseException as error:  # the caller raises it again, and the others stop
            self._failure = self._failure or error
            self._stop.set()
        finally:
            try:
                if graph is not None:
                    graph.end()
            finally:
                self._ended.release()

    def _start(self, episode: Episode) -> '_Running':
        nodes, guarded = self._nodes, self._guarded
        if self._options.isolation == 'episode':
            nodes, guarded = [_planner_node(episode)], episode.guard != 'off'
        driver = str(episode.driver['kind'])
        options = self._options
        graph = episode_graph(
            nodes, replies=options.replies, driver=driver, guard=guarded, view=options.view
        )
        running = _Running(self._forks, graph, self._domains, self._out, options.composed)
        if options.view:
            options.tell(f'to be watched on ROS_DOMAIN_ID={running.domain}')
        return running

    def _attempt(
        self, graph: '_Running', job: Job
    ) -> tuple[Row | None, Sequence[Mapping[str, Any]]]:
        """Return row and ledger of an attempt; no row if the run was stopped meanwhile."""
        started = time.monotonic()
        try:
            return graph.processes.run(job, self._options.limit_s, self._stop, self._options.tell)
        except NodeDied as died:
            if self._stop.is_set():
                return None, ()
            abort = Abort('node_died', str(died))
        except Overdue as overdue:
            abort = Abort('timeout', str(overdue))
        record = EpisodeRecord(job.episode, job.attempt, job.bag_name)
        return record.row(time.monotonic() - started, abort), ()

    def _keep(self, row: Row, ledger: Sequence[Mapping[str, Any]]) -> None:
        with self._lock:
            if row.status == 'aborted':
                row = set_apart(row, self._out)
            self._ledger.extend(entries(row, ledger))
            self._journal.append(row)
            self.outcome.ran += 1
            try:
                self._on_row(row)
            except OSError:  # whoever watched is gone (`| head`); the run goes on unseen
                self._on_row = lambda row: None


class _Running:
    """A graph under way, and the domain it has to itself."""

    def __init__(
        self, forks: Any, graph: Graph, domains: Domains, out: Path, composed: bool
    ) -> None:
        self._domains = domains
        self.domain = domains.claim()
        self.processes = GraphProcesses(forks, graph, self.domain, out / 'nodes.log', composed)

    def grown(self) -> bool:
        done = self.processes.answered
        return done % LOOK_EVERY == 0 and self.processes.memory_bytes() > RECYCLE_BYTES

    def end(self) -> None:
        self.processes.stop()
        self._domains.free(self.domain)


def _planner_node(episode: Episode) -> str:
    node: str = parse(planners(), episode.planner, 'planner').node
    assert node in PLANNERS
    return node
