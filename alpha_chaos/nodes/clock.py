"""Simulated time as ROS messages carry it."""

import struct
from typing import Any

from builtin_interfaces.msg import Time

_STAMP = struct.Struct('<iI')


def to_time(seconds: float) -> Time:
    """Return a stamp, rounded to the nanosecond."""
    nanoseconds = round(seconds * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def to_seconds(stamp: Time) -> float:
    """Return a stamp in seconds."""
    return float(stamp.sec) + float(stamp.nanosec) * 1e-9


def to_nanoseconds(stamp: Time) -> int:
    """Return a stamp in nanoseconds."""
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)


def peek_nanoseconds(serialised: bytes) -> int | None:
    """Return the stamp [ns] of a serialised message whose first field is a stamp or a header.

    The serialisation is little-endian CDR: 4 bytes of encapsulation, then the fields. None for
    bytes that are too few to be such a message.
    """
    if len(serialised) < 4 + _STAMP.size:
        return None
    seconds, nanoseconds = _STAMP.unpack_from(serialised, 4)
    return int(seconds) * 10**9 + int(nanoseconds)


def latest_stamp(message: Any, known: Time) -> Time:
    """Return the latest of `known` and the stamps in the headers of a message and its fields."""
    fields = (getattr(message, name) for name in message.get_fields_and_field_types())
    headers = (getattr(part, 'header', None) for part in (message, *fields))
    stamps = [header.stamp for header in headers if header is not None]
    return max([known, *stamps], key=to_nanoseconds)
