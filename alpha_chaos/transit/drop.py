"""Messages are lost, each on its own."""

from typing import Literal

from alpha_chaos.transit.base import Parcel, Strike, TransitFault, TransitInjector


class Drop(TransitFault):
    """A message is lost with `probability`, whatever became of those before it."""

    kind: Literal['drop'] = 'drop'


class DropInjector(TransitInjector):
    """Loses what is struck."""

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Lose it."""
        return Strike(())


Drop.injector_type = DropInjector
Drop.example = Drop(probability=0.3)
