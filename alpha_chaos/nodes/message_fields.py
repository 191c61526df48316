"""Fields of an interface by path, as its definition has them."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from alpha_chaos.faults.base import Fields
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.plugins import BadSetting, unknown
from alpha_chaos.transit.base import Need
from alpha_chaos.transit.content import fill

_STEP = re.compile(r'([A-Za-z]\w*)((?:\[(?:\*|\d+)\])?)')
_ARRAY = re.compile(r'(?:sequence<(?P<of>.+?)(?:, \d+)?>|(?P<each>.+)\[\d+\])')
_TEXT = re.compile(r'w?string(<\d+>)?')
_FLOATS = ('float', 'double')
_WHAT: dict[Need, str] = {
    'number': 'a number',
    'float': 'a floating-point number',
    'text': 'a text',
    'time': 'a stamp',
    'array': 'an array of free length',
}


def check_field(kind: Any, path: str, need: Need) -> None:
    """Refuse a path that messages of a type do not have, or that is something else there.

    :raises BadSetting: naming the fields that there are
    """
    name = '/'.join((kind.__module__.split('.')[0], kind.__name__))
    declared = ''
    owner: Any = kind
    for step in path.split('.'):
        parts = _STEP.fullmatch(step)
        if parts is None:
            raise BadSetting(
                f'{path!r} is no path of a field; it looks like pose.position.x or ranges[*]'
            )
        if owner is None:
            raise BadSetting(f'{path!r}: {declared} has no fields')
        fields = owner.get_fields_and_field_types()
        if parts[1] not in fields:
            raise BadSetting(f'{name}, {path!r}: {unknown("field", parts[1], fields)}')
        declared = fields[parts[1]]
        array = _ARRAY.fullmatch(declared)
        if parts[2]:
            if array is None:
                raise BadSetting(f'{name}, {path!r}: {parts[1]} is no array but {declared}')
            declared = array['of'] or array['each']
        elif array is not None and step is not path.split('.')[-1]:
            raise BadSetting(f'{name}, {path!r}: {parts[1]} is an array; write {parts[1]}[*]')
        owner = _message(declared)
    if need != 'field' and not _is(need, declared):
        hint = f'; write {path}[*] for its elements' if _ARRAY.fullmatch(declared) else ''
        raise BadSetting(f'{name}, {path!r}: expected {_WHAT[need]}, it is {declared}{hint}')


def check_values(kind: Any, values: Mapping[str, JsonValue], *, blank: bool = False) -> None:
    """Refuse values that messages of a type cannot hold.

    :param blank: they are for an empty message, whose arrays have no elements; else elements are
        not tried
    :raises BadSetting: naming the field
    """
    for path, value in values.items():
        check_field(kind, path, 'field')
        if blank or '[' not in path:
            try:
                fill(Fields(kind()), {path: value})
            except AttributeError as error:
                raise BadSetting(str(error)) from None


def _message(declared: str) -> Any:
    package, _, short = declared.partition('/')
    if not short or _ARRAY.fullmatch(declared):
        return None
    action, _, part = short.rpartition('_')
    if part in ('Goal', 'Result', 'Feedback'):
        return getattr(load(f'{package}/action/{action}'), part)
    return load(f'{package}/msg/{short}')


def _is(need: Need, declared: str) -> bool:
    if need == 'number':
        return declared in _FLOATS or bool(re.fullmatch(r'u?int(8|16|32|64)', declared))
    if need == 'float':
        return declared in _FLOATS
    if need == 'text':
        return bool(_TEXT.fullmatch(declared))
    if need == 'time':
        return declared == 'builtin_interfaces/Time'
    return declared.startswith('sequence<')
