"""A message says that it was made at another time than it was."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import (
    Need,
    Parcel,
    Passage,
    Strike,
    TransitFault,
    TransitInjector,
)
from alpha_chaos.transit.schedule import NANOSECONDS, YEAR_S, to_ns

_LAST_NS = 2**31 * NANOSECONDS - 1  # what a stamp can hold


class StampShift(TransitFault):
    """Moves the stamp, as a clock does that is wrong; not beyond what a stamp can hold."""

    kind: Literal['stamp_shift'] = 'stamp_shift'
    shift_s: float = Field(
        ge=-YEAR_S, le=YEAR_S, description='added to the stamp [s]; negative: older than it is'
    )
    field: str = Field(
        'header.stamp', min_length=1, max_length=500, description='path of the stamp'
    )

    @property
    def needs(self) -> dict[str, Need]:
        """The stamp."""
        return {self.field: 'time'}

    def injector(self, draws: Generator, amounts: Generator, now_ns: int) -> 'StampInjector':
        """Return an injector."""
        return StampInjector(self, draws, amounts, now_ns)


class StampInjector(TransitInjector):
    """Moves the stamp of what is struck."""

    fault: StampShift

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Write the stamp."""
        fields = parcel.fields()
        for place in fields.each(self.fault.field):
            seconds = int(fields.get(f'{place}.sec'))
            stamp_ns = seconds * NANOSECONDS + int(fields.get(f'{place}.nanosec'))
            shifted_ns = min(max(stamp_ns + to_ns(self.fault.shift_s), 0), _LAST_NS)
            fields.set(f'{place}.sec', shifted_ns // NANOSECONDS)
            fields.set(f'{place}.nanosec', shifted_ns % NANOSECONDS)
        return Strike((Passage(parcel.replaced(fields), now_ns),))


StampShift.example = StampShift(shift_s=-0.5)
