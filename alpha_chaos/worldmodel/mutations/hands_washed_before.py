"""Hands are washed before the raw meat instead of after it."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.mutations.hands import needed_washings


class HandsWashedBefore(Operator):
    """Move a washing of hands in front of the step that takes raw meat or fish in hand.

    The same steps in another order: where hands have to be washed after they held raw meat,
    washing them before does not help.
    """

    kind: Literal['hands_washed_before'] = 'hands_washed_before'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cross_contamination'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each washing of hands without which germs get onto the plate."""
        for i, why in needed_washings(golden):
            raw = max(k for k in range(i) if golden.touches_raw(k))
            block = [
                k
                for k in (i - 1, i, i + 1)
                if golden.steps[k].arguments == golden.steps[i].arguments
            ]
            moved = [golden.steps[k] for k in block]
            kept = [step for k, step in enumerate(golden.steps) if k not in block]
            yield Mutant(
                i + 1, f'{why}; they were washed before', (*kept[:raw], *moved, *kept[raw:])
            )


HandsWashedBefore.example = HandsWashedBefore()
