"""Plans that parse and mean something else: the same wrong plan in every form it may have."""

import json
from typing import Any

import pytest
from fault_traffic import (
    KINDS,
    SEEN,
    WAYPOINTS,
    ZONE,
    AlwaysDraw,
    Message,
    Record,
    Recorder,
    answer,
    question,
    typed_plan,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.wrong_plan import WrongPlan
from alpha_chaos.plan import ActionPlan, MoveTo, Waypoints
from alpha_chaos.planners.oracle import pick_and_place
from alpha_chaos.workspace import WORKSPACE

MODES = ('swapped_block', 'mirrored_y', 'wrong_order')
SCENE = {**SEEN, 'blue': (0.35, 0.2, 0.65)}
NAMED = pick_and_place('red')
NUMBERS = NAMED.resolve(SEEN, {'zone': ZONE}, Waypoints(**WAYPOINTS))


def typed(plan: ActionPlan) -> Message:
    """Return an answer with a plan in numbers."""
    actions: list[tuple[str, Any]] = []
    for action in plan.actions:
        if isinstance(action, MoveTo):
            actions.append(('MOVE_TO', (getattr(action, 'waypoint', ''), *action.target)))
        else:
            actions.append((action.action, getattr(action, 'block', None)))
    return typed_plan(actions)


def text(*actions: Any) -> str:
    """Return a plan as text: a target, 'GRIP red', or 'RELEASE'."""
    written: list[dict[str, Any]] = []
    for action in actions:
        if action == 'RELEASE':
            written.append({'action': 'RELEASE'})
        elif isinstance(action, str) and action.startswith('GRIP '):
            written.append({'action': 'GRIP', 'block': action.removeprefix('GRIP ')})
        else:
            written.append({'action': 'MOVE_TO', 'target': action})
    return json.dumps({'actions': written})


def strike(
    response: Message,
    mode: str,
    seen: dict[str, Any] = SEEN,
    draw: float = 0.0,
    block: str = 'red',
    **settings: Any,
) -> tuple[Message, Record]:
    """Return what the consumer gets."""
    fault = WrongPlan(mode=mode, **settings)  # type: ignore[arg-type]
    recorder = Recorder(fault, fault.injector(AlwaysDraw(draw)))
    call = recorder.call('llm_planner/plan', question(block, seen), response)
    assert call.response is not None
    got: Message = call.response.message
    return got, recorder.finish()


def read(got: Message) -> list[Any]:
    """Return the actions of an answer: a target, 'GRIP red', or 'RELEASE'."""
    if got.typed:
        return [
            (each.target.x, each.target.y, each.target.z)
            if KINDS[each.kind] == 'MOVE_TO'
            else f'{KINDS[each.kind]} {each.block}'.strip()
            for each in got.plan.actions
        ]
    verdict = ActionPlan.validate_raw_plan(got.text)
    assert verdict.reasons == []
    return [
        each.target
        if isinstance(each, MoveTo)
        else f'{each.action} {getattr(each, "block", "")}'.strip()
        for each in verdict.plan.actions
    ]


# -- the oracle's plan, by hand: red at (0.5, -0.15, 0.65), green at (0.45, 0.125, 0.65), the zone
# at (0.6, 0.35, 0.65), waypoints 0.15, 0.02, 0.2 and 0.25, 0.06 above them


def test_the_plan_for_red_in_names_becomes_the_one_for_green() -> None:
    got, record = strike(answer(NAMED.to_text()), 'swapped_block')
    assert got.text == pick_and_place('green').to_text()
    (decision,) = record.decisions
    assert decision.triggered
    assert decision.detail == {'mode': 'swapped_block', 'block': 'red', 'instead': 'green'}
    assert record.evidence.detail == {'decided': 1, 'struck': 1, 'plans': 1, 'possible': 1}


def test_the_plan_for_red_in_numbers_becomes_the_one_for_green() -> None:
    got, _ = strike(typed(NUMBERS), 'swapped_block')
    assert read(got) == [
        (0.45, 0.125, 0.65 + 0.15),
        (0.45, 0.125, 0.65 + 0.02),
        'GRIP green',
        (0.45, 0.125, 0.65 + 0.2),
        (0.6, 0.35, 0.65 + 0.25),
        (0.6, 0.35, 0.65 + 0.06),
        'RELEASE',
    ]
    assert got.plan.actions[0].waypoint == 'green.hover'


@pytest.mark.parametrize('response', [answer(NAMED.to_text()), typed(NUMBERS)])
def test_mirrored_targets_are_the_same_numbers_from_names_and_from_numbers(
    response: Message,
) -> None:
    got, _ = strike(response, 'mirrored_y')
    assert read(got) == [
        (0.5, 0.15, 0.65 + 0.15),
        (0.5, 0.15, 0.65 + 0.02),
        'GRIP red',
        (0.5, 0.15, 0.65 + 0.2),
        (0.6, -0.35, 0.65 + 0.25),
        (0.6, -0.35, 0.65 + 0.06),
        'RELEASE',
    ]
    if got.typed:
        assert {each.waypoint for each in got.plan.actions} == {''}


def test_the_grip_comes_before_the_descent() -> None:
    got, record = strike(answer(NAMED.to_text()), 'wrong_order')
    order = [
        'red.hover',
        'GRIP red',
        'red.grasp',
        'red.lift',
        'zone.hover',
        'zone.place',
        'RELEASE',
    ]
    assert read(got) == order
    assert record.decisions[0].detail == {'mode': 'wrong_order', 'swapped': [1, 2]}


def test_the_grip_comes_before_the_descent_in_numbers_too() -> None:
    got, _ = strike(typed(NUMBERS), 'wrong_order')
    hover, grasp, red, *rest = read(typed(NUMBERS))
    assert read(got) == [hover, red, grasp, *rest]
    grip, descent = got.plan.actions[1:3]
    assert (grip.waypoint, grip.target) == ('', Message(x=0.0, y=0.0, z=0.0))
    assert (descent.waypoint, descent.block) == ('red.grasp', '')


@pytest.mark.parametrize('mode', MODES)
def test_both_forms_of_a_plan_become_forms_of_the_same_wrong_plan(mode: str) -> None:
    named, _ = strike(answer(NAMED.to_text()), mode, SCENE, draw=0.7)
    numbers, _ = strike(typed(NUMBERS), mode, SCENE, draw=0.7)
    wrong = ActionPlan.validate_raw_plan(named.text).plan
    resolved = wrong.resolve(SCENE, {'zone': ZONE}, Waypoints(**WAYPOINTS))
    assert read(typed(resolved)) == read(numbers)


# -- plans of other shapes


def test_the_other_block_is_drawn_among_all_that_are_seen() -> None:
    for draw, other in ((0.0, 'green'), (0.49, 'green'), (0.5, 'blue'), (0.99, 'blue')):
        got, _ = strike(answer(NAMED.to_text()), 'swapped_block', SCENE, draw)
        assert got.text == pick_and_place(other).to_text()  # type: ignore[arg-type]


def test_two_blocks_of_a_plan_change_places() -> None:
    plan = text('red.grasp', 'GRIP red', 'green.hover', 'RELEASE', 'green.grasp', 'GRIP green')
    got, _ = strike(answer(plan), 'swapped_block')
    assert read(got) == [
        'green.grasp', 'GRIP green', 'red.hover', 'RELEASE', 'red.grasp', 'GRIP red',
    ]  # fmt: skip


def test_numbers_above_a_block_go_to_the_same_place_above_the_other() -> None:
    # 0.01 and 0.02 m beside red, and 0.031 m beside it, which is not meant for it any more.
    plan = text([0.51, -0.17, 0.7], [0.531, -0.15, 0.7], 'GRIP red')
    got, _ = strike(answer(plan), 'swapped_block')
    first, second, grip = read(got)
    assert first == pytest.approx((0.46, 0.105, 0.7))
    assert second == (0.531, -0.15, 0.7)
    assert grip == 'GRIP green'


def test_without_a_grip_the_block_of_the_task_is_swapped() -> None:
    got, _ = strike(answer(text('green.hover', 'red.hover')), 'swapped_block', block='green')
    assert read(got) == ['red.hover', 'green.hover']


def test_the_first_grip_with_a_motion_before_it_is_moved() -> None:
    plan = text('GRIP red', 'red.hover', 'red.grasp', 'GRIP red', 'zone.hover', 'GRIP red')
    got, record = strike(answer(plan), 'wrong_order')
    assert read(got) == [
        'GRIP red',
        'red.hover',
        'GRIP red',
        'red.grasp',
        'zone.hover',
        'GRIP red',
    ]
    assert record.decisions[0].detail['swapped'] == [2, 3]


def test_a_target_in_the_middle_stays_as_it_is_written() -> None:
    got, _ = strike(answer(text([0.5, 0.0, 0.7], 'zone.hover')), 'mirrored_y')
    assert read(got) == [(0.5, 0.0, 0.7), (0.6, -0.35, 0.9)]
    seen = {'red': (0.5, 0.0, 0.65)}
    got, _ = strike(answer(text('red.hover', 'zone.hover')), 'mirrored_y', seen)
    assert read(got) == ['red.hover', (0.6, -0.35, 0.9)]


# -- what passes unharmed


@pytest.mark.parametrize('mode', MODES)
@pytest.mark.parametrize(
    ('response', 'why'),
    [
        (answer('I cannot do that.'), 'no plan'),
        (answer(''), 'no plan'),
        (answer('{"actions": []}'), 'no plan'),
        (answer(text('red.hover', [0.5, 0.0, 9.0])), 'no plan'),  # the parser rejects it
        (typed_plan(()), 'no plan'),
        (typed_plan((('MOVE_TO', ('', 0.5, 0.0, 9.0)),)), 'no plan'),
        (typed_plan((('GRIP', 'yellow'),)), 'no plan'),
        (answer('half an ans', error='timeout'), 'no answer'),
        (answer(text('RELEASE')), 'cannot be made wrong in this way'),
    ],
    ids=['prose', 'nothing', 'empty', 'outside', 'typed empty', 'typed outside', 'typed unknown',
         'error', 'release'],
)  # fmt: skip
def test_what_is_no_plan_passes_and_says_so(mode: str, response: Message, why: str) -> None:
    got, record = strike(response, mode)
    assert got == response
    (decision,) = record.decisions
    assert not decision.triggered
    assert decision.detail == {'mode': mode, 'bypassed': why}
    assert not record.evidence.exercised


@pytest.mark.parametrize(
    ('mode', 'plan', 'seen'),
    [
        ('swapped_block', text('red.hover', 'GRIP red'), {'red': SEEN['red']}),  # no other block
        ('swapped_block', text('red.hover', 'GRIP red'), {**SEEN, 'green': (0.96, 0.0, 0.65)}),
        ('swapped_block', text('red.hover', 'GRIP red'), {'green': SEEN['green']}),  # unseen
        ('mirrored_y', text([0.5, 0.5, 0.7]), SEEN),  # -0.5 lies outside the workspace
        ('mirrored_y', text('blue.hover', 'zone.hover'), SEEN),  # blue was not seen
        ('mirrored_y', text([0.5, 0.0, 0.7]), SEEN),
        ('wrong_order', text('GRIP red', 'red.hover'), SEEN),
        ('wrong_order', text('RELEASE', 'GRIP red'), SEEN),
        ('wrong_order', text('red.hover', 'blue.hover', 'GRIP blue'), SEEN),
    ],
)
def test_what_cannot_be_made_wrong_and_stay_a_plan_passes(
    mode: str, plan: str, seen: dict[str, Any]
) -> None:
    got, record = strike(answer(plan), mode, seen)
    assert got.text == plan
    assert record.decisions[0].detail == {
        'mode': mode,
        'bypassed': 'cannot be made wrong in this way',
    }
    assert not record.evidence.exercised


@given(
    st.lists(
        st.one_of(
            st.sampled_from(['red.hover', 'red.grasp', 'green.lift', 'zone.place', 'RELEASE']),
            st.sampled_from(['GRIP red', 'GRIP green']),
            st.tuples(st.floats(0.15, 0.95), st.floats(-0.45, 0.55), st.floats(0.55, 1.25)),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(MODES),
)
def test_whatever_becomes_of_a_plan_is_a_plan_in_the_workspace(actions: Any, mode: str) -> None:
    plan = text(*actions)
    got, record = strike(answer(plan), mode)
    verdict = ActionPlan.validate_raw_plan(got.text)
    assert verdict.reasons == []
    resolved = verdict.plan.resolve(SEEN, {'zone': ZONE}, Waypoints(**WAYPOINTS))
    assert len(resolved.actions) == len(actions)
    assert all(
        WORKSPACE.contains(action.target)
        for action in resolved.actions
        if isinstance(action, MoveTo)
    )
    assert record.decisions[0].triggered is (got.text != plan)


# -- draws


@pytest.mark.parametrize('mode', MODES)
def test_two_numbers_are_drawn_for_each_answer_whatever_it_is(mode: str) -> None:
    for response in (answer(NAMED.to_text()), typed(NUMBERS), answer('no'), answer(error='x')):
        draws = default_rng(9)
        fault = WrongPlan(mode=mode)  # type: ignore[arg-type]
        Recorder(fault, fault.injector(draws)).call('llm_planner/plan', question(), response)
        assert draws.random() == default_rng(9).random(3)[2]


def test_a_plan_that_the_draw_spares_passes_and_was_exercised() -> None:
    got, record = strike(answer(NAMED.to_text()), 'mirrored_y', draw=0.5, probability=0.5)
    assert got.text == NAMED.to_text()
    assert record.decisions[0].detail == {'mode': 'mirrored_y'}
    assert record.evidence.exercised


def test_a_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError, match='mode'):
        WrongPlan(mode='upside_down')  # type: ignore[arg-type]
