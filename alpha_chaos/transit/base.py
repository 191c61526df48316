"""What a fault in transit is: settings that make an injector, which sees one side of a route.

A route is a topic, a service or an action; its sides are the directions in which something
travels there. Faults see serialised bytes and decide what travels on, and when. Those that look
inside decode it, and say by `needs` which fields must be there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast, get_args

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Decision, Fields, Sample, Unreadable
from alpha_chaos.plugins import Plugin
from alpha_chaos.transit.schedule import Gate, Schedule

Kind = Literal['topic', 'service', 'action']
Side = Literal[
    'message',
    'request',
    'response',
    'goal',
    'goal_response',
    'cancel',
    'cancel_response',
    'result_request',
    'result',
    'feedback',
    'status',
]
# What a field must be: a number, also one of several ('ranges[*]'), a text, a stamp, an array of
# free length, or anything.
Need = Literal['number', 'float', 'text', 'time', 'array', 'field']
SIDES: tuple[Side, ...] = get_args(Side)
SIDES_OF: dict[Kind, tuple[Side, ...]] = {
    'topic': SIDES[:1],
    'service': SIDES[1:3],
    'action': SIDES[3:],
}
# Those of calls, whose order means nothing; and those of what answers one.
CALL_SIDES = tuple(side for side in SIDES if side not in ('message', 'feedback', 'status'))
ANSWER_SIDES: tuple[Side, ...] = ('response', 'goal_response', 'cancel_response', 'result')


@dataclass(frozen=True)
class Parcel(Sample):
    """A message in transit.

    `stamp_s` is when it came, by the relay's clock; `sequence` counts on this side of the route.

    :param call: the call or the goal that it belongs to, the relay's own business; None of a topic
    :param answers: makes an empty answer to a request, as an object; None where there are none
    """

    call: Any = field(default=None, compare=False, repr=False)
    answers: Callable[[], Any] | None = field(default=None, compare=False, repr=False)

    def replaced(self, fields: Fields) -> 'Parcel':
        """Return this parcel with other content."""
        return cast(Parcel, super().replaced(fields))

    def blank_answer(self) -> Any:
        """Return an empty answer to this request, as an object.

        :raises Unreadable: if this is no request
        """
        if self.answers is None:
            raise Unreadable('this is nothing that can be answered')
        return self.answers()


@dataclass(frozen=True)
class Passage:
    """What travels on, and when.

    :param due_ns: by the relay's clock; what is due now or earlier leaves at once
    :param answer: set for a request that travels no further: the message goes back to whoever
        asked, and is an object of the type that `Parcel.answers` makes
    """

    parcel: Parcel
    due_ns: int
    answer: Any = None


@dataclass(frozen=True)
class Strike:
    """What became of a message that was struck."""

    passages: Sequence[Passage]
    detail: dict[str, JsonValue] = field(default_factory=dict)


class TransitInjector:
    """One armed fault. It keeps the state, and the frame of every decision.

    A subclass says in `strike` what becomes of a message that the draw has chosen, and in `spare`
    what of any other; both return what travels on, never before `now_ns`. One that keeps messages
    back without knowing until when overrides `due_ns`, `on_due`, `kept_bytes` and `release`, too.
    """

    def __init__(
        self, fault: 'TransitFault', draws: Generator, amounts: Generator, now_ns: int
    ) -> None:
        self.fault = fault
        self.amounts = amounts
        self.gate = Gate(fault.schedule, now_ns)
        self._draws = draws

    def on_parcel(self, parcel: Parcel, now_ns: int) -> tuple[Sequence[Passage], Decision | None]:
        """Return what travels on, and what was decided; None if the fault is off."""
        draw = self.draw()
        if not self.gate.lets_strike(now_ns):
            return self.spare(parcel, now_ns), None
        if draw >= self.fault.probability:
            return self.spare(parcel, now_ns), self._decision(draw, False, {})
        try:
            strike = self.strike(parcel, now_ns)
        except (AttributeError, Unreadable) as error:  # a field that this message does not have
            why = {'passed': f'{type(error).__name__}: {error}'}
            return (Passage(parcel, now_ns),), self._decision(draw, False, why)
        changed = not _same(strike.passages, parcel, now_ns)
        return strike.passages, self._decision(draw, changed, strike.detail)

    def draw(self) -> float:
        """Return a number in [0, 1); asked for each message, so that no schedule shifts it."""
        return float(self._draws.random())

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Return what becomes of a message that is struck."""
        raise NotImplementedError

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Return what becomes of a message that is not struck."""
        return (Passage(parcel, now_ns),)

    @property
    def due_ns(self) -> int | None:
        """When `on_due` is to be called at the latest; None for never."""
        return None

    def on_due(self, now_ns: int) -> Sequence[Passage]:
        """Return what travels on although nothing has come; `due_ns` is later after it."""
        return ()

    @property
    def kept_bytes(self) -> int:
        """Size of the messages that it keeps back."""
        return 0

    def release(self) -> Sequence[Parcel]:
        """Hand over what it keeps back, oldest first, because the fault is being removed."""
        return ()

    def _decision(self, draw: float, triggered: bool, detail: dict[str, Any]) -> Decision:
        return Decision(self.fault.kind, self.fault.probability, draw, triggered, detail)


def _same(passages: Sequence[Passage], parcel: Parcel, now_ns: int) -> bool:
    if len(passages) != 1:
        return False
    (only,) = passages
    return only.due_ns <= now_ns and only.answer is None and only.parcel.data == parcel.data


class TransitFault(Plugin):
    """Settings of a fault, in physical units."""

    injector_type: ClassVar[type[TransitInjector]]  # set in each file, like `example`
    sides: ClassVar[tuple[Side, ...]] = SIDES  # where it can be

    side: Side | None = Field(
        None,
        description='what it strikes: of a service `request` or `response`; of an action `goal`, '
        '`goal_response`, `feedback`, `result`, `cancel` …; a topic has only `message`',
    )
    probability: float = Field(1.0, ge=0, le=1, description='chance of striking a message [1]')
    schedule: Schedule = Field(Schedule(), description='when it is on; always, if not given')

    @property
    def needs(self) -> dict[str, Need]:
        """Fields, by path, that the messages it strikes must have; none if it only moves bytes."""
        return {}

    @property
    def writes(self) -> dict[str, JsonValue]:
        """Values that it writes into the messages it strikes, by path."""
        return {}

    @property
    def answers_with(self) -> dict[str, JsonValue]:
        """Values that it writes into the answers it gives itself, by path."""
        return {}

    def side_on(self, kind: Kind) -> Side:
        """Return the side of a route that it is on.

        :raises ValueError: if it cannot be there, or does not say where
        """
        there = [side for side in SIDES_OF[kind] if side in self.sides]
        if not there:
            raise ValueError(f'fault {self.kind!r} cannot strike a route of kind {kind}')
        if self.side is None and len(there) == 1:
            return there[0]
        if self.side not in there:
            given = 'none is given' if self.side is None else f'not {self.side}'
            raise ValueError(
                f'`side` of fault {self.kind!r} on a route of kind {kind} is one of '
                f'{", ".join(there)}; {given}'
            )
        return self.side

    def injector(self, draws: Generator, amounts: Generator, now_ns: int) -> TransitInjector:
        """Return a fresh injector.

        :param draws: decides each strike, one number a message
        :param amounts: for everything else that is left to chance
        :param now_ns: when it is armed
        """
        return self.injector_type(self, draws, amounts, now_ns)
