"""A message says that it is in another frame than it is."""

from typing import ClassVar, Literal

from numpy.random import Generator
from pydantic import Field, field_validator

from alpha_chaos.faults.base import Fields
from alpha_chaos.printable import printable
from alpha_chaos.transit.base import Need
from alpha_chaos.transit.content import EditFault


class FrameShift(EditFault):
    """Writes another frame into the header; every position in the message is shifted by that."""

    need: ClassVar[Need] = 'text'

    kind: Literal['frame_shift'] = 'frame_shift'
    frame: str = Field(max_length=200, description='name of the frame it then claims to be in')
    field: str = Field(
        'header.frame_id', min_length=1, max_length=500, description='path of the name'
    )

    @field_validator('frame')
    @classmethod
    def _can_be_sent(cls, frame: str) -> str:
        if printable(frame) != frame:
            raise ValueError('a frame has printable characters only')
        return frame

    def edit(self, fields: Fields, amounts: Generator) -> int:
        """Write the name."""
        others = [one for one in fields.each(self.field) if fields.get(one) != self.frame]
        for place in others:
            fields.set(place, self.frame)
        return len(others)


FrameShift.example = FrameShift(frame='somewhere')
