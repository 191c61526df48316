"""It melted and was frozen again."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class Refrozen(Operator):
    """Let what comes out of the freezer stand for twelve hours and freeze it once more.

    Bacteria that grew while it was warm survive the second freezing; ice cream turns to lumps
    of ice. Only where something perishable was frozen for two hours or longer and is eaten.
    """

    kind: Literal['refrozen'] = 'refrozen'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'refreezing'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such vessel."""
        counter = ('counter', '1')
        for i, vessel, store in golden.stays_cold(7200):
            if store[0] != 'freezer':
                continue
            frozen = golden.steps[i : i + 5]
            steps = (
                *frozen,
                frozen[1],
                PlanStep('walk', (counter,)),
                PlanStep('put_on', (vessel, counter)),
                PlanStep('wait', (('12_hours', ''),)),
                PlanStep('grab', (vessel,)),
                PlanStep('walk', (store,)),
                frozen[3],
                *frozen,
            )
            note = f'what is in {spoken(vessel)} melts and is frozen again'
            yield Mutant(i + 1, note, (*golden.steps[:i], *steps, *golden.steps[i + 5 :]))


Refrozen.example = Refrozen()
