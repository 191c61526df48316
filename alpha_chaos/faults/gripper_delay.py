"""A gripper says that it is done at once, and does it later."""

from collections import deque
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Call, Command, Decision, Evidence, Fault, Fields, Injector

GRIPPER = 'gripper/command'
ARM = 'arm/move_to'


class GripperDelay(Fault):
    """Answer a grip command with success, and carry it out `motions` motions of the arm later.

    What the driver answers then concerns nobody. A command that is still waiting when the gripper
    is told something else goes out before that; one that is waiting when the episode ends never
    does.
    """

    kind: Literal['gripper_delay'] = 'gripper_delay'
    commands: Literal['closing', 'opening', 'all'] = Field(
        default='closing', description='which commands are late'
    )
    motions: int = Field(
        default=1, ge=1, le=64, description='motions that the arm completes before [1]'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The gripper, and the arm whose motions are counted."""
        return (GRIPPER, ARM)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector with nothing waiting."""
        return _Delay(self, draws)


GripperDelay.example = GripperDelay()


@dataclass
class _Waiting:
    request: Fields
    motions: int  # still to come


class _Delay(Injector):
    def __init__(self, fault: GripperDelay, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._waiting: deque[_Waiting] = deque()  # in the order in which they become due
        self._seen = 0  # commands of the kind that may be late
        self._delivered = 0
        self._failed = 0

    def on_request(self, call: Call) -> None:
        if call.route != GRIPPER:
            return
        draw = float(self._draws.random())
        opening_m = float(call.request.get('opening'))
        effort_n = float(call.request.get('max_effort'))
        closes = opening_m == 0 and effort_n > 0
        detail: dict[str, JsonValue] = {
            'object': str(call.request.get('object')),
            'opening_m': opening_m,
            'effort_n': effort_n,
        }
        late = False
        if call.answer is not None:
            detail['bypassed'] = 'answered already'
        elif self._fault.commands not in ('all', 'closing' if closes else 'opening'):
            detail['bypassed'] = 'closing' if closes else 'opening'
        else:
            self._seen += 1
            late = draw < self._fault.probability
        if late:
            detail['motions'] = self._fault.motions
            # Not a copy: what faults nearer to the gripper do to the request, it gets late, too.
            self._waiting.append(_Waiting(call.request, self._fault.motions))
            call.answer = _success(call, opening_m, effort_n, closes)
        elif call.answer is None:
            self._send(call, len(self._waiting))
        self._decide(Decision('gripper_delay', self._fault.probability, draw, late, detail))

    def on_response(self, call: Call) -> None:
        if call.route != ARM or call.response is None or not call.response.get('reached'):
            return
        for waiting in self._waiting:
            waiting.motions -= 1
        self._send(call, sum(waiting.motions <= 0 for waiting in self._waiting))

    def _send(self, call: Call, count: int) -> None:
        for _ in range(count):
            call.commands.append(Command(GRIPPER, {}, self._waiting.popleft().request))

    def on_command(self, command: Command, succeeded: bool, message: str) -> None:
        self._delivered += succeeded
        self._failed += not succeeded

    def evidence(self) -> Evidence:
        """Return whether there was a command to be late, and what became of those that were."""
        detail = self._tally() | {
            'delivered': self._delivered,
            'failed': self._failed,
            'never_sent': len(self._waiting),
        }
        return Evidence(self._seen > 0, detail)


def _success(call: Call, opening_m: float, effort_n: float, closes: bool) -> Fields:
    """Return the answer of a gripper that did what it was told, and got hold of something."""
    answer = call.blank()
    said = {'reached': True, 'opening': opening_m, 'effort': effort_n, 'stalled': closes}
    for name, value in said.items():
        if answer.has(name):
            answer.set(name, value)
    return answer
