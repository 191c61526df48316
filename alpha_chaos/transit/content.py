"""Faults that change fields of a message, addressed by path."""

import array
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Fields
from alpha_chaos.printable import printable
from alpha_chaos.transit.base import (
    Need,
    Parcel,
    Passage,
    Strike,
    TransitFault,
    TransitInjector,
)

Numbers = NDArray[np.float64]
_INTEGER = re.compile(r'(u?)int(8|16|32|64)')

LARGEST = 1e300  # of a setting: sums and products of two stay numbers


class PathFault(TransitFault):
    """Is about one path in a message."""

    need: ClassVar[Need]  # what must be there

    field: str = Field(
        min_length=1,
        max_length=500,
        description='path: `pose.position.x`, `ranges[3]`, `ranges[*]` for every element',
    )

    @property
    def needs(self) -> dict[str, Need]:
        """The field."""
        return {self.field: self.need}


class EditFault(PathFault):
    """Changes what is at the path, and remembers nothing."""

    @abstractmethod
    def edit(self, fields: Fields, amounts: Generator) -> int:
        """Change the fields; return how many values are others than before.

        :raises AttributeError: if the message has no such field
        """


class EditInjector(TransitInjector):
    """Edits what is struck. What is not changed stays as it was serialised."""

    fault: EditFault

    def strike(self, parcel: Parcel, now_ns: int) -> Strike:
        """Change the fields."""
        fields = parcel.fields()
        written = self.fault.edit(fields, self.amounts)
        if written:
            parcel = parcel.replaced(fields)
        return Strike((Passage(parcel, now_ns),), {'written': written})


EditFault.injector_type = EditInjector


class FieldFault(EditFault):
    """Changes the numbers at the path."""

    need: ClassVar[Need] = 'number'

    @abstractmethod
    def changed(self, numbers: Numbers, amounts: Generator) -> Numbers:
        """Return what the numbers become."""

    def edit(self, fields: Fields, amounts: Generator) -> int:
        """Write them, as far as their fields can hold them."""
        return rewrite(fields, self.field, lambda numbers: self.changed(numbers, amounts))


def fill(fields: Fields, values: Mapping[str, JsonValue]) -> None:
    """Write values at their paths: numbers, texts, true and false.

    :raises AttributeError: if a field is not there, or cannot hold its value; messages themselves
        take anything and fail, or worse, when they are serialised
    """
    for path, value in values.items():
        for place in fields.each(path):
            before = fields.get(place)
            if not _holds(fields, place, before, value):
                kind = type(before).__name__
                raise AttributeError(f'{place} cannot hold {value!r}: it is of type {kind}')
            fields.set(place, value)


def _holds(fields: Fields, place: str, before: Any, value: JsonValue) -> bool:
    if isinstance(before, bool) or isinstance(value, bool):
        return isinstance(before, bool) and isinstance(value, bool)
    if isinstance(before, str):
        return isinstance(value, str) and printable(value) == value
    if isinstance(before, int | np.integer):
        return isinstance(value, int) and _fitting(fields, place, before, value) == value
    fits = isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST)
    return isinstance(before, float | np.floating) and fits


def rewrite(fields: Fields, path: str, change: Callable[[Numbers], Numbers]) -> int:
    """Change the numbers at a path; return how many were written.

    A value that its field cannot hold (300 in a uint8, NaN in an integer) is not written.

    :raises AttributeError: if the message has no such numbers
    """
    arrays = _arrays(fields, path)
    if arrays is not None:
        with np.errstate(all='ignore'):
            return sum(_rewrite_array(one, change) for one in arrays)
    places = fields.each(path)
    old = [fields.get(place) for place in places]
    for place, value in zip(places, old, strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise AttributeError(f'{place} is no number')
    numbers = np.array(old, dtype=np.float64)
    with np.errstate(all='ignore'):
        new = change(numbers)
    written = 0
    for place, before, was, after in zip(places, old, numbers.tolist(), new.tolist(), strict=True):
        if after == was:  # as numbers: a large integer is more exact than its number here
            continue
        fitting = _fitting(fields, place, before, after)
        if fitting is not None and fitting != before:
            fields.set(place, fitting)
            written += 1
    return written


def _arrays(fields: Fields, path: str) -> list[NDArray[Any]] | None:
    """Return the arrays whose every element a path means, sharing their memory; else None."""
    if not path.endswith('[*]'):
        return None
    found = [fields.get(place) for place in fields.each(path.removesuffix('[*]'))]
    if not all(isinstance(one, array.array | np.ndarray) for one in found):
        return None
    return [np.asarray(one) for one in found]


def _rewrite_array(values: NDArray[Any], change: Callable[[Numbers], Numbers]) -> int:
    new = change(values.astype(np.float64))
    if np.issubdtype(values.dtype, np.integer):
        new = np.rint(new)
        limits = np.iinfo(values.dtype)
        # The largest 64-bit numbers have no exact counterpart: what rounds up to one is too large.
        fits = (new >= float(limits.min)) & (new < float(limits.max) + 1)
    else:
        fits = np.ones(new.shape, dtype=bool)
    places = fits & (new != values)
    values[places] = new[places].astype(values.dtype)
    return int(places.sum())


def _fitting(fields: Fields, place: str, before: Any, after: float) -> int | float | None:
    if not isinstance(before, int | np.integer):
        return after
    if not np.isfinite(after):
        return None
    number = round(after)
    owner, _, name = place.rpartition('.')
    message = fields.get(owner) if owner else fields.message
    types: dict[str, str] = getattr(message, 'get_fields_and_field_types', dict)()
    declared = _INTEGER.search(types.get(name.partition('[')[0], ''))
    if declared is None:
        return number
    unsigned, bits = bool(declared[1]), int(declared[2])
    least, beyond = (0, 1 << bits) if unsigned else (-(1 << bits - 1), 1 << bits - 1)
    return number if least <= number < beyond else None
