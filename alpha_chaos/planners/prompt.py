"""What a language model is told about the task."""

from collections.abc import Mapping
from dataclasses import dataclass

from alpha_chaos.plan import BLOCKS, ActionPlan, Vector, Waypoints
from alpha_chaos.planners.base import CompletionRequest, PlanRequest, Sampling
from alpha_chaos.planners.oracle import pick_and_place
from alpha_chaos.printable import printable


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


def completion_request(request: PlanRequest, sampling: Sampling) -> CompletionRequest:
    """Return the question to a language model that a plan request amounts to.

    Shown are two plans for *other* blocks and zones, and where the asked blocks were seen. The
    finished plan is not in it: to answer, the model has to carry the pattern over. With it, small
    models plan reliably; without, they do not.
    """
    others = [block for block in BLOCKS if block != request.block]
    scenes = [scene for scene in _EXAMPLES if scene.zone != request.zone]
    parts = [
        f'{_task(block, scene.blocks, scene.zone, 2)} {pick_and_place(block).to_text()}'
        for block, scene in zip(others[:2], scenes, strict=False)
    ]
    task = _task(request.block, request.blocks, request.zone, 3)
    if request.reasons:
        task += '\n' + '\n'.join(f'An earlier plan was rejected: {why}' for why in request.reasons)
    return CompletionRequest(
        system=_system(request.waypoints),
        prompt=printable('\n\n'.join([*parts, task])),
        schema=ActionPlan.json_schema(),
        options=sampling,
    )


def _system(waypoints: Waypoints) -> str:
    return (
        'You plan for a robot arm that moves one block to a zone.'
        ' Answer with JSON: {"actions": [...]}.\n'
        'Actions: {"action":"MOVE_TO","target":T} moves the gripper,'
        ' {"action":"GRIP","block":B} grasps block B, {"action":"RELEASE"} lets it go.\n'
        'T is a waypoint or [x, y, z] in metres. Waypoints:'
        f' B.hover is {_number(waypoints.hover, 2)} above block B,'
        f' B.grasp {_number(waypoints.grasp, 2)} above it,'
        f' B.lift {_number(waypoints.lift, 2)} above it, after the grasp;'
        f' zone.hover is {_number(waypoints.zone_hover, 2)} above the zone,'
        f' zone.place {_number(waypoints.zone_place, 2)} above it.'
    )


def _task(block: str, blocks: Mapping[str, Vector], zone: Vector, digits: int) -> str:
    seen = ', '.join(f'{name} {_point(place, digits)}' for name, place in blocks.items())
    return (
        f'Blocks: {seen}\n'
        f'Zone: {_point(zone, digits)}\n'
        f'Task: move the {block} block to the zone.\n'
        'Plan:'
    )


def _point(place: Vector, digits: int) -> str:
    return f'[{", ".join(_number(value, digits) for value in place)}]'


def _number(value: float, digits: int) -> str:
    # Adding 0.0 turns -0.0 into 0.0: the sign of a rounding error must not change the prompt.
    return f'{round(value, digits) + 0.0:.{digits}f}'
