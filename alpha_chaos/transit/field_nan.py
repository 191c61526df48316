"""A number is none."""

from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from alpha_chaos.transit.base import Need
from alpha_chaos.transit.content import FieldFault, Numbers


class FieldNan(FieldFault):
    """Puts NaN or an infinity where a floating-point number was."""

    need: ClassVar[Need] = 'float'

    kind: Literal['field_nan'] = 'field_nan'
    value: Literal['nan', 'inf', '-inf'] = Field('nan', description='what is put there')

    def changed(self, numbers: Numbers, amounts: Generator) -> Numbers:
        """Replace them all."""
        return np.full(numbers.shape, float(self.value))


FieldNan.example = FieldNan(field='pose.position.z')
