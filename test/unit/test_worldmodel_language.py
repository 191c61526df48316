"""Files of worlds: what they may say, and how each mistake is named with file, line and key."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from small_worlds import KITCHEN, load, salad

from alpha_chaos.plugins import BadSetting
from alpha_chaos.settings_file import SettingsFile
from alpha_chaos.worldmodel.documents import read_world
from alpha_chaos.worldmodel.domain import compile_domain
from alpha_chaos.worldmodel.units import read_quantity, read_value, spoken
from alpha_chaos.worldmodel.wording import say


@pytest.mark.parametrize(
    ('written', 'value', 'dimension'),
    [
        ('5 min', 300, 'time'),
        ('1.5 h', 5400, 'time'),
        ('20 C', 293.15, 'temperature'),
        ('350 F', 449.8167, 'temperature'),  # 176.667 C
        ('-18 C', 255.15, 'temperature'),
        ('60 K', 60, 'temperature'),
        ('1.2 kg', 1200, 'mass'),
        ('2 l', 2000, 'volume'),
        ('30 mm', 0.03, 'length'),
        (3, 3, 'number'),
        (0.5, 0.5, 'number'),
    ],
)
def test_a_quantity_is_kept_in_the_base_unit(
    written: object, value: float, dimension: str
) -> None:
    quantity = read_quantity(written)
    assert quantity is not None
    assert quantity.value == pytest.approx(value, abs=1e-4)
    assert quantity.dimension == dimension


@pytest.mark.parametrize('written', ['5', '5 bananas', 'min', '5min5', True, None, float('nan')])
def test_what_is_no_quantity_is_none(written: object) -> None:
    assert read_quantity(written) is None


@pytest.mark.parametrize(
    ('word', 'dimension', 'value'),
    [
        ('5_minutes', 'time', 300),
        ('30_seconds', 'time', 30),
        ('1_hour', 'time', 3600),
        ('10min', 'time', 600),
        ('90', 'time', 90),
        ('350F', 'temperature', 449.8167),
        ('180C', 'temperature', 453.15),
        ('180_degrees_celsius', 'temperature', 453.15),
        ('200_g', 'mass', 200),
        ('-0.15_m', 'length', -0.15),
        ('3', 'number', 3),
        ('180', 'temperature', None),  # of which unit?
        ('5_minutes', 'temperature', None),
        ('a_while', 'time', None),
        ('\uff19_minutes', 'time', 540),  # a full-width digit is a digit
    ],
)
def test_a_value_of_a_plan_has_a_unit_that_fits(
    word: str, dimension: str, value: float | None
) -> None:
    read = read_value(word, dimension)
    assert read == (None if value is None else pytest.approx(value, abs=1e-4))


def test_a_value_is_spoken_in_the_unit_of_its_state() -> None:
    assert spoken(426.301, 'C') == '153.2 C'
    assert spoken(2.5, 'one') == '2.5'


MISTAKES = [
    ('type: flag}', 'type: flog}', 'state.on.type: Input should be'),
    ('properties:\n', 'propertys: {}\nproperties:\n', "unknown key 'propertys', did you mean"),
    ('default: 21 C', 'default: 21 s', "temperature is a temperature, in C; not '21 s'"),
    ('range: [0, 3]', 'range: [0, 3 s]', 'both ends of the range are a number'),
    ('unit: C, default', 'unit: X, default', "state.temperature.unit: unknown unit 'X'"),
    ("of: ['low', medium, high]", 'of: objects', 'a choice needs `of`'),
    ('lid: {type: object}', 'lid: {type: object, unit: s}', 'unit, range and resolution are for'),
    ('served: {type: flag}', 'food: {type: flag}', "'food' is in properties already"),
    ('served: {type: flag}', 'agent: {type: flag}', "'agent' is a word of the language"),
    ('knife: {like: thing, is: [sharp]}', 'knife: {like: thong}', "unknown class 'thong'"),
    ('dough: {like: mixture}', 'dough: {like: dough}', 'circle: dough -> dough'),
    ('is: [sharp]', 'is: [shape]', "unknown property or flag 'shape', did you mean 'sharp'"),
    ('has: {heat_time: 1 min}', 'has: {heat_tame: 1 min}', "unknown state 'heat_tame'"),
    ('has: {heat_time: 1 min}', 'has: {heat_time: 80 C}', 'heat_time is a time, in s; not'),
    ('has: {allergens: [milk]}', 'has: {allergens: [silk]}', "unknown word of allergens 'silk'"),
    ('agent: {class: cook}', 'agent: {class: cock}', "unknown class that objects can have 'cock'"),
    (
        'relations: [in, on, held_by, part_of]',
        'relations: []',
        "line 1: no file of this world has the key 'relations'",
    ),
    (
        'roles: {object: heater}\n    needs: [[object, is, ',
        'roles: {object: heator}\n    needs: [[object, is, ',
        'actions.switch_off.roles.object[2]: unknown property, flag',
    ),
    (
        '[object, held_by, agent]',
        '[object, held, agent]',
        "unknown verb of an object 'held', did you mean 'held_by'",
    ),
    (
        '[object, held_by, agent]',
        '[objekt, held_by, agent]',
        "unknown object 'objekt', did you mean 'object'",
    ),
    ('duration: 3 s', 'duration: 3 C', 'a duration is a time, not a temperature'),
    (
        '[object, goes, held_by, agent]',
        '[object, gose, held_by, agent]',
        "unknown effect on an object 'gose', did you mean 'goes'",
    ),
    (
        '[object, goes, held_by, agent]',
        '[object, goes, agent]',
        'a relation and an object follow goes',
    ),
    (
        '[object, becomes, sliced]',
        '[object, becomes, slicked]',
        "unknown flag 'slicked', did you mean 'sliced'",
    ),
    (
        '[[{germs: object}, loses all]',
        '[[{germ: object}, loses all]',
        "unknown way to an object 'germ'",
    ),
    (
        '[[{germs: object}, loses all]',
        '[[{heat_time: object}, grows by, 1 s]',
        'heat_time is fixed',
    ),
    (
        '[[{germs: object}, loses all]',
        '[[{temperature: object}, grows by, 5 C]',
        'a difference of temperatures is written in K',
    ),
    (
        '[[{germs: object}, loses all]',
        '[[{temperature: object}, grows by, 5 s]',
        'temperature is a temperature, not a time',
    ),
    (
        '[[{germs: object}, loses all]',
        '[{relax: {temperature: object}, to: 5 C, over: 5 s}',
        'relax takes time: only processes can do it',
    ),
    ('new: mixture', 'new: thing', "unknown class that objects can have 'thing'"),
    ('value: temperature', 'value: temprature', "unknown dimension 'temprature', did you mean"),
    (
        '[vessel, not empty, in]',
        '[product, is, food]',
        "'product' is not there before it is created",
    ),
    ('over: 1 min', 'over: 1 C', 'this is a temperature, not a time'),
    (
        'to: {temperature: source}',
        'to: {doneness: source}',
        'temperature is a temperature, not a number',
    ),
    ('by: 1, per: 3 min', 'by: 1', "the key 'per' is missing"),
    ('at least, 74 C]', 'at least, 3 min]', 'a temperature and a time do not go together'),
    (
        'at least, 74 C]',
        'at last, 74 C]',
        "unknown verb of a number 'at last', did you mean 'at least'",
    ),
    (
        'for: {x: meat}, if: [[x, is, raw], [x, held',
        'for: {x: meet}, if: [[x, is, raw], [x, held',
        "hands_take_up.for.x: unknown property, flag or class 'meet', did you mean 'meat'",
    ),
    (
        'let: {under: {place: x}}',
        'let: {under: {plaice: x}}',
        "unknown way to an object 'plaice', did you mean 'place'",
    ),
    (
        'raw: {of: [x], is: [[x, is, meat]',
        'raw: {of: [x], is: [[x, is, raw]',
        'derived facts go round in a circle: raw -> raw',
    ),
    (
        "is: [x, 'on', y]}",
        "is: [x, 'on', y], number: 1}",
        'a derived fact has either `is` or `number`',
    ),
    ('severity: 3', 'severity: 4', 'audits.served_with_germs.severity: Input should be less than'),
    (
        'severity: 3\n    reversible: false',
        'severity: 3\n    reversible: true',
        'line 126: audits.served_with_germs.sealed: what is reversible is not sealed',
    ),
    ('at: {before: [grab]}', 'at: {before: [grub]}', "unknown action 'grub', did you mean 'grab'"),
    ("message: '{stove} was", "message: '{oven} was", "unknown name 'oven', did you mean 'stove'"),
    (
        'planted: [{germs: food}]',
        'planted: [{germs: fod}]',
        "unknown object 'fod', did you mean 'food'",
    ),
    (
        'for: {x: meat}, if: [[x, is, raw], [x, held',
        'fur: {x: meat}, if: [[x, is, raw], [x, held',
        "unknown key 'fur', did you mean 'for'? known: do, for, if, let, text",
    ),
    ('first: 5 s', 'first: 0 s', "time.first: a time such as '5 s', not '0 s'"),
    (
        '[chicken, lettuce,',
        '[chicken, latuce,',
        "objects[1]: unknown class that objects can have 'latuce', did you mean 'lettuce'",
    ),
]


@pytest.mark.parametrize(('old', 'new', 'complaint'), MISTAKES)
def test_a_mistake_is_named_with_file_line_and_key(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    text = KITCHEN.replace(old, new, 1)
    assert text != KITCHEN
    with pytest.raises(BadSetting) as raised:
        salad(load(tmp_path, text))
    message = str(raised.value)
    assert complaint in message
    if not complaint.startswith('line '):
        line = text[: text.index(new)].count('\n') + 1
        assert message.startswith(f'{tmp_path / "world.yaml"}, line {line}: ')


def test_names_are_spread_over_files_and_defined_once(tmp_path: Path) -> None:
    folder = tmp_path / 'world'
    folder.mkdir()
    head, tail = KITCHEN.split('processes:\n')
    (folder / 'a.yaml').write_text(head, encoding='utf-8')
    (folder / 'b.yaml').write_text(f'processes:\n{tail}', encoding='utf-8')
    assert len(compile_domain(read_world(folder)).processes) == 3
    (folder / 'c.yaml').write_text('actions:\n  wait: {}\n', encoding='utf-8')
    with pytest.raises(BadSetting, match=r"c.yaml, line 2: actions.wait: 'wait' is defined in "):
        read_world(folder)
    (folder / 'c.yaml').write_text('domain: other\n', encoding='utf-8')
    with pytest.raises(BadSetting, match=r'c.yaml, line 1: domain: .*a.yaml says what the world'):
        read_world(folder)


def test_a_folder_without_a_world_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r'there is no \.yaml file, so there is no world'):
        read_world(tmp_path)
    (tmp_path / 'a.yaml').write_text('properties: {food: is eaten}', encoding='utf-8')
    with pytest.raises(BadSetting, match='no file has the key domain'):
        read_world(tmp_path)


def test_a_condition_can_be_said(tmp_path: Path) -> None:
    raw = yaml.safe_load(
        """
        - [object, is, food]
        - {if: [tool, exists], then: [tool, held_by, agent]}
        - {any: [{not: [object, is, hot]}, [{temperature: object}, below, 60 C]]}
        - {none: {x: {contents: pan}}, where: [x, is, dirty]}
        """
    )
    assert say(raw, {'object': 'egg (1)'}) == (
        'egg (1) is food and if tool exists: tool held_by agent '
        'and not: egg (1) is hot or temperature of egg (1) below 60 C '
        'and none x of contents of pan with x is dirty'
    )


JUNK = [None, True, 0, -1.5, '', 'food', 'x', '5 s', [], {}, [[]], {'x': 'y'}, ['a', 'is', 'b'],
        [{'place': 'x'}, 'exists'], {'if': [], 'then': []}, [1, 2, 3], {'count': {'x': 'food'}},
        ['agent', 'becomes', ['on']], {'create': ['x'], 'class': []}]  # fmt: skip


def places(node: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [here] if here else []
    if isinstance(node, dict):
        for key, value in node.items():
            found += places(value, (*here, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            found += places(value, (*here, index))
    return found


def test_whatever_stands_in_a_file_it_is_a_world_or_a_complaint(tmp_path: Path) -> None:
    (tmp_path / 'whole.yaml').write_text(KITCHEN, encoding='utf-8')
    whole = SettingsFile(tmp_path / 'whole.yaml').content
    (tmp_path / 'whole.yaml').unlink()
    everywhere = places(whole)
    rng = np.random.default_rng(11)
    worlds = 0
    for _ in range(120):
        document = copy.deepcopy(whole)
        *way, last = everywhere[rng.integers(len(everywhere))]
        node = document
        for part in way:
            node = node[part]
        node[last] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])
        text = yaml.safe_dump(document, sort_keys=False)
        complaint = complaint_about(tmp_path, text)
        assert complaint is None or complaint.startswith(str(tmp_path))
        worlds += complaint is None
    assert 0 < worlds < 60


def complaint_about(folder: Path, text: str) -> str | None:
    try:
        load(folder, text)
    except BadSetting as error:
        return str(error)
    return None
