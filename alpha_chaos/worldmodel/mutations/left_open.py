"""The door of a cold store stays open."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class LeftOpen(Operator):
    """Leave out the last step that closes a fridge or a freezer.

    What is in it gets warm.
    """

    kind: Literal['left_open'] = 'left_open'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cold_chain'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each cold store that the plan closes."""
        last = {step.arguments[0]: i for i, step in golden.of('close')}
        for thing, i in last.items():
            if golden.starts(thing, 'cooler'):
                yield golden.without(i, note=f'{spoken(thing)} stays open')


LeftOpen.example = LeftOpen()
