"""What a run says of itself is compared with what its files and recordings show."""

import copy
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_episodes import PERIOD_NS, Recorder, a_state, made
from rich.console import Console
from synthetic_runs import aborted, paper_run

from alpha_chaos import jsonl
from alpha_chaos.analysis.claims import read_claims
from alpha_chaos.analysis.difference import ABSENT, spelled, unequal, unequal_decisions
from alpha_chaos.analysis.verify import DIFFERENT, SAME, _plain, verify
from alpha_chaos.analysis.walk import describe
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.course import read_answer
from alpha_chaos.journal import Journal, Row
from alpha_chaos.ledger import Entry, Ledger
from alpha_chaos.plan import ActionPlan, Grip, Placement, ResolvedMoveTo
from alpha_chaos.planners.oracle import pick_and_place
from alpha_chaos.plugins import BadSetting
from alpha_chaos.stats.summary import summarise

ROWS = paper_run(['oracle'])[:3]
BLOCKS = {'red': (0.5, -0.15, 0.655)}
PLACEMENTS = [Placement('red', (0.6, 0.35, 0.65), 0.05)]


def a_run(folder: Path, rows: list[Row], entries: list[Entry] | None = None) -> Path:
    with Journal(folder) as journal, Ledger(folder) as ledger:
        for row in rows:
            journal.append(row)
        ledger.extend(entries or [])
    (folder / 'manifest.json').write_text(
        json.dumps(
            {
                'experiment': {'name': 'paper'},
                'episodes': [
                    {'run_id': row.run_id, 'arm': row.arm, 'condition': row.condition}
                    for row in ROWS
                ],
            }
        )
    )
    return folder


def an_entry(**changes: Any) -> Entry:
    settings: dict[str, Any] = {
        'run_id': ROWS[0].run_id,
        'arm': 'oracle',
        'attempt': 1,
        'stamp_s': 0.5,
        'route': 'scene',
        'sequence': 1,
        'stage': 'message',
        'fault': 'sensor_lag',
        'triggered': False,
        'detail': {},
    }
    return Entry(**(settings | changes))


def an_abort(row: Row = ROWS[0], **changes: Any) -> Row:
    return aborted(row, 'node_died: sim (signal 9)').model_copy(update=changes)


def lines(folder: Path, name: str = 'journal.jsonl') -> list[bytes]:
    return (folder / name).read_bytes().splitlines(keepends=True)


def rewrite(folder: Path, content: list[bytes], name: str = 'journal.jsonl') -> None:
    (folder / name).write_bytes(b''.join(content))


def said(folder: Path, limit: int = 10) -> tuple[int, str]:
    """Verify a run and return the exit code and what was printed."""
    out = io.StringIO()
    code = verify(folder, Console(file=out, width=200), workers=1, limit=limit)
    return code, out.getvalue()


# -- two values


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        (0.3, 0.1 + 0.2),
        (True, 1),
        (None, 0.0),
        ('a', 'b'),
        ([1, 2], [1, 3]),
        ({'a': 1.0}, {'a': 1.0000000000000002}),
    ],
)
def test_values_that_differ_in_the_last_bit_or_in_kind_are_unequal(one, other):
    assert list(unequal(one, other))
    assert list(unequal(other, one))


@pytest.mark.parametrize('value', [math.nan, 0.1 + 0.2, {'a': [math.nan, None, True]}, [], 'x'])
def test_a_value_is_equal_to_itself(value):
    assert list(unequal(value, json.loads(json.dumps(value)))) == []


def test_the_place_of_a_difference_is_its_path():
    one = {'plan': {'reasons': ['a', 'b']}, 'seed': 42}
    other = {'plan': {'reasons': ['a']}, 'seed': 43, 'new': 1}
    assert list(unequal(one, other)) == [
        ('plan.reasons[1]', 'b', ABSENT),
        ('seed', 42, 43),
        ('new', ABSENT, 1),
    ]


def test_a_long_value_is_cut_and_an_empty_one_is_seen():
    assert spelled('x' * 500) == 'x' * 67 + '...'
    assert spelled('') == "''"
    assert spelled({'a': [1, None]}) == '{"a": [1, null]}'


