"""The heat is switched off before the food has been on it."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import HEATING, Golden, Mutant, spoken


class SwitchedOffFirst(Operator):
    """Exchange the step in which raw food is heated with the one that switches off the heat.

    Only if there is one such step in the plan, so that nothing else heats the food for long.
    """

    kind: Literal['switched_off_first'] = 'switched_off_first'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'undercooked'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, if raw meat, fish or egg is eaten."""
        raw = [thing for thing in golden.eaten if golden.starts(thing, 'raw')]
        heated = [i for i, _ in golden.of(*HEATING)]
        if not raw or len(heated) != 1:
            return
        (i,) = heated
        off = golden.steps[i + 1]
        if off.action == 'switch_off' and golden.starts(off.arguments[0], 'heater'):
            note = f'{spoken(off.arguments[0])} is switched off before {spoken(min(raw))} is done'
            steps = (*golden.steps[:i], off, golden.steps[i], *golden.steps[i + 2 :])
            yield Mutant(i + 1, note, steps)


SwitchedOffFirst.example = SwitchedOffFirst()
