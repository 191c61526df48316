"""Pick up one block and put it into the zone."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from alpha_chaos.tasks.base import (
    Advance,
    Execute,
    Goal,
    Judgement,
    MakePlan,
    Observe,
    Phase,
    Task,
    distance_m,
)


class PickPlace(Task):
    """The paper's task: one plan, made from one observation after the scene has settled."""

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
    settle_steps: int = Field(
        default=120, ge=0, description='before the first observation, not counted [1]'
    )
    rest_steps: int = Field(default=60, ge=0, description='after the plan, counted [1]')

    @property
    def objects(self) -> tuple[str, ...]:
        """Return the block to move."""
        return (self.block,)

    @property
    def goal(self) -> Goal:
        """Return the block and its zone."""
        return Goal(self.block, self.zone, self.success_radius_m)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Return settle, observe, plan, execute, rest."""
        return (
            Advance(steps=self.settle_steps, name='settle'),
            Observe(),
            MakePlan(),
            Execute(),
            Advance(steps=self.rest_steps, name='rest'),
        )

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
