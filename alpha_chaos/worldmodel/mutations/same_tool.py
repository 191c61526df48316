"""One board or one knife for raw meat and for salad."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Label, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class SameTool(Operator):
    """Cut food that is eaten as it is with the board or knife that raw meat or fish was cut with.

    The plan has another one for it. Only where the first is not washed in between, and no heat
    reaches the food any more.
    """

    kind: Literal['same_tool'] = 'same_tool'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cross_contamination'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each tool of the raw food that another of its class could stand for."""
        for k, raw in golden.cuts():
            if not golden.starts(raw.arguments[0], 'raw'):
                continue
            for tool in raw.arguments[1:]:
                for i, step in golden.cuts(after=k):
                    food = step.arguments[0]
                    others = [t for t in step.arguments[1:] if t[0] == tool[0] and t != tool]
                    clean = golden.washed(tool, k, i)
                    if others and not clean and golden.eaten_as_it_is(food, i):
                        note = f'{spoken(tool)} cuts raw meat and then {spoken(food)}'
                        yield Mutant(i + 1, note, with_tool(golden, k, others[0], tool))
                        break


SameTool.example = SameTool()


def with_tool(golden: Golden, after: int, old: Label, new: Label) -> tuple[PlanStep, ...]:
    """Return the plan with one tool in place of another, after a step."""
    return tuple(
        step._replace(arguments=tuple(new if a == old else a for a in step.arguments))
        if i > after
        else step
        for i, step in enumerate(golden.steps)
    )
