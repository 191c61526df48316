"""Messages arrive late, in their order."""

import math
from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector
from alpha_chaos.transit.schedule import YEAR_S, to_ns


class Lag(TransitFault):
    """Everything comes later; nothing overtakes what it delays."""

    kind: Literal['lag'] = 'lag'
    distribution: Literal['fixed', 'uniform', 'normal', 'correlated'] = Field(
        'fixed',
        description='fixed: `lag_s`; uniform: `lag_s` ± `spread_s`; normal: standard deviation '
        '`spread_s`; correlated: normal, and each depends on the one before',
    )
    lag_s: float = Field(ge=0, le=YEAR_S, description='lag, or its mean [s]')
    spread_s: float = Field(0.0, ge=0, le=YEAR_S, description='see `distribution` [s]')
    correlation: float = Field(
        0.9, ge=0, lt=1, description='of one lag with the next, if they are correlated [1]'
    )


class LagInjector(TransitInjector):
    """Remembers when its last message will leave, so that none overtakes it."""

    fault: Lag

    def __init__(self, fault: Lag, draws: Generator, amounts: Generator, now_ns: int) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._last_ns = now_ns
        self._deviation = float(amounts.standard_normal())  # of the correlated lag before

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Hold it back for a lag drawn anew."""
        lag_s = max(0.0, self._lag_s())
        return Strike((self._in_order(parcel, now_ns + to_ns(lag_s)),), {'lag_s': lag_s})

    def spare(self, parcel: Parcel, now_ns: int) -> tuple[Passage]:
        """Let it wait for those before it only."""
        return (self._in_order(parcel, now_ns),)

    def _in_order(self, parcel: Parcel, due_ns: int) -> Passage:
        self._last_ns = max(self._last_ns, due_ns)
        return Passage(parcel, self._last_ns)

    def _lag_s(self) -> float:
        fault, amounts = self.fault, self.amounts
        if fault.distribution == 'fixed':
            return fault.lag_s
        if fault.distribution == 'uniform':
            return float(
                amounts.uniform(fault.lag_s - fault.spread_s, fault.lag_s + fault.spread_s)
            )
        fresh = float(amounts.standard_normal())
        if fault.distribution == 'correlated':
            innovation = math.sqrt(1 - fault.correlation**2)
            fresh = fault.correlation * self._deviation + innovation * fresh
            self._deviation = fresh
        return fault.lag_s + fault.spread_s * fresh


Lag.injector_type = LagInjector
Lag.example = Lag(lag_s=0.2, distribution='normal', spread_s=0.05)
