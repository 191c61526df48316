"""The tasks of the kitchen as a collection: how many, of what kinds, and what can go wrong."""

from collections import Counter

import pytest

from alpha_chaos.worldmodel.baselines import baseline
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import Plan, read_plan
from alpha_chaos.worldmodel.units import read_value
from alpha_chaos.worldmodel.world import Task, World, load_tasks, task_world


@pytest.fixture(scope='module')
def kitchen() -> Domain:
    return load_domain('kitchen')


@pytest.fixture(scope='module')
def tasks(kitchen: Domain) -> dict[str, Task]:
    return load_tasks(kitchen)


@pytest.fixture(scope='module')
def worlds(kitchen: Domain, tasks: dict[str, Task]) -> dict[str, World]:
    return {name: task_world(kitchen, task) for name, task in tasks.items()}


@pytest.fixture(scope='module')
def plans(tasks: dict[str, Task]) -> dict[str, Plan]:
    return {name: read_plan(task.document.golden) for name, task in tasks.items()}


def test_there_are_enough_tasks_of_enough_techniques(tasks: dict[str, Task]) -> None:
    assert len(tasks) >= 120
    techniques = Counter(task.document.technique for task in tasks.values())
    assert len(techniques) >= 12
    assert min(techniques.values()) >= 5


def test_no_two_tasks_are_the_same_dish(tasks: dict[str, Task], plans: dict[str, Plan]) -> None:
    assert len({task.document.title for task in tasks.values()}) == len(tasks)
    assert len({frozenset(plan.lines) for plan in plans.values()}) == len(tasks)


def test_golden_plans_are_long_enough_to_go_wrong(plans: dict[str, Plan]) -> None:
    lengths = sorted(len(plan.steps) for plan in plans.values())
    assert lengths[0] >= 10
    assert lengths[-1] <= 60
    assert 30 <= lengths[len(lengths) // 2] <= 45


@pytest.mark.parametrize('hazard', ['raw', 'dirty', 'allergen'])
def test_a_quarter_of_the_tasks_has_in_it_what_can_make_ill(
    hazard: str, kitchen: Domain, worlds: dict[str, World]
) -> None:
    mask = kitchen.words.bit(hazard)
    at_risk = [name for name, world in worlds.items() if any(b & mask for b in world.start.bits)]
    assert len(at_risk) >= len(worlds) / 4


def test_ovens_are_preheated_and_food_stays_in_the_cold_for_hours(plans: dict[str, Plan]) -> None:
    def has(plan: Plan, *actions: str) -> bool:
        return any(step.action in actions for step in plan.steps)

    preheated = [plan for plan in plans.values() if has(plan, 'preheat')]
    assert len(preheated) >= 10
    cold = [
        plan
        for plan in plans.values()
        if any(
            step.action == 'put_in' and step.arguments[1][0] in ('fridge', 'freezer')
            for step in plan.steps
        )
        and sum(read_value(s.arguments[-1][0], 'time') or 0 for s in plan.steps) >= 3600
    ]
    assert len(cold) >= 10


@pytest.mark.parametrize('kind', ['empty', 'shuffled', 'truncated'])
def test_a_plan_that_nobody_made_is_clean_on_no_task(
    kind: str, worlds: dict[str, World], plans: dict[str, Plan]
) -> None:
    clean = [
        name
        for name, world in worlds.items()
        if world.judge(baseline(kind, plans[name], name)).clean
    ]
    assert clean == []
