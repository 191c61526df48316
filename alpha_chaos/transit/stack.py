"""The faults on one side of a route, one behind the other, and what they hold back.

Time is whole nanoseconds of the relay's clock. What is held back passes the faults behind it at
the time it was due, however late the caller looks, so that decisions depend on the traffic alone.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from alpha_chaos.faults.base import Decision
from alpha_chaos.transit.base import Parcel, Passage, TransitInjector
from alpha_chaos.transit.schedule import ROUNDING_NS

# Passages from fault to fault that may come of one message: faults that multiply each other's
# copies would else go on for ever.
MOST_WORK = 10_000
Make = Callable[[int], TransitInjector]  # a fresh injector, armed at this time


class Limits(BaseModel):
    """How much one side of a route may hold back; what does not fit is lost, and reported."""

    model_config = ConfigDict(frozen=True, extra='forbid')

    messages: int = Field(10_000, ge=1, le=10**6, description='messages held back at most')
    bytes: int = Field(256 * 2**20, ge=1, le=2**40, description='their bytes at most')


@dataclass(frozen=True)
class Verdict:
    """A decision about one message: what came, and everything that left for it."""

    decision: Decision
    parcel: Parcel
    after: bytes


@dataclass
class _Stage:
    handle: int
    make: Make
    injector: TransitInjector
    decided: int = 0
    struck: int = 0


@dataclass(order=True)
class _Held:
    due_ns: int
    serial: int
    handle: int = field(compare=False)
    passage: Passage = field(compare=False)


class Stack:
    """Composes the faults of one side. Everything it returns has left, in this order."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._stages: list[_Stage] = []
        self._held: list[_Held] = []
        self._held_bytes = 0
        self._serial = 0
        self._work = 0  # on the present message
        self._verdicts: list[Verdict] = []

    @property
    def idle(self) -> bool:
        """Whether no fault is armed, so that messages may pass without being shown to it."""
        return not self._stages

    @property
    def held(self) -> int:
        """Number of messages held back."""
        return len(self._held)

    @property
    def held_bytes(self) -> int:
        """Size of the messages held back."""
        return self._held_bytes + sum(stage.injector.kept_bytes for stage in self._stages)

    @property
    def due_ns(self) -> int | None:
        """When `pump` has something to do next; None for never."""
        times = [stage.injector.due_ns for stage in self._stages]
        if self._held:
            times.append(self._held[0].due_ns)
        return min((time for time in times if time is not None), default=None)

    def arm(self, handle: int, make: Make, now_ns: int) -> None:
        """Put a fault behind those that are there."""
        self._stages.append(_Stage(handle, make, make(now_ns)))

    def disarm(self, handle: int, now_ns: int) -> list[Passage]:
        """Take a fault out; what it held back passes those behind it and leaves at once."""
        out = self.pump(now_ns)
        at = next(at for at, stage in enumerate(self._stages) if stage.handle == handle)
        mine = sorted(entry for entry in self._held if entry.handle == handle)
        self._held = [entry for entry in self._held if entry.handle != handle]
        heapq.heapify(self._held)
        self._held_bytes -= sum(len(entry.passage.parcel.data) for entry in mine)
        stage = self._stages.pop(at)
        freed = [entry.passage for entry in mine]
        freed += [Passage(parcel, now_ns) for parcel in stage.injector.release()]
        for passage in freed:
            self._work = 0
            self._leave(at, passage, now_ns, out)
        return out

    def tally(self, handle: int) -> tuple[int, int]:
        """Return how many messages a fault has decided about, and how many it has struck."""
        stage = next(stage for stage in self._stages if stage.handle == handle)
        return stage.decided, stage.struck

    def clear(self) -> int:
        """Take all faults out and lose what they hold back; return how many messages that was."""
        lost = len(self._held) + sum(len(stage.injector.release()) for stage in self._stages)
        self._stages.clear()
        self._held.clear()
        self._held_bytes = 0
        return lost

    def restart(self, now_ns: int) -> int:
        """Begin anew with the same faults, because time did; return how many messages are lost."""
        stages = list(self._stages)
        lost = self.clear()
        for stage in stages:
            self.arm(stage.handle, stage.make, now_ns)
        return lost

    def observe(self, topic: str, read: Callable[[str], Sequence[float]], now_ns: int) -> None:
        """Take a message of a topic that a schedule may look at.

        :param read: returns the numbers at a path in it
        """
        for stage in self._stages:
            condition = stage.injector.fault.schedule.when
            if condition is not None and condition.topic == topic:
                stage.injector.gate.observe(read(condition.field), now_ns)

    def feed(self, parcel: Parcel, now_ns: int) -> list[Passage]:
        """Take a message; return what leaves, that which was due before it first."""
        out = self.pump(now_ns)
        self._work = 0
        self._pass(0, parcel, now_ns, out)
        return out

    def is_due(self, now_ns: int) -> bool:
        """Tell whether something leaves at this time, or should have before."""
        due_ns = self.due_ns
        return due_ns is not None and due_ns <= now_ns + ROUNDING_NS

    def pump(self, now_ns: int) -> list[Passage]:
        """Return what was due until now."""
        out: list[Passage] = []
        while self.is_due(now_ns):
            due_ns = cast(int, self.due_ns)
            self._work = 0
            if self._held and self._held[0].due_ns == due_ns:
                entry = heapq.heappop(self._held)
                self._held_bytes -= len(entry.passage.parcel.data)
                self._leave(self._behind(entry.handle), entry.passage, due_ns, out)
                continue
            for at, stage in enumerate(self._stages):
                if stage.injector.due_ns == due_ns:
                    for passage in stage.injector.on_due(due_ns):
                        self._leave(at + 1, passage, due_ns, out)
        return out

    def verdicts(self) -> list[Verdict]:
        """Return the decisions since this was last asked, oldest first."""
        drained, self._verdicts = self._verdicts, []
        return drained

    def _behind(self, handle: int) -> int:
        return 1 + next(at for at, stage in enumerate(self._stages) if stage.handle == handle)

    def _leave(self, at: int, passage: Passage, now_ns: int, out: list[Passage]) -> None:
        if passage.answer is not None:
            out.append(passage)
        else:
            self._pass(at, passage.parcel, now_ns, out)

    def _pass(self, at: int, parcel: Parcel, now_ns: int, out: list[Passage]) -> None:
        self._work += 1
        if self._work > MOST_WORK:
            if self._work == MOST_WORK + 1:
                self._lose(self._stages[at - 1], parcel, 'too many messages came of one')
            return
        if at == len(self._stages):
            out.append(Passage(parcel, now_ns))
            return
        stage = self._stages[at]
        if stage.injector.kept_bytes and self.held_bytes + len(parcel.data) > self._limits.bytes:
            self._lose(stage, parcel, 'too many bytes are held back already')
            return
        passages: Sequence[Passage]
        try:
            passages, decision = stage.injector.on_parcel(parcel, now_ns)
        except Exception as error:  # a fault that fails must not take the traffic with it
            passages = (Passage(parcel, now_ns),)
            decision = self._note(stage, False, {'error': f'{type(error).__name__}: {error}'})
        if decision is not None:
            stage.decided += 1
            stage.struck += decision.triggered
            after = b''.join(passage.parcel.data for passage in passages if passage.answer is None)
            self._verdicts.append(Verdict(decision, parcel, after))
        for passage in passages:
            if passage.due_ns > now_ns:
                self._hold(stage, passage)
            else:
                self._leave(at + 1, passage, now_ns, out)

    def _hold(self, stage: _Stage, passage: Passage) -> None:
        size = len(passage.parcel.data)
        full = len(self._held) >= self._limits.messages
        if full or self.held_bytes + size > self._limits.bytes:
            self._lose(stage, passage.parcel, f'{len(self._held)} messages are held back already')
            return
        self._serial += 1
        self._held_bytes += size
        heapq.heappush(self._held, _Held(passage.due_ns, self._serial, stage.handle, passage))

    def _lose(self, stage: _Stage, parcel: Parcel, why: str) -> None:
        self._verdicts.append(Verdict(self._note(stage, True, {'lost': why}), parcel, b''))

    def _note(self, stage: _Stage, triggered: bool, detail: dict[str, str]) -> Decision:
        fault = stage.injector.fault
        return Decision(fault.kind, fault.probability, None, triggered, {**detail})
