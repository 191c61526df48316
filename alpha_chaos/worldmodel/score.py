"""Plans for many tasks, judged: one verdict a task, and their sums."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.baselines import BASELINES, baseline
from alpha_chaos.worldmodel.documents import TASKS, find_world, task_files
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.exam import Exam
from alpha_chaos.worldmodel.plan_text import Plan, read_plan, read_plan_file
from alpha_chaos.worldmodel.release.data import ACTIONS, load_release
from alpha_chaos.worldmodel.release.data import TASKS as RELEASE_TASKS
from alpha_chaos.worldmodel.release.exam import ReleaseExam
from alpha_chaos.worldmodel.verdict import Verdict
from alpha_chaos.worldmodel.world import load_tasks
from alpha_chaos.worldmodel.world_exam import WorldExam

WORLD = 'kitchen'  # whose tasks are the benchmark


@dataclass(frozen=True)
class Score:
    """The verdicts of a set of plans.

    :param missing: tasks for which there was no plan
    """

    verdicts: Mapping[str, Verdict]
    missing: tuple[str, ...] = ()

    def totals(self) -> dict[str, Any]:
        """Return sums over tasks: of failures, and of tasks with such failures."""
        verdicts = self.verdicts.values()
        goals = [v.goal_reached for v in verdicts if v.goal_reached is not None]
        rules = Counter(failure.rule for v in verdicts for failure in v.failures)
        return {
            'tasks': len(self.verdicts),
            'missing': list(self.missing),
            'steps': sum(v.steps for v in verdicts),
            'immediate': sum(v.immediate for v in verdicts),
            'latent': sum(v.latent for v in verdicts),
            'irreversible': sum(v.irreversible for v in verdicts),
            'tasks_with_immediate': sum(v.immediate > 0 for v in verdicts),
            'tasks_with_latent': sum(v.latent > 0 for v in verdicts),
            'tasks_with_irreversible': sum(v.irreversible > 0 for v in verdicts),
            'goal_reached': sum(goals) if goals else None,
            'clean': sum(v.clean for v in verdicts),
            'rules': dict(sorted(rules.items(), key=lambda item: (-item[1], item[0]))),
        }

    def json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        tasks = {name: verdict.json() for name, verdict in self.verdicts.items()}
        return {'tasks': tasks, 'totals': self.totals()}

    def write(self, path: Path) -> None:
        """Write it as a JSON file.

        :raises OSError: if that cannot be done
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.json(), indent=1, ensure_ascii=False)
        path.write_text(f'{text}\n', encoding='utf-8')


@dataclass(frozen=True)
class Benchmark:
    """The tasks that plans are judged on.

    :param name: of the world, or `release`
    :param fingerprint: sha256 over the files that they are made from
    """

    name: str
    mode: str
    short_prompts: bool
    exams: Mapping[str, Exam]
    fingerprint: str


def open_benchmark(
    data: Path | None, mode: str, world: str = WORLD, short_prompts: bool = False
) -> Benchmark:
    """Return the tasks of the public release if its folder is given, else our own.

    :param mode: strict, or compat for the release
    :param short_prompts: which only name actions with their roles, for models with little room
    :raises BadSetting: if there are none, or with what is wrong with them
    """
    if data is not None:
        exams = release_tasks(data, mode == 'strict', short_prompts)
        files = [data / ACTIONS, *sorted((data / RELEASE_TASKS).glob('*/*_*.*'))]
        return Benchmark('release', mode, short_prompts, exams, _fingerprint(data, files))
    if mode == 'compat':
        raise BadSetting('--mode compat judges as the public release does, so it needs --data DIR')
    exams = own_tasks(world, short_prompts)
    folder = find_world(world)
    files = sorted(folder.rglob('*.yaml'))
    return Benchmark(folder.name, mode, short_prompts, exams, _fingerprint(folder, files))


def _fingerprint(folder: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(f'{path.relative_to(folder)}\0'.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def own_tasks(world: str = WORLD, short_prompts: bool = False) -> dict[str, Exam]:
    """Return the tasks of one of our worlds.

    :param world: its name, or the path of a folder
    :raises BadSetting: if there are none, or with what is wrong with them
    """
    folder = find_world(world)
    if next(task_files(folder), None) is None:
        raise BadSetting(f'{folder / TASKS}: there are no tasks; --data DIR takes the release')
    domain = load_domain(world)
    return {
        name: WorldExam(domain, task, short_prompts) for name, task in load_tasks(domain).items()
    }


def release_tasks(folder: Path, strict: bool, short_prompts: bool = False) -> dict[str, Exam]:
    """Return the tasks of the public release.

    :raises BadSetting: naming what is wrong with its files
    """
    release = load_release(folder)
    return {
        name: ReleaseExam(release, task, strict, short_prompts)
        for name, task in release.tasks.items()
    }


def score(tasks: Mapping[str, Exam], plans: str) -> Score:
    """Return the verdicts on a baseline, or on a folder of plans.

    :param plans: a baseline, or a folder with `plan_<task id>.txt`
    :raises BadSetting: if there are no such plans
    """
    if plans in BASELINES:
        return judged_baseline(tasks, plans)
    folder = Path(plans)
    if not folder.is_dir():
        known = ', '.join(BASELINES)
        raise BadSetting(f'--plans is one of {known}, or a folder; there is no folder {folder}')
    verdicts, missing = {}, []
    for name, exam in tasks.items():
        path = plan_file(folder, name)
        if path.is_file():
            verdicts[name] = exam.judge(read_plan_file(path))
        else:
            missing.append(name)
    if not verdicts:
        raise BadSetting(f'{folder}: there is no plan such as plan_{next(iter(tasks))}.txt')
    return Score(verdicts, tuple(missing))


def judged_baseline(tasks: Mapping[str, Exam], kind: str) -> Score:
    """Return the verdicts on a baseline.

    :raises BadSetting: where there are no golden plans to make it from
    """
    return Score({name: exam.judge(plan) for name, exam, plan in baseline_plans(tasks, kind)})


def plan_file(folder: Path, task: str) -> Path:
    """Return where the plan for a task is in a folder of plans."""
    return folder / f'plan_{task}.txt'


def baseline_plans(tasks: Mapping[str, Exam], kind: str) -> Iterator[tuple[str, Exam, Plan]]:
    """Return name, task and plan of a baseline for each task.

    :raises BadSetting: where there are no golden plans to make it from
    """
    for name, exam in tasks.items():
        if kind != 'empty' and exam.golden is None:
            raise BadSetting(
                f'the release has no golden plans, so there is no {kind} one; '
                'give --plans empty, or a folder'
            )
        yield name, exam, baseline(kind, read_plan(exam.golden or ''), name)
