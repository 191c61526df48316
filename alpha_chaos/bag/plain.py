"""Decoded messages as plain data and as the JSON that the relay makes of them."""

import dataclasses
import json
import math
from functools import cache
from types import SimpleNamespace
from typing import Any


def plain(message: Any) -> Any:
    """Return a message as JSON can hold it; numbers that JSON has not become text."""
    if dataclasses.is_dataclass(message) and not isinstance(message, type):
        return {name: plain(getattr(message, name)) for name in _names(type(message))}
    if isinstance(message, SimpleNamespace):
        return plain(vars(message))
    if isinstance(message, dict):
        return {name: plain(value) for name, value in message.items()}
    if hasattr(message, 'tolist'):
        message = message.tolist()
    if isinstance(message, bytes):
        return message.hex()
    if isinstance(message, list | tuple):
        return [plain(item) for item in message]
    if isinstance(message, float) and not math.isfinite(message):
        return str(message)
    return message


def as_json(message: Any) -> str:
    """Return a message as the JSON text that is in exchanges and under the digests of events."""
    return json.dumps(plain(message))


def from_json(text: str) -> Any:
    """Return what `as_json` wrote as an object with these fields, of no type.

    :raises ValueError: for text that is no JSON
    """
    return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))


@cache
def _names(kind: Any) -> tuple[str, ...]:
    # What has a value already is a constant of the type, or its name.
    fields = (field for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING)
    return tuple(field.name for field in fields)
