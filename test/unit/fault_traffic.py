"""A short episode's traffic for faults to strike, without ROS."""

import copy
import json
from dataclasses import dataclass, replace
from types import SimpleNamespace as Message
from typing import Any

import numpy as np
from numpy.random import MT19937, Generator, default_rng

from alpha_chaos.faults.base import (
    Call,
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


def move(x: float, y: float, z: float) -> Message:
    """Return a goal for the arm."""
    position = Message(x=x, y=y, z=z)
    return Message(target=Message(pose=Message(position=position)))


def grip(effort: float, opening: float = 0.0, block: str = 'red') -> Message:
    """Return a goal for the gripper."""
    return Message(opening=opening, max_effort=effort, object=block)


def done(stalled: bool = True) -> Message:
    """Return the result of a motion or a grip."""
    return Message(reached=True, stalled=stalled)


def answer(text: str = '', typed: bool = False, error: str = '') -> Message:
    """Return a planner's response."""
    return Message(text=text, typed=typed, error=error)


@dataclass(frozen=True)
class Record:
    """What consumers and providers saw, and what the fault said about it."""

    samples: list[Sample]
    messages: list[Any]
    commands: list[Command]
    decisions: list[Decision]
    evidence: Evidence


class Recorder:
    """Takes the part of the relay for one injector."""

    def __init__(self, fault: Fault, injector: Injector) -> None:
        self._fault = fault
        self._injector = injector
        self._sequences = dict.fromkeys(fault.routes, 0)
        self._record = Record([], [], [], [], Evidence(False))

    def sample(self, data: bytes, stamp_s: float) -> list[Sample]:
        """Pass a message of every topic it could be."""
        route = self._fault.routes[0]
        self._sequences[route] += 1
        sample = Sample(data, stamp_s, self._sequences[route])
        passed = list(self._injector.on_message(sample))
        self._record.samples.extend(passed)
        self._record.decisions.extend(self._injector.decisions())
        return passed

    def call(self, route: str, request: Message, response: Message) -> Call:
        """Pass a request and its response, if the fault names the route."""
        call = Call(route, self._sequences.get(route, 0) + 1, Fields(copy.deepcopy(request)))
        if route in self._sequences:
            self._sequences[route] += 1
            self._injector.on_request(call)
            self._record.decisions.extend(self._injector.decisions())
            self._record.commands.extend(call.commands)
            call.response = Fields(copy.deepcopy(response))
            self._injector.on_response(call)
            self._record.decisions.extend(self._injector.decisions())
            self._record.messages.extend((call.request.message, call.response.message))
        return call

    def finish(self) -> Record:
        """Return everything, and what the fault has to show."""
        return replace(self._record, evidence=self._injector.evidence())


def episode(recorder: Recorder) -> Record:
    """Let the block fall and rest, plan in both ways, grasp, lift, put it down, twice."""
    for step in range(0, 121, 6):
        recorder.sample(b'objects at step %d' % step, step / 240)
    recorder.call('oracle_planner/plan', Message(block='red'), answer(typed=True))
    recorder.call('llm_planner/plan', Message(block='red'), answer(json.dumps(PLAN)))
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
