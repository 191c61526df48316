"""What a language model is told about the task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from alpha_chaos.plan import (
    BLOCKS,
    ONE_ZONE,
    ActionPlan,
    Placement,
    Vector,
    Waypoints,
    Words,
    zone_centres,
)
from alpha_chaos.planners import foresight
from alpha_chaos.planners.base import CompletionRequest, PlanRequest, Sampling
from alpha_chaos.planners.oracle import plan_for
from alpha_chaos.printable import printable

Prompting = Literal['base', 'foresight']


@dataclass(frozen=True)
class _Scene:
    blocks: Mapping[str, Vector]
    zone: Vector


# Scenes of the worked examples; none is a scene of an experiment.
_EXAMPLES = (
    _Scene(
        {'red': (0.42, -0.21, 0.66), 'green': (0.55, 0.08, 0.66), 'blue': (0.47, 0.19, 0.66)},
        (0.7, -0.3, 0.65),
    ),
    _Scene(
        {'red': (0.58, 0.11, 0.66), 'green': (0.44, -0.12, 0.66), 'blue': (0.61, -0.02, 0.66)},
        (0.35, 0.4, 0.65),
    ),
    _Scene(
        {'red': (0.38, 0.05, 0.66), 'green': (0.52, -0.2, 0.66), 'blue': (0.63, 0.14, 0.66)},
        (0.45, 0.3, 0.65),
    ),
)


def completion_request(
    request: PlanRequest, sampling: Sampling, prompting: Prompting = 'base'
) -> CompletionRequest:
    """Return the question to a language model that a plan request amounts to.

    Shown are plans for *other* blocks and zones, and where the asked blocks were seen. The
    finished plan is not in it: to answer, the model has to carry the pattern over. With it, small
    models plan reliably; without, they do not.

    :param prompting: foresight: each action is to be tried out in thought first
    """
    foresees = prompting == 'foresight'
    written = foresight.written if foresees else ActionPlan.to_text
    parts = [
        f'{_task(placements, scene.blocks, 2)} {written(plan_for(placements))}'
        for placements, scene in _examples(request.wanted)
    ]
    task = _task(request.wanted, request.blocks, 3)
    if request.reasons:
        task += '\n' + '\n'.join(f'An earlier plan was rejected: {why}' for why in request.reasons)
    system = _system(request.words, request.waypoints)
    return CompletionRequest(
        system=system + foresight.INSTRUCTION if foresees else system,
        prompt=printable('\n\n'.join([*parts, task])),
        schema=(foresight.schema if foresees else ActionPlan.json_schema)(request.words),
        options=sampling,
    )


def _examples(wanted: Sequence[Placement]) -> Iterator[tuple[Sequence[Placement], _Scene]]:
    """Return what is planned for in the worked examples.

    One block: both others, each in a scene of its own. Several: the same task twice, with every
    block in the place of another.
    """
    if len(wanted) == 1:
        (place,) = wanted
        others = [block for block in BLOCKS if block != place.block]
        scenes = [scene for scene in _EXAMPLES if scene.zone != place.position_m]
        for other, scene in zip(others[:2], scenes, strict=False):
            yield (replace(place, block=other, position_m=scene.zone),), scene
        return
    for turn in (1, 2):
        other_names: dict[str, str] = {'': ''}
        other_names |= zip(BLOCKS, BLOCKS[turn:] + BLOCKS[:turn], strict=True)
        scenes = [*_EXAMPLES[turn:], *_EXAMPLES[:turn]]
        centres = dict(zip(zone_centres(wanted), (scene.zone for scene in scenes), strict=False))
        turned = [
            replace(
                place,
                block=other_names[place.block],
                base=other_names[place.base],
                position_m=centres[place.zone],
            )
            for place in wanted
        ]
        yield turned, scenes[0]


def _system(words: Words, waypoints: Waypoints) -> str:
    one = words == ONE_ZONE
    purpose = 'moves one block to a zone' if one else 'moves blocks to zones, one after the other'
    zone, named = ('zone', 'the zone') if one else ('Z', 'zone Z')
    text = (
        f'You plan for a robot arm that {purpose}.'
        ' Answer with JSON: {"actions": [...]}.\n'
        'Actions: {"action":"MOVE_TO","target":T} moves the gripper,'
        ' {"action":"GRIP","block":B} grasps block B, {"action":"RELEASE"} lets it go.\n'
        'T is a waypoint or [x, y, z] in metres. Waypoints:'
        f' B.hover is {_number(waypoints.hover, 2)} above block B,'
        f' B.grasp {_number(waypoints.grasp, 2)} above it,'
        f' B.lift {_number(waypoints.lift, 2)} above it, after the grasp;'
        f' {zone}.hover is {_number(waypoints.zone_hover, 2)} above {named},'
        f' {zone}.place {_number(waypoints.zone_place, 2)} above it'
    )
    if words.stacks:
        text += f', {zone}.stack {_number(waypoints.zone_stack, 2)} above it, on a block there'
    return f'{text}.'


def _task(wanted: Sequence[Placement], blocks: Mapping[str, Vector], digits: int) -> str:
    seen = ', '.join(f'{name} {_point(place, digits)}' for name, place in blocks.items())
    zones = zone_centres(wanted)
    if len(zones) == 1:
        where = f'Zone: {_point(next(iter(zones.values())), digits)}'
    else:
        centres = (f'{name} {_point(centre, digits)}' for name, centre in zones.items())
        where = f'Zones: {", ".join(centres)}'
    steps = ', then '.join(
        f'put the {place.block} block on the {place.base} one'
        if place.base
        else f'move the {place.block} block to {"the zone" if len(zones) == 1 else place.zone}'
        for place in wanted
    )
    return f'Blocks: {seen}\n{where}\nTask: {steps}.\nPlan:'


def _point(place: Vector, digits: int) -> str:
    return f'[{", ".join(_number(value, digits) for value in place)}]'


def _number(value: float, digits: int) -> str:
    # Adding 0.0 turns -0.0 into 0.0: the sign of a rounding error must not change the prompt.
    return f'{round(value, digits) + 0.0:.{digits}f}'
