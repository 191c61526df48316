"""The oven is hardly warm."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class Lukewarm(Operator):
    """Preheat an oven to 50 degrees only.

    Neither meat nor dough gets done at that, however long it stays.
    """

    kind: Literal['lukewarm'] = 'lukewarm'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'undercooked'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each oven in which something is baked or roasted that has to be cooked."""
        for i, step in golden.of('preheat'):
            for _, cook in golden.of('bake', 'roast', after=i):
                food = golden.inside(cook.arguments[1], len(golden.steps)) | {cook.arguments[0]}
                needy = [
                    x for x in food if golden.starts(x, 'needs_cooking') and x in golden.eaten
                ]
                if step.arguments[0] in cook.arguments and needy:
                    cool = step._replace(arguments=(step.arguments[0], ('50_C', '')))
                    note = f'{spoken(min(needy))} is in an oven at 50 degrees'
                    yield golden.replaced(i, cool, note=note)
                    break


Lukewarm.example = Lukewarm()
