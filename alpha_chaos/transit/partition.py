"""The link is cut for as long as the schedule says."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field, model_validator

from alpha_chaos.transit.base import Parcel, Passage, Strike, TransitFault, TransitInjector


class Partition(TransitFault):
    """Nothing passes in the window. `probability` is the window's, drawn once for each."""

    kind: Literal['partition'] = 'partition'
    after: Literal['lost', 'delivered'] = Field(
        'lost', description='what becomes of the messages, once the link is whole again'
    )

    @model_validator(mode='after')
    def _ends(self) -> 'Partition':
        if self.after == 'delivered' and self.schedule.for_s is None:
            raise ValueError('delivered when? `schedule` needs `for_s`')
        return self


class PartitionInjector(TransitInjector):
    """Remembers the draw of the present window."""

    fault: Partition

    def __init__(
        self, fault: Partition, draws: Generator, amounts: Generator, now_ns: int
    ) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._windows = -1
        self._drawn = 0.0

    def draw(self) -> float:
        """Return the draw of this window."""
        while self._windows < self.gate.windows:
            self._windows += 1
            self._drawn = super().draw()
        return self._drawn

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Lose it, or keep it until the window ends."""
        ends_ns = self.gate.ends_ns
        if self.fault.after == 'lost' or ends_ns is None:
            return Strike(())
        return Strike((Passage(parcel, ends_ns),))


Partition.injector_type = PartitionInjector
Partition.example = Partition(probability=0.5)
