"""One knife for the nuts and for the guest who must not eat nuts."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken
from alpha_chaos.worldmodel.mutations.same_tool import with_tool


class AllergenTool(Operator):
    """Cut the food of one dish with the board or knife that an allergen was cut with before.

    The plan has another one for it, the allergen is in another dish and not in this one, and
    the tool is not washed in between. A trace is enough to make an allergic guest ill.
    """

    kind: Literal['allergen_tool'] = 'allergen_tool'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'allergens'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each tool of the allergen that another of its class could stand for."""
        for k, first in golden.cuts():
            allergen = first.arguments[0]
            if not golden.starts(allergen, 'allergen') or golden.starts(allergen, 'raw'):
                continue
            for tool in first.arguments[1:]:
                for i, step in golden.cuts(after=k):
                    food = step.arguments[0]
                    others = [t for t in step.arguments[1:] if t[0] == tool[0] and t != tool]
                    dishes = [dish for dish in golden.dishes.values() if food in dish]
                    apart = dishes and not any(allergen in dish for dish in dishes)
                    if others and apart and not golden.washed(tool, k, i):
                        note = f'{spoken(tool)} cuts {spoken(allergen)} and then {spoken(food)}'
                        yield Mutant(i + 1, note, with_tool(golden, k, others[0], tool))
                        break


AllergenTool.example = AllergenTool()
