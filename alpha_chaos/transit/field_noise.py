"""A number is noisy."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.content import LARGEST, FieldFault, Numbers


class FieldNoise(FieldFault):
    """Adds normal noise, to each number and each message its own."""

    kind: Literal['field_noise'] = 'field_noise'
    sigma: float = Field(
        ge=0, le=LARGEST, description="standard deviation of what is added; in the field's unit"
    )

    def changed(self, numbers: Numbers, amounts: Generator) -> Numbers:
        """Add it."""
        return numbers + self.sigma * amounts.standard_normal(numbers.shape)


FieldNoise.example = FieldNoise(field='ranges[*]', sigma=0.05)
