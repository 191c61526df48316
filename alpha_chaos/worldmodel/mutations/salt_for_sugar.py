"""Salt where sugar belongs."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant


class SaltForSugar(Operator):
    """Take the salt wherever the plan takes the sugar.

    A sweet dish with a portion of salt for each portion of sugar cannot be eaten.
    """

    kind: Literal['salt_for_sugar'] = 'salt_for_sugar'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'seasoning'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, if the plan sugars something and salt is at hand."""
        sugar, salt = ('sugar', '1'), ('salt', '1')
        sugared = [i for i, step in enumerate(golden.steps) if sugar in step.arguments]
        if sugared and sugar in golden.eaten and salt not in golden.eaten:
            steps = tuple(
                step._replace(arguments=tuple(salt if a == sugar else a for a in step.arguments))
                for step in golden.steps
            )
            yield Mutant(sugared[0] + 1, 'salt is taken for sugar', steps)


SaltForSugar.example = SaltForSugar()
