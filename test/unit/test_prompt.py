"""What the model is told, and what it is not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_chaos.plan import BLOCKS, WAYPOINT_NAMES, ActionPlan, Waypoints
from alpha_chaos.planners.base import PlanRequest, Sampling
from alpha_chaos.planners.oracle import pick_and_place
from alpha_chaos.planners.prompt import completion_request

REQUEST = PlanRequest(
    block='red',
    zone=(0.6, 0.35, 0.65),
    success_radius=0.05,
    blocks={'red': (0.5, -0.15, 0.655), 'green': (0.5, 0.0, 0.655), 'blue': (0.5, 0.15, 0.655)},
    observed_s=0.5,
    waypoints=Waypoints(hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06),
)
EXAMPLE_ZONES = [(0.7, -0.3, 0.65), (0.35, 0.4, 0.65), (0.45, 0.3, 0.65)]


def told(request: PlanRequest) -> str:
    question = completion_request(request, Sampling())
    return f'{question.system}\n{question.prompt}'


@pytest.mark.parametrize('block', BLOCKS)
@pytest.mark.parametrize('zone', [REQUEST.zone, *EXAMPLE_ZONES])
def test_the_finished_answer_is_not_in_the_prompt(
    block: str, zone: tuple[float, float, float]
) -> None:
    request = replace(REQUEST, block=block, zone=zone)
    text = told(request)
    plan = pick_and_place(block)
    for answer in (plan, request.resolve(plan)):
        assert answer.to_text() not in text
        assert ''.join(answer.to_text().split()) not in ''.join(text.split())
    # Not even a piece of it: no step of the answer that concerns the block is spelled out.
    assert f'{block}.' not in text
    assert f'"{block}"' not in text
    shown = '[{:.2f}, {:.2f}, {:.2f}]'.format(*zone)
    assert shown not in text or zone not in EXAMPLE_ZONES


def test_two_whole_plans_for_the_other_blocks_are_shown() -> None:
    text = told(REQUEST)
    assert pick_and_place('green').to_text() in text
    assert pick_and_place('blue').to_text() in text


def test_task_scene_and_waypoints_are_told() -> None:
    text = told(REQUEST)
    assert text.endswith('Task: move the red block to the zone.\nPlan:')
    assert (
        'Blocks: red [0.500, -0.150, 0.655], green [0.500, 0.000, 0.655],'
        ' blue [0.500, 0.150, 0.655]\nZone: [0.600, 0.350, 0.650]' in text
    )
    for name in ('hover', 'grasp', 'lift'):
        assert f'B.{name}' in text
    assert {name for name in WAYPOINT_NAMES if name.startswith('zone') and name in text} == {
        'zone.hover',
        'zone.place',
    }


def test_a_stale_scene_changes_the_prompt() -> None:
    stale = replace(REQUEST, blocks={**REQUEST.blocks, 'red': (0.5, -0.15, 0.68)})
    assert told(stale) != told(REQUEST)
    asked, asked_stale = (completion_request(r, Sampling()) for r in (REQUEST, stale))
    assert asked.prompt_sha256 != asked_stale.prompt_sha256


@given(st.floats(-1e-4, 1e-4))
def test_a_rounding_error_does_not(error: float) -> None:
    near = {name: (x + error, y + error, z + error) for name, (x, y, z) in REQUEST.blocks.items()}
    assert told(replace(REQUEST, blocks=near)) == told(REQUEST)


def test_other_waypoints_change_the_prompt() -> None:
    higher = REQUEST.waypoints.model_copy(update={'hover': 0.2})
    assert told(replace(REQUEST, waypoints=higher)) != told(REQUEST)


def test_why_an_earlier_plan_was_rejected_is_told() -> None:
    text = told(replace(REQUEST, reasons=('schema: block', 'unknown key: speed')))
    assert 'An earlier plan was rejected: schema: block\n' in text
    assert 'An earlier plan was rejected: unknown key: speed' in text


def test_the_reply_is_held_to_the_schema_of_a_plan() -> None:
    sampling = Sampling(seed=3)
    question = completion_request(REQUEST, sampling)
    assert question.schema == ActionPlan.json_schema()
    assert question.options == sampling
