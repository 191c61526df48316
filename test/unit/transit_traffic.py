"""Messages for faults in transit to strike, without ROS."""

import json
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace as Message

import numpy as np
from numpy.random import default_rng

from alpha_chaos.faults.base import Codec
from alpha_chaos.transit.base import Parcel, TransitFault
from alpha_chaos.transit.schedule import NANOSECONDS
from alpha_chaos.transit.stack import Limits, Stack, Verdict

PERIOD_NS = NANOSECONDS // 10
COUNT = 60


def decode(data: bytes) -> Message:
    """Return the message that bytes hold."""
    message: Message = json.loads(data, object_hook=lambda fields: Message(**fields))
    return message


def encode(message: Message) -> bytes:
    """Return a message as bytes."""
    return json.dumps(message, default=vars).encode()


JSON = Codec(decode, encode)  # stands in for the serialisation of ROS


@cache
def message(number: int) -> bytes:
    """Return what a source says the n-th time: no two are alike, in any field."""
    stamp = Message(sec=100 + number, nanosec=number)
    pose = Message(position=Message(x=0.5 + number, y=-0.25, z=1.0 + number))
    ranges = [number + 0.5, number + 1.5, number + 2.5, number + 3.5]
    return encode(
        Message(
            header=Message(stamp=stamp, frame_id=f'frame_{number}'),
            pose=pose,
            ranges=ranges,
            number=number,
        )
    )


def parcel(number: int, came_ns: int, data: bytes | None = None) -> Parcel:
    """Return a message in transit."""
    content = message(number) if data is None else data
    return Parcel(content, came_ns / NANOSECONDS, number, JSON, answers=Message)


@dataclass
class Record:
    """What left a side of a route, in its order, and what was decided."""

    left: list[tuple[int, Parcel]] = field(default_factory=list)
    answered: list[Parcel] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def draws(self) -> list[float | None]:
        """Return the numbers that decided."""
        return [verdict.decision.draw for verdict in self.verdicts]

    @property
    def struck(self) -> list[bool]:
        """Return for each decision whether it changed something."""
        return [verdict.decision.triggered for verdict in self.verdicts]


class Link:
    """One side of a route, with a clock that the test moves."""

    def __init__(self, *faults: TransitFault, seed: int = 7, limits: Limits | None = None) -> None:
        self.stack = Stack(limits or Limits())
        self.record = Record()
        self.now_ns = 0
        for handle, fault in enumerate(faults):
            self.arm(handle, fault, seed)

    def arm(self, handle: int, fault: TransitFault, seed: int = 7, draws: object = None) -> None:
        """Arm a fault with draws of its own."""

        def make(now_ns: int) -> object:
            decides = draws or default_rng((seed, handle))
            return fault.injector(decides, default_rng((seed, handle, 1)), now_ns)

        self.stack.arm(handle, make, self.now_ns)

    def send(self, number: int, data: bytes | None = None) -> list[Parcel]:
        """Send a message now; return what leaves now."""
        return self._note(self.stack.feed(parcel(number, self.now_ns, data), self.now_ns))

    def wait_until(self, now_ns: int) -> None:
        """Let time pass, waking the link exactly when it asks for it."""
        while (due_ns := self.stack.due_ns) is not None and due_ns <= now_ns:
            self.now_ns = max(self.now_ns, due_ns)
            self._note(self.stack.pump(self.now_ns))
        self.now_ns = now_ns

    def disarm(self, handle: int) -> list[Parcel]:
        """Remove a fault; return what leaves."""
        return self._note(self.stack.disarm(handle, self.now_ns))

    def run(self, count: int = COUNT) -> Record:
        """Send messages at 10 Hz, and wait for what is late."""
        for number in range(1, count + 1):
            self.wait_until(number * PERIOD_NS)
            self.send(number)
        self.drain()
        return self.record

    def drain(self) -> None:
        """Wait until nothing is held back."""
        while (due_ns := self.stack.due_ns) is not None:
            self.wait_until(due_ns)

    def _note(self, passages: object) -> list[Parcel]:
        left = []
        for passage in passages:  # type: ignore[attr-defined]
            if passage.answer is not None:
                self.record.answered.append(passage.parcel)
            else:
                self.record.left.append((self.now_ns, passage.parcel))
            left.append(passage.parcel)
        self.record.verdicts += self.stack.verdicts()
        return left


def numbers(record: Record) -> list[int]:
    """Return the numbers of the messages that left, in their order."""
    return [one.sequence for _, one in record.left]


def lags_s(record: Record) -> np.ndarray:
    """Return how late each message left, in the order they left."""
    return np.array(
        [(left_ns - one.sequence * PERIOD_NS) / NANOSECONDS for left_ns, one in record.left]
    )


def on_time(count: int = COUNT) -> list[tuple[int, int, bytes]]:
    """Return what leaves a link without a fault: when, which and what."""
    return [(number * PERIOD_NS, number, message(number)) for number in range(1, count + 1)]


def seen(record: Record) -> list[tuple[int, int, bytes]]:
    """Return what left: when, which and what."""
    return [(left_ns, one.sequence, one.data) for left_ns, one in record.left]
