"""A run verifies and replays; whatever is changed in it afterwards is named."""

import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from rich.console import Console

from alpha_chaos import jsonl
from alpha_chaos.analysis.claims import read_claims
from alpha_chaos.analysis.examine import Claim, disagreements, examine
from alpha_chaos.analysis.replay import replay, replay_one
from alpha_chaos.analysis.verify import verify
from alpha_chaos.bag.definitions import definition, typestore
from alpha_chaos.bag.reader import Recording
from alpha_chaos.bag.writer import BagWriter
from alpha_chaos.resources import config_folder

# What a line says that no recording can show; only its hash protects it.
UNSHOWN = {'wall_s', 'bag'}
SUBJECT = {'route', 'sequence', 'stage', 'fault'}


@pytest.fixture(scope='module')
def run(new_run):
    """Return a run with faults of every stage and with arms that plan more than once."""
    made = new_run('verified')
    smoke = yaml.safe_load((config_folder() / 'experiments' / 'smoke.yaml').read_text())
    lag, slip = {'kind': 'sensor_lag', 'lag_s': 0.3}, {'kind': 'grasp_slip'}
    settings = {
        **smoke,
        'description': 'For verify and replay.',
        'draws': 'seed_sequence',
        'arms': {
            'oracle': {'kind': 'oracle'},
            'retry': {'kind': 'oracle_json', 'recovery': {'kind': 'retry', 'tries': 2}},
            'regrasp': {'kind': 'oracle', 'recovery': {'kind': 'regrasp', 'tries': 1}},
        },
        'conditions': [
            {'name': 'control'},
            {'name': 'both', 'faults': [lag, {**slip, 'probability': 1.0}]},
            {'name': 'late', 'faults': [{'kind': 'gripper_delay'}]},
            {'name': 'damaged', 'faults': [{'kind': 'plan_corruption', 'cut_share': 0.5}]},
            {'name': 'silent', 'faults': [{'kind': 'planner_timeout'}]},
        ],
    }
    experiment = made.folder.parent / 'verified.yaml'
    experiment.write_text(yaml.safe_dump(settings, sort_keys=False))
    call = made.start(
        '--isolation', 'worker', '--workers', '2', arms=(), experiment=str(experiment)
    )
    assert call.end() == 0, f'{call.out}\n{call.err}\n{made.log()}'
    return made


@pytest.fixture
def copy(run, tmp_path) -> Path:
    """Return a copy of the run to change something in."""
    return shutil.copytree(run.folder, tmp_path / 'run')


def said(folder: Path) -> tuple[int, str]:
    """Verify a run; return the exit code and what was printed."""
    out = io.StringIO()
    code = verify(folder, Console(file=out, width=200), workers=1)
    return code, out.getvalue()


def claim(folder: Path, episode: str) -> Claim:
    return next(item for item in read_claims(folder).claims if item.episode == episode)


def change_line(folder: Path, file: str, number: int, change: Callable[[Any], None]) -> None:
    """Change what a line says and seal it again, as somebody would who knows how."""
    path = folder / file
    lines = path.read_bytes().splitlines(keepends=True)
    item = json.loads(lines[number])
    del item['sha256']
    change(item)
    lines[number] = jsonl.seal(item) + b'\n'
    path.write_bytes(b''.join(lines))


