"""What differs between the episodes of a cell: a scene drawn from each episode's seed."""

import math
import zlib
from itertools import combinations
from typing import Annotated

from numpy.random import SeedSequence, default_rng
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from alpha_chaos.bodies.base import Body, Tabletop
from alpha_chaos.plugins import BadSetting

_STREAM = zlib.crc32(b'variation')  # keeps these draws apart from those of the faults


def _ordered(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] > bounds[1]:
        raise ValueError(f'a range is [lowest, highest], not {list(bounds)}')
    return bounds


NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class Variation(BaseModel):
    """What is drawn for each episode, uniformly, and the same in every arm."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    position_m: float = Field(
        default=0.0, ge=0, le=1, description='each block lies up to this far off along x and y [m]'
    )
    yaw_rad: float = Field(
        default=0.0, ge=0, le=math.pi, description='and is turned by up to this [rad]'
    )
    table_friction: Annotated[tuple[NotNegative, NotNegative], AfterValidator(_ordered)] | None = (
        Field(default=None, description='lowest and highest; none: as the body says')
    )
    mass_kg: Annotated[tuple[Positive, Positive], AfterValidator(_ordered)] | None = Field(
        default=None, description='of each block, lowest and highest; none: as the body says'
    )

    def check(self, body: Body) -> None:
        """Refuse a body that has nothing to vary, and a range that puts blocks into each other.

        :raises BadSetting: saying what would be right
        """
        body = _tabletop(body)
        # Two cubes that may be turned are apart if their circumscribed circles are.
        apart_m = body.block_edge_m * (math.sqrt(2) if self.yaw_rad > 0 else 1)
        for one, other in combinations(body.blocks, 2):
            x, y, z = (abs(a - b) for a, b in zip(one.position_m, other.position_m, strict=True))
            nearest_m = math.hypot(
                max(x - 2 * self.position_m, 0), max(y - 2 * self.position_m, 0), z
            )
            if nearest_m < apart_m:
                raise BadSetting(
                    f'position_m {self.position_m} can put {one.name} and {other.name} into each '
                    f'other; their centres must stay {apart_m:.3f} m apart'
                )

    def drawn(self, body: Body, seed: int) -> Tabletop:
        """Return the body of the episode with this seed.

        Every number is drawn whether it is used or not, the table's first: to vary one thing more,
        or one block more, leaves all others as they were.
        """
        body = _tabletop(body)
        draws = default_rng(SeedSequence((seed, _STREAM)))
        table = draws.random()
        changes: dict[str, object] = {}
        if self.table_friction is not None:
            changes['table_friction'] = _between(self.table_friction, table)
        blocks = []
        for block in body.blocks:
            x, y, yaw, mass = (float(number) for number in draws.random(4))
            at = block.position_m
            block_changes: dict[str, object] = {
                'position_m': (
                    at[0] + _between((-self.position_m, self.position_m), x),
                    at[1] + _between((-self.position_m, self.position_m), y),
                    at[2],
                ),
                'yaw_rad': block.yaw_rad + _between((-self.yaw_rad, self.yaw_rad), yaw),
            }
            if self.mass_kg is not None:
                block_changes['mass_kg'] = _between(self.mass_kg, mass)
            blocks.append(block.model_copy(update=block_changes))
        return body.model_copy(update={**changes, 'blocks': tuple(blocks)})


def _tabletop(body: Body) -> Tabletop:
    if not isinstance(body, Tabletop):
        raise BadSetting(f'body {body.kind!r} has no blocks on a table that could be varied')
    return body


def _between(bounds: tuple[float, float], share: float) -> float:
    low, high = bounds
    return low + share * (high - low)
