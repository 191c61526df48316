"""Another spice first."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class SeasonedInOtherOrder(Operator):
    """Exchange two seasonings that are added to the same thing one right after the other.

    Each is taken, added and put down again; the dish is the same.
    """

    kind: Literal['seasoned_in_other_order'] = 'seasoned_in_other_order'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such pair."""
        for i in range(len(golden.steps) - 5):
            one, other = golden.steps[i : i + 3], golden.steps[i + 3 : i + 6]
            if (
                _added(golden, one)
                and _added(golden, other)
                and one[1].arguments[1] == other[1].arguments[1]
            ):
                steps = (*golden.steps[:i], *other, *one, *golden.steps[i + 6 :])
                note = f'{spoken(other[1].arguments[0])} before {spoken(one[1].arguments[0])}'
                yield Mutant(i + 1, note, steps)


SeasonedInOtherOrder.example = SeasonedInOtherOrder()


def _added(golden: Golden, steps: tuple[PlanStep, ...]) -> bool:
    packet = steps[1].arguments[:1]
    return (
        [step.action for step in steps] == ['grab', 'sprinkle', 'put_on']
        and steps[0].arguments == packet
        and steps[2].arguments[:1] == packet
        and golden.starts(packet[0], 'seasoning')
    )
