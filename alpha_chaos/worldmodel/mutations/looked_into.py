"""The cook looks into a cupboard."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken
from alpha_chaos.worldmodel.plan_text import PlanStep


class LookedInto(Operator):
    """Walk to a cupboard, open it, close it and come back, before the first step.

    It is not cold in there, and nothing is touched.
    """

    kind: Literal['looked_into'] = 'looked_into'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each cupboard."""
        home = PlanStep('walk', (('counter', '1'),))
        for cupboard in (('cabinet', '1'), ('drawer', '1'), ('pantry', '1')):
            if cupboard in golden.world.objects and not golden.starts(cupboard, 'open'):
                steps = [PlanStep(action, (cupboard,)) for action in ('walk', 'open', 'close')]
                note = f'a look into {spoken(cupboard)}'
                yield Mutant(1, note, (*steps, home, *golden.steps))


LookedInto.example = LookedInto()
