"""A field keeps its value while the rest of the message goes on."""

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from alpha_chaos.faults.base import Fields, Unreadable
from alpha_chaos.transit.base import (
    Need,
    Parcel,
    Passage,
    Strike,
    TransitInjector,
)
from alpha_chaos.transit.content import PathFault


class FieldFreeze(PathFault):
    """A field of any type says what it said in the last message that was spared.

    If none was spared yet, in the first that was struck.
    """

    need: ClassVar[Need] = 'field'

    kind: Literal['field_freeze'] = 'field_freeze'
    field: str = Field(
        min_length=1, max_length=500, description='path: `pose.position.x`, `pose`, `ranges[*]`'
    )


class FreezeInjector(TransitInjector):
    """Remembers the values at the path, by element."""

    fault: FieldFreeze

    def __init__(
        self, fault: FieldFreeze, draws: Generator, amounts: Generator, now_ns: int
    ) -> None:
        super().__init__(fault, draws, amounts, now_ns)
        self._last: Parcel | None = None  # spared, and not yet looked into
        self._frozen: dict[str, Any] | None = None

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Write the remembered values into it, as far as it has such elements."""
        if self._last is not None:
            self._remember(self._last)
            self._last = None
        fields = parcel.fields()
        if self._frozen is None:
            self._frozen = self._values(fields)
        written = 0
        for place, value in self._frozen.items():
            if fields.has(place) and not _same(fields.get(place), value):
                fields.set(place, copy.deepcopy(value))
                written += 1
        if written:
            parcel = parcel.replaced(fields)
        return Strike((Passage(parcel, now_ns),), {'written': written})

    def spare(self, parcel: Parcel, now_ns: int) -> Sequence[Passage]:
        """Pass it; if it is the last one, its values stay."""
        self._last = parcel
        return (Passage(parcel, now_ns),)

    def _remember(self, parcel: Parcel) -> None:
        try:
            self._frozen = self._values(parcel.fields())
        except (AttributeError, Unreadable):  # the one before it is as good
            return

    def _values(self, fields: Fields) -> dict[str, Any]:
        return {place: copy.deepcopy(fields.get(place)) for place in fields.each(self.fault.field)}


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):  # of fixed length, as covariances are
        return bool(np.array_equal(one, other))
    return bool(one == other)


FieldFreeze.injector_type = FreezeInjector
FieldFreeze.example = FieldFreeze(field='pose.position.x', probability=0.5)
