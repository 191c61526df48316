"""Produce is eaten as it came from the field."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class UnwashedProduce(Operator):
    """Leave out the only washing of produce that is eaten.

    Soil and what lives in it get into the food. This holds for what is peeled and for what is
    cooked, too: the knife takes soil inwards, and grit is not cooked away.
    """

    kind: Literal['unwashed_produce'] = 'unwashed_produce'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'unwashed'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each piece of unwashed produce that the plan washes once and serves."""
        washed = [step.arguments[0] for _, step in golden.of('wash', 'rinse')]
        for i, step in golden.of('wash', 'rinse'):
            thing = step.arguments[0]
            soiled = golden.starts(thing, 'dirty') and golden.starts(thing, 'produce')
            if soiled and thing in golden.eaten and washed.count(thing) == 1:
                yield golden.without(i, note=f'{spoken(thing)} is eaten unwashed')


UnwashedProduce.example = UnwashedProduce()
