"""A call takes longer, alone: others overtake it."""

from typing import ClassVar, Literal

from pydantic import Field

from alpha_chaos.transit.base import (
    CALL_SIDES,
    Parcel,
    Passage,
    Side,
    Strike,
    TransitFault,
    TransitInjector,
)
from alpha_chaos.transit.schedule import YEAR_S, to_ns


class Delay(TransitFault):
    """A request or an answer is held back. Unlike a `lag` it holds up nothing but itself."""

    sides: ClassVar[tuple[Side, ...]] = CALL_SIDES

    kind: Literal['delay'] = 'delay'
    delay_s: float = Field(ge=0, le=YEAR_S, description='time it is held back, or its mean [s]')
    spread_s: float = Field(
        0.0, ge=0, le=YEAR_S, description='it is drawn evenly from `delay_s` ± this, never < 0 [s]'
    )


class DelayInjector(TransitInjector):
    """Holds back what is struck."""

    fault: Delay

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Hold it back, whatever is under way already."""
        spread = 2 * float(self.amounts.random()) - 1
        delay_s = max(0.0, self.fault.delay_s + self.fault.spread_s * spread)
        return Strike((Passage(parcel, now_ns + to_ns(delay_s)),), {'delay_s': delay_s})


Delay.injector_type = DelayInjector
Delay.example = Delay(delay_s=0.25, spread_s=0.1)
