"""Tasks with several blocks: what they ask for, when they are done, and that they can be done."""

import math
from collections.abc import Mapping, Sequence

import pytest

from alpha_chaos.bodies.panda import Panda
from alpha_chaos.catalogues import tasks
from alpha_chaos.experiment import Experiment
from alpha_chaos.plan import BLOCKS, Grip, MoveTo, Placement, Words, zone_centres
from alpha_chaos.planners.oracle import plan_for
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.tasks.base import Judgement, OnePlan
from alpha_chaos.tasks.sort_blocks import SortBlocks
from alpha_chaos.tasks.stack_blocks import StackBlocks
from alpha_chaos.variation import Variation

STACK, SORT = StackBlocks(), SortBlocks()
LOWER, UPPER = (0.60, 0.35, 0.65), (0.60, 0.35, 0.70)


@pytest.mark.parametrize('kind', sorted(tasks()))
def test_every_task_survives_the_journal_and_asks_for_blocks_that_it_has(kind: str) -> None:
    example = tasks()[kind].example
    assert parse(tasks(), example.model_dump(mode='json'), 'task') == example
    assert [place.block for place in example.placements] == list(example.objects)
    for place in example.placements:
        assert place.base == '' or place.base in example.objects
    assert not example.judge({}).success
    assert math.isnan(example.judge({}).final_error_m)


@pytest.mark.parametrize('kind', sorted(tasks()))
def test_every_task_is_done_where_its_blocks_are_in_their_places(kind: str) -> None:
    example = tasks()[kind].example
    judgement = example.judge({place.block: place.position_m for place in example.placements})
    assert (judgement.success, judgement.success_secondary) == (True, True)
    assert (judgement.final_error_m, judgement.why) == (0.0, '')


def judged(
    upper: Sequence[float], lower: Sequence[float] = LOWER, task: StackBlocks = STACK
) -> Judgement:
    return task.judge({'red': lower, 'blue': upper})


@pytest.mark.parametrize(
    ('upper', 'stands'),
    [
        (UPPER, True),
        ((0.62, 0.35, 0.70), True),
        ((0.60, 0.35, 0.709), True),  # an edge of 0.05 m and 0.009 m more
        ((0.60, 0.35, 0.711), False),
        ((0.626, 0.35, 0.70), False),  # its centre is not above the lower one any more
        ((0.65, 0.35, 0.65), False),  # beside it
        ((0.60, 0.35, 0.65), False),
        ((0.60, math.nan, 0.70), False),
    ],
)
def test_a_stack_stands_or_it_is_none(upper: tuple[float, float, float], stands: bool) -> None:
    judgement = judged(upper)
    assert (judgement.success, judgement.success_secondary) == (stands, stands)
    assert judgement.why == '' if stands else judgement.why.startswith('not_stacked: blue')


def test_a_stack_that_stands_elsewhere_does_not_count() -> None:
    judgement = judged((0.50, 0.35, 0.70), (0.50, 0.35, 0.65))
    assert judgement == Judgement(False, False, pytest.approx(0.1), judgement.why)
    assert judgement.why == 'not_in_zone: red 0.100 m from its centre'
    near = judged((0.67, 0.35, 0.70), (0.67, 0.35, 0.65))
    assert (near.success, near.success_secondary) == (False, True)


def test_of_sorted_blocks_the_worst_counts_and_all_that_are_wrong_are_named() -> None:
    right = {place.block: place.position_m for place in SORT.placements}
    moved = {**right, 'green': (0.60, -0.29, 0.65), 'blue': (math.nan, 0.0, 0.65)}
    one = SORT.judge({**right, 'green': (0.60, -0.29, 0.65)})
    assert (one.success, one.success_secondary) == (False, True)
    assert (one.final_error_m, one.why) == (
        pytest.approx(0.06),
        'not_sorted: green 0.060 m from right_zone',
    )
    both = SORT.judge(moved)
    assert math.isnan(both.final_error_m)
    assert both.why == 'not_sorted: green 0.060 m from right_zone, blue nan m from middle_zone'


