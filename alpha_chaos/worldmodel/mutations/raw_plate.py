"""Cooked meat goes back onto the plate that it came on."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Label, Mutant, spoken
from alpha_chaos.worldmodel.mutations.same_tool import with_tool


class RawPlate(Operator):
    """Serve on the plate that raw meat or fish lay on.

    The plan serves on another one, and does not wash the first. Its juice gets onto the food.
    """

    kind: Literal['raw_plate'] = 'raw_plate'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cross_contamination'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each plate that something raw lies on."""
        for plate in _raw_plates(golden):
            for _, step in golden.of('serve'):
                served = step.arguments[1]
                first = next(k for k, used in enumerate(golden.steps) if served in used.arguments)
                left = golden.leaves(plate)
                if served[0] == plate[0] and served != plate and left is not None and left < first:
                    note = f'{spoken(step.arguments[0])} is served on {spoken(plate)}'
                    yield Mutant(first + 1, note, with_tool(golden, first - 1, served, plate))
                    break


RawPlate.example = RawPlate()


def _raw_plates(golden: Golden) -> Iterator[Label]:
    """Yield the plates on which something raw lies at the start, and that are never washed."""
    start = golden.world.start
    for label, number in golden.world.objects.items():
        on = start.children[number]
        raw = any(start.bits[x] & golden.world.domain.words.bit('raw') for x in on)
        if label[0] == 'plate' and raw and not golden.washed(label, -1, len(golden.steps)):
            yield label
