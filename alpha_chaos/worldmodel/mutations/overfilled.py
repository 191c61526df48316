"""The tap runs into a full vessel."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class Overfilled(Operator):
    """Fill two portions more water into a vessel than it holds.

    It runs over.
    """

    kind: Literal['overfilled'] = 'overfilled'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'spills'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each vessel that is filled from the tap."""
        for i, step in golden.of('fill'):
            vessel, source = step.arguments[:2]
            if golden.starts(source, 'tap'):
                much = f'{golden.number(vessel, "capacity") + 2:.0f}_portions'
                fill = PlanStep('fill', (vessel, source, (much, '')))
                yield golden.replaced(i, fill, note=f'{spoken(vessel)} runs over')


Overfilled.example = Overfilled()
