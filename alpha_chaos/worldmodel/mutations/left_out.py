"""Meat, fish or milk stands in the warm for hours."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Label, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class LeftOut(Operator):
    """Wait ten hours after something perishable was put down outside of the cold.

    Bacteria double every twenty minutes between 5 and 60 degrees, and some of what they leave
    is not destroyed by cooking. Only for food that was taken out of fridge or freezer, was not
    heated yet and is eaten.
    """

    kind: Literal['left_out'] = 'left_out'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cold_chain'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each perishable food, the first time that it is put down."""
        done: set[Label] = set()
        for i, step in golden.of('put_in', 'put_on'):
            food, place = step.arguments
            if (
                food not in done
                and golden.starts(food, 'perishable')
                and not golden.starts(food, 'stock')
                and food in golden.eaten
                and not golden.starts(place, 'cooler')
                and not golden.heat_on(i)
                and not golden.heat_before(i)
            ):
                done.add(food)
                wait = PlanStep('wait', (('10_hours', ''),))
                note = f'{spoken(food)} stands in the warm for ten hours'
                yield golden.replaced(i, step, wait, note=note)


LeftOut.example = LeftOut()
