"""A plan made for blocks elsewhere: what the planner is shown, and whom it misleads."""

import json
from typing import Any

import pytest
from fault_traffic import (
    PLAN,
    SEEN,
    TYPED,
    Message,
    Record,
    Recorder,
    answer,
    question,
    sample,
    typed_plan,
)
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.base import Call, Fields
from alpha_chaos.faults.stale_plan import StalePlan

NAMED = json.dumps(
    {'actions': [{'action': 'MOVE_TO', 'target': 'red.hover'}, {'action': 'RELEASE'}]}
)
Seen = dict[str, tuple[float, float, float]]


def ask(
    seen: Seen = SEEN, response: Message | None = None, seed: int = 0, **settings: Any
) -> tuple[Seen, Record]:
    """Return where the planner sees the blocks."""
    fault = StalePlan(**{'spread_m': 0.1, **settings})
    recorder = Recorder(fault, fault.injector(default_rng(seed)))
    call = recorder.call('oracle_planner/plan', question(seen=seen), response or typed_plan(TYPED))
    shown = {}
    for block in call.request.get('scene.blocks'):
        at = block.pose.position
        shown[block.name] = (at.x, at.y, at.z)
    return shown, recorder.finish()


def test_each_block_is_moved_by_its_own_draw_within_the_spread() -> None:
    draws = default_rng(0)
    draws.random()  # whether it strikes
    shares = draws.uniform(-1.0, 1.0, (2, 2)).tolist()
    shown, record = ask(spread_m=0.1)
    for (name, (x, y, z)), (along_x, along_y) in zip(SEEN.items(), shares, strict=True):
        assert shown[name] == (x + along_x * 0.1, y + along_y * 0.1, z)
    (decision,) = record.decisions
    assert decision.triggered
    red = decision.detail['moved_m']['red']  # type: ignore[index,call-overload]
    assert red == pytest.approx([share * 0.1 for share in shares[0]])


def test_over_many_seeds_blocks_are_moved_over_the_whole_spread_and_no_further() -> None:
    by = [ask({'red': (0.5, 0.0, 0.65)}, seed=seed)[0]['red'] for seed in range(400)]
    for axis, true in ((0, 0.5), (1, 0.0)):
        errors = [place[axis] - true for place in by]
        assert -0.1 - 1e-12 <= min(errors) < -0.09
        assert 0.09 < max(errors) <= 0.1 + 1e-12
        # Five standard errors of the mean of a uniform draw.
        assert sum(errors) / 400 == pytest.approx(0.0, abs=5 * 0.1 / 3**0.5 / 20)
    assert {place[2] for place in by} == {0.65}


def test_no_block_is_moved_out_of_the_workspace() -> None:
    corner = (0.95, -0.45, 0.65)
    for seed in range(30):
        x, y, _ = ask({'red': corner}, seed=seed, spread_m=1.0)[0]['red']
        assert 0.15 <= x <= 0.95
        assert -0.45 <= y <= 0.55


def test_a_block_on_the_floor_stays_there() -> None:
    assert ask({'red': (1.2, 0.7, 0.02)})[0]['red'] == (1.2, 0.7, 0.02)


def test_only_the_planner_is_shown_the_blocks_elsewhere() -> None:
    fault = StalePlan(spread_m=0.1)
    injector = fault.injector(default_rng(0))
    came = sample(0.5)
    assert list(injector.on_message(came)) == [came]
    asked = question()
    call = Call('oracle_planner/plan', 1, Fields(asked))
    injector.on_request(call)
    assert asked.zone == question().zone
    assert asked.waypoints == question().waypoints


@pytest.mark.parametrize(
    ('response', 'plans', 'numeric'),
    [
        (typed_plan(TYPED), 1, 1),
        (answer(json.dumps(PLAN)), 1, 1),  # one target of it is in numbers
        (answer(NAMED), 1, 0),
        (typed_plan((('GRIP', 'red'), ('RELEASE', None))), 1, 0),
        (answer('I cannot do that.'), 0, 0),
        (answer(error='unseen_block'), 0, 0),
    ],
    ids=['typed', 'numbers', 'names', 'no motion', 'prose', 'no answer'],
)
def test_a_plan_without_numbers_is_immune_and_the_evidence_says_so(
    response: Message, plans: int, numeric: int
) -> None:
    _, record = ask(response=response)
    assert record.evidence.exercised is bool(numeric)
    assert record.evidence.detail == {
        'decided': 1,
        'struck': 1,
        'plans': plans,
        'numeric_plans': numeric,
        'misled': numeric,
    }


def test_a_plan_that_lost_the_draw_was_exercised_and_not_misled() -> None:
    shown, record = ask(probability=0.0)
    assert shown == SEEN
    assert record.evidence.exercised
    assert record.evidence.detail['misled'] == 0


def test_every_call_uses_up_the_same_draws() -> None:
    after = []
    for probability, others in ((0.0, {}), (1.0, {}), (1.0, {'answer': Fields(answer())})):
        draws = default_rng(1)
        injector = StalePlan(spread_m=0.1, probability=probability).injector(draws)
        injector.on_request(Call('llm_planner/plan', 1, Fields(question()), **others))
        after.append(draws.random())
    assert after[0] == after[1] == after[2]


def test_a_call_that_is_answered_already_is_left_alone() -> None:
    injector = StalePlan(spread_m=0.1).injector(default_rng(0))
    asked = question()
    injector.on_request(Call('llm_planner/plan', 1, Fields(asked), answer=Fields(answer())))
    assert asked == question()
    (decision,) = injector.decisions()
    assert decision.detail == {'moved_m': {}, 'bypassed': 'answered already'}


@pytest.mark.parametrize('spread_m', [-1e-9, 1.1])
def test_a_spread_that_is_none_is_refused(spread_m: float) -> None:
    with pytest.raises(ValidationError, match='spread_m'):
        StalePlan(spread_m=spread_m)