def test_a_decision_that_is_missing_does_not_make_those_after_it_differ():
    decisions = [
        {'route': 'scene', 'sequence': number, 'stage': 'message', 'fault': 'lag', 'draw': 0.5}
        for number in range(1, 6)
    ]
    kept = [decisions[0], *decisions[2:4], {**decisions[4], 'draw': 0.25}, decisions[4]]
    said = [(f'line {number}', entry) for number, entry in enumerate(kept, start=1)]
    assert list(unequal_decisions(said, decisions)) == [
        ('line 4', 'draw', 0.25, 0.5),
        ('line 5', 'scene 5 message lag', 'a decision', ABSENT),
        ('', 'scene 2 message lag', ABSENT, 'a decision'),
    ]


# -- the files of a run


@pytest.mark.parametrize('content', [None, '{', '[]', '{"episodes": [{"run_id": "a"}]}'])
def test_what_is_no_run_is_bad_input(tmp_path, content):
    if content is not None:
        (tmp_path / 'manifest.json').write_text(content)
    with pytest.raises(BadSetting, match=str(tmp_path)):
        read_claims(tmp_path)


def test_a_digit_changed_in_what_no_recording_holds_is_named(tmp_path):
    run = a_run(tmp_path, [an_abort(wall_s=1.25), an_abort(ROWS[1], wall_s=2.25)])
    content = lines(run)
    content[1] = content[1].replace(b'"wall_s":2.25', b'"wall_s":2.75')
    rewrite(run, content)
    code, out = said(run)
    assert code == DIFFERENT
    assert 'journal.jsonl, line 2: control_001/oracle#1: said a line as it was written' in out
    assert '1 difference (journal 1)' in out


@pytest.mark.parametrize('line', [0, 1])
def test_a_line_that_is_no_json_any_more_is_named(tmp_path, line):
    run = a_run(tmp_path, [an_abort(), an_abort(ROWS[1])])
    content = lines(run)
    content[line] = content[line].replace(b'"seed":', b'"seed":0')
    rewrite(run, content)
    code, out = said(run)
    assert (code, f'journal.jsonl, line {line + 1}: ' in out) == (DIFFERENT, True)


def test_a_line_that_can_be_no_row_is_named(tmp_path):
    run = a_run(tmp_path, [an_abort()])
    content = lines(run)
    content[0] = content[0].replace(b'"status":"aborted"', b'"status":"done"')
    rewrite(run, content)
    code, out = said(run)
    assert code == DIFFERENT
    assert 'line 1: control_000/oracle#1: said a line as it was written, found' in out
    assert 'needs success True' in out


def test_an_incomplete_last_line_is_what_a_kill_leaves_and_no_difference(tmp_path):
    run = a_run(tmp_path, [an_abort(), an_abort(ROWS[1])])
    content = lines(run)
    rewrite(run, [content[0], content[1][:80]])
    code, out = said(run)
    assert code == SAME
    assert 'journal.jsonl with an incomplete last line' in out


def test_an_attempt_in_two_lines_is_named(tmp_path):
    run = a_run(tmp_path, [an_abort()])
    rewrite(run, lines(run) * 2)
    code, out = said(run)
    assert code == DIFFERENT
    assert 'line 2: control_000/oracle#1: attempt: said 1, found line 1 has it' in out


def test_a_line_without_a_hash_among_others_with_one_is_named(tmp_path):
    run = a_run(tmp_path, [an_abort(), an_abort(ROWS[1])])
    content = lines(run)
    bare = json.loads(content[1])
    del bare['sha256']
    rewrite(run, [content[0], json.dumps(bare).encode() + b'\n'])
    code, out = said(run)
    assert (code, 'it has no hash, though lines before it have' in out) == (DIFFERENT, True)


def test_a_journal_without_hashes_is_read_and_said_to_be_unprotected(tmp_path):
    run = a_run(tmp_path, [an_abort()])
    bare = json.loads(lines(run)[0])
    del bare['sha256']
    rewrite(run, [json.dumps(bare).encode() + b'\n'])
    code, out = said(run)
    assert code == SAME
    assert 'lines without a hash in journal.jsonl: wall times in them are unprotected' in out


def test_a_changed_line_of_the_ledger_is_named(tmp_path):
    run = a_run(tmp_path, [an_abort()], [an_entry(), an_entry(sequence=2)])
    content = lines(run, 'ledger.jsonl')
    content[1] = content[1].replace(b'"triggered":false', b'"triggered":true')
    rewrite(run, content, 'ledger.jsonl')
    code, out = said(run)
    assert code == DIFFERENT
    assert 'ledger    ledger.jsonl, line 2: control_000/oracle#1' in out


def test_decisions_about_an_attempt_that_never_was_are_named(tmp_path):
    run = a_run(tmp_path, [an_abort()], [an_entry(attempt=4)])
    code, out = said(run)
    assert code == DIFFERENT
    assert 'ledger.jsonl, line 1: control_000/oracle#4: said an attempt, found no line' in out


