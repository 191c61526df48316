"""The plan: what is read, what is refused, and where its targets lie."""

import json
import math
import time
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from alpha_chaos.plan import (
    BLOCKS,
    MAX_ACTIONS,
    MAX_BYTES,
    MAX_REASONS,
    WAYPOINT_NAMES,
    ActionPlan,
    Grip,
    MoveTo,
    PlanProblem,
    Reason,
    Release,
    ResolvedMoveTo,
    Waypoints,
)
from alpha_chaos.workspace import WORKSPACE

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / 'cases/llm_replies.jsonl').read_text().splitlines()
]
# The words of a case's `why` that the reason has to contain; one of these where there are several.
NAMED = {
    'actions_missing': ['missing key: actions'],
    'digits_5000': ['not finite', 'out of workspace'],
    'lone_surrogate': ['schema: block'],
}
SEVEN_STEPS = json.dumps(
    {
        'actions': [
            {'action': 'MOVE_TO', 'target': 'blue.hover'},
            {'action': 'MOVE_TO', 'target': 'blue.grasp'},
            {'action': 'GRIP', 'block': 'blue'},
            {'action': 'MOVE_TO', 'target': 'blue.lift'},
            {'action': 'MOVE_TO', 'target': 'zone.hover'},
            {'action': 'MOVE_TO', 'target': 'zone.place'},
            {'action': 'RELEASE'},
        ]
    }
)
RELEASE = '{"actions":[{"action":"RELEASE"}]}'
WAYPOINTS = Waypoints(hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06)
BLOCKS_SEEN = {'red': (0.5, -0.15, 0.655), 'green': (0.5, 0.0, 0.655), 'blue': (0.5, 0.15, 0.655)}
ZONES = {'zone': (0.6, 0.35, 0.65)}

ANY_TEXT = st.text(st.characters(codec=None, categories=None))  # lone surrogates and NUL, too
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.just('red'),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(['actions', 'action', 'target', 'block']) | ANY_TEXT,
            inside | st.sampled_from(['MOVE_TO', 'GRIP', 'RELEASE', 'red.hover']),
            max_size=4,
        )
    ),
)
POINTS = st.tuples(
    *(st.floats(low, high) for low, high in zip(WORKSPACE.min, WORKSPACE.max, strict=True))
)
PLANS = st.lists(
    st.builds(MoveTo, target=st.sampled_from(WAYPOINT_NAMES) | POINTS)
    | st.builds(Grip, block=st.sampled_from(BLOCKS))
    | st.just(Release()),
    min_size=1,
    max_size=MAX_ACTIONS,
).map(lambda actions: ActionPlan(actions=tuple(actions)))


def refused(text: str) -> list[str]:
    """Return the reasons, having checked that a refused plan is empty and its reasons sendable."""
    verdict = ActionPlan.validate_raw_plan(text)
    assert verdict.plan.actions == ()
    assert 0 < len(verdict.reasons) <= MAX_REASONS
    for reason in verdict.reasons:
        assert '\x00' not in str(reason).encode().decode()
        assert len(str(reason)) < 400
    return [str(reason) for reason in verdict.reasons]


def accepted(text: str) -> ActionPlan:
    verdict = ActionPlan.validate_raw_plan(text)
    assert verdict.reasons == []
    return verdict.plan


def one(action: Mapping[str, object]) -> str:
    return json.dumps({'actions': [action]})


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_each_known_reply_gets_its_verdict_and_the_reason_names_why(case: dict[str, str]) -> None:
    if case['expect'] == 'accept':
        assert len(accepted(case['reply']).actions) == 6
    else:
        reasons = refused(case['reply'])
        words = NAMED.get(case['id'], [case['why']])
        assert any(word in reason for reason in reasons for word in words)


def test_the_plan_of_seven_steps_is_read() -> None:
    assert len(accepted(SEVEN_STEPS).actions) == 7


def test_a_point_is_a_target_and_a_whole_number_a_coordinate() -> None:
    plan = accepted('{"actions":[{"action":"MOVE_TO","target":[0.5,-0,1]}]}')
    assert plan.actions == (MoveTo(target=(0.5, 0.0, 1.0)),)


