"""The volume in which targets are admissible and blocks belong."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """An axis-aligned volume in the world frame [m]; its surface belongs to it."""

    min: tuple[float, float, float]
    max: tuple[float, float, float]

    def contains(self, point: Sequence[float]) -> bool:
        """Return whether `point` [m] lies in the box; a point that is not finite never does."""
        return all(
            low <= value <= high
            for low, value, high in zip(self.min, point, self.max, strict=True)
        )

    def distance_m(self, point: Sequence[float]) -> float:
        """Return how far outside `point` [m] lies; 0 inside, infinite if it is not finite."""
        if not all(map(math.isfinite, point)):
            return math.inf
        return math.hypot(
            *(
                max(low - value, 0.0, value - high)
                for low, value, high in zip(self.min, point, self.max, strict=True)
            )
        )


# Section V of the paper; the same box bounds the targets of a plan and the places of the blocks.
WORKSPACE = Box(min=(0.15, -0.45, 0.55), max=(0.95, 0.55, 1.25))
