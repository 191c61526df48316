"""Something is switched on and never off again."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class LeftOn(Operator):
    """Leave out the last step that switches an object off.

    A stove, an oven, a machine or a tap that is on when the cook is done goes on heating or
    running.
    """

    kind: Literal['left_on'] = 'left_on'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'left_on'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each object that the plan switches off."""
        last = {step.arguments[0]: i for i, step in golden.of('switch_off')}
        for thing, i in last.items():
            opened = thing in (step.arguments[0] for _, step in golden.of('open', after=i))
            if thing[0] == 'microwave' and opened:
                continue
            yield golden.without(i, note=f'{spoken(thing)} is still on at the end')


LeftOn.example = LeftOn()
