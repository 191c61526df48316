"""The consumer of a topic sees the world as it was a while ago."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Decision, Evidence, Fault, Injector, Sample


class SensorLag(Fault):
    """Replace each message by the one that was the newest `lag_s` earlier.

    While the buffer does not reach back that far, its oldest message is delivered: the lag
    saturates. A message that the draw spares goes through as it is.
    """

    kind: Literal['sensor_lag'] = 'sensor_lag'
    route: str = 'scene'
    lag_s: float = Field(
        ge=0, le=60, description='simulated time between sampling and delivery [s]; bounds memory'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The topic whose messages come late."""
        return (self.route,)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector with an empty buffer."""
        return _Lag(self, draws)


SensorLag.example = SensorLag(lag_s=0.25)


class _Lag(Injector):
    def __init__(self, fault: SensorLag, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        # Stamps and lag are each rounded to 1 ns, so that 44/240 s comes 1 ns less than a lag of
        # 1/240 s after 43/240 s.
        self._lag_ns = max(_nanoseconds(fault.lag_s) - 1, 0)
        self._stamps_ns: list[int] = []  # sorted, and `_samples` in the same order
        self._samples: list[Sample] = []
        self._saturated = 0
        self._last: dict[str, JsonValue] = {}

    def on_message(self, sample: Sample) -> Iterable[Sample]:
        # Compared as the integers they were: as floats, 0.525 - 0.5 would miss a stamp of 0.025.
        now_ns = _nanoseconds(sample.stamp_s)
        at = bisect_right(self._stamps_ns, now_ns)
        self._stamps_ns.insert(at, now_ns)
        self._samples.insert(at, sample)

        due = bisect_right(self._stamps_ns, now_ns - self._lag_ns) - 1
        saturated = due < 0
        due = max(due, 0)
        lagged, lag_ns = self._samples[due], now_ns - self._stamps_ns[due]
        # Later messages look back from a later time, so what is older than this is never due.
        del self._stamps_ns[:due], self._samples[:due]

        draw = float(self._draws.random())
        struck = draw < self._fault.probability
        delivered = lagged if struck else sample
        self._saturated += struck and saturated
        self._last = {
            'requested_lag_s': self._fault.lag_s,
            'delivered_lag_s': lag_ns / 1e9 if struck else 0.0,
            'saturated': struck and saturated,
            'delivered_sequence': delivered.sequence,
        }
        triggered = delivered is not sample
        self._decide(Decision('sensor_lag', self._fault.probability, draw, triggered, self._last))
        return (delivered,)

    def evidence(self) -> Evidence:
        """Return whether any message that was delivered was not the newest."""
        detail = self._tally() | {'saturated': self._saturated, 'last': self._last}
        return Evidence(exercised=self._struck > 0, detail=detail)


def _nanoseconds(time_s: float) -> int:
    return round(time_s * 1e9)
