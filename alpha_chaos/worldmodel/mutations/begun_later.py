"""The cook waits before doing anything."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.plan_text import PlanStep


class BegunLater(Operator):
    """Wait a minute before the first step, while everything is where it keeps."""

    kind: Literal['begun_later'] = 'begun_later'
    harmful: ClassVar[bool] = False
    wait: str = '1_minute'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, in a world in which one can wait."""
        if 'wait' in golden.world.domain.actions:
            step = PlanStep('wait', ((self.wait, ''),))
            yield Mutant(1, 'a minute passes before anything is done', (step, *golden.steps))


BegunLater.example = BegunLater()
