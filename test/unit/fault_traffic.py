"""A short episode's traffic for faults to strike, without ROS."""

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
from numpy.random import MT19937, Generator, default_rng

from alpha_chaos.faults.base import (
    Call,
    Codec,
    Command,
    Decision,
    Evidence,
    Fault,
    Fields,
    Injector,
    Sample,
)

PLAN = {
    'actions': [
        {'action': 'MOVE_TO', 'target': 'red.hover'},
        {'action': 'MOVE_TO', 'target': [0.5, -0.15, 0.675]},
        {'action': 'GRIP', 'block': 'red'},
        {'action': 'MOVE_TO', 'target': 'red.lift'},
        {'action': 'RELEASE'},
    ]
}

# Where the blocks are seen, and how far above them and the zone the waypoints lie [m].
SEEN = {'red': (0.5, -0.15, 0.65), 'green': (0.45, 0.125, 0.65)}
ZONE = (0.6, 0.35, 0.65)
WAYPOINTS = {'hover': 0.15, 'grasp': 0.02, 'lift': 0.2, 'zone_hover': 0.25, 'zone_place': 0.06}
KINDS = ('MOVE_TO', 'GRIP', 'RELEASE')  # of Action.msg, in the order of their numbers

# PLAN as the oracle hands it over: in numbers, which remember their names.
TYPED = (
    ('MOVE_TO', ('red.hover', 0.5, -0.15, 0.8)),
    ('MOVE_TO', ('', 0.5, -0.15, 0.675)),
    ('GRIP', 'red'),
    ('MOVE_TO', ('red.lift', 0.5, -0.15, 0.85)),
    ('RELEASE', None),
)


def point(x: float, y: float, z: float) -> Message:
    """Return a position."""
    return Message(x=x, y=y, z=z)


def pose(x: float, y: float, z: float) -> Message:
    """Return an upright pose."""
    return Message(position=point(x, y, z), orientation=Message(x=0.0, y=0.0, z=0.0, w=1.0))


def scene(seen: Mapping[str, tuple[float, float, float]] = SEEN) -> Message:
    """Return an observation."""
    return Message(blocks=[Message(name=name, pose=pose(*at)) for name, at in seen.items()])


def _encode(message: Message) -> bytes:
    return json.dumps(message, default=vars).encode()


def _decode(data: bytes) -> Message:
    message: Message = json.loads(data, object_hook=lambda fields: Message(**fields))
    return message


JSON = Codec(_decode, _encode)  # stands in for the serialisation of ROS


def sample(seconds: float, message: Message | None = None, sequence: int = 1) -> Sample:
    """Return an observation in transit."""
    return Sample(_encode(message or scene()), seconds, sequence, JSON)


def question(block: str = 'red', seen: Mapping[str, tuple[float, float, float]] = SEEN) -> Message:
    """Return a request for a plan."""
    return Message(
        block=block,
        zone=point(*ZONE),
        success_radius=0.05,
        scene=scene(seen),
        waypoints=Message(**WAYPOINTS),
    )


def typed_plan(actions: Iterable[tuple[str, Any]]) -> Message:
    """Return an answer that is a typed plan.

    :param actions: a motion is ('MOVE_TO', (waypoint, x, y, z)), a grip is ('GRIP', block)
    """
    written = []
    for name, value in actions:
        waypoint, *target = value if name == 'MOVE_TO' else ('', 0.0, 0.0, 0.0)
        written.append(
            Message(
                kind=KINDS.index(name),
                waypoint=waypoint,
                target=point(*target),
                block=value if name == 'GRIP' else '',
            )
        )
    return answer(typed=True, plan=Message(actions=written))


def move(x: float, y: float, z: float) -> Message:
    """Return a goal for the arm."""
    return Message(target=Message(pose=Message(position=point(x, y, z))))


def grip(effort: float, opening: float = 0.0, block: str = 'red') -> Message:
    """Return a goal for the gripper."""
    return Message(opening=opening, max_effort=effort, object=block)


def done(stalled: bool = True) -> Message:
    """Return the result of a motion or a grip."""
    return Message(reached=True, stalled=stalled)


