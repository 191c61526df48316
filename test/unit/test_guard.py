"""Plans checked in the symbolic table-top: each kind of failure, and the plan that repairs it."""

import math

import pytest

from alpha_chaos.bodies.panda import Panda
from alpha_chaos.guard import BEFORE, Guard, Hand, Verdict
from alpha_chaos.plan import ActionPlan, Grip, MoveTo, Release, zone_centres
from alpha_chaos.planners.oracle import plan_for
from alpha_chaos.tasks.base import Task
from alpha_chaos.tasks.pick_place import PickPlace
from alpha_chaos.tasks.sort_blocks import SortBlocks
from alpha_chaos.tasks.stack_blocks import StackBlocks
from alpha_chaos.worldmodel.checks import audit_problems, task_problems
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.world import load_tasks

BODY = Panda()
SEEN = {block.name: block.position_m for block in BODY.blocks}
TASKS: tuple[Task, ...] = (PickPlace(), StackBlocks(), SortBlocks())
Steps = list[MoveTo | Grip | Release]


def judged(
    steps: Steps,
    task: Task = TASKS[0],
    seen: dict[str, tuple[float, float, float]] = SEEN,
    hand: Hand = Hand(),
) -> Verdict:
    plan = ActionPlan(actions=tuple(steps))
    resolved = plan.resolve(seen, zone_centres(task.placements), BODY.waypoints)
    return Guard('block', task, BODY).check(resolved, seen, hand)


def right(task: Task = TASKS[0]) -> Steps:
    return list(plan_for(task.placements).actions)


def rules(verdict: Verdict) -> list[tuple[int, str]]:
    return [(failure.action, failure.rule) for failure in verdict.failures]


def to(target: str | tuple[float, float, float]) -> MoveTo:
    return MoveTo(target=target)


@pytest.mark.parametrize('task', TASKS, ids=lambda task: task.kind)
def test_the_plan_of_the_oracle_is_clean_and_reaches_the_goal(task: Task) -> None:
    verdict = judged(right(task), task)
    assert (verdict.failures, verdict.goal_reached) == ((), True)
    assert verdict.clean
    assert not verdict.blocked
    assert len(verdict.path_m) == len(right(task))


PICK, PLACE = right()[:4], right()[4:]  # hover, grasp, grip, lift; zone.hover, zone.place, release
AWAY = to((0.60, -0.35, 0.70))

# Of each kind of failure: a plan, the action in which it shows, its rule, and the repaired plan.
FAILURES: list[tuple[Steps, int, str, Steps]] = [
    ([*PICK, Grip(block='green'), *PLACE], 4, 'grip', [*PICK, *PLACE]),
    ([*PICK, *PLACE, Release()], 7, 'release', [*PICK, *PLACE]),
    ([to('red.hover'), Grip(block='red')], 1, 'gripped_nothing', right()),
    ([to('red.hover'), Grip(block='red')], BEFORE, 'left_closed', right()),
    ([to('red.hover'), to('red.grasp'), Grip(block='blue'), to('red.lift'), *PLACE], 2, 'gripped_another', right()),
    ([*PICK, *PLACE[:2]], BEFORE, 'left_holding', right()),
    ([*PICK, to((0.60, -0.35, 0.85)), AWAY, Release()], BEFORE, 'released_over_no_zone', right()),
    ([*PICK, to((0.45, -0.20, 0.85)), to((0.45, -0.20, 0.74)), Release()], BEFORE, 'stacked', right()),
    ([*PICK, to('zone.hover'), Release()], 5, 'dropped', right()),
    ([*PICK, to('zone.hover'), to((0.60, 0.35, 0.64)), Release()], 5, 'driven_into_table', right()),
    ([to((0.5, -0.3, 0.675)), to((0.5, 0.3, 0.675)), *right()], 1, 'motion_through_block', right()),
    ([to((0.6, 0.0, 0.675)), to('red.grasp'), Grip(block='red'), to('red.lift'), *PLACE], 1, 'brushed', right()),
    ([to('green.hover'), to('green.grasp'), Grip(block='green'), to('green.lift'), *PLACE], BEFORE, 'wrong_zone', right()),
    ([to('green.hover')], BEFORE, 'never_moved', right()),
]  # fmt: skip


