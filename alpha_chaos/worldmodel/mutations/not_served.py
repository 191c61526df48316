"""The guests wait."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class NotServed(Operator):
    """Leave out a step that serves something.

    The task is to serve it. What shares a plate with another dish is served with that.
    """

    kind: Literal['not_served'] = 'not_served'
    harmful: ClassVar[bool] = True

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each plate, bowl or cup that one step serves."""
        served = list(golden.of('serve'))
        places = [step.arguments[1] for _, step in served]
        for i, step in served:
            if places.count(step.arguments[1]) == 1:
                yield golden.without(i, note=f'{spoken(step.arguments[0])} is not served')


NotServed.example = NotServed()
