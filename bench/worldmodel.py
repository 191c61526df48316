"""Plan steps judged in a second: in our world model, and beside the public release's executor.

    python bench/worldmodel.py                                       our kitchen, and its memory
    python bench/worldmodel.py --data DIR                            also the release's rules
    python bench/worldmodel.py --data DIR --release CHECKOUT         also its executor, compared

CHECKOUT is a working copy of the release's repository; nothing of it is part of this one.
"""

import argparse
import gc
import importlib
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
from release_plans import plans

from alpha_chaos.worldmodel.classes import class_place
from alpha_chaos.worldmodel.documents import ObjectDocument, TaskDocument
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import read_plan_file
from alpha_chaos.worldmodel.release.data import ACTIONS, TASKS, Release, load_release
from alpha_chaos.worldmodel.release.judge import ReleaseWorld
from alpha_chaos.worldmodel.verdict import Verdict
from alpha_chaos.worldmodel.world import World, load_tasks

OBJECTS = 60
Job = tuple[Callable[[str], Verdict], str]


def cpu_s(call: Callable[[], Any]) -> float:
    """Return the CPU time that a call takes."""
    gc.collect()
    started = time.process_time()
    call()
    return time.process_time() - started


def best_s(call: Callable[[], Any], runs: int) -> float:
    """Return the CPU time of the least disturbed of several runs."""
    return min(cpu_s(call) for _ in range(runs))


# ---- our engine


def own_world(name: str, count: int) -> list[Job]:
    """Return golden plans of a world's tasks, each time without another step, in a full world."""
    domain = load_domain(name)
    judged = [
        (World(domain, filled(domain, task.document), task.place).judge, task.document.golden)
        for task in load_tasks(domain).values()
    ]
    jobs: list[Job] = []
    for i in range(count):
        judge, golden = judged[i % len(judged)]
        lines = golden.split('\n')
        left_out = (i * 7) % len(lines)
        jobs.append((judge, '\n'.join(lines[:left_out] + lines[left_out + 1 :])))
    return jobs


