"""The one way a plug-in is found: a frozen model in a file of its own, known by its `kind`."""

import difflib
import importlib
import json
import pkgutil
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

# Characters of settings as JSON. What is wrong in ten million of them takes seconds to tell.
LONGEST = 100_000
# Of more names than that, only so few are told.
MOST_TOLD = 40
FEW_TOLD = 5


class BadSetting(ValueError):
    """A setting that cannot be used; the text names it and says what would be right."""


class Plugin(BaseModel):
    """Settings of one plug-in. State lives in what the plug-in makes, never here.

    A subclass has a `kind: Literal['file_name'] = 'file_name'` and sets `example`, a valid
    instance that the contract tests use.
    """

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    example: ClassVar[Any]
    kind: str


P = TypeVar('P', bound=Plugin)


def catalogue(package: ModuleType, base: type[P]) -> dict[str, type[P]]:
    """Import every module beside `package` and return the plug-ins found there, by kind.

    A module that cannot be imported raises: a broken plug-in must not look like a missing one.
    """
    found: dict[str, type[P]] = {}
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda entry: entry.name):
        loaded = importlib.import_module(f'{package.__name__}.{module.name}')
        for item in vars(loaded).values():
            if (
                isinstance(item, type)
                and issubclass(item, base)
                and item.__module__ == loaded.__name__
                and isinstance(item.model_fields['kind'].default, str)
            ):
                kind = item.model_fields['kind'].default
                if kind in found:
                    raise BadSetting(
                        f'two plug-ins call themselves {kind!r}: '
                        f'{found[kind].__module__} and {item.__module__}'
                    )
                found[kind] = item
    return found


def parse(known: Mapping[str, type[P]], settings: Mapping[str, Any], where: str) -> P:
    """Return the plug-in that `settings` describe.

    :param where: what is being read, for the error text ('fault', 'planner' ...)
    :raises BadSetting: naming the known kinds, or the misspelt key
    """
    kind = settings.get('kind')
    if not isinstance(kind, str) or kind not in known:
        raise BadSetting(unknown(where, kind, known))
    try:
        return known[kind].model_validate(dict(settings))
    except ValidationError as error:
        raise BadSetting(f'{where} {kind!r}: {explain(error, known[kind].model_fields)}') from None


def from_json(text: str, where: str) -> dict[str, Any]:
    """Return the settings that a JSON object holds.

    :param where: what is being read, for the error text
    :raises BadSetting: for text that is no such object, or a very long one
    """
    if len(text) > LONGEST:
        raise BadSetting(f'a {where} has at most {LONGEST} characters, not {len(text)}')
    try:
        settings = json.loads(text, object_pairs_hook=_each_once)
    except ValueError as error:
        raise BadSetting(f'a {where} is a JSON object: {{"kind": ..., ...}}; {error}') from None
    except RecursionError:
        raise BadSetting(f'a {where} is one JSON object, not thousands in one another') from None
    if not isinstance(settings, dict):
        raise BadSetting(f'a {where} is a JSON object: {{"kind": ..., ...}}')
    return settings


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    settings = dict(pairs)
    if len(settings) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f'key {next(key for key in keys if keys.count(key) > 1)!r} is given twice'
        )
    return settings


def unknown(what: str, word: object, known: Iterable[str]) -> str:
    """Return the complaint about a name nobody knows: the closest known one, and all of them.

    Of very many, as of the tasks of a benchmark, it tells those that are most like it.
    """
    known = sorted(known)
    told = known
    if len(known) > MOST_TOLD:
        told = sorted(difflib.get_close_matches(str(word), known, n=FEW_TOLD, cutoff=0.0))
    listed = ', '.join(told) + (f' … {len(known)} in all' if told is not known else '')
    if word is None:
        return f'no {what} is named; known: {listed}'
    close = difflib.get_close_matches(str(word), known, n=1)
    guess = f', did you mean {close[0]!r}?' if close else ';'
    return f'unknown {what} {word!r}{guess} known: {listed}'


def said(problem: Mapping[str, Any]) -> str:
    """Return what a problem of a validation is: the text of the error that a check raised."""
    return str(problem['msg']).removeprefix('Value error, ')


def explain(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Return the first few problems of a validation as one line.

    :param known: keys allowed at the top level, to name the one that a misspelt key meant
    """
    lines = []
    for problem in error.errors()[:3]:
        path = '.'.join(str(part) for part in problem['loc'])
        text = said(problem)
        if problem['type'] == 'extra_forbidden' and len(problem['loc']) == 1 and known:
            lines.append(unknown('key', path, known))
        else:
            lines.append(f'{path}: {text}' if path else text)
    if (rest := error.error_count() - 3) > 0:
        lines.append(f'and {rest} more')
    return '; '.join(lines)
