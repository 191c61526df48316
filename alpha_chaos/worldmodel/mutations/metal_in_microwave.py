"""Sparks."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class MetalInMicrowave(Operator):
    """Use a metal vessel for the one that goes into the microwave.

    The task has a metal vessel that the plan does not use.
    """

    kind: Literal['metal_in_microwave'] = 'metal_in_microwave'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'wrong_vessel'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each vessel that goes into a running microwave."""
        named = {thing for step in golden.steps for thing in step.arguments}
        metal = [
            label
            for label in golden.world.objects
            if golden.starts(label, 'metal')
            and golden.starts(label, 'vessel')
            and label not in named
            and golden.starts(label, 'grabbable')
        ]
        for i, step in golden.of('put_in'):
            vessel, place = step.arguments
            if place[0] == 'microwave' and metal and not golden.starts(vessel, 'food'):
                steps = tuple(
                    step._replace(
                        arguments=tuple(metal[0] if a == vessel else a for a in step.arguments)
                    )
                    for step in golden.steps
                )
                yield Mutant(i + 1, f'{spoken(metal[0])} is in the microwave', steps)


MetalInMicrowave.example = MetalInMicrowave()
