"""Messages arrive in another order."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector
from alpha_chaos.transit.schedule import YEAR_S, to_ns


class Reorder(TransitFault):
    """A message is overtaken by the next ones; none waits longer than `hold_s`."""

    kind: Literal['reorder'] = 'reorder'
    depth: int = Field(1, ge=1, le=1000, description='messages that overtake it [1]')
    hold_s: float = Field(
        1.0, gt=0, le=YEAR_S, description='it waits no longer, however few have come [s]'
    )


class ReorderInjector(TransitInjector):
    """Keeps back what was struck until it was overtaken, `depth` messages at most."""

    fault: Reorder

    def __init__(self, fault: Reorder, draws: Generator, amounts: Generator, now_ns: int) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._seen = 0
        self._bytes = 0
        # Message, the count at which it was overtaken often enough, and its latest time.
        self._waiting: deque[tuple[Parcel, int, int]] = deque()

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Keep it back, and pass those for which it was the last to wait for."""
        freed = self._overtaken(now_ns)
        latest_ns = now_ns + to_ns(self.fault.hold_s)
        self._bytes += len(parcel.data)
        self._waiting.append((parcel, self._seen + self.fault.depth, latest_ns))
        return Strike(freed, {'waiting': len(self._waiting)})

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Pass it before those that it overtakes."""
        freed = self._overtaken(now_ns)
        return (Passage(parcel, now_ns), *freed)

    @property
    def due_ns(self) -> int | None:
        """When the first has waited long enough."""
        return self._waiting[0][2] if self._waiting else None

    @property
    def kept_bytes(self) -> int:
        """Size of those that wait."""
        return self._bytes

    def on_due(self, now_ns: int) -> Sequence[Passage]:
        """Pass those that have waited long enough."""
        return self._free(lambda _, latest_ns: latest_ns <= now_ns, now_ns)

    def release(self) -> Sequence[Parcel]:
        """Hand over all that wait."""
        waiting = [parcel for parcel, *_ in self._waiting]
        self._waiting.clear()
        self._bytes = 0
        return waiting

    def _overtaken(self, now_ns: int) -> list[Passage]:
        self._seen += 1
        return self._free(lambda count, _: count <= self._seen, now_ns)

    def _free(self, free: Callable[[int, int], bool], now_ns: int) -> list[Passage]:
        freed = []
        while self._waiting and free(*self._waiting[0][1:]):
            parcel, *_ = self._waiting.popleft()
            self._bytes -= len(parcel.data)
            freed.append(Passage(parcel, now_ns))
        return freed


Reorder.injector_type = ReorderInjector
Reorder.example = Reorder(depth=2, hold_s=0.4)
