"""Put one block into the zone and another one on it."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, model_validator

from alpha_chaos.plan import BlockName, Placement, Vector
from alpha_chaos.tasks.base import Judgement, OnePlan, distance_m, worst_m

STANDS_M = 0.01  # by which the upper block's height over the lower one may differ from the edge


class StackBlocks(OnePlan):
    """One plan for both blocks, from one observation.

    The zone is what the upper block goes to: the name of a block is where it was *seen*, and the
    lower one is not there any more.
    """

    kind: Literal['stack_blocks'] = 'stack_blocks'
    lower: BlockName = Field(default='red', description='the block to put into the zone, first')
    upper: BlockName = Field(default='blue', description='the block to put on it')
    zone: Vector = Field(
        default=(0.60, 0.35, 0.65), description='centre of the place zone, world frame [m]'
    )
    edge_m: float = Field(default=0.05, gt=0, description='of the blocks [m]; of body panda')
    success_radius_m: float = Field(
        default=0.05, gt=0, description='largest distance of a block from its place that counts'
    )
    secondary_radius_m: float = Field(
        default=0.08, gt=0, description='a wider radius, reported beside'
    )

    @model_validator(mode='after')
    def _takes_two_blocks(self) -> 'StackBlocks':
        if self.lower == self.upper:
            raise ValueError(f'upper: {self.upper!r} cannot lie on itself')
        return self

    @property
    def objects(self) -> tuple[str, ...]:
        """Return the two blocks."""
        return self.lower, self.upper

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Return the lower block in the zone and the upper one on it."""
        x, y, z = self.zone
        above = (x, y, z + self.edge_m)
        return (
            Placement(self.lower, self.zone, self.success_radius_m),
            Placement(self.upper, above, self.success_radius_m, base=self.lower),
        )

    def judge(self, positions_m: Mapping[str, Sequence[float]]) -> Judgement:
        """Compare the distance of each block from its place with the radii; the stack must stand.

        It stands if the upper block is as high above the lower one as its edge is long, and its
        centre is above it.
        """
        errors_m = [distance_m(positions_m.get(it.block), it.position_m) for it in self.placements]
        error_m = worst_m(errors_m)
        # NaN compares false: an unknown place is no success.
        stands = self._stands(positions_m.get(self.lower), positions_m.get(self.upper))
        why = ''
        if not errors_m[0] <= self.success_radius_m:
            why = f'not_in_zone: {self.lower} {errors_m[0]:.3f} m from its centre'
        elif not stands or not error_m <= self.success_radius_m:
            why = f'not_stacked: {self.upper} {errors_m[1]:.3f} m from its place'
        return Judgement(
            success=not why,
            success_secondary=stands and error_m <= self.secondary_radius_m,
            final_error_m=error_m,
            why=why,
        )

    def _stands(self, lower: Sequence[float] | None, upper: Sequence[float] | None) -> bool:
        if lower is None or upper is None:
            return False
        x, y, z = (above - below for above, below in zip(upper, lower, strict=True))
        return abs(z - self.edge_m) <= STANDS_M and math.hypot(x, y) <= self.edge_m / 2


StackBlocks.example = StackBlocks()
