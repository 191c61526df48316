"""The cook begins with clean hands."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.plan_text import PlanStep


class HandsWashedFirst(Operator):
    """Wash hands before the first step.

    Nobody forbids it.
    """

    kind: Literal['hands_washed_first'] = 'hands_washed_first'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, in a world with a tap."""
        if 'wash_hands' in golden.world.domain.actions:
            tap = (('water', '1'),)
            steps = [PlanStep(action, tap) for action in ('switch_on', 'wash_hands', 'switch_off')]
            yield Mutant(1, 'hands are washed at the beginning', (*steps, *golden.steps))


HandsWashedFirst.example = HandsWashedFirst()
