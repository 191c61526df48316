"""An answer belongs to an earlier call."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import (
    ANSWER_SIDES,
    Parcel,
    Passage,
    Side,
    Strike,
    TransitFault,
    TransitInjector,
)


class StaleResponse(TransitFault):
    """A response or a result is replaced by the one that the server gave some calls ago.

    While there was none, the answer passes as it is. Calls of all clients count.
    """

    sides: ClassVar[tuple[Side, ...]] = ANSWER_SIDES

    kind: Literal['stale_response'] = 'stale_response'
    calls_ago: int = Field(
        1, ge=1, le=100, description='how many answers earlier it was given [1]'
    )


class StaleResponseInjector(TransitInjector):
    """Remembers what the server has answered lately."""

    fault: StaleResponse

    def __init__(
        self, fault: StaleResponse, draws: Generator, amounts: Generator, now_ns: int
    ) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._given: deque[bytes] = deque(maxlen=fault.calls_ago)

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Give the old one."""
        old = self._given[0] if len(self._given) == self.fault.calls_ago else parcel.data
        self._given.append(parcel.data)
        return Strike((Passage(replace(parcel, data=old), now_ns),))

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Pass it and remember it."""
        self._given.append(parcel.data)
        return super().spare(parcel, now_ns)


StaleResponse.injector_type = StaleResponseInjector
StaleResponse.example = StaleResponse()
