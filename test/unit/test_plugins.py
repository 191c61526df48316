"""How plug-ins are found and read, and how a message's fields are reached."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from types import SimpleNamespace as Message

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from alpha_chaos.faults.base import Fields
from alpha_chaos.plugins import BadSetting, Plugin, catalogue, explain, from_json, parse, unknown

FAULT = """
from typing import Literal
from alpha_chaos.plugins import Plugin
class {name}(Plugin):
    kind: Literal['{kind}'] = '{kind}'
    size: float = 1.0
    number: int = 0
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    folder = tmp_path / 'plugged'
    folder.mkdir()
    (folder / '__init__.py').write_text('')
    (folder / 'one.py').write_text(FAULT.format(name='One', kind='one'))
    (folder / 'two.py').write_text(
        'from plugged.one import One\n' + FAULT.format(name='Two', kind='two')
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield __import__('plugged')
    for name in [name for name in sys.modules if name.split('.')[0] == 'plugged']:
        del sys.modules[name]


def add(package: ModuleType, name: str, text: str) -> None:
    (Path(package.__path__[0]) / f'{name}.py').write_text(text)


def test_every_file_of_the_package_is_looked_into(package: ModuleType) -> None:
    known = catalogue(package, Plugin)
    assert {kind: made.__name__ for kind, made in known.items()} == {'one': 'One', 'two': 'Two'}


def test_two_plug_ins_of_one_kind_are_refused(package: ModuleType) -> None:
    add(package, 'three', FAULT.format(name='Three', kind='one'))
    with pytest.raises(BadSetting, match=r"call themselves 'one': plugged.one and plugged.three"):
        catalogue(package, Plugin)


def test_a_plug_in_that_cannot_be_imported_is_not_passed_over(package: ModuleType) -> None:
    add(package, 'three', 'import there_is_no_such_module')
    with pytest.raises(ModuleNotFoundError, match='there_is_no_such_module'):
        catalogue(package, Plugin)


def test_settings_become_a_plug_in(package: ModuleType) -> None:
    made = parse(catalogue(package, Plugin), {'kind': 'one', 'size': 2}, 'fault')
    assert made.model_dump() == {'kind': 'one', 'size': 2.0, 'number': 0}


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        ({'kind': 'tow'}, "unknown fault 'tow', did you mean 'two'? known: one, two"),
        ({'kind': 'zzz'}, "unknown fault 'zzz'; known: one, two"),
        ({}, 'no fault is named; known: one, two'),
        ({'kind': ['one']}, "unknown fault ['one']"),
        ({'kind': 'one', 'sise': 1}, "fault 'one': unknown key 'sise', did you mean 'size'?"),
        ({'kind': 'one', 'size': 'big'}, "fault 'one': size: Input should be a valid number"),
    ],
)
def test_a_mistake_is_answered_with_what_would_be_right(
    package: ModuleType, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        parse(catalogue(package, Plugin), settings, 'fault')
    assert said in str(caught.value)


class Numbers(BaseModel):
    model_config = ConfigDict(extra='forbid')

    numbers: list[int]


def test_of_many_problems_the_first_are_told_and_the_rest_counted() -> None:
    with pytest.raises(ValidationError) as caught:
        Numbers(numbers=['a', 'b', 'c', 'd', 'e'])  # type: ignore[list-item]
    text = explain(caught.value)
    assert text.count('numbers.') == 3
    assert text.endswith('and 2 more')
    assert '\n' not in text


@pytest.mark.parametrize(
    ('text', 'why'),
    [
        ('{"kind": "lag", "lag_s": 1, "lag_s": 2}', "; key 'lag_s' is given twice"),
        ('{"kind": ', '; Expecting value'),
        ('[1]', '{"kind": ..., ...}'),
        ('[' * 90_000, 'not thousands in one another'),
        (' ' * 100_001, 'at most 100000 characters, not 100001'),
    ],
)
def test_text_that_is_no_settings_is_refused_with_what_it_looks_like(text: str, why: str) -> None:
    with pytest.raises(BadSetting, match='a fault ') as caught:
        from_json(text, 'fault')
    assert why in str(caught.value)


def test_a_complaint_names_the_close_word_and_all_known_ones() -> None:
    assert unknown('arm', 'orcale', ['text', 'oracle']) == (
        "unknown arm 'orcale', did you mean 'oracle'? known: oracle, text"
    )


def test_of_very_many_known_words_it_names_the_nearest_and_the_number() -> None:
    known = ['soup', 'stew', *(f'plate_{number}' for number in range(150))]
    text = unknown('task', 'soop', known)
    assert text.startswith("unknown task 'soop', did you mean 'soup'? known: ")
    assert text.endswith(', soup, stew … 152 in all')
    assert text.count(', ') == 1 + 4


def test_a_field_is_reached_by_its_path() -> None:
    message = Message(pose=Message(x=1.0), name='a')
    fields = Fields(message)
    fields.set('pose.x', 2.0)
    fields.set('name', 'b')
    assert message == Message(pose=Message(x=2.0), name='b')
    assert fields.get('pose.x') == 2.0
    assert fields.has('pose.x')


def test_a_field_that_is_not_there_is_neither_read_nor_made() -> None:
    fields = Fields(Message(pose=Message(x=1.0)))
    assert not fields.has('pose.y')
    assert not fields.has('pose.x.y')
    for path in ('pose.y', 'position', 'pose.x.y'):
        with pytest.raises(AttributeError):
            fields.get(path)
        with pytest.raises(AttributeError):
            fields.set(path, 1.0)
