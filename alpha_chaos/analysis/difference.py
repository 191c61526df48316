"""Two things that should be equal, and where they are not."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    'recording', 'result', 'safety', 'faults', 'physics', 'journal', 'ledger', 'manifest', 'table'
]

ABSENT = '(nothing)'
_SHOWN = 70  # characters of a value


@dataclass(frozen=True)
class Difference:
    """One place where what is said is not what comes out.

    :param file: relative to the folder of the run
    :param episode: '<run_id>/<arm>#<attempt>', empty if it is about no single one
    :param said: what the file says
    :param found: what comes out when it is computed again
    """

    kind: Kind
    file: str
    episode: str
    field: str
    said: str
    found: str

    def __str__(self) -> str:
        """Return it as one line."""
        where = ': '.join(part for part in (self.file, self.episode, self.field) if part)
        return f'{where}: said {self.said}, found {self.found}'


class Contradiction(Exception):
    """A recording that contradicts itself, so that nothing more can be concluded from it."""

    def __init__(self, field: str, said: Any, found: Any) -> None:
        super().__init__(f'{field}: said {show(said)}, found {show(found)}')
        self.field, self.said, self.found = field, said, found


Unequal = tuple[str, Any, Any]  # the field, what is said, what was found


def unequal(said: Any, found: Any, path: str = '') -> Iterator[Unequal]:
    """Return every place in which two pieces of JSON data differ.

    A number is equal to itself only, to the last bit, and NaN to NaN.
    """
    if isinstance(said, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys((*said, *found)):
            inner = f'{path}.{key}' if path else str(key)
            yield from unequal(said.get(key, ABSENT), found.get(key, ABSENT), inner)
    elif _is_list(said) and _is_list(found):
        for index in range(max(len(said), len(found))):
            one = said[index] if index < len(said) else ABSENT
            other = found[index] if index < len(found) else ABSENT
            yield from unequal(one, other, f'{path}[{index}]')
    elif not _same(said, found):
        yield path, said, found


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def show(value: Any) -> str:
    """Return a value as people read it, cut off where it is too long."""
    raw = value if isinstance(value, str) else json.dumps(value, default=str)
    text = ' '.join(raw.split()) or "''"
    return text if len(text) <= _SHOWN else f'{text[: _SHOWN - 3]}...'
