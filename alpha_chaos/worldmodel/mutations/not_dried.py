"""Wet food spatters in hot fat."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class NotDried(Operator):
    """Leave out drying food that goes into hot fat next.

    Water boils at once under the fat and throws it out of the vessel.
    """

    kind: Literal['not_dried'] = 'not_dried'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'hot_surface'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each drying of food that then goes into a vessel with hot fat."""
        for i, step in golden.of('dry'):
            food = step.arguments[0]
            for k, put in golden.of('put_in', 'put_on', 'transfer', after=i):
                vessel = put.arguments[1]
                fat = any(golden.starts(x, 'fat') for x in golden.inside(vessel, k))
                if put.arguments[0] == food and fat and golden.on_heat_s(vessel, k) >= 120:
                    yield golden.without(i, note=f'{spoken(food)} gets wet into hot fat')
                    break


NotDried.example = NotDried()
