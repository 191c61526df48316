"""The closed set of actions a planner may ask for, and the strict reading of a planner's text."""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from alpha_chaos.printable import printable
from alpha_chaos.workspace import WORKSPACE

MAX_BYTES = 65_536  # of a reply, encoded; the longest useful plan has a few kilobytes
MAX_ACTIONS = 64
MAX_NESTING = 8  # brackets; a plan has four
MAX_REASONS = 8

Vector = tuple[float, float, float]

BlockName = Literal['red', 'green', 'blue']
ZoneName = Literal['zone', 'left_zone', 'middle_zone', 'right_zone']
BLOCKS: tuple[BlockName, ...] = get_args(BlockName)
ZONES: tuple[ZoneName, ...] = get_args(ZoneName)
ActionName = Literal['MOVE_TO', 'GRIP', 'RELEASE']
ACTION_NAMES: tuple[ActionName, ...] = get_args(ActionName)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one block shall end.

    :param position_m: what its centre is compared with, world frame: the centre of the zone, or
        above it by what lies between
    :param radius_m: largest distance from there that counts
    :param zone: its name in plans, one of `ZONES`
    :param base: block that it shall lie on there, empty for the table
    """

    block: str
    position_m: Vector
    radius_m: float
    zone: str = 'zone'
    base: str = ''


def zone_centres(placements: Sequence[Placement]) -> dict[str, Vector]:
    """Return the centre of each zone that a task has, world frame [m]."""
    return {place.zone: place.position_m for place in placements if not place.base}


@dataclass(frozen=True)
class Words:
    """What the plans for one task can name, besides the blocks.

    :param stacks: whether a block can be let go on another one
    """

    zones: tuple[str, ...] = ('zone',)
    stacks: bool = False

    @classmethod
    def of(cls, placements: Sequence[Placement]) -> 'Words':
        """Return what the plans for a task can name."""
        return cls(tuple(zone_centres(placements)), any(place.base for place in placements))

    @property
    def waypoints(self) -> tuple[str, ...]:
        """Return the names of the waypoints, the blocks' first."""
        at_zone = ('hover', 'place', *(('stack',) if self.stacks else ()))
        return (
            *(f'{block}.{name}' for block in BLOCKS for name in ('hover', 'grasp', 'lift')),
            *(f'{zone}.{name}' for zone in self.zones for name in at_zone),
        )


ONE_ZONE = Words()  # of the task that moves one block
WAYPOINT_NAMES = ONE_ZONE.waypoints
_ANY_TASK = Words(ZONES, stacks=True)

ReasonCode = Literal[
    'empty_reply',
    'too_large',
    'not_json',
    'duplicate_key',
    'missing_key',
    'unknown_key',
    'schema',
    'not_finite',
    'out_of_workspace',
    'empty_plan',
    'unseen_block',
]


@dataclass(frozen=True)
class Reason:
    """Why a plan was rejected; `str()` is one line for people and for the planner."""

    code: ReasonCode
    key: str  # the key concerned: 'target', empty for the whole reply
    path: str  # where in the plan: 'actions[0].target', empty for the whole reply
    message: str

    def __str__(self) -> str:
        """Return what is wrong, with which key, where, and what would be right."""
        head = self.code if self.code in _WHOLE_REPLY else self.code.replace('_', ' ')
        if self.code == 'empty_plan':
            head = 'an empty plan is no plan'
        if self.key:
            head += f': {self.key}'
        if self.path != self.key:
            head += f' ({self.path})'
        return f'{head}: {self.message}'


_WHOLE_REPLY = ('empty_reply', 'not_json')


