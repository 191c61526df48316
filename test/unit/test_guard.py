"""Plans checked in the symbolic table-top: each kind of failure, and the plan that repairs it."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from alpha_chaos.analysis.verdicts import unequal_verdicts
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.bodies.panda import Panda
from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.experiment import Experiment
from alpha_chaos.guard import BEFORE, Guard, Hand, Verdict
from alpha_chaos.journal import Row
from alpha_chaos.plan import ActionPlan, Grip, MoveTo, Release, zone_centres
from alpha_chaos.planners.oracle import plan_for
from alpha_chaos.plugins import BadSetting
from alpha_chaos.tasks.base import Task
from alpha_chaos.tasks.pick_place import PickPlace
from alpha_chaos.tasks.sort_blocks import SortBlocks
from alpha_chaos.tasks.stack_blocks import StackBlocks
from alpha_chaos.worldmodel.checks import audit_problems, task_problems
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.world import load_tasks

BODY = Panda()
# Where the blocks are at rest: the table is at 0.625 m, and they are 0.05 m high.
SEEN = {block.name: (*block.position_m[:2], 0.65) for block in BODY.blocks}
TASKS: tuple[Task, ...] = (PickPlace(), StackBlocks(), SortBlocks())
FRESH = Hand()
Steps = list[MoveTo | Grip | Release]


class Vector3(NamedTuple):
    x: float
    y: float
    z: float


def judged(
    steps: Steps,
    task: Task = TASKS[0],
    seen: dict[str, tuple[float, float, float]] = SEEN,
    hand: Hand = FRESH,
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


def test_a_body_that_grips_from_above_the_middle_is_no_worse_for_it() -> None:
    body, task = Kuka(), StackBlocks(edge_m=Kuka.block_edge_m)
    seen = {block.name: (*block.position_m[:2], 0.655) for block in body.blocks}
    plan = plan_for(task.placements).resolve(seen, zone_centres(task.placements), body.waypoints)
    assert Guard('block', task, body).check(plan, seen, FRESH).clean


@pytest.mark.parametrize('task', TASKS, ids=lambda task: task.kind)
def test_the_plan_of_the_oracle_is_clean_and_reaches_the_goal(task: Task) -> None:
    verdict = judged(right(task), task)
    assert (verdict.failures, verdict.goal_reached) == ((), True)
    assert verdict.clean
    assert not verdict.blocked
    assert len(verdict.path_m) == len(right(task))


PICK, PLACE = right()[:4], right()[4:]  # hover, grasp, grip, lift; zone.hover, zone.place, release

RIGHT = [*PICK, *PLACE]
AWAY_M = (0.70, 0.00, 0.65)
TABLE_M = 0.625

# Of each kind of failure: a plan, and the action in which it shows. The right plan repairs it.
FAILURES: dict[str, tuple[Steps, int]] = {
    'grip': ([*PICK, Grip(block='green'), *PLACE], 4),  # another is held
    'release': ([*RIGHT, Release()], 7),  # the gripper is open
    'gripped_nothing': ([to('red.hover'), Grip(block='red')], 1),
    'gripped_another': ([*PICK[:2], Grip(block='blue'), *RIGHT[3:]], 2),
    'left_closed': ([to('red.hover'), Grip(block='red')], BEFORE),
    'left_holding': (RIGHT[:-1], BEFORE),
    'released_over_no_zone': ([*PICK, to((0.6, 0.0, 0.68)), Release()], BEFORE),
    'stacked': ([*PICK, to('green.hover'), to((0.45, -0.20, 0.71)), Release()], BEFORE),
    'dropped': ([*PICK, to('zone.hover'), Release()], 5),
    'driven_into_table': ([*RIGHT[:5], to((0.60, 0.35, TABLE_M + 0.015)), Release()], 5),
    'motion_through_block': ([to((0.5, -0.3, 0.65)), to((0.5, 0.3, 0.65)), *RIGHT], 1),
    'brushed': ([to((0.6, 0.0, 0.65)), *RIGHT[1:]], 1),
    'wrong_zone': ([to('green.hover'), to('green.grasp'), Grip(block='green'), *PLACE], BEFORE),
    'never_moved': ([to('green.hover')], BEFORE),
}  # fmt: skip


@pytest.mark.parametrize('rule', FAILURES)
def test_each_kind_of_failure_shows_where_it_happens_and_not_in_the_right_plan(rule: str) -> None:
    plan, action = FAILURES[rule]
    verdict = judged(plan)
    assert (action, rule) in [(at, found.partition(':')[0]) for at, found in rules(verdict)]
    assert not verdict.clean
    assert verdict.blocked
    assert judged(RIGHT).clean


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
    assert dropped.message == 'red fell 0.2 m when it was let go'  # from 0.85 m to 0.65 m


def test_a_block_that_nobody_saw_cannot_be_gripped() -> None:
    seen = {'green': SEEN['green'], 'red': (math.nan, 0.0, 0.65)}
    verdict = judged([to('green.hover'), Grip(block='red')], seen=seen)
    assert verdict.failures[0].rule == 'unknown_object'
    assert verdict.failures[0].message == 'there is no red'
    assert not verdict.goal_reached


def test_a_tower_whose_base_nobody_saw_is_no_goal_that_could_be_reached() -> None:
    seen = {name: SEEN[name] for name in ('green', 'blue')}
    verdict = judged(list(plan_for(StackBlocks().placements[1:]).actions), StackBlocks(), seen)
    assert not verdict.goal_reached
    assert (BEFORE, 'not_on_base') not in rules(verdict)  # there is no base to be missed


def test_a_block_that_no_plan_can_name_can_still_be_what_is_wanted() -> None:
    verdict = judged([to('green.hover')], PickPlace(block='yellow'), {**SEEN, 'yellow': AWAY_M})
    assert [failure.message for failure in verdict.failures] == ['yellow was never put into zone']


def test_blocks_that_no_plan_can_name_are_in_the_way_under_their_own_name() -> None:
    seen = {**SEEN, 'yellow': AWAY_M}
    verdict = judged([to((0.70, -0.2, 0.65)), to((0.70, 0.2, 0.65)), *right()], seen=seen)
    assert 'the gripper passed through yellow' in [it.message for it in verdict.failures]


def test_a_second_plan_begins_with_the_hand_as_the_first_left_it() -> None:
    whole = ActionPlan(actions=tuple(right()))
    plan = whole.resolve(SEEN, zone_centres(TASKS[0].placements), BODY.waypoints)
    lifted = Hand().after(plan, 4)
    assert lifted == Hand((0.50, 0.00, 0.65 + 0.20), closed=True)
    held = {**SEEN, 'red': lifted.tip_m or SEEN['red']}
    assert judged(PLACE, seen=held, hand=lifted).clean
    again = judged(right(), seen=held, hand=lifted)
    assert again.failures[0].message == 'the gripper holds a block already'
    assert Hand().after(plan, 7) == Hand((0.60, 0.35, 0.68), closed=False)
    assert judged(right(), hand=Hand().after(plan, 0)).clean


def test_only_a_guard_that_blocks_stops_a_plan() -> None:
    plan = ActionPlan(actions=(Release(),))
    observed = Guard('observe', TASKS[0], BODY).check(plan, SEEN, Hand())
    assert (observed.clean, observed.blocked) == (False, False)
    stopped = Guard('block', TASKS[0], BODY).check(plan, SEEN, Hand())
    assert (stopped.clean, stopped.blocked) == (False, True)


def test_every_audit_and_every_task_of_the_table_top_shows_itself() -> None:
    domain = load_domain('tabletop')
    assert len(domain.audits) == 15
    assert [found for name in domain.audits for found in audit_problems(domain, name)] == []
    tasks = load_tasks(domain)
    assert {name: task_problems(domain, task) for name, task in tasks.items()} == {
        'pick_place_red': [],
        'sort_blocks': [],
        'stack_blue_on_red': [],
    }


def experiment(folder: Path, text: str) -> Experiment:
    path = folder / 'some.yaml'
    path.write_text(
        'description: d\nmaster_seed: 1\nbody: {kind: panda}\ntask: {kind: pick_place}\n' + text
    )
    return Experiment.load(str(path))


CONTROL = 'conditions: [{name: control}]\n'


def test_an_arm_may_have_a_guard_of_its_own(tmp_path: Path) -> None:
    b, c = '{kind: oracle, guard: block}', '{kind: oracle, guard: off}'
    arms = f'arms: {{a: {{kind: oracle}}, b: {b}, c: {c}}}\n'
    found = experiment(tmp_path, f'guard: observe\n{arms}{CONTROL}')
    assert [episode.guard for episode in found.episodes()] == ['observe', 'block', 'off']


def test_a_guard_that_there_is_not_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"line 5.*unknown guard 'blok', did you mean 'block'"):
        experiment(tmp_path, f'arms: {{a: {{kind: oracle, guard: blok}}}}\n{CONTROL}')


def test_a_guard_that_is_off_changes_no_fingerprint_and_no_row(tmp_path: Path) -> None:
    arms = f'arms: {{a: {{kind: oracle}}}}\n{CONTROL}'
    plain, off = experiment(tmp_path, arms), experiment(tmp_path, f'guard: off\n{arms}')
    assert plain.fingerprint() == off.fingerprint()
    on = experiment(tmp_path, f'guard: observe\n{arms}')
    assert on.fingerprint() != off.fingerprint()
    without, with_one = (
        EpisodeRecord(found.episode('control_000', 'a'), 1).row(0.0, Abort('timeout', 'x'))
        for found in (off, on)
    )
    assert 'guard' not in without.model_dump()
    assert '"guard"' not in without.model_dump_json()
    assert with_one.model_dump()['guard'] == {'mode': 'observe', 'verdicts': ()}
    assert Row.model_validate(with_one.model_dump()) == with_one


def test_a_condition_may_have_a_task_and_a_control_of_its_own(tmp_path: Path) -> None:
    found = experiment(
        tmp_path,
        'seed_rule: episode_hash\narms: {a: {kind: oracle}}\n'
        'conditions: [{name: one}, {name: sort, task: {kind: sort_blocks}},\n'
        '  {name: late, task: {kind: sort_blocks}, faults: [{kind: gripper_delay}]}]\n',
    )
    kinds = [(cell.name, cell.task.kind, cell.control) for cell in found.cells]
    assert kinds == [
        ('one', 'pick_place', ''),
        ('sort', 'sort_blocks', ''),
        ('late', 'sort_blocks', 'sort'),
    ]
    with pytest.raises(BadSetting, match=r'line 9.*two blocks do not fit'):
        experiment(
            tmp_path,
            'seed_rule: episode_hash\narms: {a: {kind: oracle}}\nconditions:\n  - name: sort\n'
            '    task: {kind: sort_blocks, homes: {red: left_zone, blue: left_zone}}\n',
        )


def test_what_a_planner_is_told_names_the_place_and_the_reason() -> None:
    verdict = judged([to('green.hover')])
    record = EpisodeRecord(Experiment.load('longer').episode('stack_control_000', 'oracle'), 1)
    record.guarded(verdict)
    assert record.objections == ('at the end: red was never put into zone',)
    assert record.failure == 'plan_blocked: at the end: red was never put into zone'
    record.planned(1, [], '')
    assert not record.objections


def test_a_recorded_verdict_that_is_not_what_follows_from_the_plan_is_named() -> None:
    verdict = judged([*PICK, to('zone.hover'), Release()])
    walked: Any = SimpleNamespace(verdicts=[verdict])

    def differing(**changes: object) -> list[str]:
        failures = [
            SimpleNamespace(**{**vars(it), 'position': Vector3(*it.position_m), **changes})
            for it in verdict.failures
        ]
        message = SimpleNamespace(
            **{name: getattr(verdict, name) for name in ('mode', 'clean', 'blocked')},
            goal_reached=verdict.goal_reached,
            failures=failures,
            path=[Vector3(*place) for place in verdict.path_m],
        )
        recording: Any = SimpleNamespace(decoded={'/plan_verdicts': [message]}.__getitem__)
        return [place for place, _, _ in unequal_verdicts(recording, walked)]

    assert differing() == []
    assert differing(action=4) == ['/plan_verdicts[0].failures[0].action']
    assert differing(position=Vector3(0, 0, 0)) == [
        f'/plan_verdicts[0].failures[0].position_m[{axis}]' for axis in range(3)
    ]
    walked.verdicts = []
    assert differing() == ['/plan_verdicts[0]']