def forge(
    folder: Path, episode: str, change: Callable[[str, int, Any], Any], settings: str = ''
) -> None:
    """Write a recording anew with something changed, its hashes and the journal's right again.

    :param change: gets topic, number and message, and returns the message to write
    :param settings: of the episode, if they shall be others
    """
    rows = [json.loads(line) for line in (folder / 'journal.jsonl').read_text().splitlines()]
    number = next(i for i, row in enumerate(rows) if f'{row["run_id"]}/{row["arm"]}' == episode)
    old = folder / rows[number]['bag']
    recording = Recording(old)
    place = old.with_name(f'{old.name}.old')
    old.rename(place)
    about = {**recording.about, **({'episode': settings} if settings else {})}
    writer = BagWriter(old, about)
    for topic, kind in recording.types.items():
        writer.add_topic(topic, kind)
    for kind in recording.definitions:
        writer.add_definition(kind)
    numbers = dict.fromkeys(recording.types, 0)
    for message in recording.messages():
        numbers[message.topic] += 1
        changed = change(message.topic, numbers[message.topic], message.decode())
        data = message.data
        if changed is not None:
            data = bytes(typestore().serialize_cdr(changed, message.type))
        writer.write(message.topic, message.time_ns, data)
    summary = writer.close({'episode_id': recording.episode_id})
    shutil.rmtree(place)

    def settle(row: Any) -> None:
        row['recording'] |= {'sha256': summary.sha256, 'bytes': summary.bytes}

    change_line(folder, 'journal.jsonl', number, settle)


# -- a run as it is


def test_a_run_is_what_its_recordings_show(run, cli):
    done = cli('verify', run.folder, folder=run.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = done.stdout.splitlines()
    assert 'the same comes out again from 15 recordings' in line
    assert 'without a hash' not in line
    assert done.stderr == ''


def test_every_episode_of_a_run_is_the_same_again(run, cli):
    done = cli('replay', run.folder, folder=run.folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '15 of 15 episodes the same, bit for bit' in done.stdout
    assert done.stderr == ''


def test_one_episode_is_replayed_by_its_name(run, cli):
    done = cli('replay', run.folder, 'both_000', 'oracle', folder=run.folder)
    assert done.returncode == 0
    digest = run.final['both_000/oracle'].digest
    assert 'both_000/oracle, attempt 1: the same' in done.stdout
    assert 'sensor_lag, grasp_slip' in done.stdout
    assert f'8 commands, 1381 states, digest {digest[:16]}' in done.stdout


def test_some_episodes_planned_more_than_once_and_acted_more_than_once(run):
    assert run.final['damaged_000/retry'].recovery.plans == 3
    assert run.final['both_000/regrasp'].recovery.plans == 2
    again = replay_one(run.folder, claim(run.folder, 'both_000/regrasp'))
    assert (again.differences, again.commands) == ([], 16)


def test_a_late_gripper_is_told_what_nobody_told_it(run):
    assert claim(run.folder, 'late_000/oracle').entries
    assert replay_one(run.folder, claim(run.folder, 'late_000/oracle')).differences == []


def test_the_settings_in_a_recording_are_all_that_is_needed(run, tmp_path):
    bag = run.final['both_000/oracle'].bag
    shutil.copytree(run.folder / bag, tmp_path / bag)
    alone = examine(tmp_path, Claim(bag, 'both_000/oracle', 1, None))
    assert {item.kind for item in alone.differences} == {'ledger'}
    assert alone.row['digest'] == run.final['both_000/oracle'].digest


def test_the_definitions_of_what_was_exchanged_are_those_of_the_package(run):
    recording = Recording(run.folder / run.final['control_000/oracle'].bag)
    kinds = {exchange.type for exchange in recording.exchanges()}
    assert len(kinds) == 6
    assert {kind: recording.definitions[kind] for kind in kinds} == {
        kind: definition(kind).text for kind in kinds
    }


# -- a run in which somebody has changed something


@pytest.mark.parametrize('share', [0.0, 0.5, 1.0])
def test_one_byte_of_a_recording(copy, share):
    (file,) = (copy / 'bags' / 'control_000.oracle').glob('*.mcap')
    content = bytearray(file.read_bytes())
    content[int(share * (len(content) - 1))] ^= 1
    file.write_bytes(content)
    code, out = said(copy)
    assert code == 4
    assert 'bags/control_000.oracle/control_000.oracle.mcap: control_000/oracle#1' in out
    assert len(out.splitlines()) == 2, out


def test_one_byte_of_what_stands_beside_it(copy):
    file = copy / 'bags' / 'both_000.oracle' / 'metadata.yaml'
    file.write_text(
        file.read_text().replace('nanoseconds_since_epoch: 0', 'nanoseconds_since_epoch: 1')
    )
    code, out = said(copy)
    assert code == 4
    assert 'bags/both_000.oracle/metadata.yaml: both_000/oracle#1: SHA-256' in out


def test_a_recording_that_is_gone(copy):
    shutil.rmtree(copy / 'bags' / 'late_000.retry')
    code, out = said(copy)
    assert code == 4
    assert 'recording bags/late_000.retry: late_000/retry#1: ' in out
    assert 'there is no recording' in out


@pytest.mark.parametrize(('episode', 'expected'), [('control_000', 0), ('both_000', 4)])
def test_a_line_that_is_gone(copy, episode, expected):
    lines = (copy / 'journal.jsonl').read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if f'"{episode}","arm":"oracle"'.encode() in line)
    (copy / 'journal.jsonl').write_bytes(b''.join(lines[:at] + lines[at + 1 :]))
    code, out = said(copy)
    # A runner that was killed leaves the same: the episode counts as one that is missing. But its
    # decisions are written down at once with the line.
    assert code == expected, out
    assert 'unfinished: 14 of 15 episodes have a result' in out
    assert '1 recording of attempts that have no line yet' in out
    assert ('both_000/oracle#1: said an attempt, found no line' in out) == (expected == 4)


def test_one_digit_of_the_journal_and_the_table_with_it(copy):
    path = copy / 'journal.jsonl'
    lines = path.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '"control_000","arm":"oracle"' in line)
    error = json.loads(lines[at])['final_error_m']
    digit = str((int(repr(error)[-1]) + 5) % 10)
    lines[at] = lines[at].replace(repr(error), repr(error)[:-1] + digit)
    path.write_text(''.join(lines))
    code, out = said(copy)
    assert code == 4
    where = f'journal.jsonl, line {at + 1}: control_000/oracle#1: '
    assert f'{where}final_error_m: said ' in out
    assert f'{where}said a line as it was written' in out
    assert 'table: cells.oracle control.error_m.mean' in out


