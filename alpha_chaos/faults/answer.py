"""A planner's answer (Plan.srv) as faults see it: a plan to be read, and to be put back."""

from typing import Any

from pydantic import ValidationError

from alpha_chaos.faults.base import Fields
from alpha_chaos.plan import (
    ActionPlan,
    Grip,
    MoveTo,
    Placement,
    Release,
    ResolvedMoveTo,
    Vector,
    Words,
)

NO_PLAN = ActionPlan(actions=())

_ACTIONS = 'plan.actions[*]'
_MOVE_TO, _GRIP, _RELEASE = 0, 1, 2  # kinds of Action.msg


def asked_for(request: Fields) -> tuple[Placement, ...]:
    """Return where the blocks of a request (Plan.srv) shall end."""
    paths = request.each('placements[*]') if request.has('placements') else []
    if not paths:  # of one block, and in recordings of before there could be more
        block, radius_m = str(request.get('block')), float(request.get('success_radius'))
        return (Placement(block, read_point(request, 'zone'), radius_m),)
    return tuple(
        Placement(
            block=str(request.get(f'{path}.block')),
            position_m=read_point(request, f'{path}.position'),
            radius_m=float(request.get(f'{path}.radius')),
            zone=str(request.get(f'{path}.zone')),
            base=str(request.get(f'{path}.base')),
        )
        for path in paths
    )


def read_point(message: Fields, path: str) -> Vector:
    """Return a point of a message [m]."""
    x, y, z = (float(message.get(f'{path}.{axis}')) for axis in 'xyz')
    return x, y, z


def read_plan(answer: Fields, request: Fields) -> ActionPlan:
    """Return the plan of an answer; an empty one if the answer is an error, or would be rejected.

    Targets of a typed plan are numbers, and remember the name they were given by.

    :param request: what it answers
    """
    if answer.get('error'):
        return NO_PLAN
    if not answer.get('typed'):
        words = Words.of(asked_for(request))
        return ActionPlan.validate_raw_plan(str(answer.get('text')), words).plan
    try:
        return ActionPlan(actions=tuple(_read(answer, path) for path in answer.each(_ACTIONS)))
    except ValidationError:
        return NO_PLAN


def write_plan(answer: Fields, plan: ActionPlan) -> None:
    """Put a plan in the place of the one that is there, in the same form.

    Of a typed plan only what differs is written; it must have as many actions as before.
    """
    if not answer.get('typed'):
        answer.set('text', plan.to_text())
        return
    for path, action in zip(answer.each(_ACTIONS), plan.actions, strict=True):
        for name, value in _written(action).items():
            if answer.get(f'{path}.{name}') != value:
                answer.set(f'{path}.{name}', value)


def _read(answer: Fields, path: str) -> MoveTo | Grip | Release:
    kind = int(answer.get(f'{path}.kind'))
    if kind == _MOVE_TO:
        target = read_point(answer, f'{path}.target')
        return ResolvedMoveTo(target=target, waypoint=str(answer.get(f'{path}.waypoint')))
    return Grip(block=answer.get(f'{path}.block')) if kind == _GRIP else Release()


def _written(action: MoveTo | Grip | Release) -> dict[str, Any]:
    """Return the fields of Action.msg."""
    kind, waypoint, target, block = _RELEASE, '', (0.0, 0.0, 0.0), ''
    if isinstance(action, MoveTo):
        if isinstance(action.target, str):
            raise ValueError(f'target {action.target!r} has no coordinates yet')
        kind, target = _MOVE_TO, action.target
        waypoint = action.waypoint if isinstance(action, ResolvedMoveTo) else ''
    elif isinstance(action, Grip):
        kind, block = _GRIP, action.block
    places = dict(zip(('target.x', 'target.y', 'target.z'), target, strict=True))
    return {'kind': kind, 'waypoint': waypoint, **places, 'block': block}
