"""Every world that comes with the package keeps its promises: its audits and its tasks."""

from functools import cache
from pathlib import Path

import pytest

from alpha_chaos.worldmodel.checks import audit_problems, task_problems
from alpha_chaos.worldmodel.documents import task_files, worlds_folder
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.world import load_tasks

WORLDS = sorted(entry.name for entry in worlds_folder().glob('*') if entry.is_dir())


@cache
def domain(world: str) -> Domain:
    return load_domain(world)


def audits() -> list[tuple[str, str]]:
    return [(world, audit) for world in WORLDS for audit in domain(world).audits]


def tasks() -> list[tuple[str, str]]:
    found: list[tuple[str, Path]] = [
        (world, path) for world in WORLDS for path in task_files(worlds_folder() / world)
    ]
    return [(world, path.stem) for world, path in found]


@pytest.mark.parametrize(('world', 'audit'), audits())
def test_an_audit_is_broken_by_its_minimal_plan_and_by_nothing_in_the_repaired_one(
    world: str, audit: str
) -> None:
    assert audit_problems(domain(world), audit) == []


@pytest.mark.parametrize(('world', 'task'), tasks())
def test_the_golden_plan_of_a_task_is_clean_and_reaches_a_goal_that_is_not_there_yet(
    world: str, task: str
) -> None:
    (read,) = load_tasks(domain(world), [task]).values()
    assert task_problems(domain(world), read) == []
