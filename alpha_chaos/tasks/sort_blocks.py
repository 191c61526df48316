"""Put several blocks into their zones, one after the other."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, model_validator

from alpha_chaos.plan import BlockName, Placement, Vector, ZoneName
from alpha_chaos.tasks.base import Judgement, OnePlan, distance_m, worst_m


class SortBlocks(OnePlan):
    """One plan for all blocks, from one observation."""

    kind: Literal['sort_blocks'] = 'sort_blocks'
    homes: dict[BlockName, ZoneName] = Field(
        default={'red': 'left_zone', 'green': 'right_zone', 'blue': 'middle_zone'},
        min_length=1,
        description='the zone of each block, in the order in which they are to be moved',
    )
    zones: dict[ZoneName, Vector] = Field(
        default={
            'left_zone': (0.60, 0.35, 0.65),
            'middle_zone': (0.65, 0.10, 0.65),
            'right_zone': (0.60, -0.35, 0.65),
        },
        description='centre of each zone, world frame [m]',
    )
    success_radius_m: float = Field(
        default=0.05, gt=0, description='largest distance block to zone that counts'
    )
    secondary_radius_m: float = Field(
        default=0.08, gt=0, description='a wider radius, reported beside'
    )

    @model_validator(mode='after')
    def _every_block_has_a_zone_of_its_own(self) -> 'SortBlocks':
        zones = list(self.homes.values())
        for zone in zones:
            if zone not in self.zones:
                raise ValueError(f'zones: there is no {zone!r}; it has {", ".join(self.zones)}')
            if zones.count(zone) > 1:
                raise ValueError(f'homes: two blocks do not fit into {zone!r}')
        return self

    @property
    def objects(self) -> tuple[str, ...]:
        """Return the blocks to move."""
        return tuple(self.homes)

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Return the blocks and their zones."""
        return tuple(
            Placement(block, self.zones[zone], self.success_radius_m, zone)
            for block, zone in self.homes.items()
        )

    def judge(self, positions_m: Mapping[str, Sequence[float]]) -> Judgement:
        """Compare the distance of each block from its zone with the radii; the worst counts."""
        errors_m = [distance_m(positions_m.get(it.block), it.position_m) for it in self.placements]
        # NaN compares false: an unknown place is no success.
        left = [
            f'{it.block} {error_m:.3f} m from {it.zone}'
            for it, error_m in zip(self.placements, errors_m, strict=True)
            if not error_m <= self.success_radius_m
        ]
        error_m = worst_m(errors_m)
        return Judgement(
            success=not left,
            success_secondary=error_m <= self.secondary_radius_m,
            final_error_m=error_m,
            why=f'not_sorted: {", ".join(left)}' if left else '',
        )


SortBlocks.example = SortBlocks()
