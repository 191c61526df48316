"""Quantities as they are written: '5 min', '180 C', '350 F', 1.5."""

import math
import re
from dataclasses import dataclass

# unit: (dimension, factor, offset); base unit = (written + offset) * factor
_UNITS: dict[str, tuple[str, float, float]] = {
    's': ('time', 1.0, 0.0),
    'min': ('time', 60.0, 0.0),
    'h': ('time', 3600.0, 0.0),
    'K': ('temperature', 1.0, 0.0),
    'C': ('temperature', 1.0, 273.15),
    'F': ('temperature', 5 / 9, 459.67),
    'g': ('mass', 1.0, 0.0),
    'kg': ('mass', 1000.0, 0.0),
    'ml': ('volume', 1.0, 0.0),
    'l': ('volume', 1000.0, 0.0),
    'm': ('length', 1.0, 0.0),
    'mm': ('length', 0.001, 0.0),
    'N': ('force', 1.0, 0.0),
    'piece': ('count', 1.0, 0.0),
    'portion': ('count', 1.0, 0.0),
    'one': ('number', 1.0, 0.0),
}
# As plans write them, in lower case, by dimension: 5_m is a time or a length.
_SPOKEN: dict[tuple[str, str], str] = {
    (_UNITS[unit][0], spoken): unit
    for unit, words in {
        's': 's sec secs second seconds',
        'min': 'm min mins minute minutes',
        'h': 'h hr hrs hour hours',
        'K': 'k kelvin',
        'C': 'c celsius degc degree_c degrees_c degree_celsius degrees_celsius',
        'F': 'f fahrenheit degf degree_f degrees_f degree_fahrenheit degrees_fahrenheit',
        'g': 'g gram grams',
        'kg': 'kg kilogram kilograms',
        'ml': 'ml milliliter milliliters millilitre millilitres',
        'l': 'l liter liters litre litres',
        'm': 'm meter meters metre metres',
        'mm': 'mm millimeter millimeters',
        'N': 'n newton newtons',
        'piece': 'piece pieces portion portions',
        'one': 'times',
    }.items()
    for spoken in words.split()
}
_WRITTEN = re.compile(r'([-+]?\d+(?:\.\d+)?)\s*([A-Za-z]+)')
_IN_PLAN = re.compile(r'(-?\d{1,9}(?:\.\d{1,6})?)_*([a-z_]*)')

DIMENSIONS = tuple(dict.fromkeys(dimension for dimension, _, _ in _UNITS.values()))
BASE = {'time': 's', 'temperature': 'K', 'mass': 'g', 'volume': 'ml', 'length': 'm'}


@dataclass(frozen=True)
class Quantity:
    """A number in the base unit of its dimension: s, K, g, ml, m, N.

    `unit` is how it was written.
    """

    value: float
    dimension: str
    unit: str


def dimension_of(unit: str) -> str | None:
    """Return the dimension of a unit; None if there is no such unit."""
    entry = _UNITS.get(unit)
    return entry and entry[0]


def unit_names() -> str:
    """Return the units there are, for error texts."""
    return ', '.join(_UNITS)


def read_quantity(written: object) -> Quantity | None:
    """Return the quantity that a settings file writes; None if it is none."""
    if isinstance(written, bool):
        return None
    if isinstance(written, int | float):
        return Quantity(float(written), 'number', 'one') if math.isfinite(written) else None
    match = _WRITTEN.fullmatch(written.strip()) if isinstance(written, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    dimension, factor, offset = _UNITS[match[2]]
    return Quantity((float(match[1]) + offset) * factor, dimension, match[2])


def spoken(value: float, unit: str) -> str:
    """Return a value in the base unit as people write it, in another unit of its dimension."""
    _, factor, offset = _UNITS[unit]
    number = f'{value / factor - offset:.4g}'
    return number if unit == 'one' else f'{number} {unit}'


def read_value(word: str, dimension: str) -> float | None:
    """Return the value a plan gives as one word (`5_minutes`, `350F`), in the base unit.

    None if it is no such value. A bare number is in the base unit, but a bare temperature is
    none: nobody knows its unit.
    """
    match = _IN_PLAN.fullmatch(word.lower())
    if match is None:
        return None
    number, spoken = float(match[1]), match[2].strip('_')
    if not spoken:
        return None if dimension == 'temperature' else number
    unit = _SPOKEN.get((dimension, spoken))
    if unit is None:
        return None
    _, factor, offset = _UNITS[unit]
    return (number + offset) * factor