class PlanProblem(ValueError):
    """A plan that cannot be carried out in the scene it was made for."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _known(name: str, info: ValidationInfo) -> str:
    words: Words = (info.context or {}).get('words', _ANY_TASK)
    if name not in words.waypoints:
        raise PydanticCustomError(
            'unknown_waypoint', 'must be one of {known}', {'known': ', '.join(words.waypoints)}
        )
    return name


def _in_workspace(point: Vector) -> Vector:
    if not WORKSPACE.contains(point):
        raise PydanticCustomError('out_of_workspace', '{text}', {'text': _outside(point)})
    return point


def _outside(point: Vector) -> str:
    return f'{list(point)} is not between {list(WORKSPACE.min)} and {list(WORKSPACE.max)}'


Coordinate = Annotated[float, Field(strict=True, allow_inf_nan=False)]
# A JSON array arrives as a list, which a strict tuple would refuse; its elements stay strict.
Point = Annotated[
    tuple[Coordinate, Coordinate, Coordinate], Field(strict=False), AfterValidator(_in_workspace)
]
WaypointName = Annotated[str, AfterValidator(_known)]
Target = Annotated[
    Annotated[WaypointName, Tag('name')] | Annotated[Point, Tag('point')],
    Discriminator(lambda value: 'name' if isinstance(value, str) else 'point'),
]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', strict=True, allow_inf_nan=False)


class Waypoints(_Strict):
    """How far above the point they belong to the named waypoints lie [m]."""

    hover: float = Field(description='above a block, before the grasp [m]')
    grasp: float = Field(description='above a block, where it is gripped [m]')
    lift: float = Field(description='above where the block was, after the grasp [m]')
    zone_hover: float = Field(description='above the zone, before the block is set down [m]')
    zone_place: float = Field(description='above the zone, where the block is let go [m]')
    zone_stack: float = Field(
        default=0.0,
        description='above the zone, where a block is let go on another one [m]; 0 on a body that '
        'stacks nothing',
    )


class MoveTo(_Strict):
    """Move the end effector to a named waypoint, or to [x, y, z] in the world frame [m]."""

    action: Literal['MOVE_TO'] = 'MOVE_TO'
    target: Target


class ResolvedMoveTo(MoveTo):
    """A motion whose target is known in numbers; made by `ActionPlan.resolve`."""

    target: Point
    waypoint: str = ''  # the name the target was given by, empty for plain coordinates


class Grip(_Strict):
    """Grasp a block."""

    action: Literal['GRIP'] = 'GRIP'
    block: BlockName


class Release(_Strict):
    """Open the gripper."""

    action: Literal['RELEASE'] = 'RELEASE'


Action = Annotated[MoveTo | Grip | Release, Field(discriminator='action')]


class ActionPlan(_Strict):
    """What a planner wants done, in order. An empty plan is no plan: nothing moves."""

    actions: Annotated[tuple[Action, ...], Field(strict=False, max_length=MAX_ACTIONS)]

    @classmethod
    def validate_raw_plan(cls, text: str, words: Words = ONE_ZONE) -> 'Verdict':
        """Read a planner's reply. Nothing is repaired, and no text makes this raise."""
        try:
            return Verdict(_read(text, words), [])
        except _Rejected as rejected:
            return Verdict(cls(actions=()), rejected.reasons)

    @staticmethod
    def json_schema(words: Words = ONE_ZONE) -> dict[str, Any]:
        """Return the JSON schema that a decoder can be held to.

        Written out by hand, for the converters of llama.cpp and Ollama: properties in the order
        in which they shall be generated, no references, only keywords that both know.
        """

        def action(name: str, **properties: Any) -> dict[str, Any]:
            return {
                'type': 'object',
                'properties': {'action': {'const': name}, **properties},
                'required': ['action', *properties],
                'additionalProperties': False,
            }

        point = {'type': 'array', 'items': {'type': 'number'}, 'minItems': 3, 'maxItems': 3}
        target = {'anyOf': [{'enum': list(words.waypoints)}, point]}
        return {
            'type': 'object',
            'properties': {
                'actions': {
                    'type': 'array',
                    'items': {
                        'anyOf': [
                            action('MOVE_TO', target=target),
                            action('GRIP', block={'enum': list(BLOCKS)}),
                            action('RELEASE'),
                        ]
                    },
                    'minItems': 1,
                    'maxItems': MAX_ACTIONS,
                }
            },
            'required': ['actions'],
            'additionalProperties': False,
        }

    def resolve(
        self,
        blocks: Mapping[str, Vector],
        zones: Mapping[str, Vector],
        waypoints: Waypoints,
    ) -> 'ActionPlan':
        """Return the same plan with every target in numbers.

        One addition per target, nothing rounded: a difference in the last bit ends in a visibly
        different episode, because contact is chaotic.

        :param blocks: where the planner was told the blocks are, world frame [m]
        :param zones: centres of the zones by name, world frame [m]
        :raises PlanProblem: for a block that was not seen, a zone that the task does not have, or
            a target outside the workspace
        """
        resolved: list[MoveTo | Grip | Release] = []
        for index, action in enumerate(self.actions):
            if not isinstance(action, MoveTo):
                resolved.append(action)
                continue
            path = f'actions[{index}].target'
            name = action.waypoint if isinstance(action, ResolvedMoveTo) else ''
            point = action.target
            if isinstance(point, str):
                name = point
                place, _, waypoint = name.partition('.')
                if place in ZONES and place not in zones:
                    message = f'{name!r} is at no zone of this task; it has {", ".join(zones)}'
                    raise PlanProblem(Reason('schema', 'target', path, message))
                if place not in ZONES and place not in blocks:
                    seen = ', '.join(blocks) or 'no block at all'
                    message = f'{name!r} needs {place!r}, but what was seen is {seen}'
                    raise PlanProblem(Reason('unseen_block', 'target', path, message))
                x, y, z = zones[place] if place in ZONES else blocks[place]
                field = f'zone_{waypoint}' if place in ZONES else waypoint
                point = (x, y, z + getattr(waypoints, field))
            if not all(map(math.isfinite, point)):
                raise PlanProblem(Reason('not_finite', 'target', path, f'{name!r}: {list(point)}'))
            if not WORKSPACE.contains(point):
                message = f'{name!r}: {_outside(point)}'
                raise PlanProblem(Reason('out_of_workspace', 'target', path, message))
            resolved.append(ResolvedMoveTo(target=point, waypoint=name))
        return ActionPlan(actions=tuple(resolved))

    def to_text(self) -> str:
        """Return the plan as compact JSON; reading it back gives the very same numbers."""
        return json.dumps(self.model_dump(), separators=(',', ':'), allow_nan=False)


