"""Plans for many tasks, judged: one verdict a task, and their sums."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.baselines import BASELINES, baseline
from alpha_chaos.worldmodel.documents import TASKS, find_world, task_files, worlds_folder
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.exam import Exam
from alpha_chaos.worldmodel.plan_text import Plan, read_plan, read_plan_file
from alpha_chaos.worldmodel.release.data import load_release
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


def own_tasks(world: str = WORLD) -> dict[str, Exam]:
    """Return the tasks of one of our worlds.

    :raises BadSetting: if there are none, or with what is wrong with them
    """
    if not (worlds_folder() / world).is_dir():
        raise BadSetting(
            f'there is no world {world!r} with tasks here; --data DIR takes the release'
        )
    folder = find_world(world)
    if next(task_files(folder), None) is None:
        raise BadSetting(f'{folder / TASKS}: there are no tasks; --data DIR takes the release')
    domain = load_domain(world)
    return {name: WorldExam(domain, task) for name, task in load_tasks(domain).items()}


def release_tasks(folder: Path, strict: bool) -> dict[str, Exam]:
    """Return the tasks of the public release.

    :raises BadSetting: naming what is wrong with its files
    """
    release = load_release(folder)
    return {name: ReleaseExam(release, task, strict) for name, task in release.tasks.items()}


def score(tasks: Mapping[str, Exam], plans: str) -> Score:
    """Return the verdicts on a baseline, or on a folder of plans.

    :param plans: a baseline, or a folder with `plan_<task id>.txt`
    :raises BadSetting: if there are no such plans
    """
    if plans in BASELINES:
        return Score({name: exam.judge(plan) for name, exam, plan in _baseline(tasks, plans)})
    folder = Path(plans)
    if not folder.is_dir():
        known = ', '.join(BASELINES)
        raise BadSetting(f'--plans is one of {known}, or a folder; there is no folder {folder}')
    verdicts, missing = {}, []
    for name, exam in tasks.items():
        path = folder / f'plan_{name}.txt'
        if path.is_file():
            verdicts[name] = exam.judge(read_plan_file(path))
        else:
            missing.append(name)
    if not verdicts:
        raise BadSetting(f'{folder}: there is no plan such as plan_{next(iter(tasks))}.txt')
    return Score(verdicts, tuple(missing))


def _baseline(tasks: Mapping[str, Exam], kind: str) -> Iterator[tuple[str, Exam, Plan]]:
    for name, exam in tasks.items():
        if kind != 'empty' and exam.golden is None:
            raise BadSetting(
                f'the release has no golden plans, so there is no {kind} one; '
                'give --plans empty, or a folder'
            )
        yield name, exam, baseline(kind, read_plan(exam.golden or ''), name)
