"""A message says that it is in another frame than it is."""

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


class FrameShift(TransitFault):
    """Writes another frame into the header; every position in the message is shifted by that."""

    kind: Literal['frame_shift'] = 'frame_shift'
    frame: str = Field(max_length=200, description='name of the frame it then claims to be in')
    field: str = Field(
        'header.frame_id', min_length=1, max_length=500, description='path of the name'
    )

    @property
    def needs(self) -> dict[str, Need]:
        """The name of the frame."""
        return {self.field: 'text'}

    def injector(self, draws: Generator, amounts: Generator, now_ns: int) -> 'FrameInjector':
        """Return an injector."""
        return FrameInjector(self, draws, amounts, now_ns)


class FrameInjector(TransitInjector):
    """Renames the frame of what is struck."""

    fault: FrameShift

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Write the name."""
        fields = parcel.fields()
        places = fields.each(self.fault.field)
        was = [str(fields.get(place)) for place in places]
        for place in places:
            fields.set(place, self.fault.frame)
        return Strike((Passage(parcel.replaced(fields), now_ns),), {'was': ', '.join(was)})


FrameShift.example = FrameShift(frame='somewhere')
