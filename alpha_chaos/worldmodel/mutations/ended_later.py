"""The cook waits when everything is done."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.plan_text import PlanStep


class EndedLater(Operator):
    """Wait a minute after the last step.

    Everything is off and put where it belongs, and a minute cools no dish.
    """

    kind: Literal['ended_later'] = 'ended_later'
    harmful: ClassVar[bool] = False
    wait: str = '1_minute'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, in a world in which one can wait."""
        if 'wait' in golden.world.domain.actions:
            step = PlanStep('wait', ((self.wait, ''),))
            note = 'a minute passes after everything is done'
            yield Mutant(len(golden.steps), note, (*golden.steps, step))


EndedLater.example = EndedLater()
