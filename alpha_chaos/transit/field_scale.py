"""A number is wrong by a factor, as with a unit mistaken for another."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.content import LARGEST, FieldFault, Numbers


class FieldScale(FieldFault):
    """Multiplies by a constant."""

    kind: Literal['field_scale'] = 'field_scale'
    factor: float = Field(ge=-LARGEST, le=LARGEST, description='multiplied by; -1 mirrors [1]')

    def changed(self, numbers: Numbers, amounts: Generator) -> Numbers:
        """Multiply by it."""
        return numbers * self.factor


FieldScale.example = FieldScale(field='ranges[*]', factor=-1.0)
