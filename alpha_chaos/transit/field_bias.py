"""A number is off by the same amount each time."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.content import LARGEST, FieldFault, Numbers


class FieldBias(FieldFault):
    """Adds a constant."""

    kind: Literal['field_bias'] = 'field_bias'
    bias: float = Field(ge=-LARGEST, le=LARGEST, description="added; in the field's unit")

    def changed(self, numbers: Numbers, amounts: Generator) -> Numbers:
        """Add it."""
        return numbers + self.bias


FieldBias.example = FieldBias(field='pose.position.x', bias=0.1)