@pytest.mark.parametrize(
    ('plan', 'action', 'rule', 'repaired'), FAILURES, ids=[entry[2] for entry in FAILURES]
)
def test_each_kind_of_failure_shows_where_it_happens_and_not_when_repaired(
    plan: Steps, action: int, rule: str, repaired: Steps
) -> None:
    verdict = judged(plan)
    assert any(at == action and found.startswith(rule) for at, found in rules(verdict))
    assert not verdict.clean
    assert verdict.blocked
    assert judged(repaired).clean


def test_a_tower_needs_its_base_first() -> None:
    task = StackBlocks()
    red, blue = task.placements
    for wrong, rule in (
        (plan_for((blue, red)), 'stacked'),
        (plan_for((red,)), 'never_moved'),
    ):
        found = rules(judged(list(wrong.actions), task))
        assert (BEFORE, rule) in found
    beside = [*plan_for((blue,)).actions[:-2], to('zone.place'), Release()]
    assert (BEFORE, 'not_on_base') in rules(judged(beside, task))


def test_a_latent_failure_says_which_action_planted_it() -> None:
    swapped = plan_for(SortBlocks(homes={'green': 'left_zone', 'red': 'right_zone'}).placements)
    verdict = judged(list(swapped.actions), SortBlocks())
    wrong = {failure.message: failure for failure in verdict.failures}
    green = wrong['green was put into left_zone, where it does not belong']
    assert (green.action, green.planted, green.kind) == (BEFORE, 6, 'latent')
    red = wrong['red was put into right_zone, where it does not belong']
    assert (red.action, red.planted) == (BEFORE, 14)
    assert 'blue was never put into middle_zone' in wrong


def test_a_failure_is_where_the_gripper_is() -> None:
    verdict = judged([*PICK, to('zone.hover'), Release()])
    (dropped,) = (failure for failure in verdict.failures if failure.rule == 'dropped')
    assert dropped.position_m == pytest.approx((0.60, 0.35, 0.85))
    assert verdict.path_m[dropped.action] == dropped.position_m
    assert dropped.message == 'red fell 0.175 m when it was let go'  # 0.85 less 0.675


def test_a_block_that_nobody_saw_cannot_be_gripped() -> None:
    seen = {'green': SEEN['green'], 'red': (math.nan, 0.0, 0.675)}
    verdict = judged([to('green.hover'), Grip(block='red')], seen=seen)
    assert verdict.failures[0].rule == 'unknown_object'
    assert verdict.failures[0].message == 'there is no red'
    assert not verdict.goal_reached


def test_blocks_that_no_plan_can_name_are_in_the_way_under_their_own_name() -> None:
    seen = {**SEEN, 'yellow': (0.70, 0.00, 0.675)}
    verdict = judged([to((0.70, -0.2, 0.675)), to((0.70, 0.2, 0.675)), *right()], seen=seen)
    assert 'the gripper passed through yellow' in [it.message for it in verdict.failures]


def test_a_second_plan_begins_with_the_hand_as_the_first_left_it() -> None:
    whole = ActionPlan(actions=tuple(right()))
    plan = whole.resolve(SEEN, zone_centres(TASKS[0].placements), BODY.waypoints)
    lifted = Hand().after(plan, 4)
    assert lifted == Hand((0.50, 0.00, 0.675 + 0.20), closed=True)
    held = {**SEEN, 'red': lifted.tip_m or SEEN['red']}
    assert judged(PLACE, seen=held, hand=lifted).clean
    again = judged(right(), seen=held, hand=lifted)
    assert again.failures[0].message == 'the gripper holds a block already'
    assert Hand().after(plan, 7) == Hand((0.60, 0.35, 0.68), closed=False)
    assert judged(right(), hand=Hand().after(plan, 0)).clean


def test_only_a_guard_that_blocks_stops_a_plan() -> None:
    plan = ActionPlan(actions=(Release(),))
    for mode, blocked in (('observe', False), ('block', True)):
        verdict = Guard(mode, TASKS[0], BODY).check(plan, SEEN, Hand())
        assert not verdict.clean
        assert verdict.blocked == blocked


def test_every_audit_and_every_task_of_the_table_top_shows_itself() -> None:
    domain = load_domain('tabletop')
    assert len(domain.audits) == 15
    assert {name: audit_problems(domain, name) for name in domain.audits} == dict.fromkeys(
        domain.audits, []
    )
    tasks = load_tasks(domain)
    assert {name: task_problems(domain, task) for name, task in tasks.items()} == {
        'pick_place_red': [],
        'sort_blocks': [],
        'stack_blue_on_red': [],
    }
