"""Conditions in words, for what a plan is told and for prompts."""

from collections.abc import Mapping
from typing import Any

from alpha_chaos.worldmodel.forms import is_atom


def say(raw: Any, names: Mapping[str, str]) -> str:
    """Return a condition as a phrase.

    :param names: what to call roles and variables; others are called by their name
    """
    if isinstance(raw, list | tuple):
        if is_atom(raw):
            words = [say_term(raw[0], names), str(raw[1])]
            words += [say_term(word, names) for word in raw[2:]]
            return ' '.join(words)
        return ' and '.join(say(part, names) for part in raw) or 'nothing'
    if not isinstance(raw, Mapping) or not raw:
        return str(raw)
    key = str(next(iter(raw)))
    if key in ('all', 'any'):
        joint = ' and ' if key == 'all' else ' or '
        return joint.join(_nested(part, names) for part in raw[key])
    if key == 'not':
        return f'not: {say(raw[key], names)}'
    if key == 'if':
        text = f'if {say(raw["if"], names)}: {say(raw.get("then", ()), names)}'
        return f'{text}, else: {say(raw["else"], names)}' if 'else' in raw else text
    if key in ('some', 'every', 'none') and isinstance(raw[key], Mapping):
        ((name, many),) = raw[key].items()
        where = f' with {say(raw["where"], names)}' if 'where' in raw else ''
        return f'{key} {name} of {say_term(many, names)}{where}'
    return f'{key}: {say_term(raw[key], names)}'


def _nested(raw: Any, names: Mapping[str, str]) -> str:
    text = say(raw, names)
    return f'({text})' if ' and ' in text or ' or ' in text else text


def say_term(raw: Any, names: Mapping[str, str]) -> str:
    """Return an object, number or collection as a phrase."""
    if isinstance(raw, list | tuple):
        return ', '.join(say_term(part, names) for part in raw)
    if not isinstance(raw, Mapping):
        return names.get(raw, raw) if isinstance(raw, str) else str(raw)
    if len(raw) == 1:
        ((key, inner),) = raw.items()
        if isinstance(inner, Mapping) and key in ('first', 'count'):
            ((_, inner),) = inner.items()
        return f'{key} of {say_term(inner, names)}'
    return ' '.join(f'{key} {say_term(inner, names)}' for key, inner in raw.items())
