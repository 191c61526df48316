"""Write docs/reference/relay.md: every key of a relay's file, every fault and every probe.

`make reference` calls this.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from alpha_chaos.catalogues import probes, transit_faults
from alpha_chaos.probes.base import Probe
from alpha_chaos.probes.config import SteadyStateFile, StepFile
from alpha_chaos.transit.base import SIDES_OF, TransitFault
from alpha_chaos.transit.config import ActionFile, Qos, RelayFile, ServiceFile, TopicFile
from alpha_chaos.transit.schedule import Condition, Schedule
from alpha_chaos.transit.stack import Limits

PAGE = Path(__file__).parents[1] / 'docs/reference/relay.md'
PREAMBLE = """\
# The relay's file

Made from the code by `make reference`, and compared with it by a test. [The relay](../relay.md)
says how it is used.
"""
# The keys of a file, from the outside to the inside.
SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ('The file', RelayFile),
    ('`topics.<name>`', TopicFile),
    ('`services.<name>`', ServiceFile),
    ('`actions.<name>`', ActionFile),
    ('`hold`', Limits),
    ('`qos` of a topic', Qos),
    ('`schedule` of a fault', Schedule),
    ('`when` of a schedule', Condition),
)
STEADY_STATE: tuple[tuple[str, type[BaseModel]], ...] = (
    ('`steady_state`', SteadyStateFile),
    ('A step of its `method`', StepFile),
)
EVERY_PROBE = ('phases',)
EVERY_FAULT = ('side', 'probability', 'schedule')
WORDS = {int: 'integer', float: 'number', str: 'text', bool: 'true or false'}
BOUNDS = {'ge': '≥ {}', 'gt': '> {}', 'le': '≤ {}', 'lt': '< {}'}


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), 'utf-8')
    return 0


def page() -> str:
    """Return the page as the code has it."""
    return '\n'.join([PREAMBLE, *_parts()])


def _parts() -> Iterator[str]:
    yield from _sections(SECTIONS)
    known = transit_faults()
    yield _links('Every fault', known)
    yield _table(TransitFault, EVERY_FAULT)
    yield from (_fault(kind, known[kind]) for kind in sorted(known))
    yield from _sections(STEADY_STATE)
    watched = probes()
    yield _links('Every probe', watched)
    yield _table(Probe, EVERY_PROBE)
    yield from (_probe(kind, watched[kind]) for kind in sorted(watched))


def _links(title: str, plugins: Iterable[str]) -> str:
    links = ' · '.join(f'[`{kind}`](#{kind})' for kind in sorted(plugins))
    return f'## {title}\n\n{links}\n'


def _sections(sections: tuple[tuple[str, type[BaseModel]], ...]) -> Iterator[str]:
    for title, model in sections:
        yield f'## {title}\n\n{_table(model, tuple(model.model_fields))}'


def _probe(kind: str, probe: type[Probe]) -> str:
    own = tuple(name for name in probe.model_fields if name not in (*EVERY_PROBE, 'kind'))
    return f'### `{kind}`\n\n{_about(probe)}\n\n{_table(probe, own)}'


def _about(plugin: type[BaseModel]) -> str:
    return ' '.join((plugin.__doc__ or '').split())


def _fault(kind: str, fault: type[TransitFault]) -> str:
    own = tuple(name for name in fault.model_fields if name not in EVERY_FAULT and name != 'kind')
    parts = [f'### {kind}', _about(fault), f'Strikes {_places(fault)}.']
    table = [_table(fault, own)] if own else ['No settings of its own.\n']
    return '\n\n'.join([*parts, *table])


def _places(fault: type[TransitFault]) -> str:
    """Return where a fault can be, in words."""
    places = []
    for kind, sides in SIDES_OF.items():
        there = [side for side in sides if side in fault.sides]
        if not there:
            continue
        every = len(there) == len(sides)
        named = '' if every else f' ({", ".join(f"`{side}`" for side in there)})'
        places.append(f'{kind}s{named}')
    return ', '.join(places)


def _table(model: type[BaseModel], names: tuple[str, ...]) -> str:
    rows = [
        f'| `{name}` | {_kind(field)} | {_default(field)} | {_escaped(field.description or "")} |'
        for name, field in model.model_fields.items()
        if name in names
    ]
    return '\n'.join(['| key | value | default | meaning |', '|---|---|---|---|', *rows, ''])


def _kind(field: FieldInfo) -> str:
    text = _type(field.annotation)
    bounds = [
        words.format(f'{value:g}' if isinstance(value, float) else value)
        for entry in field.metadata
        for name, words in BOUNDS.items()
        if (value := getattr(entry, name, None)) is not None
    ]
    return _escaped(', '.join([text, *bounds]))


def _type(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ' or '.join(f'`{value}`' for value in inner)
    if origin is UnionType or type(None) in inner:
        return ' or '.join(_type(one) for one in inner if one is not NoneType)
    if origin in (list, tuple):
        return f'list of {_type(inner[0])}'
    if origin is dict:
        return 'mapping'
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return 'mapping'
    if hasattr(annotation, '__metadata__'):  # a text that has a form
        return _type(inner[0])
    return WORDS.get(annotation, 'any value')


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return '**required**'
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return ''
    return '' if value is None else f'`{value}`'


def _escaped(text: str) -> str:
    return text.replace('|', '\\|')


if __name__ == '__main__':
    raise SystemExit(main())
