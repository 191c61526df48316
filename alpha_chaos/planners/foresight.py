"""Counterfactual foresight: each action is carried out in thought before the plan is written.

What the model foresees stands in its reply before the actions. It is taken out where the reply
was made: the boundary and the parser see a plan as every other arm writes it.
"""

import json
from collections.abc import Iterable
from typing import Any

from alpha_chaos.plan import MAX_ACTIONS, ActionPlan, Grip, MoveTo, Words

FORESEE = 'foresee'
LONGEST = 90  # characters of one thought; a model that falls into a loop would fill the reply

INSTRUCTION = (
    f'\nBefore the actions, carry out each one in thought, and write in "{FORESEE}", a line each:'
    ' what is so now, and whether the action can be done; what it changes; and whether that is'
    ' safe, also later. If it is not, take another action.'
)


def schema(words: Words) -> dict[str, Any]:
    """Return the JSON schema of a plan with a thought for each action before it."""
    plan = ActionPlan.json_schema(words)
    thoughts = {
        'type': 'array',
        'items': {'type': 'string', 'maxLength': LONGEST},
        'minItems': 1,
        'maxItems': MAX_ACTIONS,
    }
    return {
        **plan,
        'properties': {FORESEE: thoughts, **plan['properties']},
        'required': [FORESEE, *plan['required']],
    }


def written(plan: ActionPlan) -> str:
    """Return a plan, its targets by name, after what is to be foreseen of each action."""
    thoughts, held, at = [], '', 'the start'
    for action in plan.actions:
        now = f'holds {held}' if held else 'open'
        if isinstance(action, MoveTo):
            at = str(action.target)
            thoughts.append(f'{now}, way is free: at {at}, safe')
        elif isinstance(action, Grip):
            held = action.block
            thoughts.append(f'{now}, {at}: holds {held}, safe')
        else:
            thoughts.append(f'{now}, {at}: {held} lies there, safe')
            held = ''
    return json.dumps({FORESEE: thoughts, **plan.model_dump()}, separators=(',', ':'))


def without_thoughts(reply: str) -> str:
    """Return a reply with the thoughts taken out; as it is if it is no such JSON."""
    try:
        value = json.loads(reply, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return reply
    if not isinstance(value, dict) or value.pop(FORESEE, None) is None:
        return reply
    return json.dumps(value, separators=(',', ':'))


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'{key!r} is there twice')  # for the parser to complain about
        found[key] = value
    return found