def test_a_result_without_a_recording_is_named(tmp_path):
    run = a_run(tmp_path, [ROWS[0].model_copy(update={'bag': ''})])
    code, out = said(run)
    assert code == DIFFERENT
    assert 'control_000/oracle#1: bag: said (nothing), found a recording is needed' in out


def test_a_recording_that_is_gone_is_named(tmp_path):
    run = a_run(tmp_path, [ROWS[0]])
    code, out = said(run)
    assert code == DIFFERENT
    where = f'recording {ROWS[0].bag}: control_000/oracle#1: '
    assert f'{where}said a recording, found there is no recording' in out


def recorded(folder: Path, *, close: bool = True, complete: bool = True) -> str:
    """Record a little; return the name of the recording in the run."""
    recorder = Recorder(folder)
    recorder.world()
    recorder.close(complete) if close else recorder.abandon()
    return '/'.join(folder.parts[folder.parts.index('bags') :])


@pytest.mark.parametrize(
    ('close', 'complete', 'why'),
    [(False, True, 'never finished'), (True, False, 'complete: said true, found false')],
)
def test_a_result_needs_a_whole_recording(tmp_path, close, complete, why):
    bag = recorded(tmp_path / 'bags' / 'control_000.oracle', close=close, complete=complete)
    code, out = said(a_run(tmp_path, [ROWS[0].model_copy(update={'bag': bag})]))
    assert (code, why in out) == (DIFFERENT, True)


@pytest.mark.parametrize(('close', 'complete'), [(False, True), (True, False), (True, True)])
def test_an_aborted_attempt_may_have_any_recording(tmp_path, close, complete):
    place = tmp_path / 'bags' / 'torn' / 'control_000.oracle'
    bag = recorded(place, close=close, complete=complete)
    code, _ = said(a_run(tmp_path, [an_abort(bag=bag)]))
    assert code == SAME


@pytest.mark.parametrize('rows', [[an_abort()], [ROWS[0].model_copy(update={'bag': ''})]])
def test_a_recording_of_an_attempt_that_is_past_needs_a_line(tmp_path, rows):
    recorded(tmp_path / 'bags' / 'elsewhere')  # of the first attempt at control_000/oracle
    code, out = said(a_run(tmp_path, rows))
    assert code == DIFFERENT
    assert 'said no line about it, found the recording bags/elsewhere' in out


def test_a_recording_set_apart_that_no_line_names_is_named(tmp_path):
    recorded(tmp_path / 'bags' / 'torn' / 'control_001.oracle', close=False)
    code, out = said(a_run(tmp_path, [an_abort()]))
    assert (code, 'the recording bags/torn/control_001.oracle' in out) == (DIFFERENT, True)


@pytest.mark.parametrize(('close', 'complete'), [(False, True), (True, False), (True, True)])
def test_the_next_attempt_of_a_runner_that_was_killed_has_no_line_yet(tmp_path, close, complete):
    recorded(tmp_path / 'bags' / 'control_000.oracle', close=close, complete=complete)
    code, out = said(a_run(tmp_path, [an_abort(ROWS[1])]))
    assert code == SAME
    assert '1 recording of attempts that have no line yet' in out
    assert 'unfinished: 0 of 3 episodes' in out


def test_while_a_run_is_under_way_its_last_recording_may_be_ahead_of_the_journal(tmp_path):
    run = a_run(tmp_path, [an_abort()])
    recorded(run / 'bags' / 'control_001.oracle')
    with Journal(run, 'running for a test'):
        code, out = said(run)
    assert code == SAME
    assert 'under way: process ' in out
    assert jsonl.holder(run / 'journal.jsonl') == ''


def test_a_run_without_any_result_is_verified_as_far_as_it_goes(tmp_path):
    code, out = said(a_run(tmp_path, []))
    assert code == SAME
    assert 'comes out again from 0 recordings' in out
    assert 'unfinished: 0 of 3 episodes have a result' in out
    assert len(out.splitlines()) == 1


def test_what_is_not_listed_is_counted(tmp_path):
    run = a_run(tmp_path, [an_abort()], [an_entry(attempt=number) for number in range(2, 9)])
    code, out = said(run, limit=2)
    assert code == DIFFERENT
    assert out.count('ledger    ledger.jsonl, line') == 2
    assert 'and 5 more; --limit 7 lists them' in out


