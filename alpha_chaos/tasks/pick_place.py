"""Pick up one block and put it into the zone."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from alpha_chaos.plan import Placement
from alpha_chaos.tasks.base import Judgement, OnePlan, distance_m


class PickPlace(OnePlan):
    """The paper's task."""

    kind: Literal['pick_place'] = 'pick_place'
    block: str = Field(default='red', min_length=1, description='the block to move')
    zone: tuple[float, float, float] = Field(
        default=(0.60, 0.35, 0.65), description='centre of the place zone, world frame [m]'
    )
    success_radius_m: float = Field(
        default=0.05, gt=0, description='largest distance block to zone that counts (the paper)'
    )
    secondary_radius_m: float = Field(
        default=0.08,
        gt=0,
        description='the radius in the earlier public state of the paper; reported beside',
    )

    @property
    def objects(self) -> tuple[str, ...]:
        """Return the block to move."""
        return (self.block,)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Return the block and its zone."""
        return (Placement(self.block, self.zone, self.success_radius_m),)

    def judge(self, positions_m: Mapping[str, Sequence[float]]) -> Judgement:
        """Compare the block's distance from the zone, in three dimensions, with the radii."""
        error_m = distance_m(positions_m.get(self.block), self.zone)
        # NaN compares false: an unknown place is no success.
        return Judgement(
            success=error_m <= self.success_radius_m,
            success_secondary=error_m <= self.secondary_radius_m,
            final_error_m=error_m,
        )


PickPlace.example = PickPlace()
