"""YAML files, and the complaints about them."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from alpha_chaos.plugins import BadSetting
from alpha_chaos.settings_file import SettingsFile, find


class Strict(BaseModel):
    model_config = ConfigDict(extra='forbid')


class Part(Strict):
    name: str
    size: float = 1.0


class Whole(Strict):
    title: str
    parts: tuple[Part, ...] = ()
    first: Part | None = None
    free: dict[str, Any] = {}


def written(folder: Path, text: str) -> SettingsFile:
    path = folder / 'settings.yaml'
    path.write_text(text, encoding='utf-8')
    return SettingsFile(path)


def test_a_file_is_read_as_its_model(tmp_path: Path) -> None:
    file = written(tmp_path, 'title: a\nparts:\n- name: b\n- {name: c, size: 2}\n')
    expected = Whole(title='a', parts=(Part(name='b'), Part(name='c', size=2)))
    assert file.read_as(Whole) == expected


@pytest.mark.parametrize(
    'text', ['7e1', '123E5', '2026-11-30', 'llama3:8b', '"1:30"', 'on', 'off', 'yes', 'no', 'y']
)
def test_what_looks_a_little_like_a_number_or_a_truth_value_stays_text(
    tmp_path: Path, text: str
) -> None:
    assert written(tmp_path, f'title: {text}').read_as(Whole).title == text.strip('"')


@pytest.mark.parametrize(
    ('text', 'complaint'),
    [
        ('title: a\ntitel: b', "line 2: unknown key 'titel', did you mean 'title'? known: "),
        (
            'title: a\nparts:\n- name: b\n- name: c\n  sise: 1',
            "line 5: parts[1]: unknown key 'sise', did you mean 'size'?",
        ),
        ('title: a\nfirst: {name: b, nam: c}', "line 2: first: unknown key 'nam', did you mean"),
        ('parts: []', "line 1: the key 'title' is missing"),
        ('title: a\nparts:\n- size: 1', "line 3: parts[0]: the key 'name' is missing"),
        ('title: 7', 'line 1: title: Input should be a valid string'),
        ('title: a\nparts: {name: b}', 'line 2: parts: Input should be a valid tuple'),
        ('title: a\nfree: {1: 2}', 'line 2: free: Input should be a valid string'),
        ('title: a\ntitle: b', "line 2: the key 'title' is given twice, first in line 1"),
        ('title: a\nfree: {x: {y: 1,\n  y: 2}}', "line 3: the key 'y' is given twice, first in"),
        ('- a', 'line 1: Input should be a valid dictionary or instance of Whole'),
        ('', 'the file is empty'),
        ('title: [', 'while parsing a flow node'),
        ('title: a\nfree: {[1]: 2, ? {a: 1} : 3}', 'found unhashable key'),
        ('title: !!python/object/apply:os.getcwd []', 'could not determine a constructor'),
        ('title: "\\ud800"\n--- 2', 'settings.yaml'),
    ],
)
def test_a_mistake_is_one_line_that_says_where_and_what(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        written(tmp_path, text).read_as(Whole)
    message = str(caught.value)
    assert complaint in message
    assert message.startswith(str(tmp_path / 'settings.yaml'))
    assert '\n' not in message


def test_the_first_of_several_mistakes_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match='line 1'):
        written(tmp_path, 'titel: a\npart: []\ntitle: b').read_as(Whole)


def test_a_file_that_is_not_there_or_not_text_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match='cannot be read'):
        SettingsFile(tmp_path / 'none.yaml')
    binary = tmp_path / 'binary.yaml'
    binary.write_bytes(b'\xff\xfe\x00')
    with pytest.raises(BadSetting, match='cannot be read'):
        SettingsFile(binary)


def test_a_name_finds_a_file_of_the_folder_and_a_path_any_file(tmp_path: Path) -> None:
    folder, beside = tmp_path / 'known', tmp_path / 'beside'
    for path in (folder / 'one.yaml', beside / 'two.yaml'):
        path.parent.mkdir()
        path.write_text('a: 1')
    assert find('experiment', 'one', folder, beside) == folder / 'one.yaml'
    assert find('experiment', 'two.yaml', folder, beside) == beside / 'two.yaml'
    assert find('experiment', str(beside / 'two.yaml'), folder, folder) == beside / 'two.yaml'
    with pytest.raises(BadSetting, match=r"unknown experiment 'on', .*'one'.* path of a .yaml"):
        find('experiment', 'on', folder, beside)
    with pytest.raises(BadSetting, match=r'there is no file .*three.yaml'):
        find('experiment', 'three.yaml', folder, beside)


@pytest.mark.parametrize(
    ('text', 'complaint'),
    [
        ('a: &x [1, 2]\nb: *x\n', 'aliases'),  # a few lines of them make gigabytes
        ('title: a\nfree: &x\n  inside: *x', 'line 3: aliases'),  # it leads back to itself
        ('a: ' + '[' * 3000, 'nested too deeply'),
        ('title: a\n\tb: 1\n', r'line 2: .*\\t'),
        ('title: a\nb: [1\nc: 2\n', 'that begins in line 2: '),
        ('title: a\nb: \x01\n', r'line 2: the character U\+0001'),
        ('title: a\nb: 0b_\n', 'line 2: a value cannot be read'),
        (f'a: {"9" * 5000}\n', 'cannot be read'),
        ('a: !!int abc\n', 'cannot be read'),
        ('a: !!timestamp 2020-13-45\n', 'cannot be read'),
        ('a: !!timestamp soon\n', 'cannot be read'),
        ('a: !!bool maybe\n', 'cannot be read'),
    ],
)
def test_a_value_that_is_none_and_a_bomb_are_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(BadSetting, match=complaint):
        written(tmp_path, text)
