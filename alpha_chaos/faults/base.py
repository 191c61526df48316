"""What a fault is: settings that make an injector, which sees messages in transit.

A relay hands every message of a route to the injectors of the faults that name the route, in the
order of the experiment file, and drains `Injector.decisions` after every hook.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.plugins import Plugin


@dataclass(frozen=True)
class Sample:
    """A topic message in transit.

    :param data: the message as it was serialised; a fault on samples never looks inside
    :param stamp_s: simulated time in its header [s]
    :param sequence: number of the message on its route since the reset, the first is 1
    """

    data: bytes
    stamp_s: float
    sequence: int


class Fields:
    """Fields of a message, addressed by path ('target.pose.position.x')."""

    def __init__(self, message: object) -> None:
        self.message = message

    def has(self, path: str) -> bool:
        """Return whether the message has this field."""
        try:
            self.get(path)
        except AttributeError:
            return False
        return True

    def get(self, path: str) -> Any:
        """Return the value of a field; raises AttributeError if there is none."""
        value: Any = self.message
        for name in path.split('.'):
            value = getattr(value, name)
        return value

    def set(self, path: str, value: object) -> None:
        """Change a field; raises AttributeError if the message has none of this name."""
        parent, _, name = path.rpartition('.')
        owner = self.get(parent) if parent else self.message
        getattr(owner, name)  # an object without slots would take a misspelt name silently
        setattr(owner, name, value)


@dataclass(frozen=True)
class Command:
    """A call that a fault adds: the last successful request of `route` again, changed.

    :param changes: new values, by path ('max_effort')
    """

    route: str
    changes: dict[str, JsonValue]


@dataclass
class Call:
    """A service call or an action goal in transit.

    :param sequence: number of the call on its route since the reset, the first is 1
    :param request: what the consumer sent, and may be changed in `on_request`
    :param response: None until the provider answered; may be changed in `on_response`
    :param commands: to be carried out, in order, before the request is forwarded
    """

    route: str
    sequence: int
    request: Fields
    response: Fields | None = None
    commands: list[Command] = field(default_factory=list)


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

    def decisions(self) -> list[Decision]:
        """Return the decisions since this was last asked, oldest first."""
        drained, self._decisions = self._decisions, []
        return drained

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