def test_a_decision_that_is_gone_from_the_ledger(copy):
    lines = (copy / 'ledger.jsonl').read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"both_000","arm":"retry"' in line)
    (copy / 'ledger.jsonl').write_bytes(b''.join(lines[:at] + lines[at + 1 :]))
    code, out = said(copy)
    assert code == 4
    where = 'ledger.jsonl: both_000/retry#1: scene 1 message sensor_lag: '
    assert f'{where}said (nothing), found a decision' in out
    assert '1 difference (ledger 1)' in out
    (difference,) = replay_one(copy, claim(copy, 'both_000/retry')).differences
    assert str(difference) == f'{where}said (nothing), found a decision'


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        if isinstance(item, dict | list) and item:
            yield from leaves(item, (*path, key))
        else:
            yield (*path, key), item


def altered(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return float(np.nextafter(value, 9e9))
    if isinstance(value, str):
        return f'{value}!'
    return 1.0 if value is None else ['more']


def spelled(path: tuple[Any, ...]) -> str:
    text = ''.join(f'[{part}]' if isinstance(part, int) else f'.{part}' for part in path)
    return text.lstrip('.')


def set_at(item: Any, path: tuple[Any, ...], value: Any) -> None:
    for part in path[:-1]:
        item = item[part]
    item[path[-1]] = value


@pytest.mark.parametrize(
    'episode', ['both_000/oracle', 'damaged_000/retry', 'late_000/regrasp', 'silent_000/oracle']
)
def test_every_value_of_a_line_of_the_journal_is_compared(run, episode):
    known = claim(run.folder, episode)
    shown = examine(run.folder, known).row
    paths = [(path, value) for path, value in leaves(known.row) if path[0] not in UNSHOWN]
    assert len(paths) > 50
    for path, value in paths:
        row = json.loads(json.dumps(known.row))
        set_at(row, path, altered(value))
        ((place, *_),) = disagreements(row, shown)
        assert place.startswith(spelled(path))


def test_every_value_of_a_line_of_the_ledger_is_compared(run):
    known = claim(run.folder, 'both_000/oracle')
    for at in (0, len(known.entries) - 1):
        number, entry = known.entries[at]
        for path, value in leaves(entry):
            changed = json.loads(json.dumps(entry))
            set_at(changed, path, altered(value))
            entries = [*known.entries]
            entries[at] = number, changed
            found = examine(run.folder, Claim(**{**vars(known), 'entries': entries})).differences
            assert {item.kind for item in found} == {'ledger'}
            named = [item.field for item in found if item.file == f'ledger.jsonl, line {number}']
            # What a decision is about is its name; with another one it is another decision.
            assert named if path[0] in SUBJECT else named == [spelled(path)]


# -- somebody who has put every hash right again


def kinds(folder: Path, episode: str) -> set[str]:
    return {item.kind for item in examine(folder, claim(folder, episode)).differences}


def test_a_forgery_that_changes_nothing_is_none(copy):
    forge(copy, 'control_000/oracle', lambda topic, number, message: None)
    assert kinds(copy, 'control_000/oracle') == set()


def test_a_place_at_the_end(copy):
    def change(topic: str, number: int, message: Any) -> Any:
        if topic == '/step_state' and number == 1381:
            message.object_pose = message.object_pose + np.eye(21)[0] * 1e-9
            return message
        return None

    forge(copy, 'control_000/oracle', change)
    found = examine(copy, claim(copy, 'control_000/oracle')).differences
    assert {'final_error_m', 'digest'} <= {item.field for item in found}
    (first, *_) = replay_one(copy, claim(copy, 'control_000/oracle')).differences
    assert 'the first state that differs is that of step 1260, in object_pose' in first.found
    assert 'within 0.0001 m' in first.found


def test_a_draw_that_was_another(copy):
    def change(topic: str, number: int, message: Any) -> Any:
        if topic == '/fault_events' and message.fault == 'grasp_slip':
            message.draw = 0.25
            return message
        return None

    forge(copy, 'both_000/oracle', change)
    assert {'faults', 'ledger'} <= kinds(copy, 'both_000/oracle')
    found = replay_one(copy, claim(copy, 'both_000/oracle')).differences
    assert any(item.field.endswith(': draw') and item.said == '0.25' for item in found)


def test_a_scene_that_was_fresher(copy):
    scenes = list(Recording(copy / claim(copy, 'both_000/oracle').bag).decoded('/scene'))

    def change(topic: str, number: int, message: Any) -> Any:
        return scenes[number - 1] if topic == '/relay/scene' else None

    forge(copy, 'both_000/oracle', change)
    assert 'faults' in kinds(copy, 'both_000/oracle')
    assert 'recording' in kinds(copy, 'both_000/oracle')  # the planner was shown another one


def test_a_force_that_was_smaller(copy):
    def change(topic: str, number: int, message: Any) -> Any:
        if topic == '/step_state' and len(message.contact_normal_force):
            message.contact_normal_force = np.minimum(message.contact_normal_force, 100.0)
            return message
        return None

    forge(copy, 'control_000/oracle', change)
    fields = {item.field for item in examine(copy, claim(copy, 'control_000/oracle')).differences}
    assert {'safety.raw_sweeps', 'digest'} <= fields
    assert any(field.startswith('/safety_events') for field in fields)


def test_messages_that_no_graph_sends(copy):
    def change(topic: str, number: int, message: Any) -> Any:
        if topic == '/fault_events':
            message.detail = 'no JSON'
            return message
        if topic == '/exchanges':
            message.payload = message.payload[:7]
            return message
        return None

    forge(copy, 'both_000/oracle', change)
    forge(
        copy,
        'late_000/oracle',
        lambda topic, number, message: (
            change(topic, 0, message) if topic != '/exchanges' else None
        ),
    )
    assert kinds(copy, 'both_000/oracle') == {'recording', 'ledger'}
    assert {'faults', 'ledger'} <= kinds(copy, 'late_000/oracle')
    for episode in ('both_000/oracle', 'late_000/oracle'):
        assert replay_one(copy, claim(copy, episode)).differences


def test_settings_that_nobody_can_use(copy):
    bag = copy / claim(copy, 'both_000/oracle').bag
    settings = json.loads(Recording(bag).about['episode'])
    settings['faults'][0]['kind'] = 'sensor_log'
    forge(copy, 'both_000/oracle', lambda *_: None, json.dumps(settings))
    found = examine(copy, claim(copy, 'both_000/oracle')).differences
    (unusable,) = [item for item in found if item.kind == 'recording']
    assert unusable.field == 'settings of the episode'
    assert "unknown fault 'sensor_log', did you mean 'sensor_lag'?" in unusable.found
    assert replay_one(copy, claim(copy, 'both_000/oracle')).differences


def test_another_processor_is_named_as_a_reason(copy):
    manifest = json.loads((copy / 'manifest.json').read_text())
    manifest['machine']['processor'] = 'Another One 3000'
    (copy / 'manifest.json').write_text(json.dumps(manifest))

    def change(topic: str, number: int, message: Any) -> Any:
        if topic == '/step_state' and number > 1000:
            message.object_pose = message.object_pose + np.eye(21)[7] * 1e-5
            return message
        return None

    forge(copy, 'control_000/oracle', change)
    out = io.StringIO()
    assert replay(copy, Console(file=out, width=300), run_id='control_000', arm='oracle') == 4
    assert 'recorded on Another One 3000, replayed on ' in out.getvalue()
    assert 'The largest distance between places is 1e-05 m, within 0.0001 m' in out.getvalue()


def test_a_seed_that_was_another(copy):
    path = copy / 'manifest.json'
    manifest = json.loads(path.read_text())
    manifest['experiment']['cells'][1]['seeds'][0] += 1
    path.write_text(json.dumps(manifest))
    found = examine(copy, claim(copy, 'both_000/oracle')).differences
    assert [(item.kind, item.file, item.field) for item in found] == [
        ('manifest', 'manifest.json', 'seed')
    ]


# -- what is not there, and what is not all there


def test_a_run_that_is_not_finished_is_verified_as_far_as_it_goes(copy):
    lines = (copy / 'journal.jsonl').read_bytes().splitlines(keepends=True)
    kept = [json.loads(line) for line in lines[:7]]
    (copy / 'journal.jsonl').write_bytes(b''.join(lines[:7]))
    names = {row['bag'].partition('/')[2] for row in kept}
    for bag in (copy / 'bags').iterdir():
        if bag.name not in names:
            shutil.rmtree(bag)
    keys = {(row['run_id'], row['arm']) for row in kept}
    ledger = (copy / 'ledger.jsonl').read_bytes().splitlines(keepends=True)
    (copy / 'ledger.jsonl').write_bytes(
        b''.join(
            line
            for line in ledger
            if (json.loads(line)['run_id'], json.loads(line)['arm']) in keys
        )
    )
    code, out = said(copy)
    assert code == 0, out
    assert 'unfinished: 7 of 15 episodes have a result' in out


@pytest.mark.parametrize('command', ['verify', 'replay'])
def test_where_there_is_no_run_that_is_bad_input(tmp_path, cli, command):
    done = cli(command, tmp_path / 'nowhere', folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ''
    (line,) = done.stderr.splitlines()
    assert line.startswith('error: ')
    assert 'holds no run' in line


@pytest.mark.parametrize('command', ['verify', 'replay'])
def test_help_says_what_the_exit_codes_mean(tmp_path, cli, command):
    text = ' '.join(cli(command, '--help', folder=tmp_path).stdout.split())
    assert 'Exit code: 0' in text
    assert '4 something differs' in text
