"""Two steps that have nothing to do with each other change places."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant


class SwappedSteps(Operator):
    """Turn the tap on or off one step earlier or later.

    Only next to a step that takes or puts down something at the worktop, and does not need the
    water.
    """

    kind: Literal['swapped_steps'] = 'swapped_steps'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such pair of steps."""
        for i in range(len(golden.steps) - 1):
            one, other = golden.steps[i : i + 2]
            tap, free = (one, other) if golden.is_tap(one) else (other, one)
            if (
                golden.is_tap(tap)
                and not golden.is_tap(free)
                and free.action in ('grab', 'put_on')
            ):
                steps = (*golden.steps[:i], other, one, *golden.steps[i + 2 :])
                yield Mutant(i + 1, f'{other.text} before {one.text}', steps)


SwappedSteps.example = SwappedSteps()
