"""A machine runs without its lid."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class OpenMachine(Operator):
    """Leave out closing a blender before it is switched on.

    What is in it gets all over the kitchen.
    """

    kind: Literal['open_machine'] = 'open_machine'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'spills'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each closing that is followed by switching on."""
        for i, step in golden.of('close'):
            machine = step.arguments[0]
            if golden.starts(machine, 'runs') and any(
                later.arguments == step.arguments for _, later in golden.of('switch_on', after=i)
            ):
                yield golden.without(i, note=f'{spoken(machine)} runs without its lid')


OpenMachine.example = OpenMachine()
