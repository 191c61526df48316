"""One side of a relay's route: messages come, pass the faults, and travel on when they are due."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

from alpha_chaos.faults.base import Codec
from alpha_chaos.health import Delays
from alpha_chaos.nodes.relay_clock import RelayClock
from alpha_chaos.transit.base import Parcel, Passage, Side
from alpha_chaos.transit.config import Route
from alpha_chaos.transit.stack import Limits, Stack, Verdict


class Host(Protocol):
    """What one who listens needs of the node it is in."""

    node: Node

    def problem(self, where: str, text: str) -> None:
        """Say what does not work, once."""


class Relay(Host, Protocol):
    """What a lane and a leg need of the node they are in."""

    clock: RelayClock
    limits: Limits
    handling: Delays  # of what passes: what the relay itself costs

    def report(self, lane: 'Lane', verdicts: Sequence[Verdict]) -> None:
        """Publish what was decided."""

    def held(self) -> None:
        """Note that what is held back has changed."""

    def typed(self, lane: 'Lane') -> None:
        """Note that the type of a lane's messages is known from now on."""


class Lane:
    """A side of a route. `send` is whoever takes what leaves; a leg sets it when it opens."""

    def __init__(self, relay: Relay, route: Route, side: Side) -> None:
        self.route = route
        self.side = side
        self.stack = Stack(relay.limits)
        self.sequence = 0
        self.send: Callable[[Passage], None] | None = None
        self.kind: Any = None  # type of its messages, once known
        self.answers: Any = None  # type of the answers to them
        self._relay = relay
        self._codec: Codec | None = None

    def open(self, kind: Any, send: Callable[[Passage], None], answers: Any = None) -> None:
        """Begin to pass messages of a type; what is held back of another one is lost.

        :param answers: type of what answers them, for a request
        """
        if self.kind not in (None, kind):
            lost = self.stack.restart(self._relay.clock.now_ns)
            self._relay.problem(
                self.route.name,
                f'the {self.side} is of another type now: its faults begin anew, '
                f'held messages lost: {lost}',
            )
        self.kind, self.send, self.answers = kind, send, answers
        self._codec = Codec(lambda data: deserialize_message(data, kind), serialize_message)
        self._relay.typed(self)

    def take(self, data: bytes, call: Any = None) -> None:
        """Take a message; whoever calls this has counted it in `sequence`."""
        now_ns = self._relay.clock.now_ns
        parcel = Parcel(data, now_ns * 1e-9, self.sequence, self._codec, call, self.answers)
        self.leave(self.stack.feed(parcel, now_ns))

    def pump(self, now_ns: int) -> None:
        """Let go what is due."""
        if self.stack.is_due(now_ns):
            self.leave(self.stack.pump(now_ns))

    def leave(self, passages: Sequence[Passage]) -> None:
        """Send on what has left the stack, then tell what was decided about it."""
        if self.send is not None:
            for passage in passages:
                self.send(passage)
        if verdicts := self.stack.verdicts():
            self._relay.report(self, verdicts)
        self._relay.held()
