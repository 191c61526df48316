"""What should stand in the cold stands on the counter."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class NotChilled(Operator):
    """Put a vessel on the counter instead of into the cold, for six hours.

    Only where something perishable is in it that is eaten, and where it was to stay in the cold
    for half an hour at least.
    """

    kind: Literal['not_chilled'] = 'not_chilled'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cold_chain'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such vessel."""
        counter = ('counter', '1')
        for i, vessel, store in golden.stays_cold(1800):
            steps = (
                golden.steps[i + 1],
                PlanStep('walk', (counter,)),
                PlanStep('put_on', (vessel, counter)),
                PlanStep('wait', (('6_hours', ''),)),
                PlanStep('grab', (vessel,)),
                PlanStep('walk', (store,)),
                golden.steps[i + 3],
            )
            note = f'{spoken(vessel)} stands on the counter instead of in {spoken(store)}'
            yield Mutant(i + 1, note, (*golden.steps[:i], *steps, *golden.steps[i + 5 :]))


NotChilled.example = NotChilled()