def answer(
    text: str = '', typed: bool = False, error: str = '', plan: Message | None = None
) -> Message:
    """Return a planner's response."""
    return Message(
        text=text,
        typed=typed,
        error=error,
        message='',
        infrastructure=bool(error),
        plan=plan or Message(actions=[]),
    )


def blank(route: str) -> Fields:
    """Return an empty response."""
    if route.endswith('/plan'):
        return Fields(answer())
    return Fields(Message(reached=False, stalled=False, message='', opening=0.0, effort=0.0))


@dataclass(frozen=True)
class Record:
    """What consumers and providers saw, and what the fault said about it."""

    samples: list[Sample]
    messages: list[Any]
    commands: list[Command]
    decisions: list[Decision]
    evidence: Evidence


class Recorder:
    """Takes the part of the relay for one injector.

    :param obeys: whether the provider carries out what a fault adds
    """

    def __init__(self, fault: Fault, injector: Injector, obeys: bool = True) -> None:
        self._fault = fault
        self._injector = injector
        self._obeys = obeys
        self._sequences = dict.fromkeys(fault.routes, 0)
        self._record = Record([], [], [], [], Evidence(False))

    def sample(self, seconds: float, data: bytes | None = None) -> list[Sample]:
        """Pass a message of every topic it could be."""
        route = self._fault.routes[0]
        self._sequences[route] += 1
        passing = sample(seconds, sequence=self._sequences[route])
        if data is not None:
            passing = replace(passing, data=data)
        passed = list(self._injector.on_message(passing))
        self._record.samples.extend(passed)
        self._record.decisions.extend(self._injector.decisions())
        return passed

    def call(self, route: str, request: Message, response: Message) -> Call:
        """Pass a request and its response, if the fault names the route."""
        call = Call(
            route,
            self._sequences.get(route, 0) + 1,
            Fields(copy.deepcopy(request)),
            blank=lambda: blank(route),
        )
        if route in self._sequences:
            self._sequences[route] += 1
            self._injector.on_request(call)
            self._carry_out(call.commands)
            call.response = call.answer or Fields(copy.deepcopy(response))
            before = len(call.commands)
            self._injector.on_response(call)
            self._carry_out(call.commands[before:])
            self._record.messages.extend((call.request.message, call.response.message))
        return call

    def _carry_out(self, commands: list[Command]) -> None:
        for command in commands:
            self._record.commands.append(command)
            self._injector.on_command(command, self._obeys, '' if self._obeys else 'no power')
        self._record.decisions.extend(self._injector.decisions())

    def finish(self) -> Record:
        """Return everything, and what the fault has to show."""
        return replace(self._record, evidence=self._injector.evidence())


def episode(recorder: Recorder) -> Record:
    """Let the block fall and rest, plan in both ways, grasp, lift, put it down, twice."""
    for step in range(0, 121, 6):
        recorder.sample(step / 240)
    recorder.call('oracle_planner/plan', question(), typed_plan(TYPED))
    recorder.call('llm_planner/plan', question(), answer(json.dumps(PLAN)))
    for _ in range(2):
        recorder.call('arm/move_to', move(0.5, -0.15, 0.675), done())
        recorder.call('gripper/command', grip(500.0), done())
        recorder.call('arm/move_to', move(0.5, -0.15, 0.805), done())
        recorder.call('arm/move_to', move(0.6, 0.35, 0.71), done())
        recorder.call('gripper/command', grip(0.0, 0.08), done(stalled=False))
    return recorder.finish()


def run(fault: Fault, seed: int = 7) -> Record:
    """Return what becomes of an episode under a fault."""
    return episode(Recorder(fault, fault.injector(default_rng(seed))))


class AlwaysDraw(Generator):
    """Draws the same number every time."""

    def __init__(self, number: float) -> None:
        super().__init__(MT19937(0))
        self.number = number

    def random(self, size: Any = None, *rest: Any, **others: Any) -> Any:
        """Return the number, or an array of it."""
        return self.number if size is None else np.full(size, self.number)


class Nothing(Fault):
    """A fault that never does anything, to compare with."""

    kind: str = 'nothing'
    listens_to: tuple[str, ...] = ()

    @property
    def routes(self) -> tuple[str, ...]:
        """The routes of the fault it stands in for."""
        return self.listens_to

    def injector(self, draws: Any) -> Injector:
        """Return one that lets everything through."""
        return Injector()
