"""A hot vessel is taken with bare hands."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class BareHands(Operator):
    """Leave out putting on the oven mitt, and taking it off.

    Only where a vessel comes out of an oven or off a stove that was on for ten minutes.
    """

    kind: Literal['bare_hands'] = 'bare_hands'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'hot_surface'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each time that a mitt is worn for such a vessel."""
        for i, _ in golden.of('wear'):
            off = next((k for k, _ in golden.of('take_off', after=i)), None)
            if off is None:
                continue
            taken = [s.arguments for k, s in golden.of('take_out', 'grab', after=i) if k < off]
            hot = [a for a in taken if golden.on_heat_s(a[0], i) >= 600]
            if hot:
                note = f'{spoken(hot[0][0])} is taken off the heat with bare hands'
                yield golden.without(i, off, note=note)


BareHands.example = BareHands()
