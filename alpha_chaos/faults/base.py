"""What a fault is: settings that make an injector, which sees messages in transit.

A relay hands every message of a route to the injectors of the faults that name the route, in the
order of the experiment file, carries out the commands they add, and then drains
`Injector.decisions`.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.plugins import Plugin


class Unreadable(ValueError):
    """Bytes that are no message of their topic's type."""


class Fields:
    """Fields of a message, addressed by path ('target.pose.position.x', 'blocks[0].name')."""

    def __init__(self, message: object) -> None:
        self.message = message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fields) and bool(self.message == other.message)

    def has(self, path: str) -> bool:
        """Return whether the message has this field."""
        try:
            self.get(path)
        except AttributeError:
            return False
        return True

    def each(self, path: str) -> list[str]:
        """Return the paths that one with wildcards stands for, in the order of the elements.

        'blocks[*].pose' is 'blocks[0].pose' and so on, one for each block that there is.
        """
        sequence, wildcard, rest = path.partition('[*]')
        if not wildcard:
            return [path]
        size = len(self.get(sequence))
        return [one for at in range(size) for one in self.each(f'{sequence}[{at}]{rest}')]

    def get(self, path: str) -> Any:
        """Return the value of a field; raises AttributeError if there is none."""
        value: Any = self.message
        for step in _steps(path):
            value = _inside(value, step)
        return value

    def set(self, path: str, value: object) -> None:
        """Change a field; raises AttributeError if the message has none of this name.

        An integer for a field of floats is taken as that number: JSON makes no difference.
        """
        owner: Any = self.message
        *way, last = _steps(path)
        for step in way:
            owner = _inside(owner, step)
        # An object without slots would take a misspelt name silently.
        if isinstance(_inside(owner, last), float) and type(value) is int:
            value = float(value)
        if isinstance(last, int):
            owner[last] = value
        else:
            setattr(owner, last, value)


def _steps(path: str) -> list[str | int]:
    return [
        int(index) if index else name for name, index in re.findall(r'([^.\[\]]+)|\[(\d+)\]', path)
    ]


def _inside(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return getattr(value, step)
    try:
        return value[step]
    except (IndexError, TypeError):
        raise AttributeError(f'{type(value).__name__} has no element {step}') from None


@dataclass(frozen=True)
class Codec:
    """Between the bytes of a topic's messages and objects with their fields."""

    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]


@dataclass(frozen=True)
class Sample:
    """A topic message in transit.

    :param data: the message as it was serialised
    :param stamp_s: simulated time in its header [s]
    :param sequence: number of the message on its route since the reset, the first is 1
    :param codec: for faults that look inside; None where nobody can
    """

    data: bytes
    stamp_s: float
    sequence: int
    codec: Codec | None = field(default=None, compare=False, repr=False)

    def fields(self) -> Fields:
        """Return the fields of a decoded copy.

        :raises Unreadable: for bytes that are no message
        """
        if self.codec is None:
            raise Unreadable('nobody can read this message')
        try:
            return Fields(self.codec.decode(self.data))
        except Exception as error:  # whatever a decoder makes of what is not its own
            raise Unreadable(str(error)) from error

    def replaced(self, fields: Fields) -> 'Sample':
        """Return this sample with other content; stamp and number stay."""
        if self.codec is None:
            raise Unreadable('nobody can write this message')
        return replace(self, data=self.codec.encode(fields.message))


@dataclass(frozen=True)
class Command:
    """A call that a fault adds.

    :param changes: new values, by path ('max_effort')
    :param request: what to ask for; None for the last request of `route` that succeeded, again
    """

    route: str
    changes: dict[str, JsonValue]
    request: Fields | None = None


def _no_answer() -> Fields:
    raise NotImplementedError('nobody here can make an answer')


@dataclass
class Call:
    """A service call or an action goal in transit.

    :param sequence: number of the call on its route since the reset, the first is 1
    :param request: what the consumer sent, and may be changed in `on_request`
    :param response: None until there is one; may be changed in `on_response`
    :param commands: to be carried out, in order: those added in `on_request` before the request
        is forwarded, those added in `on_response` before the consumer gets the response
    :param answer: what a fault answers in the provider's place, set in `on_request`. The request
        is not forwarded then; the other faults see it and the answer as they see any other
    :param blank: makes an empty response of this call's type, to be filled in and put there
    """

    route: str
    sequence: int
    request: Fields
    response: Fields | None = None
    commands: list[Command] = field(default_factory=list)
    answer: Fields | None = None
    blank: Callable[[], Fields] = field(default=_no_answer, compare=False, repr=False)


@dataclass(frozen=True)
class Decision:
    """What a fault decided about one message; becomes an event of the ledger.

    :param probability: of striking [1]
    :param draw: number drawn, in [0, 1); None if nothing was left to chance. A fault strikes when
        draw < probability
    :param triggered: whether the fault changed what travels on
    :param detail: what it did, in physical units
    """

    fault: str
    probability: float
    draw: float | None
    triggered: bool
    detail: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """Whether a fault manifested in an episode, and how.

    :param exercised: false if the episode gave the fault nothing to strike, or its strikes had no
        effect: such an episode says nothing about the fault. A fault that had its chance and lost
        the draw was exercised
    """

    exercised: bool
    detail: dict[str, JsonValue] = field(default_factory=dict)


class Injector:
    """One fault in one episode. As it stands it lets everything through."""

    def __init__(self) -> None:
        self._decisions: list[Decision] = []
        self._decided = 0
        self._struck = 0

    def on_message(self, sample: Sample) -> Iterable[Sample]:
        """Return what the consumer of the topic gets for this message."""
        return (sample,)

    def on_request(self, call: Call) -> None:
        """See, and maybe change, a request on its way to the provider."""

    def on_response(self, call: Call) -> None:
        """See, and maybe change, a response on its way to the consumer."""

    def on_command(self, command: Command, succeeded: bool, message: str) -> None:
        """Learn how a command ended that this injector has added; comes before `decisions`.

        :param message: what the provider said, empty for nothing
        """

    def decisions(self) -> list[Decision]:
        """Return the decisions since this was last asked, oldest first."""
        drained, self._decisions = self._decisions, []
        return drained

    @property
    def decided(self) -> int:
        """Number of decisions so far; likewise `struck`, of those that changed something."""
        return self._decided

    @property
    def struck(self) -> int:
        """Number of strikes so far."""
        return self._struck

    def evidence(self) -> Evidence:
        """Return whether the fault manifested so far; override where a decision is not enough."""
        return Evidence(exercised=self._decided > 0, detail=self._tally())

    def _decide(self, decision: Decision) -> None:
        self._decisions.append(decision)
        self._decided += 1
        self._struck += decision.triggered

    def _tally(self) -> dict[str, JsonValue]:
        return {'decided': self._decided, 'struck': self._struck}


class Fault(Plugin):
    """Settings of a fault, in physical units."""

    probability: float = Field(default=1.0, ge=0, le=1, description='chance of striking [1]')

    @property
    @abstractmethod
    def routes(self) -> tuple[str, ...]:
        """Routes it attacks or listens to, by the name of their input."""

    @abstractmethod
    def injector(self, draws: Generator) -> Injector:
        """Return a fresh injector for one episode.

        :param draws: generator that no one else uses; `draws.random()` decides each strike
        """
