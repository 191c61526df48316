"""An array ends too early."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import (
    Need,
    Parcel,
    Passage,
    Strike,
    TransitFault,
    TransitInjector,
)


class Truncate(TransitFault):
    """Cuts the end off an array; what counts its elements elsewhere stays as it is."""

    kind: Literal['truncate'] = 'truncate'
    field: str = Field(
        min_length=1, max_length=500, description='path of an array: `ranges`, `markers[*].points`'
    )
    keep: int = Field(0, ge=0, le=10**9, description='elements that are left, from the first [1]')

    @property
    def needs(self) -> dict[str, Need]:
        """The array."""
        return {self.field: 'array'}

    def injector(self, draws: Generator, amounts: Generator, now_ns: int) -> 'TruncateInjector':
        """Return an injector."""
        return TruncateInjector(self, draws, amounts, now_ns)


class TruncateInjector(TransitInjector):
    """Cuts the arrays of what is struck."""

    fault: Truncate

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Cut them."""
        fields = parcel.fields()
        cut = 0
        for place in fields.each(self.fault.field):
            array = fields.get(place)
            if isinstance(array, str) or not hasattr(array, '__len__'):
                raise AttributeError(f'{place} is no array')
            if len(array) > self.fault.keep:
                cut += len(array) - self.fault.keep
                fields.set(place, array[: self.fault.keep])
        if cut:
            parcel = parcel.replaced(fields)
        return Strike((Passage(parcel, now_ns),), {'cut': cut})


Truncate.example = Truncate(field='ranges', keep=2)