def filled(domain: Domain, task: TaskDocument) -> TaskDocument:
    """Return a task with as many objects as a kitchen has, its own first."""
    known = {entry.class_ for entry in (*domain.files.document.universal, *task.objects)}
    others = []
    for name in domain.rows:
        place, _ = class_place(domain.files, name)
        if name not in known and place is not None and place[1] in known:
            others.append(ObjectDocument.model_validate({'class': name}))
    more = others[:: max(1, len(others) // OBJECTS)][: max(0, OBJECTS - len(known))]
    return task.model_copy(update={'objects': (*task.objects, *more)})


def show_engine(jobs: list[Job], runs: int) -> None:
    """Print steps a second of our engine, and what 10 000 plans leave behind."""
    steps = sum(judge(plan).steps for judge, plan in jobs)
    seconds = best_s(lambda: [judge(plan) for judge, plan in jobs], runs)
    print(f'our engine, {len(jobs)} plans, {steps} steps: {steps / seconds:,.0f} steps/s')
    show_memory('our engine', jobs)


def show_memory(who: str, jobs: Sequence[Job]) -> None:
    """Print how resident memory grows over 10 000 plans, after the first thousand."""
    process = psutil.Process()
    sizes = []
    for i in range(11_000):
        judge, plan = jobs[i % len(jobs)]
        judge(plan)
        if i % 1000 == 999:
            gc.collect()
            sizes.append(process.memory_info().rss)
    growth = (sizes[-1] - sizes[0]) / 1e6
    print(f'{who}, 10 000 plans: {growth:+.1f} MB over {sizes[0] / 1e6:.0f} MB')


# ---- the release


def show_release(data: Path, checkout: Path | None, per_task: int, runs: int) -> None:
    """Print steps a second by the release's rules, and beside its own executor if given."""
    release = load_release(data)
    texts = list(plans(release, per_task, seed=1))
    steps = sum(text.count('\n') + 1 for _, text in texts)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, (task, text) in enumerate(texts):
            path = Path(folder) / f'{i}.txt'
            path.write_text(text, encoding='utf-8')
            files.append((task, path))

        def fresh() -> dict[str, ReleaseWorld]:
            read = load_release(data)
            return {name: ReleaseWorld(read, task) for name, task in read.tasks.items()}

        def ours(worlds: dict[str, ReleaseWorld], slice_: slice) -> None:
            for task, path in files[slice_]:
                worlds[task].judge(read_plan_file(path))

        everything = slice(0, len(files))
        print(f'{len(files)} plans of {len(release.tasks)} tasks, {steps} steps, from files')
        worlds = fresh()
        ours(worlds, everything)
        first_s = best_s(lambda: ours(fresh(), everything), runs)
        show_memory('release rules', [(worlds[task].judge, text) for task, text in texts])
        if checkout is None:
            ours_s = best_s(lambda: ours(worlds, everything), runs)
            print(f'release rules, ours: {steps / ours_s:,.0f} steps/s')
            return
        machine = executor(checkout, data)

        def theirs(slice_: slice) -> None:
            for task, path in files[slice_]:
                machine(task).execute_plan_file(str(path))

        ours_s, theirs_s = in_turns(
            len(files), runs, lambda part: ours(worlds, part), lambda part: theirs(part)
        )
        print(f'release executor: {steps / theirs_s:,.0f} steps/s')
        print(f'release rules, ours: {steps / ours_s:,.0f} steps/s, {theirs_s / ours_s:.1f} x')
        print(
            f'release rules, ours, no line seen before, reading the data too: '
            f'{steps / first_s:,.0f} steps/s, {theirs_s / first_s:.1f} x'
        )
        compare(release, files, worlds, machine)


def in_turns(
    count: int, runs: int, one: Callable[[slice], None], other: Callable[[slice], None]
) -> tuple[float, float]:
    """Return the CPU times of two ways through the same items, a few items at a time in turns.

    What disturbs one then disturbs the other; of every part the least disturbed run counts.
    """
    totals = [0.0, 0.0]
    for first in range(0, count, 100):
        part = slice(first, first + 100)
        best = [float('inf'), float('inf')]
        for _ in range(runs):
            for i, call in enumerate((one, other)):
                started = time.process_time()
                call(part)
                best[i] = min(best[i], time.process_time() - started)
        totals = [total + best_ for total, best_ in zip(totals, best, strict=True)]
    return totals[0], totals[1]


def executor(checkout: Path, data: Path) -> Callable[[str], Any]:
    """Return what makes the release's own state machine for a task."""
    sys.path.insert(0, str(checkout))
    kind = importlib.import_module('simmer.state_machine').KitchenStateMachine
    return lambda task: kind(str(data / TASKS / task / f'env_{task}.json'), str(data / ACTIONS))


def compare(
    release: Release,
    files: Sequence[tuple[str, Path]],
    worlds: dict[str, ReleaseWorld],
    machine: Callable[[str], Any],
) -> None:
    """Print on how many plans the verdicts differ: kind, step and reversibility, in order.

    Texts are ours; so each text of theirs must always go with the same text of ours.
    """
    there, back, kinds, differ = {}, {}, set(), 0
    for task, path in files:
        state = machine(task)
        state.execute_plan_file(str(path))
        expected = [
            ((f['failure_type'].value, f['reversible'], f['steps'][0]), f['reason'])
            for f in state.deduplicated_failures()
        ]
        found = [
            ((f.kind, f.reversible, f.step), (f.rule, f.message))
            for f in worlds[task].judge(read_plan_file(path)).failures
        ]
        same = [a for a, _ in expected] == [b for b, _ in found] and all(
            there.setdefault(a, b) == b and back.setdefault(b, a) == a
            for (_, a), (_, b) in zip(expected, found, strict=True)
        )
        differ += not same
        kinds |= {re.sub(r"'.*|by raw .*|unwashed .*", '', text) for _, text in expected}
    print(f'verdicts differ on {differ} of {len(files)} plans')
    print(f'{len(kinds)} kinds of failure, {len(there)} texts, seen on {len(release.tasks)} tasks')


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--world', default='kitchen', help='a world with tasks')
    parser.add_argument('--data', type=Path, help="folder of the public release's data")
    parser.add_argument('--release', type=Path, help="working copy of the release's repository")
    parser.add_argument('--plans', type=int, default=500, help='plans for our engine')
    parser.add_argument('--per-task', type=int, default=30, help='plans a task of the release')
    parser.add_argument('--runs', type=int, default=3, help='of which the best counts')
    given = parser.parse_args()
    show_engine(own_world(given.world, given.plans), given.runs)
    if given.data:
        show_release(given.data, given.release, given.per_task, given.runs)


if __name__ == '__main__':
    main()
