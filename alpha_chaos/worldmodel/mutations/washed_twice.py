"""Produce is washed again."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class WashedTwice(Operator):
    """Wash produce a second time right after the first.

    It does not get dirtier.
    """

    kind: Literal['washed_twice'] = 'washed_twice'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each washing of produce."""
        for i, step in golden.of('wash', 'rinse'):
            if golden.starts(step.arguments[0], 'produce'):
                note = f'{spoken(step.arguments[0])} is washed twice'
                yield golden.replaced(i, step, step, note=note)


WashedTwice.example = WashedTwice()