def test_a_recording_of_another_attempt_is_named(tmp_path):
    bag = recorded(tmp_path / 'bags' / 'torn' / 'control_001.oracle')
    code, out = said(a_run(tmp_path, [an_abort(ROWS[1], bag=bag)]))
    assert code == DIFFERENT
    assert 'episode_id: said control_000/oracle#1, found control_001/oracle#1' in out


def test_a_hash_in_the_journal_that_is_not_the_recordings_is_named(tmp_path):
    bag = recorded(tmp_path / 'bags' / 'torn' / 'control_000.oracle')
    row = an_abort(bag=bag)
    row = row.model_copy(update={'recording': row.recording.model_copy(update={'sha256': 'ab'})})
    code, out = said(a_run(tmp_path, [row]))
    assert code == DIFFERENT
    assert f'{bag}/metadata.yaml: control_000/oracle#1: SHA-256: said ab, found ' in out


def test_a_complete_recording_without_settings_shows_no_result(tmp_path):
    recorder = Recorder(tmp_path / 'bags' / 'control_000.oracle')
    recorder.world()
    recorder.state(0, PERIOD_NS, a_state(np.random.default_rng(1)))
    recorder.close()
    row = ROWS[0].model_copy(update={'bag': 'bags/control_000.oracle'})
    code, out = said(a_run(tmp_path, [row]))
    assert code == DIFFERENT
    assert 'settings of the episode: said (nothing), found needed' in out


# -- a planner's answer, read again


def an_answer(**fields: Any) -> Any:
    return made('alpha_chaos/srv/Plan_Response', **fields)


def test_a_text_is_read_by_the_parser_and_gets_its_numbers_from_what_was_seen():
    read = read_answer(
        an_answer(text=pick_and_place('red').to_text()), BLOCKS, PLACEMENTS, Kuka().waypoints
    )
    assert read.reasons == []
    assert read.plan.actions[0] == ResolvedMoveTo(
        target=(0.5, -0.15, 0.655 + 0.15), waypoint='red.hover'
    )
    assert [describe(action) for action in read.plan.actions[:3]] == [
        'red.hover',
        'red.grasp',
        'GRIP red',
    ]


def test_a_text_that_is_no_plan_has_the_parsers_reasons():
    text = '{"actions": [{"action": "MOVE_TO"}]}'
    read = read_answer(an_answer(text=text), BLOCKS, PLACEMENTS, Kuka().waypoints)
    assert read.plan.actions == ()
    expected = ActionPlan.validate_raw_plan(text).reasons
    assert read.reasons == [str(reason) for reason in expected]
    assert read.text == text


def test_a_typed_plan_is_checked_like_any_other():
    point = made('geometry_msgs/msg/Point', x=0.5, y=0.1, z=0.7)
    move = made('alpha_chaos/msg/Action', kind=0, target=point)
    grip = made('alpha_chaos/msg/Action', kind=1, block='red')
    plan = made('alpha_chaos/msg/ActionPlan', actions=[move, grip])
    read = read_answer(an_answer(typed=True, plan=plan), BLOCKS, PLACEMENTS, Kuka().waypoints)
    assert read.plan.actions == (ResolvedMoveTo(target=(0.5, 0.1, 0.7)), Grip(block='red'))
    assert describe(read.plan.actions[0]) == 'MOVE_TO (0.500, 0.100, 0.700)'
    far = made('alpha_chaos/msg/ActionPlan', actions=[copy.deepcopy(move)])
    far.actions[0].target = made('geometry_msgs/msg/Point', x=9.0, y=0.0, z=0.0)
    refused = read_answer(an_answer(typed=True, plan=far), BLOCKS, PLACEMENTS, Kuka().waypoints)
    assert len(refused.reasons) == 1
    assert 'is not between' in refused.reasons[0]


def test_an_empty_typed_plan_is_no_plan():
    read = read_answer(an_answer(typed=True), BLOCKS, PLACEMENTS, Kuka().waypoints)
    assert read.reasons == ['an empty plan is no plan: nothing to execute']


# -- the table


def test_cells_of_a_table_are_named_by_arm_and_condition():
    rows = paper_run(['oracle', 'llm'])
    changed = [
        row.model_copy(update={'final_error_m': 0.5})
        if (row.run_id, row.arm) == ('control_003', 'llm')
        else row
        for row in rows
    ]
    places = {
        place for place, _, _ in unequal(_plain(summarise(rows)), _plain(summarise(changed)))
    }
    assert {'cells.llm control.error_m.mean', 'overall.llm.error_m.mean'} <= places
    assert not any('oracle' in place for place in places)
