"""Fewer messages arrive than are sent."""

from collections.abc import Sequence
from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector
from alpha_chaos.transit.schedule import NANOSECONDS


class Throttle(TransitFault):
    """What exceeds a rate is lost; one message in `1 / rate_hz` passes at any time in it."""

    kind: Literal['throttle'] = 'throttle'
    rate_hz: float = Field(gt=1e-6, le=1e6, description='messages that pass a second [Hz]')


class ThrottleInjector(TransitInjector):
    """Remembers when the next message may pass."""

    fault: Throttle

    def __init__(self, fault: Throttle, draws: Generator, amounts: Generator, now_ns: int) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._period_ns = round(NANOSECONDS / fault.rate_hz)
        self._next_ns = now_ns

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Lose it, if it comes too early."""
        if now_ns < self._next_ns:
            return Strike((), {'early_s': (self._next_ns - now_ns) / NANOSECONDS})
        return Strike(self._passes(parcel, now_ns))

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Pass it; it counts."""
        return self._passes(parcel, now_ns)

    def _passes(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        # In step with the rate, not with the message: else a source that is uneven, or no multiple
        # of the rate, would lose a whole period each time that one of its messages is early.
        missed_ns = max(0, now_ns - self._next_ns)
        self._next_ns = now_ns - missed_ns % self._period_ns + self._period_ns
        return (Passage(parcel, now_ns),)


Throttle.injector_type = ThrottleInjector
Throttle.example = Throttle(rate_hz=4.0)
