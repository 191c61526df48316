"""The cook takes a little more time."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, lasting


class ALittleLonger(Operator):
    """Make one time three per cent longer, by half a minute at most.

    No recipe is that exact.
    """

    kind: Literal['a_little_longer'] = 'a_little_longer'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each time that a step gives."""
        for i, seconds in golden.times():
            step = lasting(golden.steps[i], seconds + min(30.0, 0.03 * seconds))
            yield golden.replaced(i, step, note=f'{golden.steps[i].text} takes a little longer')


ALittleLonger.example = ALittleLonger()
