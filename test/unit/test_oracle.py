"""The scripted planners."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_chaos.catalogues import planners
from alpha_chaos.plan import BLOCKS, ActionPlan, Grip, Release, ResolvedMoveTo, Waypoints
from alpha_chaos.planners.base import Planner, PlanRequest
from alpha_chaos.planners.oracle import Oracle
from alpha_chaos.planners.oracle_json import OracleJson
from alpha_chaos.plugins import parse

REQUEST = PlanRequest(
    block='red',
    zone=(0.6, 0.35, 0.65),
    success_radius=0.05,
    blocks={'red': (0.5, -0.15, 0.68), 'green': (0.5, 0.0, 0.68), 'blue': (0.5, 0.15, 0.68)},
    observed_s=0.5,
    waypoints=Waypoints(hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06),
)


def test_the_oracles_plan_has_seven_steps_in_numbers() -> None:
    reply = Oracle().plan(REQUEST)
    assert reply.plan is not None
    assert reply.text is None
    assert not reply.error
    assert reply.plan.actions == (
        ResolvedMoveTo(target=(0.5, -0.15, 0.68 + 0.15), waypoint='red.hover'),
        ResolvedMoveTo(target=(0.5, -0.15, 0.68 + 0.02), waypoint='red.grasp'),
        Grip(block='red'),
        ResolvedMoveTo(target=(0.5, -0.15, 0.68 + 0.15), waypoint='red.lift'),
        ResolvedMoveTo(target=(0.6, 0.35, 0.65 + 0.15), waypoint='zone.hover'),
        ResolvedMoveTo(target=(0.6, 0.35, 0.65 + 0.06), waypoint='zone.place'),
        Release(),
    )


def places(low: float, high: float) -> st.SearchStrategy[tuple[float, float, float]]:
    return st.tuples(st.floats(0.2, 0.9), st.floats(-0.4, 0.5), st.floats(low, high))


@given(st.sampled_from(BLOCKS), places(0.6, 1.0), places(0.6, 1.0))
def test_as_text_the_plan_has_the_same_targets_to_the_last_bit(
    block: str, place: tuple[float, float, float], zone: tuple[float, float, float]
) -> None:
    request = replace(REQUEST, block=block, zone=zone, blocks={block: place})
    typed, text = Oracle().plan(request).plan, OracleJson().plan(request).text
    assert text is not None
    verdict = ActionPlan.validate_raw_plan(text)
    assert verdict.reasons == []
    assert request.resolve(verdict.plan) == typed


@pytest.mark.parametrize('planner', [Oracle(), OracleJson()], ids=lambda planner: planner.kind)
@pytest.mark.parametrize(
    ('changes', 'code'),
    [
        ({'blocks': {'green': (0.5, 0.0, 0.68)}}, 'unseen_block'),
        ({'block': 'purple'}, 'schema'),
        ({'zone': (math.nan, 0.0, 0.65)}, 'not_finite'),
        ({'zone': (0.6, 0.35, 1.2)}, 'out_of_workspace'),
    ],
)
def test_what_cannot_be_planned_is_an_answer_of_both(
    planner: Planner, changes: dict[str, object], code: str
) -> None:
    reply = planner.plan(replace(REQUEST, **changes), None)
    assert (reply.plan, reply.text, reply.error) == (None, None, code)
    assert reply.message
    assert not reply.infrastructure


def test_a_scripted_plan_says_where_it_came_from() -> None:
    for planner in (Oracle(), OracleJson()):
        info = planner.plan(REQUEST, None).info
        assert (info.planner, info.provider, info.model) == (planner.kind, 'scripted', '')
        assert (info.prompt_tokens, info.completion_tokens) == (0, 0)


@pytest.mark.parametrize('kind', sorted(planners()))
def test_every_planner_has_a_node_and_survives_the_journal(kind: str) -> None:
    example = planners()[kind].example
    assert example.node in ('oracle_planner', 'llm_planner')
    assert example.needs_llm == (example.node == 'llm_planner')
    assert parse(planners(), example.model_dump(mode='json'), 'planner') == example
