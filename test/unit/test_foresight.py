"""Thoughts before the actions: shown, asked for, and taken out before anybody else sees them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from alpha_chaos.plan import ActionPlan, Placement, Waypoints
from alpha_chaos.planners.base import Completion, CompletionRequest, PlanRequest, Sampling
from alpha_chaos.planners.foresight import FORESEE, INSTRUCTION, without_thoughts, written
from alpha_chaos.planners.llm import Llm
from alpha_chaos.planners.oracle import plan_for
from alpha_chaos.planners.prompt import completion_request
from alpha_chaos.tasks.sort_blocks import SortBlocks
from alpha_chaos.tasks.stack_blocks import StackBlocks

REQUEST = PlanRequest(
    block='red',
    zone=(0.6, 0.35, 0.65),
    success_radius=0.05,
    blocks={'red': (0.5, -0.15, 0.655), 'green': (0.5, 0.0, 0.655), 'blue': (0.5, 0.15, 0.655)},
    observed_s=0.5,
    waypoints=Waypoints(
        hover=0.15, grasp=0.0, lift=0.2, zone_hover=0.2, zone_place=0.03, zone_stack=0.08
    ),
)
PLAN = plan_for(REQUEST.wanted)


def asked(placements: tuple[Placement, ...], foresees: bool = False) -> CompletionRequest:
    first = placements[0]
    request = replace(REQUEST, block=first.block, placements=placements)
    return completion_request(request, Sampling(), 'foresight' if foresees else 'base')


def test_what_is_foreseen_follows_the_hand() -> None:
    value = json.loads(written(PLAN))
    assert list(value) == [FORESEE, 'actions']
    assert len(value[FORESEE]) == len(value['actions']) == 7
    assert value[FORESEE][2:5] == [
        'open, red.grasp: holds red, safe',
        'holds red, way is free: at red.lift, safe',
        'holds red, way is free: at zone.hover, safe',
    ]
    assert value[FORESEE][-1] == 'holds red, zone.place: red lies there, safe'


def test_without_its_thoughts_a_reply_is_the_plan_of_every_other_arm() -> None:
    assert without_thoughts(written(PLAN)) == PLAN.to_text()


@pytest.mark.parametrize(
    'reply',
    [
        '',
        'no JSON',
        '[1, 2]',
        '{"actions": []}',
        f'{{"{FORESEE}": ["a"], "actions": [',
        f'{{"{FORESEE}": ["a"], "{FORESEE}": ["b"], "actions": []}}',
        '[' * 100_000,
        '\ud800',
    ],
)
def test_what_is_no_reply_with_thoughts_is_left_to_the_parser(reply: str) -> None:
    assert without_thoughts(reply) == reply


def test_a_number_that_no_plan_may_have_is_still_refused() -> None:
    action = '{"action":"MOVE_TO","target":[0.5,NaN,1e999]}'
    text = without_thoughts(f'{{"{FORESEE}":["a"],"actions":[{action}]}}')
    assert [reason.code for reason in ActionPlan.validate_raw_plan(text).reasons] == [
        'not_finite',
        'not_finite',
    ]


def test_the_model_is_asked_for_thoughts_and_held_to_them() -> None:
    plain, thoughtful = asked(REQUEST.wanted), asked(REQUEST.wanted, True)
    assert thoughtful.system == plain.system + INSTRUCTION
    assert thoughtful.schema['required'] == [FORESEE, 'actions']
    assert thoughtful.schema['properties']['actions'] == plain.schema['properties']['actions']
    for block in ('green', 'blue'):
        example = plan_for([Placement(block, REQUEST.zone, 0.05)])
        assert written(example) in thoughtful.prompt
        assert example.to_text() not in thoughtful.prompt
    assert plain.prompt.rpartition('Blocks:')[2] == thoughtful.prompt.rpartition('Blocks:')[2]


def test_the_planner_hands_over_no_thought() -> None:
    answer: dict[str, Any] = {
        'text': written(PLAN), 'provider': 'embedded', 'model': 'tiny', 'digest': 'ab' * 32,
        'prompt_tokens': 900, 'completion_tokens': 300, 'wall_s': 9.5, 'done_reason': 'stop',
    }  # fmt: skip
    reply = Llm(prompting='foresight').plan(REQUEST, lambda question: Completion(**answer))
    assert (reply.text, reply.error) == (PLAN.to_text(), '')
    assert reply.info.completion_tokens == 300  # what the thoughts cost is told
    typed = Llm(prompting='foresight', handover='typed')
    assert typed.plan(REQUEST, lambda question: Completion(**answer)).plan == REQUEST.resolve(PLAN)


def test_a_task_with_several_blocks_is_told_in_its_order_with_two_other_plans() -> None:
    stack, sort = StackBlocks().placements, SortBlocks().placements
    question = asked(stack)
    assert question.prompt.endswith(
        'Zone: [0.600, 0.350, 0.650]\nTask: move the red block to the zone, '
        'then put the blue block on the red one.\nPlan:'
    )
    assert ' zone Z, Z.place 0.03 above it, Z.stack 0.08 above it' in question.system
    assert 'moves blocks to zones' in question.system
    sorting = asked(sort)
    assert sorting.prompt.endswith(
        'Task: move the red block to left_zone, then move the green block to right_zone, '
        'then move the blue block to middle_zone.\nPlan:'
    )
    assert 'stack' not in sorting.system
    for placements in (stack, sort):
        own = plan_for(placements).to_text()
        question = asked(placements)
        assert own not in question.prompt
        assert question.prompt.count('Plan: {') == 2


def test_why_an_earlier_plan_was_stopped_is_told() -> None:
    reasons = ('at the end: red was never put into zone',)
    question = completion_request(replace(REQUEST, reasons=reasons), Sampling(), 'foresight')
    assert question.prompt.endswith(f'An earlier plan was rejected: {reasons[0]}')