@dataclass(frozen=True)
class Verdict:
    """What became of a reply: a plan, or an empty plan and at least one reason."""

    plan: ActionPlan
    reasons: list[Reason]


class _Rejected(Exception):
    def __init__(self, *reasons: Reason) -> None:
        super().__init__(*reasons)
        self.reasons = list(reasons)


def _read(text: str, words: Words) -> ActionPlan:
    body = _unwrap(text)
    if not body.strip():
        raise _Rejected(Reason('empty_reply', '', '', 'the reply holds nothing but white space'))
    size = len(text.encode('utf-8', 'surrogatepass'))
    if size > MAX_BYTES:
        raise _Rejected(Reason('too_large', '', '', f'{size} bytes, at most {MAX_BYTES} are read'))
    if _nesting(body) > MAX_NESTING:
        raise _Rejected(Reason('too_large', '', '', f'nested deeper than {MAX_NESTING} brackets'))
    try:
        plan = ActionPlan.model_validate(_parse(body), context={'words': words})
    except ValidationError as error:
        problems = error.errors(include_url=False)
        reasons = dict.fromkeys(_reason(problem, words) for problem in problems)
        raise _Rejected(*list(reasons)[:MAX_REASONS]) from None
    if not plan.actions:
        raise _Rejected(Reason('empty_plan', '', '', 'nothing to execute'))
    return plan


def _unwrap(text: str) -> str:
    """Return what a code fence around the whole reply holds, else the reply itself."""
    lines = text.strip(' \t\r\n').split('\n')
    marks = [index for index, line in enumerate(lines) if line.lstrip(' \t').startswith('```')]
    if (
        marks == [0, len(lines) - 1]
        and lines[0].rstrip().lower() in ('```', '```json')
        and lines[-1].rstrip() == '```'
    ):
        return '\n'.join(lines[1:-1])
    return text


def _nesting(text: str) -> int:
    """Return how deep brackets outside strings are nested, without building anything."""
    depth = deepest = 0
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', text, re.DOTALL):
        if bracket in '[{':
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in ']}':
            depth -= 1
    return deepest


def _parse(text: str) -> object:
    duplicates: list[str] = []

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        counts = Counter(key for key, _ in pairs)
        duplicates.extend(_clip(key) for key, count in counts.items() if count > 1)
        # Keys go into messages and error locations, so they must be text that can be encoded.
        return {_clip(key): value for key, value in pairs}

    try:
        # Every number of a plan is a coordinate; as a float, no count of digits can do harm.
        value: object = json.loads(
            text, object_pairs_hook=unique, parse_int=float, parse_constant=float
        )
    except json.JSONDecodeError as error:
        message = f'{error.msg} (line {error.lineno}, column {error.colno})'
        raise _Rejected(Reason('not_json', '', '', message)) from None
    if duplicates:
        raise _Rejected(
            *(
                Reason('duplicate_key', key, key, 'which of its values is meant?')
                for key in duplicates[:MAX_REASONS]
            )
        )
    return value


_CODES: dict[str, ReasonCode] = {
    'missing': 'missing_key',
    'union_tag_not_found': 'missing_key',
    'extra_forbidden': 'unknown_key',
    'finite_number': 'not_finite',
    'out_of_workspace': 'out_of_workspace',
    'too_long': 'too_large',
}
_MESSAGES: dict[tuple[str, str], str] = {
    ('missing_key', 'action'): f'must be one of {", ".join(ACTION_NAMES)}',
    ('schema', 'action'): f'must be one of {", ".join(ACTION_NAMES)}',
    ('missing_key', 'block'): f'must be one of {", ".join(BLOCKS)}',
    ('schema', 'block'): f'must be one of {", ".join(BLOCKS)}',
    ('missing_key', 'actions'): 'must be a list of actions',
    ('schema', 'actions'): 'must be a list of actions',
    ('schema', ''): 'must be an object with the key "actions"',
}


def _reason(problem: ErrorDetails, words: Words) -> Reason:
    kind = problem['type']
    code = _CODES.get(kind, 'schema')
    # 'actions', index, tag of the action, key, tag of the target, coordinate
    parts = [part for at, part in enumerate(problem['loc']) if at not in (2, 4)]
    if kind.startswith('union_tag'):
        parts.append('action')
    elif len(problem['loc']) > 4 and code in ('schema', 'missing_key', 'too_large'):
        code, parts = 'schema', parts[:3]  # the target is there, a coordinate is not
    path = ''
    for part in parts:
        path += f'[{part}]' if isinstance(part, int) else f'.{part}' if path else str(part)
    key = next((part for part in reversed(parts) if isinstance(part, str)), '')
    message = 'there is no such key' if code == 'unknown_key' else problem['msg']
    if key == 'target' and code in ('missing_key', 'schema'):
        message = f'must be three numbers [x, y, z] or one of {", ".join(words.waypoints)}'
    return Reason(code, key, path, _MESSAGES.get((code, key), message))


def _clip(key: str) -> str:
    return printable(key if len(key) <= 40 else f'{key[:37]}...')
