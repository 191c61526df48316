"""Salt twice."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken

_SALT = ('sprinkle', 'pour', 'drizzle')


class Oversalted(Operator):
    """Salt the same thing again right after it was salted.

    Salt that is weighed for a dish is too much of it the second time, and cannot be taken out
    again.
    """

    kind: Literal['oversalted'] = 'oversalted'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'seasoning'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each step that salts something that is eaten, once."""
        salted = [
            step.arguments[1] for _, step in golden.of(*_SALT) if step.arguments[0][0] == 'salt'
        ]
        for i, step in golden.of(*_SALT):
            what, target = step.arguments[:2]
            if what[0] == 'salt' and what in golden.eaten and salted.count(target) == 1:
                yield golden.replaced(i, step, step, note=f'{spoken(target)} is salted twice')


Oversalted.example = Oversalted()
