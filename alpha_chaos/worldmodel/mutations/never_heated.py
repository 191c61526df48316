"""Food that has to be cooked is not."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import HEATING, Golden, Mutant, spoken


class NeverHeated(Operator):
    """Leave out whatever switches heat on or off, or cooks on it.

    Raw meat, fish, egg, flour, pulses and the like are then served as raw as they came.
    """

    kind: Literal['never_heated'] = 'never_heated'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'undercooked'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, if something is eaten that has to be cooked."""
        needy = [thing for thing in golden.eaten if golden.starts(thing, 'needs_cooking')]
        left_out = [
            i
            for i, step in enumerate(golden.steps)
            if step.action in HEATING
            or (
                step.action in ('switch_on', 'switch_off', 'preheat', 'set_temp')
                and golden.starts(step.arguments[0], 'heater')
            )
        ]
        if needy and left_out:
            yield golden.without(*left_out, note=f'{spoken(min(needy))} is served raw')


NeverHeated.example = NeverHeated()
