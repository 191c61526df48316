"""Messages are lost in bursts, as on a radio link (Gilbert-Elliott)."""

from collections.abc import Sequence
from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector


class BurstLoss(TransitFault):
    """A link that is good or bad, and loses messages accordingly.

    The link takes a step with each message, also with one that `probability` spares: so long as
    the bursts are, 1 / `leave` messages on average, that is how many come close together.
    """

    kind: Literal['burst_loss'] = 'burst_loss'
    enter: float = Field(ge=0, le=1, description='chance a message that a good link turns bad [1]')
    leave: float = Field(ge=0, le=1, description='chance a message that a bad link turns good [1]')
    loss_good: float = Field(0.0, ge=0, le=1, description='share lost while it is good [1]')
    loss_bad: float = Field(1.0, ge=0, le=1, description='share lost while it is bad [1]')


class BurstLossInjector(TransitInjector):
    """Remembers how the link is."""

    fault: BurstLoss

    def __init__(
        self, fault: BurstLoss, draws: Generator, amounts: Generator, now_ns: int
    ) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._bad = False

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Lose it, if the link does."""
        loses = self._step()
        link = 'bad' if self._bad else 'good'
        return Strike(() if loses else (Passage(parcel, now_ns),), {'link': link})

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Pass it; the link lives on."""
        self._step()
        return (Passage(parcel, now_ns),)

    def _step(self) -> bool:
        turns, loses = self.amounts.random(2)
        if turns < (self.fault.leave if self._bad else self.fault.enter):
            self._bad = not self._bad
        return bool(loses < (self.fault.loss_bad if self._bad else self.fault.loss_good))


BurstLoss.injector_type = BurstLossInjector
BurstLoss.example = BurstLoss(enter=0.2, leave=0.3)
