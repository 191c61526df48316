"""Two things that should be equal, and where they are not."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    'recording',
    'result',
    'safety',
    'faults',
    'guard',
    'physics',
    'journal',
    'ledger',
    'manifest',
    'table',
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
        super().__init__(f'{field}: said {spelled(said)}, found {spelled(found)}')
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


def unequal_decisions(
    said: Sequence[tuple[str, Mapping[str, Any]]], found: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, Any, Any]]:
    """Return where two accounts of what faults decided differ: the place, and what differs there.

    Decisions are matched by what they are about, so that one that is missing does not make all
    after it differ.

    :param said: each with the place where it stands
    """
    about = _by_subject(entry for _, entry in said)
    there = _by_subject(found)
    places = dict(zip(about, (place for place, _ in said), strict=True))
    for subject in dict.fromkeys((*about, *there)):
        if subject in about and subject in there:
            for path, one, other in unequal(about[subject], there[subject]):
                yield places[subject], path, one, other
        else:
            what = 'a decision'
            yield (
                places.get(subject, ''),
                ' '.join(map(str, subject[:-1])),
                what if subject in about else ABSENT,
                what if subject in there else ABSENT,
            )


def _by_subject(entries: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Any]:
    """Return decisions by route, sequence, stage, fault and how often these came before."""
    found: dict[tuple[Any, ...], Any] = {}
    seen: Counter[tuple[Any, ...]] = Counter()
    for entry in entries:
        subject = tuple(entry[key] for key in ('route', 'sequence', 'stage', 'fault'))
        again = (*subject, seen[subject])
        found[again] = entry
        seen[subject] += 1
    return found


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def spelled(value: Any) -> str:
    """Return a value as people read it, cut off where it is too long."""
    raw = value if isinstance(value, str) else json.dumps(value, default=str)
    text = ' '.join(raw.split()) or "''"
    return text if len(text) <= _SHOWN else f'{text[: _SHOWN - 3]}...'
