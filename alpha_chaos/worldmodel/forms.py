"""Shapes of what stands in a file: atoms, mappings with known keys, lists."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel.documents import Place
from alpha_chaos.worldmodel.vocabulary import RESERVED


def is_atom(raw: Sequence[Any]) -> bool:
    """Tell an atom, `[subject, verb, ...]`, from a list of conditions or effects."""
    return len(raw) >= 2 and isinstance(raw[1], str) and not isinstance(raw[0], list | tuple)


def first_key(raw: Mapping[Any, Any], at: Place) -> str:
    """Return the key that says what a mapping is.

    :raises BadSetting: if it is empty
    """
    if not raw:
        raise at.wrong('an empty mapping says nothing')
    return str(next(iter(raw)))


def only(raw: Mapping[Any, Any], at: Place, *known: str) -> None:
    """Refuse other keys than the known ones.

    :raises BadSetting: naming the key that was meant
    """
    for key in raw:
        if key not in known:
            raise (at / str(key)).wrong(unknown('key', key, known))


def listed(raw: Any, at: Place) -> Sequence[Any]:
    """Return a list as it is.

    :raises BadSetting: if it is none
    """
    if not isinstance(raw, list | tuple):
        raise at.wrong(f'a list is needed here, not {raw!r}')
    return raw


def one(rest: Sequence[Any], verb: str, at: Place) -> Any:
    """Return the one thing behind a verb.

    :raises BadSetting: if there is not exactly one
    """
    if len(rest) != 1:
        raise at.wrong(f'one thing follows {verb!r}, not {len(rest)}')
    return rest[0]


def none(rest: Sequence[Any], verb: str, at: Place) -> None:
    """Refuse anything behind a verb.

    :raises BadSetting: if there is something
    """
    if rest:
        raise at.wrong(f'nothing follows {verb!r}')


def check_name(name: object, at: Place) -> None:
    """Refuse what cannot be the name of a variable.

    :raises BadSetting: saying why not
    """
    if not isinstance(name, str) or not re.fullmatch(r'[a-z][a-z0-9_]*', name):
        raise at.wrong(f'{name!r} is no name: lower case letters, digits and _')
    if name in RESERVED:
        raise at.wrong(f'{name!r} is a word of the language')
