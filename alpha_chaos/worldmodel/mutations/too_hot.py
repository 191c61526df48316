"""The oven is as hot as it gets."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Label, Mutant, spoken


class TooHot(Operator):
    """Preheat to 300 degrees what food is baked or roasted in for twenty minutes or longer.

    Bread, cake, vegetables and meat are black outside long before.
    """

    kind: Literal['too_hot'] = 'too_hot'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'burned'
    gap: ClassVar[str] = (
        'Our kitchen keeps a vessel at 100 degrees while there is liquid in it, so the top of a '
        'moist dish does not brown'
    )

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such oven."""
        for i, food, at in _baked(golden, 1200):
            step = golden.steps[i]
            hot = step._replace(arguments=(step.arguments[0], ('300_C', '')))
            yield golden.replaced(
                i, hot, note=f'{spoken(food)} is in an oven at 300 degrees at step {at}'
            )


TooHot.example = TooHot()


def _baked(golden: Golden, at_least_s: float) -> Iterator[tuple[int, Label, int]]:
    times = dict(golden.times())
    for i, step in golden.of('preheat'):
        for k, cook in golden.of('bake', 'roast', after=i):
            if step.arguments[0] in cook.arguments and times.get(k, 0.0) >= at_least_s:
                yield i, cook.arguments[0], k + 1
                break
