"""Hands that held raw meat take something that is eaten as it is."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.mutations.hands import needed_washings


class UnwashedHands(Operator):
    """Leave out washing hands after raw meat or fish was held.

    Only where the same hands then take food that is eaten and that no heat reaches any more:
    its germs get onto the plate.
    """

    kind: Literal['unwashed_hands'] = 'unwashed_hands'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cross_contamination'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such washing."""
        for i, why in needed_washings(golden):
            yield golden.without(i, note=why)


UnwashedHands.example = UnwashedHands()
