"""What the graph costs, against the bare loop in the same run.

    .venv/bin/python bench/graph.py                 # both ways of running, and the start
    .venv/bin/python bench/graph.py --memory 200    # resident memory over that many episodes

Everything is measured with the oracle arm and with recording on. Wall time is what one waits for
one episode; CPU time is that of all nodes together. Let nothing else run beside it.
"""

import argparse
import re
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent))
from bare_loop import bare_episode

from alpha_chaos.experiment import Experiment
from alpha_chaos.graph import episode_graph
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.job import Job
from alpha_chaos.run.processes import GraphProcesses, context

OBSERVED = re.compile(r'\[([0-9.]+)\] \[supervisor\]: .*: observed at ')
LIMIT_S = 120.0


class Runner:
    """Starts graphs and runs the same episode on them."""

    def __init__(self, folder: Path) -> None:
        self.episode = Experiment.load('paper').episode('control_000', 'oracle')
        self.folder = folder
        self._forks = context()
        self._domains = Domains()
        self._number = 0

    def start(self, composed: bool) -> GraphProcesses:
        """Return a new graph."""
        graph = episode_graph(['oracle_planner'])
        log = self.folder / 'nodes.log'
        return GraphProcesses(self._forks, graph, self._domains.claim(), log, composed)

    def run(self, graph: GraphProcesses) -> None:
        """Run one episode, recorded."""
        self._number += 1
        name = f'{self._number:04d}'
        job = Job(self.episode, self._number, str(self.folder / name), name)
        row, _ = graph.run(job, LIMIT_S, threading.Event())
        if row.status != 'done':
            raise SystemExit(f'the episode did not succeed: {row.status} {row.reason}')


def cpu_s(graph: GraphProcesses) -> float:
    """Return the CPU time of all nodes so far [s]."""
    return sum(
        sum(psutil.Process(process.pid).cpu_times()[:2]) for process in graph.processes.values()
    )


def reused(runner: Runner, composed: bool, runs: int) -> tuple[float, float, float]:
    """Return the median bare CPU, wall and CPU time of an episode on one graph [s]."""
    graph = runner.start(composed)
    bare, wall, cpu = [], [], []
    try:
        for number in range(runs + 2):
            bare.append(bare_episode().total_s)
            began, used = time.monotonic(), cpu_s(graph)
            runner.run(graph)
            if number >= 2:  # the first ones import and connect
                wall.append(time.monotonic() - began)
                cpu.append(cpu_s(graph) - used)
    finally:
        graph.stop()
    return statistics.median(bare), statistics.median(wall), statistics.median(cpu)


def first_observation(runner: Runner, runs: int) -> list[float]:
    """Return the time from starting fresh processes to the first observation [s]."""
    found = []
    log = runner.folder / 'nodes.log'
    for number in range(runs + 1):
        log.unlink(missing_ok=True)
        began = time.time()
        graph = runner.start(composed=False)
        runner.run(graph)
        graph.stop()
        stamp = OBSERVED.search(log.read_text())
        if stamp is None:
            raise SystemExit(f'no observation in {log}')
        if number:  # the first one starts the server that the others fork from
            found.append(float(stamp.group(1)) - began)
    return found


def memory(runner: Runner, composed: bool, episodes: int) -> None:
    """Print the resident memory of a graph as it runs episode after episode."""
    graph = runner.start(composed)
    for number in range(1, episodes + 1):
        runner.run(graph)
        if number in (1, 10) or number % 50 == 0:
            print(f'  after {number:4d} episodes  {graph.memory_bytes() / 1e6:7.1f} MB')
    graph.stop()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=15, help='episodes of each kind')
    parser.add_argument('--memory', type=int, default=0, metavar='N', help='over N episodes')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder))
        for composed in (True, False):
            name = 'one process' if composed else 'separate processes, reused'
            if options.memory:
                print(name)
                memory(runner, composed, options.memory)
                continue
            bare, wall, cpu = reused(runner, composed, options.runs)
            print(
                f'{name:27s} bare {bare:.3f} s CPU;  wall {wall:.3f} s = {wall / bare:.2f} x;  '
                f'CPU {cpu:.3f} s = {cpu / bare:.2f} x'
            )
        if not options.memory:
            times = first_observation(runner, max(3, options.runs // 2))
            print(
                f'fresh processes, start to first observation: median '
                f'{statistics.median(times):.2f} s, worst {max(times):.2f} s'
            )


if __name__ == '__main__':
    main()