@pytest.mark.parametrize(
    ('settings', 'why'),
    [
        (
            {'kind': 'sort_blocks', 'homes': {'red': 'left_zone', 'blue': 'left_zone'}},
            'two blocks',
        ),
        ({'kind': 'sort_blocks', 'homes': {'red': 'zone'}}, "there is no 'zone'"),
        ({'kind': 'sort_blocks', 'homes': {'purple': 'left_zone'}}, "'red', 'green' or 'blue'"),
        ({'kind': 'sort_blocks', 'homes': {}}, 'homes'),
        ({'kind': 'stack_blocks', 'upper': 'red'}, 'cannot lie on itself'),
        ({'kind': 'stack_blocks', 'edge': 0.05}, "did you mean 'edge_m'"),
        ({'kind': 'stack_block'}, "did you mean 'stack_blocks'"),
    ],
)
def test_a_task_that_cannot_be_done_is_refused(settings: Mapping[str, object], why: str) -> None:
    with pytest.raises(BadSetting, match=why):
        parse(tasks(), settings, 'task')


def test_what_plans_can_name_follows_from_the_task() -> None:
    blocks = [f'{block}.{name}' for block in BLOCKS for name in ('hover', 'grasp', 'lift')]
    assert [*Words.of(STACK.placements).waypoints] == [
        *blocks, 'zone.hover', 'zone.place', 'zone.stack',
    ]  # fmt: skip
    assert [*Words.of(SORT.placements).waypoints] == [
        *blocks,
        'left_zone.hover', 'left_zone.place',
        'right_zone.hover', 'right_zone.place',
        'middle_zone.hover', 'middle_zone.place',
    ]  # fmt: skip


def test_between_two_blocks_the_hand_rises_from_the_one_that_it_let_go() -> None:
    names = [
        action.target if isinstance(action, MoveTo) else type(action).__name__
        for action in plan_for(STACK.placements).actions
    ]
    assert names == [
        'red.hover', 'red.grasp', 'Grip', 'red.lift', 'zone.hover', 'zone.place', 'Release',
        'zone.hover',
        'blue.hover', 'blue.grasp', 'Grip', 'blue.lift', 'zone.hover', 'zone.stack', 'Release',
    ]  # fmt: skip


def carried_out(task: OnePlan, seed: int) -> Judgement:
    """Return what becomes of the oracle's plan in a scene that is drawn."""
    drawn = Variation(position_m=0.03, yaw_rad=0.3, mass_kg=(0.05, 0.2)).drawn(Panda(), seed)
    with drawn.world() as world:

        def let_pass(steps: int) -> dict[str, tuple[float, ...]]:
            for _ in range(steps):
                world.step()
            places = world.state().object_pose[:, :3].tolist()
            return dict(zip(world.object_names, map(tuple, places), strict=True))

        seen = let_pass(task.settle_steps)
        zones = zone_centres(task.placements)
        for action in plan_for(task.placements).resolve(seen, zones, drawn.waypoints).actions:
            if isinstance(action, MoveTo):
                let_pass(world.start_move(action.target, None))
            elif isinstance(action, Grip):
                let_pass(world.start_grip(0.0, 500.0, action.block))
            else:
                let_pass(world.start_grip(0.08, 0.0, ''))
        return task.judge(let_pass(task.rest_steps))


@pytest.mark.parametrize('task', [STACK, SORT], ids=lambda task: task.kind)
@pytest.mark.parametrize('seed', [1, 2])
def test_the_oracle_does_it_whatever_the_scene(task: OnePlan, seed: int) -> None:
    judgement = carried_out(task, seed)
    assert judgement.success
    assert judgement.final_error_m < 0.005


def test_a_zone_of_another_task_is_no_place_of_this_one() -> None:
    with pytest.raises(ValueError, match=r"'zone.hover' is at no zone of this task"):
        plan_for([Placement('red', LOWER, 0.05)]).resolve(
            {'red': LOWER}, zone_centres(SORT.placements), Panda().waypoints
        )


def test_a_task_that_asks_for_a_plan_of_nothing_is_refused_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StackBlocks, 'placements', property(lambda task: ()))
    with pytest.raises(BadSetting, match=r"line .*task 'stack_blocks' asks for a plan"):
        Experiment.load('longer')


def test_a_body_that_cannot_put_a_block_on_another_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flat = Panda().waypoints.model_copy(update={'zone_stack': 0.0})
    monkeypatch.setattr(Panda, 'waypoints', property(lambda body: flat))
    with pytest.raises(BadSetting, match=r"line .*body 'panda' has no waypoint"):
        Experiment.load('longer')