@given(ANY_TEXT)
@example('\ufeff' + RELEASE)
@example('[' * 100_000)
@example('"' * 100_000)
@example('{"a":' * 100_000)
@example('9' * 100_000)
@example('{"actions":[{"action":"' + 'x' * 60_000 + '"}]}')
@example('\\' * 10_000)
@example('```')
@example('``````')
def test_no_text_is_too_odd_to_be_judged(text: str) -> None:
    refused(text)


@given(JSON_VALUES)
def test_no_json_is_too_odd_to_be_judged(value: object) -> None:
    verdict = ActionPlan.validate_raw_plan(json.dumps(value))
    assert bool(verdict.plan.actions) != bool(verdict.reasons)


@given(st.text('[]{}:,"\\ \n`actionMOVE_TO01.e+-', max_size=60))
def test_no_near_json_is_too_odd_to_be_judged(text: str) -> None:
    refused(text)


@given(PLANS)
def test_a_plan_written_and_read_is_the_same_to_the_last_bit(plan: ActionPlan) -> None:
    again = accepted(plan.to_text())
    assert again == plan
    assert repr(again) == repr(plan)  # -0.0 is not 0.0


@given(PLANS, st.data())
def test_a_plan_cut_short_is_none(plan: ActionPlan, data: st.DataObject) -> None:
    text = plan.to_text()
    refused(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.parametrize(
    'text',
    [
        f'```\n{RELEASE}\n```',
        f'```json\n{RELEASE}\n```',
        f'\n ```JSON \r\n{RELEASE}\r\n```  \n\n',
        f'{RELEASE}\n',
    ],
)
def test_a_fence_around_the_whole_reply_is_unwrapped(text: str) -> None:
    assert accepted(text).actions == (Release(),)


@pytest.mark.parametrize(
    'text',
    [
        f'```python\n{RELEASE}\n```',
        f'```json\n{RELEASE}',
        f'{RELEASE}\n```',
        f'```json {RELEASE} ```',
        f'```json\n{RELEASE}\n```\nDone.',
        f'```json\n```json\n{RELEASE}\n```\n```',
        f'```json\n{RELEASE}\n```\n```json\n{RELEASE}\n```',
    ],
)
def test_any_other_fence_is_not_json(text: str) -> None:
    assert refused(text)[0].startswith('not_json')


def test_an_empty_fence_is_an_empty_reply() -> None:
    assert refused('```json\n\n```')[0].startswith('empty_reply')


@pytest.mark.parametrize(
    ('reply', 'why'),
    [
        ('5', 'schema: must be an object'),
        ('[]', 'schema: must be an object'),
        ('null', 'schema: must be an object'),
        ('NaN', 'schema: must be an object'),
        ('{"actions":"RELEASE"}', 'schema: actions'),
        ('{"actions":{"action":"RELEASE"}}', 'schema: actions'),
        ('{"actions":["RELEASE"]}', 'schema: actions (actions[0])'),
        ('{"actions":[{}]}', 'missing key: action (actions[0].action)'),
        ('{"actions":[{"action":null}]}', 'schema: action'),
        ('{"actions":[{"action":"\\ud800"}]}', 'schema: action'),
        ('{"actions":[{"action":"RELEASE"}],"note":"x"}', 'unknown key: note'),
        ('{"actions":[{"action":"RELEASE"}],"actions":[]}', 'duplicate key: actions'),
        (one({'action': 'RELEASE', 'a.b': 1}), 'unknown key: a.b (actions[0].a.b)'),
        (one({'action': 'RELEASE', '\ud800': 1}), 'unknown key: \\ud800'),
        (one({'action': 'GRIP', 'block': True}), 'schema: block'),
        (one({'action': 'GRIP', 'block': ['red']}), 'schema: block'),
        (one({'action': 'MOVE_TO', 'target': None}), 'schema: target'),
        (one({'action': 'MOVE_TO', 'target': 'red.top'}), 'red.hover, red.grasp'),
        (one({'action': 'MOVE_TO', 'target': 'zone.lift'}), 'schema: target'),
        (one({'action': 'MOVE_TO', 'target': 'red.hover '}), 'schema: target'),
        (one({'action': 'MOVE_TO', 'target': {'x': 0.5, 'y': 0, 'z': 1}}), 'schema: target'),
        (one({'action': 'MOVE_TO', 'target': [0.5, 0, 1, 0]}), 'schema: target'),
        (one({'action': 'MOVE_TO', 'target': [0.5, 0, None]}), 'schema: target'),
        (one({'action': 'MOVE_TO', 'target': [0.5, 0, -math.inf]}), 'not finite: target'),
        (one({'action': 'MOVE_TO', 'target': [0.5, 0, 1.2500001]}), 'out of workspace: target'),
        (one({'action': 'MOVE_TO', 'waypoint': 'red.hover'}), 'missing key: target'),
    ],
)
def test_every_reason_names_the_key_and_what_is_wrong(reply: str, why: str) -> None:
    assert any(why in reason for reason in refused(reply))


def test_the_name_kept_with_a_resolved_target_cannot_be_written() -> None:
    action = {'action': 'MOVE_TO', 'target': [0.5, 0, 1], 'waypoint': 'red.hover'}
    assert refused(one(action)) == [
        'unknown key: waypoint (actions[0].waypoint): there is no such key'
    ]


def test_a_reason_has_its_code_and_place_apart() -> None:
    (reason,) = ActionPlan.validate_raw_plan(one({'action': 'GRIP'})).reasons
    assert (reason.code, reason.key, reason.path) == ('missing_key', 'block', 'actions[0].block')


def test_size_actions_and_nesting_are_limited() -> None:
    assert accepted(' ' * (MAX_BYTES - len(RELEASE)) + RELEASE)
    assert refused(' ' * (MAX_BYTES - len(RELEASE) + 1) + RELEASE)[0].startswith('too large')
    assert refused(RELEASE + '\ud800' * (MAX_BYTES // 2))[0].startswith('too large')
    assert refused('[' * 9 + ']' * 9)[0].startswith('too large: nested deeper')
    assert refused('[' * 8 + ']' * 8)[0].startswith('schema')
    assert refused('{"actions":"' + '[' * 9 + '"}')[0].startswith('schema: actions')
    many = {'actions': [{'action': 'RELEASE'}] * (MAX_ACTIONS + 1)}
    assert refused(json.dumps(many))[0].startswith('too large: actions')


def test_endless_white_space_is_an_empty_reply_however_long() -> None:
    assert refused(' \n\t' * MAX_BYTES)[0].startswith('empty_reply')


def test_many_problems_give_a_few_reasons_soon() -> None:
    start = time.process_time()
    refused('{' + ','.join(f'"{index}":1' for index in range(6_000)) + '}')
    refused('{' + ','.join('"a":1,"b":1' for _ in range(5_000)) + '}')
    refused('{' + ','.join(f'"{index}":1,"{index}":1' for index in range(3_000)) + '}')
    assert time.process_time() - start < 2.0


def follow(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a decoder held to `schema` can write."""
    if 'anyOf' in schema:
        return st.one_of([follow(option) for option in schema['anyOf']])
    if 'const' in schema:
        return st.just(schema['const'])
    if 'enum' in schema:
        return st.sampled_from(schema['enum'])
    if schema['type'] == 'number':
        return st.floats(-2, 2, width=16)
    if schema['type'] == 'array':
        limits = {'min_size': schema['minItems'], 'max_size': min(schema['maxItems'], 9)}
        return st.lists(follow(schema['items']), **limits)
    assert schema['additionalProperties'] is False
    assert list(schema['properties']) == schema['required']
    return st.fixed_dictionaries({k: follow(v) for k, v in schema['properties'].items()})


@given(follow(ActionPlan.json_schema()))
def test_whatever_the_schema_lets_through_is_a_plan_but_for_far_targets(value: object) -> None:
    verdict = ActionPlan.validate_raw_plan(json.dumps(value))
    assert {reason.code for reason in verdict.reasons} <= {'out_of_workspace'}


def test_the_names_are_the_blocks_waypoints_and_the_zones() -> None:
    blocks = [f'{block}.{name}' for block, name in product(BLOCKS, ['hover', 'grasp', 'lift'])]
    assert list(WAYPOINT_NAMES) == [*blocks, 'zone.hover', 'zone.place']


def test_names_become_points_by_one_addition_each() -> None:
    x, y, z = BLOCKS_SEEN['blue']
    targets = [
        action
        for action in accepted(SEVEN_STEPS).resolve(BLOCKS_SEEN, ZONES, WAYPOINTS).actions
        if isinstance(action, MoveTo)
    ]
    assert targets == [
        ResolvedMoveTo(target=(x, y, z + 0.15), waypoint='blue.hover'),
        ResolvedMoveTo(target=(x, y, z + 0.02), waypoint='blue.grasp'),
        ResolvedMoveTo(target=(x, y, z + 0.15), waypoint='blue.lift'),
        ResolvedMoveTo(target=(0.6, 0.35, 0.65 + 0.15), waypoint='zone.hover'),
        ResolvedMoveTo(target=(0.6, 0.35, 0.65 + 0.06), waypoint='zone.place'),
    ]


def test_each_name_has_an_offset_of_its_own() -> None:
    offsets = Waypoints(hover=0.11, grasp=0.12, lift=0.13, zone_hover=0.14, zone_place=0.15)
    plan = ActionPlan(actions=tuple(MoveTo(target=name) for name in WAYPOINT_NAMES))
    heights = {
        action.waypoint: round(
            action.target[2] - (0.65 if 'zone' in action.waypoint else 0.655), 9
        )
        for action in plan.resolve(BLOCKS_SEEN, ZONES, offsets).actions
        if isinstance(action, ResolvedMoveTo)
    }
    assert heights['red.hover'] == 0.11
    assert heights['green.grasp'] == 0.12
    assert heights['blue.lift'] == 0.13
    assert heights['zone.hover'] == 0.14
    assert heights['zone.place'] == 0.15


@given(PLANS)
def test_resolving_twice_changes_nothing_and_keeps_the_names(plan: ActionPlan) -> None:
    resolved = plan.resolve(BLOCKS_SEEN, ZONES, WAYPOINTS)
    assert resolved.resolve({}, {'zone': (math.nan, 0, 0)}, WAYPOINTS) == resolved
    for before, after in zip(plan.actions, resolved.actions, strict=True):
        if isinstance(before, MoveTo):
            assert isinstance(after, ResolvedMoveTo)
            named = isinstance(before.target, str)
            assert after.waypoint == (before.target if named else '')
        else:
            assert after == before


@given(PLANS)
def test_a_resolved_plan_written_and_read_has_the_same_targets(plan: ActionPlan) -> None:
    resolved = plan.resolve(BLOCKS_SEEN, ZONES, WAYPOINTS)
    again = accepted(resolved.to_text()).resolve(BLOCKS_SEEN, ZONES, WAYPOINTS)
    for before, after in zip(resolved.actions, again.actions, strict=True):
        if isinstance(before, MoveTo):
            assert isinstance(after, MoveTo)
            assert after.target == before.target


@pytest.mark.parametrize(
    ('blocks', 'code', 'words'),
    [
        ({'red': (0.5, 0.0, 0.655)}, 'unseen_block', "'blue.hover' needs 'blue'"),
        ({}, 'unseen_block', 'no block at all'),
        ({'blue': (math.nan, 0.0, 0.655)}, 'not_finite', 'nan'),
        ({'blue': (0.5, 0.0, math.inf)}, 'not_finite', 'inf'),
        ({'blue': (0.5, 0.0, 1.2)}, 'out_of_workspace', "'blue.hover'"),
    ],
)
def test_a_scene_in_which_a_target_cannot_be_is_a_problem(
    blocks: dict[str, tuple[float, float, float]], code: str, words: str
) -> None:
    with pytest.raises(PlanProblem, match=words) as problem:
        accepted(SEVEN_STEPS).resolve(blocks, ZONES, WAYPOINTS)
    assert problem.value.reason.code == code


def test_plans_and_reasons_are_values_that_cannot_be_changed() -> None:
    plan = accepted(RELEASE)
    with pytest.raises(ValidationError):
        plan.actions = ()  # type: ignore[misc]
    assert hash(plan) == hash(accepted(RELEASE))
    assert Reason('schema', 'a', 'b.a', 'c') == Reason('schema', 'a', 'b.a', 'c')
