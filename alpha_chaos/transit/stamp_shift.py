"""A message says that it was made at another time than it was."""

from typing import ClassVar, Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.faults.base import Fields
from alpha_chaos.transit.base import Need
from alpha_chaos.transit.content import EditFault
from alpha_chaos.transit.schedule import NANOSECONDS, YEAR_S, to_ns

_LAST_NS = 2**31 * NANOSECONDS - 1  # what a stamp can hold


class StampShift(EditFault):
    """Moves the stamp, as a clock does that is wrong; not beyond what a stamp can hold."""

    need: ClassVar[Need] = 'time'

    kind: Literal['stamp_shift'] = 'stamp_shift'
    shift_s: float = Field(
        ge=-YEAR_S, le=YEAR_S, description='added to the stamp [s]; negative: older than it is'
    )
    field: str = Field(
        'header.stamp', min_length=1, max_length=500, description='path of the stamp'
    )

    def edit(self, fields: Fields, amounts: Generator) -> int:
        """Write the stamp."""
        written = 0
        for place in fields.each(self.field):
            seconds = int(fields.get(f'{place}.sec'))
            stamp_ns = seconds * NANOSECONDS + int(fields.get(f'{place}.nanosec'))
            shifted_ns = min(max(stamp_ns + to_ns(self.shift_s), 0), _LAST_NS)
            fields.set(f'{place}.sec', shifted_ns // NANOSECONDS)
            fields.set(f'{place}.nanosec', shifted_ns % NANOSECONDS)
            written += shifted_ns != stamp_ns
        return written


StampShift.example = StampShift(shift_s=-0.5)
