"""The source hangs: messages keep coming, and say what the last good one said."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from numpy.random import Generator

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector


class Stuck(TransitFault):
    """A message is replaced by the last one that was spared, byte for byte, its stamp included.

    If none was spared yet, the first to be struck takes its place.
    """

    kind: Literal['stuck'] = 'stuck'


class StuckInjector(TransitInjector):
    """Remembers the last message that it has spared."""

    def __init__(self, fault: Stuck, draws: Generator, amounts: Generator, now_ns: int) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._last: Parcel | None = None

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Repeat the last one instead."""
        if self._last is None:
            self._last = parcel
        repeated = replace(parcel, data=self._last.data)
        return Strike((Passage(repeated, now_ns),), {'of': self._last.sequence})

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Pass it and remember it."""
        self._last = parcel
        return (Passage(parcel, now_ns),)


Stuck.injector_type = StuckInjector
Stuck.example = Stuck(probability=0.5)
