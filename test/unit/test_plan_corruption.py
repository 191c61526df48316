"""What is left of a plan's text."""

import json
from typing import Any

import pytest
from fault_traffic import PLAN, Message, Record, Recorder, answer
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from alpha_chaos.faults.base import Call, Fields
from alpha_chaos.faults.plan_corruption import GARBAGE, PlanCorruption
from alpha_chaos.plan import WAYPOINT_NAMES, ActionPlan

TEXT = json.dumps(PLAN)
seeds = st.integers(0, 2**32 - 1)

actions = st.one_of(
    st.builds(lambda name: {'action': 'MOVE_TO', 'target': name}, st.sampled_from(WAYPOINT_NAMES)),
    st.builds(lambda x: {'action': 'MOVE_TO', 'target': [x, 0.1, 0.7]}, st.floats(0.15, 0.95)),
    st.builds(lambda name: {'action': 'GRIP', 'block': name}, st.sampled_from(['red', 'blue'])),
    st.just({'action': 'RELEASE'}),
)
plans = st.builds(
    lambda steps, indent, frame: frame % json.dumps({'actions': steps}, indent=indent),
    st.lists(actions, min_size=1, max_size=8),
    st.sampled_from([None, 2]),
    st.sampled_from(['%s', ' %s\n\n', '```json\n%s\n```', '\n```\n%s\n```\n ']),
)


def corrupt(text: str, seed: int = 0, **settings: Any) -> tuple[str, Record]:
    fault = PlanCorruption(**settings)
    recorder = Recorder(fault, fault.injector(default_rng(seed)))
    call = recorder.call('llm_planner/plan', Message(), answer(text))
    assert call.response is not None
    return str(call.response.get('text')), recorder.finish()


@given(plans, seeds, st.sampled_from([0.0, 0.5, 1.0]))
def test_a_valid_plan_becomes_another_text_that_is_rejected(
    text: str, seed: int, cut_share: float
) -> None:
    assert ActionPlan.validate_raw_plan(text).reasons == []
    damaged, record = corrupt(text, seed, cut_share=cut_share)
    assert damaged != text
    verdict = ActionPlan.validate_raw_plan(damaged)
    assert verdict.reasons
    assert verdict.plan.actions == ()
    (decision,) = record.decisions
    assert decision.triggered
    assert decision.detail['kind'] in ('drop_keys', 'truncate', 'garbage')


@given(
    st.one_of(
        st.text(),
        st.text(alphabet='{}[]",:` \n\\actionsbletrg01.e-NaN', max_size=40),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(['actions', 'action', 'target', 'block', 'x']), inner
                )
            ),
        ).map(json.dumps),
    ),
    seeds,
    st.sampled_from([0.0, 1.0]),
)
def test_any_text_becomes_another_text_that_is_rejected(
    text: str, seed: int, cut_share: float
) -> None:
    damaged, _ = corrupt(text, seed, cut_share=cut_share)
    assert damaged != text
    assert ActionPlan.validate_raw_plan(damaged).reasons


def test_all_required_keys_of_all_actions_are_dropped() -> None:
    damaged, record = corrupt(TEXT)
    assert json.loads(damaged) == {'actions': [{}, {}, {}, {}, {}]}
    assert record.decisions[0].detail == {
        'kind': 'drop_keys',
        'dropped': {'action': 5, 'target': 3, 'block': 1},
    }
    reasons = ActionPlan.validate_raw_plan(damaged).reasons
    assert {reason.code for reason in reasons} == {'missing_key'}


def test_a_fence_and_prose_around_the_plan_stay() -> None:
    damaged, _ = corrupt(f'Sure!\n```json\n{TEXT}\n```')
    assert damaged == 'Sure!\n```json\n{"actions": [{}, {}, {}, {}, {}]}\n```'


def test_a_key_written_with_escapes_is_dropped_too() -> None:
    damaged, _ = corrupt('{"actions": [{"\\u0061ction": "RELEASE"}]}')
    assert damaged == '{"actions": [{}]}'


