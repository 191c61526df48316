"""Messages arrive more than once."""

from typing import Literal

from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector
from alpha_chaos.transit.schedule import YEAR_S, to_ns


class Duplicate(TransitFault):
    """A message is followed by copies of itself."""

    kind: Literal['duplicate'] = 'duplicate'
    copies: int = Field(1, ge=1, le=100, description='besides the message itself [1]')
    after_s: float = Field(
        0.0, ge=0, le=YEAR_S, description='from one to the next [s]; 0: all at once'
    )

    # One request has one answer, and the caller of a copy is nobody.
    sides = ('message', 'feedback', 'status')


class DuplicateInjector(TransitInjector):
    """Multiplies what is struck."""

    fault: Duplicate

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Pass it and its copies."""
        step_ns = to_ns(self.fault.after_s)
        times = range(self.fault.copies + 1)
        return Strike(
            [Passage(parcel, now_ns + step_ns * time) for time in times],
            {'copies': self.fault.copies},
        )


Duplicate.injector_type = DuplicateInjector
Duplicate.example = Duplicate(copies=2, after_s=0.05)
