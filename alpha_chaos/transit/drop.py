"""Messages are lost, each on its own."""

from typing import Literal

from numpy.random import Generator

from alpha_chaos.transit.base import Parcel, Strike, TransitFault, TransitInjector


class Drop(TransitFault):
    """A message is lost with `probability`, whatever became of those before it."""

    kind: Literal['drop'] = 'drop'

    def injector(self, draws: Generator, amounts: Generator, now_ns: int) -> 'DropInjector':
        """Return an injector."""
        return DropInjector(self, draws, amounts, now_ns)


class DropInjector(TransitInjector):
    """Loses what is struck."""

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Lose it."""
        return Strike(())


Drop.example = Drop(probability=0.3)
