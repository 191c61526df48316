"""What a probe is: settings that make a watch, which looks at one thing for one phase of a trial.

Somebody who has a graph looks at the probe's source and tells the watch what there was to see,
and when. The watch says at any time what it makes of it. A watch is for one phase; its memory does
not grow with what it sees.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Fields
from alpha_chaos.plugins import Plugin

Verdict = Literal['held', 'deviated', 'unknown']
Phase = Literal['before', 'during', 'after']

PHASES: tuple[Phase, ...] = ('before', 'during', 'after')


@dataclass(frozen=True)
class TopicSource:
    """A topic, by name.

    :param type: of its messages; empty for whatever its publishers say
    """

    topic: str
    type: str = ''


@dataclass(frozen=True)
class ServiceSource:
    """A service that is called again and again, one call at a time.

    :param type: empty for whatever its server says
    :param request: values of the request, by path; what is not named stays as the type has it
    :param every_s: from one call to the next, if the answer was there by then [s]
    :param within_s: after which nobody waits for an answer any more [s]
    """

    service: str
    type: str
    request: dict[str, JsonValue]
    every_s: float
    within_s: float


@dataclass(frozen=True)
class GraphSource:
    """The names of all nodes.

    :param awaited: full name of one that is waited for before anything is judged: nodes become
        known one by one
    """

    awaited: str


Source = TopicSource | ServiceSource | GraphSource


@dataclass(frozen=True)
class Finding:
    """What a watch makes of what it has seen.

    `unknown`: it cannot tell, which is neither good nor bad. `deviated` is final: nothing that
    comes later in the phase takes it back.

    :param measured: in physical units; the unit is in the name
    :param reason: for people; empty when held
    """

    verdict: Verdict
    measured: dict[str, JsonValue] = field(default_factory=dict)
    reason: str = ''


class Watch:
    """One probe in one phase. As it stands it sees nothing; times are of one steady clock [s]."""

    def on_message(self, now_s: float, read: Callable[[], Fields]) -> None:
        """See a message of the topic.

        :param read: returns its fields, or raises `Unreadable`; costs time
        """

    def on_senders(self, count: int) -> None:
        """Learn how many publish the topic at this moment; comes several times a second."""

    def on_answer(self, took_s: float, answer: Fields) -> None:
        """See what the service answered."""

    def on_silence(self, reason: str) -> None:
        """Learn that the service did not answer a call."""

    def on_nodes(self, names: Collection[str]) -> None:
        """See the full names of all nodes; comes several times a second."""

    @abstractmethod
    def judge(self, now_s: float) -> Finding:
        """Return what can be said at this moment about the phase so far."""


class Probe(Plugin):
    """Settings of a probe: where it looks, and what it tolerates, in physical units."""

    phases: tuple[Phase, ...] = Field(
        default=PHASES,
        min_length=1,
        description='phases in which it is judged: before, during and after the faults',
    )

    @property
    @abstractmethod
    def source(self) -> Source:
        """What has to be looked at."""

    @property
    def shortest_s(self) -> float:
        """The shortest phase in which it can be judged [s]."""
        return 0.0

    @abstractmethod
    def watch(self, start_s: float) -> Watch:
        """Return a watch for a phase that begins at `start_s`."""