@pytest.mark.parametrize(
    'text',
    [
        'I cannot do that.',
        '{"actions": []}',  # JSON, and nothing to drop
        '{"actions": [{"action": "RELEASE"}',
        '{"a":' * 100_000,
        '{"action": ' + '[' * 100_000 + ']' * 100_000 + '}',
        '{"action": ' + '9' * 5000 + '}',
    ],
    ids=['prose', 'no key', 'broken', 'unclosed', 'deep', 'digits'],
)
def test_what_has_no_keys_to_drop_is_cut_short(text: str) -> None:
    damaged, record = corrupt(text)
    assert text.startswith(damaged)
    assert 0 < len(damaged) < len(text)
    assert record.decisions[0].detail == {
        'kind': 'truncate',
        'characters': len(text),
        'left': len(damaged),
    }


@pytest.mark.parametrize('text', ['', ' ', 'x', '}'])
def test_what_is_too_short_to_cut_gets_garbage(text: str) -> None:
    damaged, record = corrupt(text)
    assert damaged.startswith(text)
    assert record.decisions[0].detail == {
        'kind': 'garbage',
        'characters': len(text),
        'appended': damaged.removeprefix(text),
    }


def test_half_of_the_cuts_are_garbage_and_the_share_is_kept() -> None:
    kinds = [
        corrupt(TEXT, seed, cut_share=0.5)[1].decisions[0].detail['kind'] for seed in range(400)
    ]
    assert kinds.count('drop_keys') == pytest.approx(200, abs=40)
    assert kinds.count('truncate') == pytest.approx(100, abs=35)
    assert kinds.count('garbage') == pytest.approx(100, abs=35)


def test_cuts_lie_all_over_the_plan_and_garbage_is_of_every_kind() -> None:
    details = [corrupt(TEXT, seed, cut_share=1.0)[1].decisions[0].detail for seed in range(300)]
    left = [detail['left'] for detail in details if detail['kind'] == 'truncate']
    assert min(left) < 0.1 * len(TEXT)
    assert max(left) > 0.9 * len(TEXT)
    assert {detail.get('appended') for detail in details} == {None, *GARBAGE}


def test_the_shortest_cut_leaves_one_character() -> None:
    assert corrupt('x}')[0] == 'x'


def test_without_a_share_of_cuts_keys_are_always_dropped() -> None:
    for seed in range(50):
        assert corrupt(TEXT, seed)[1].decisions[0].detail['kind'] == 'drop_keys'


def test_it_strikes_exactly_when_the_draw_is_below_the_probability() -> None:
    draw = float(default_rng(3).random())
    below, above = draw - 1e-9, draw + 1e-9
    for probability, struck in ((0.0, False), (below, False), (draw, False), (above, True)):
        damaged, record = corrupt(TEXT, 3, probability=probability)
        assert (damaged != TEXT) is struck
        (decision,) = record.decisions
        assert decision.draw == draw
        assert decision.triggered is struck
        assert record.evidence.exercised  # also when it lost the draw


def test_a_typed_plan_passes_and_draws_the_same_numbers() -> None:
    fault = PlanCorruption(cut_share=0.5)
    pair = []
    for response in (answer(TEXT), answer(typed=True)):
        recorder = Recorder(fault, fault.injector(default_rng(1)))
        for _ in range(3):
            recorder.call('oracle_planner/plan', Message(), response)
        pair.append(recorder.finish())
    text, typed = pair
    assert [each.draw for each in text.decisions] == [each.draw for each in typed.decisions]
    assert typed.messages == [Message(), answer(typed=True)] * 3
    assert not any(decision.triggered for decision in typed.decisions)
    assert typed.decisions[0].detail == {'bypassed': 'typed plan'}
    assert text.evidence.exercised
    assert text.evidence.detail == {'decided': 3, 'struck': 3, 'texts': 3}
    assert not typed.evidence.exercised


def test_a_planner_that_gave_no_answer_has_nothing_to_corrupt() -> None:
    fault = PlanCorruption()
    recorder = Recorder(fault, fault.injector(default_rng(1)))
    response = answer(text='half an ans', error='timeout')
    call = recorder.call('llm_planner/plan', Message(), response)
    assert call.response is not None
    assert call.response.message == response
    record = recorder.finish()
    assert record.decisions[0].detail == {'bypassed': 'no answer'}
    assert not record.evidence.exercised


def test_a_call_without_a_response_is_no_decision() -> None:
    injector = PlanCorruption().injector(default_rng(0))
    injector.on_response(Call('llm_planner/plan', 1, Fields(Message())))
    assert injector.decisions() == []
