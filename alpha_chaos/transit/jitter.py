"""Messages arrive unevenly, and may overtake each other."""

from typing import Literal

from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector
from alpha_chaos.transit.schedule import YEAR_S, to_ns


class Jitter(TransitFault):
    """Each message is late by a time of its own, drawn evenly from 0 to `jitter_s`."""

    kind: Literal['jitter'] = 'jitter'
    jitter_s: float = Field(ge=0, le=YEAR_S, description='longest delay [s]')


class JitterInjector(TransitInjector):
    """Delays what is struck."""

    fault: Jitter

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Hold it back, whatever is under way already."""
        lag_s = self.fault.jitter_s * float(self.amounts.random())
        return Strike((Passage(parcel, now_ns + to_ns(lag_s)),), {'lag_s': lag_s})


Jitter.injector_type = JitterInjector
Jitter.example = Jitter(jitter_s=0.05)
