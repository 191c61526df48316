"""What cannot be run is refused in one line that says what would be right, with exit code 2."""

import shutil

import pytest
import yaml

from alpha_chaos import journal
from alpha_chaos.resources import config_folder


def refused(call, *words):
    """Check that a call was refused in one line with these words."""
    assert call.returncode == 2, f'{call.stdout}\n{call.stderr}'
    assert call.stdout == ''
    (line,) = call.stderr.splitlines()
    assert line.startswith('error: ')
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (['-e', 'smokey'], ['smokey', 'smoke']),
        (['-e', 'missing.yaml'], ['missing.yaml']),
        (['-e', 'smoke', '--arms', 'oracel'], ['oracel', "did you mean 'oracle'"]),
        (['-e', 'smoke', '--arms', 'oracle,nobody'], ['nobody', 'oracle_json']),
    ],
)
def test_a_name_that_nobody_knows_is_refused_and_leaves_nothing(cli, tmp_path, arguments, words):
    refused(cli('matrix', *arguments, '-o', 'run', folder=tmp_path), *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'armz': {}}, ['armz', "did you mean 'arms'"]),
        ({'calibration': 'as_rum'}, ['as_rum', 'as_run']),
        ({'conditions': [{'name': 'a', 'faults': [{'kind': 'sensor_lagg'}]}]}, ['sensor_lag']),
        ({'task': {'kind': 'pick_place', 'block': 'mauve'}}, ['mauve', 'red, green, blue']),
        ({'arms': {'oracle': {'kind': 'oracle', 'temperature': 1}}}, ['temperature']),
    ],
)
def test_an_experiment_that_cannot_be_names_file_and_mistake(cli, tmp_path, change, words):
    settings = yaml.safe_load((config_folder() / 'experiments' / 'smoke.yaml').read_text())
    (tmp_path / 'mine.yaml').write_text(yaml.safe_dump({**settings, **change}))
    refused(cli('matrix', '-e', 'mine.yaml', '-o', 'run', folder=tmp_path), 'mine.yaml', *words)
    assert not (tmp_path / 'run').exists()


def test_the_folder_of_another_experiment_is_refused_and_left_alone(fresh, cli, tmp_path):
    shutil.copytree(fresh.folder, tmp_path / 'run')
    before = (tmp_path / 'run' / 'journal.jsonl').read_bytes()
    arguments = ['-e', 'paper', '--arms', 'oracle', '-o', 'run']
    refused(cli('matrix', *arguments, folder=tmp_path), "'smoke'", "'paper'", '--out')
    assert (tmp_path / 'run' / 'journal.jsonl').read_bytes() == before


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (['--run-id', 'control_001', '--arm', 'oracle'], ['control_001']),
        (['--run-id', 'control_000', '--arm', 'oracel'], ['oracel', 'oracle']),
    ],
)
def test_an_episode_that_nobody_knows_is_refused(cli, tmp_path, arguments, words):
    refused(cli('episode', '-e', 'smoke', *arguments, '-o', 'run', folder=tmp_path), *words)
    assert list(tmp_path.iterdir()) == []


def test_a_table_of_nothing_is_refused(cli, tmp_path):
    refused(cli('table', 'nowhere', folder=tmp_path), 'nowhere')


def test_a_journal_that_cannot_be_trusted_is_refused_with_its_line(fresh, cli, tmp_path):
    shutil.copytree(fresh.folder, tmp_path / 'run')
    path = tmp_path / 'run' / 'journal.jsonl'
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(''.join([lines[0], 'garbage\n', *lines[1:]]))
    refused(cli('table', 'run', folder=tmp_path), 'journal.jsonl, line 2')
    arguments = ['-e', 'smoke', '--arms', 'oracle', '-o', 'run']
    refused(cli('matrix', *arguments, folder=tmp_path), 'journal.jsonl, line 2')


def test_one_episode_is_shown_and_kept(cli, fresh, tmp_path):
    arguments = ['--run-id', 'control_000', '--arm', 'oracle', '-o', 'run']
    call = cli('episode', '-e', 'smoke', *arguments, folder=tmp_path)
    assert call.returncode == 0, call.stderr
    assert 'control_000/oracle: done' in call.stdout
    assert [row.reason for row in journal.read(tmp_path / 'run').rows] == ['']


@pytest.mark.parametrize(
    'text', ['', '[]', 'null', '{"experiment": []}', '{"episodes": [1]}', '{"llm": {"llm": {}}}']
)
def test_a_manifest_of_another_shape_is_refused(cli, tmp_path, text):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run' / 'manifest.json').write_text(text)
    arguments = ['-e', 'smoke', '--arms', 'oracle', '-o', 'run']
    refused(cli('matrix', *arguments, folder=tmp_path), 'manifest.json', '--out')


def test_bags_that_are_no_folder_are_refused_before_anything_starts(cli, tmp_path):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run' / 'bags').write_text('')
    arguments = ['-e', 'smoke', '--arms', 'oracle', '-o', 'run']
    refused(cli('matrix', *arguments, folder=tmp_path), 'run/bags')
