"""An array ends too early."""

from typing import ClassVar, Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.faults.base import Fields
from alpha_chaos.transit.base import Need
from alpha_chaos.transit.content import EditFault


class Truncate(EditFault):
    """Cuts the end off an array; what counts its elements elsewhere stays as it is."""

    need: ClassVar[Need] = 'array'

    kind: Literal['truncate'] = 'truncate'
    field: str = Field(
        min_length=1, max_length=500, description='path of an array: `ranges`, `markers[*].points`'
    )
    keep: int = Field(0, ge=0, le=10**9, description='elements that are left, from the first [1]')

    def edit(self, fields: Fields, amounts: Generator) -> int:
        """Cut them."""
        cut = 0
        for place in fields.each(self.field):
            array = fields.get(place)
            if isinstance(array, str) or not hasattr(array, '__len__'):
                raise AttributeError(f'{place} is no array')
            if len(array) > self.keep:
                cut += len(array) - self.keep
                fields.set(place, array[: self.keep])
        return cut


Truncate.example = Truncate(field='ranges', keep=2)
