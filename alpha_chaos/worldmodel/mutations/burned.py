"""Dry heat for far too long."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, lasting, spoken


class Burned(Operator):
    """Leave food in pan, grill or oven ten times as long, and for two hours at least.

    What is fried, toasted, grilled, baked or roasted for that long is charcoal.
    """

    kind: Literal['burned'] = 'burned'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'burned'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each object whose last such step says for how long."""
        last = {
            step.arguments[0]: i for i, step in golden.of('fry', 'toast', 'grill', 'bake', 'roast')
        }
        times = dict(golden.times())
        for food, i in last.items():
            if i in times and food in golden.eaten:
                step = lasting(golden.steps[i], max(7200.0, 10 * times[i]))
                yield golden.replaced(i, step, note=f'{spoken(food)} is on the heat for hours')


Burned.example = Burned()
