"""The journal on disk: nothing written is lost, nothing is repaired in silence."""

import errno
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from alpha_chaos import journal, jsonl
from alpha_chaos.journal import Journal, Row, final, missing, next_attempt


def a_row(**changes: Any) -> Row:
    settings: dict[str, Any] = {
        'run_id': 'control_000',
        'arm': 'oracle',
        'condition': 'control',
        'episode_index': 0,
        'seed': 42,
        'status': 'done',
        'success': True,
    }
    return Row(**(settings | changes))


def an_abort(reason: str = 'timeout: plan', **changes: Any) -> Row:
    return a_row(status='aborted', success=None, reason=reason, **changes)


def a_failure(**changes: Any) -> Row:
    return a_row(status='task_failed', success=False, **changes)


def written(folder: Path, *rows: Row) -> Path:
    with Journal(folder) as book:
        for row in rows:
            book.append(row)
    return folder / journal.FILE


def test_every_line_is_sealed_by_a_hash_over_the_rest_of_it(tmp_path: Path) -> None:
    path = written(tmp_path, a_row(), an_abort('crash: 节点'))
    for line in path.read_text().splitlines():
        rest, _, seal = line.rpartition(',"sha256":"')
        assert seal == hashlib.sha256(f'{rest}}}'.encode()).hexdigest() + '"}'


def test_a_digit_changed_anywhere_in_a_line_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, a_row(final_error_m=0.30000000000000004, wall_s=1.5))
    text = path.read_text()
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    assert len(places) > 60
    for place in places:
        other = '7' if text[place] != '7' else '3'
        path.write_text(f'{text[:place]}{other}{text[place + 1 :]}')
        found = jsonl.scan(path)
        # In the word sha256 itself it makes an unknown key of the seal, which no row may have.
        assert found.torn or found.lines[0].intact is not True, place


def test_a_line_without_a_seal_is_read_and_known_to_be_unprotected(tmp_path: Path) -> None:
    path = written(tmp_path, a_row())
    line = json.loads(path.read_text())
    del line['sha256']
    path.write_text(json.dumps(line) + '\n')
    assert journal.read(tmp_path).rows == (a_row(),)
    assert [line.intact for line in jsonl.scan(path).lines] == [None]


def test_a_seal_that_is_none_any_more_does_not_make_a_line_unprotected(tmp_path: Path) -> None:
    path = written(tmp_path, a_row())
    path.write_text(path.read_text().replace('"sha256":"', '"sha256":"Z'))
    assert [line.intact for line in jsonl.scan(path).lines] == [False]


@pytest.mark.parametrize('item', [{}, {'a': 1}, {'a': {'sha256': 'inner'}}])
def test_any_object_can_be_sealed(tmp_path: Path, item: dict[str, Any]) -> None:
    path = tmp_path / 'lines.jsonl'
    path.write_bytes(jsonl.seal(item) + b'\n')
    (line,) = jsonl.scan(path).lines
    assert (line.item, line.intact) == (item, True)


def test_what_looks_like_a_seal_is_not_sealed() -> None:
    with pytest.raises(ValueError, match='seal of the line'):
        jsonl.seal({'sha256': 'mine'})


def test_a_scan_goes_on_behind_a_line_that_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, a_row(), a_row(arm='llm'), a_row(arm='oracle_json'))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"run_id": 00}\n' + lines[2])
    found = jsonl.scan(path).lines
    assert [line.number for line in found] == [1, 2, 3]
    assert [line.item is None for line in found] == [False, True, False]
    assert 'delimiter' in found[1].problem


CONTRACT = {
    'run_id', 'arm', 'condition', 'calibration', 'episode_index', 'seed', 'status', 'reason',
    'success', 'final_error_m', 'steps', 'digest', 'observation', 'slip', 'offset_m',
    'corruption', 'plan', 'safety', 'planner', 'wall_s', 'bag',
}  # fmt: skip
NESTED = {
    'observation': {'requested_lag_s', 'delivered_lag_s', 'staleness_m'},
    'slip': {'probability', 'draw', 'slipped'},
    'corruption': {'probability', 'draw', 'kind'},
    'plan': {'valid', 'reasons', 'n_actions'},
    'safety': {'raw_sweeps', 'events'},
    'planner': {
        'provider', 'model', 'digest', 'prompt_tokens', 'completion_tokens', 'wall_s', 'cached',
    },
}  # fmt: skip


def test_a_line_has_every_key_that_others_script_against(tmp_path: Path) -> None:
    line = json.loads(written(tmp_path, an_abort()).read_text())
    assert set(line) >= CONTRACT
    for name, keys in NESTED.items():
        assert set(line[name]) >= keys


def test_a_row_comes_back_as_it_was_written(tmp_path: Path) -> None:
    row = a_failure(
        attempt=2,
        reason='plan_rejected: не JSON, 不是 JSON',
        final_error_m=0.1839,
        plan={'valid': False, 'reasons': ['not_json: "]"'], 'text': 'a\x00b\ud800'},
        safety={
            'raw_sweeps': 62,
            'events': [
                {
                    'rule': 'out_of_workspace',
                    'key': 'green',
                    'open_step': 960,
                    'close_step': 1260,
                    'duration_steps': 301,
                }
            ],
        },
        faults=[{'fault': 'grasp_slip', 'exercised': True, 'evidence': {'deep': [{'x': 1}]}}],
    )
    written(tmp_path, row)
    assert journal.read(tmp_path).rows == (row,)


def test_a_row_can_be_sent_whatever_a_model_wrote() -> None:
    row = an_abort('crash: \x00\ud800', plan={'text': '\udfff'})
    sent = json.loads(row.model_dump_json())
    assert (sent['reason'], sent['plan']['text']) == ('crash: \\u0000\\ud800', '\\udfff')


def test_the_file_is_plain_ascii_with_one_line_a_row(tmp_path: Path) -> None:
    path = written(tmp_path, an_abort('crash: 节点\n\u2028\ud800'), a_row())
    assert path.read_bytes().isascii()
    assert len(path.read_bytes().splitlines()) == 2


def test_nan_becomes_none_everywhere(tmp_path: Path) -> None:
    row = a_row(
        final_error_m=math.nan,
        observation={'delivered_lag_s': np.float64('nan')},
        faults=[
            {
                'fault': 'x',
                'exercised': False,
                'evidence': {'a': math.nan, 'b': [np.float32('inf'), np.int64(3), 1.5, True]},
            }
        ],
    )
    assert row.final_error_m is None
    assert row.observation.delivered_lag_s is None
    assert row.faults[0].evidence == {'a': None, 'b': [None, 3, 1.5, True]}
    assert 'NaN' not in written(tmp_path, row).read_text()


def test_infinity_is_no_measurement() -> None:
    with pytest.raises(ValidationError, match='finite'):
        a_row(final_error_m=math.inf)


@pytest.mark.parametrize('evidence', [{'x': object()}, ['x'], 7])
def test_evidence_that_is_no_json_object_is_refused(evidence: Any) -> None:
    with pytest.raises(ValidationError):
        a_row(faults=[{'fault': 'x', 'exercised': True, 'evidence': evidence}])


def test_text_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValidationError, match='text is expected'):
        a_row(reason=7)


def test_unknown_keys_are_welcome_in_evidence_only() -> None:
    a_row(faults=[{'fault': 'x', 'exercised': True, 'evidence': {'new': 1}}])
    for bad in ({'sucess': True}, {'slip': {'probabillity': 0.1}}, {'faults': [{'flaut': 'x'}]}):
        with pytest.raises(ValidationError):
            a_row(**bad)


@pytest.mark.parametrize(
    ('status', 'success'),
    [
        ('done', False),
        ('done', None),
        ('task_failed', True),
        ('task_failed', None),
        ('aborted', True),
        ('aborted', False),
    ],
)
def test_an_abort_is_never_a_task_result_nor_the_other_way_round(
    status: str, success: bool | None
) -> None:
    with pytest.raises(ValidationError, match='needs success'):
        a_row(status=status, success=success, reason='timeout: plan')


def test_an_abort_without_a_reason_is_refused() -> None:
    with pytest.raises(ValidationError, match='needs its reason'):
        an_abort('')


def test_the_type_of_a_reason_stands_before_the_colon() -> None:
    assert an_abort('node_died: sim (signal 9)').reason_type == 'node_died'
    assert an_abort('model_not_found').reason_type == 'model_not_found'


def test_no_file_is_an_empty_journal(tmp_path: Path) -> None:
    assert journal.read(tmp_path / 'nothing') == journal.Contents(())


def test_an_opened_journal_has_the_rows_of_before(tmp_path: Path) -> None:
    written(tmp_path, a_row(), an_abort(run_id='control_001'))
    with Journal(tmp_path) as book:
        assert [row.run_id for row in book.rows] == ['control_000', 'control_001']
        book.append(a_row(run_id='control_002'))
        assert len(book.rows) == 3
    assert len(journal.read(tmp_path).rows) == 3


@pytest.mark.parametrize('cut', [1, 2, 20, 500])
def test_a_torn_last_line_is_set_aside_and_reported(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, a_row(), a_row(run_id='control_001'))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert journal.read(tmp_path).torn, 'a reader reports it'
    assert path.read_bytes() == whole[:-cut], 'a reader changes nothing'
    with Journal(tmp_path) as book:
        assert [row.run_id for row in book.rows] == ['control_000']
        assert book.torn == whole.splitlines(keepends=True)[1][:-cut]
        book.append(a_row(run_id='control_001'))
    assert path.read_bytes() == whole
    assert (tmp_path / 'journal.torn').read_bytes() == book.torn + b'\n'
    with Journal(tmp_path) as book:
        assert book.torn == b''


def test_a_last_line_of_rubbish_is_torn_too(tmp_path: Path) -> None:
    path = written(tmp_path, a_row())
    with path.open('ab') as file:
        file.write(b'\0' * 30 + b'\n')  # what a power cut leaves on some file systems
    with Journal(tmp_path) as book:
        assert len(book.rows) == 1
        assert book.torn == b'\0' * 30 + b'\n'


@pytest.mark.parametrize(
    'bad', [b'{"run_id": ', b'', b'[1]', b'{"x": NaN}', b'\xff\xfe', b'[' * 100_000]
)
def test_a_corrupt_line_in_the_middle_names_file_and_line(tmp_path: Path, bad: bytes) -> None:
    path = written(tmp_path, a_row(), a_row(run_id='control_001'))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + bad + b'\n' + second)
    for read in (journal.read, Journal):
        with pytest.raises(jsonl.CorruptLine, match=r'journal\.jsonl, line 2: ') as caught:
            read(tmp_path)
        assert (caught.value.path, caught.value.line) == (path, 2)
    assert path.read_bytes() == first + bad + b'\n' + second


def test_a_line_of_another_shape_is_an_error_even_at_the_end(tmp_path: Path) -> None:
    path = written(tmp_path, a_row())
    with path.open('ab') as file:
        file.write(b'{"run_id": "control_001", "colour": "red"}\n')
    with pytest.raises(jsonl.CorruptLine, match=r'line 2: .*arm'):
        journal.read(tmp_path)
    with pytest.raises(jsonl.CorruptLine, match='line 2'):
        Journal(tmp_path)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    Journal(tmp_path).close()  # the failed attempt let go of the lock


def test_a_second_runner_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with (
        Journal(tmp_path, 'matrix paper'),
        pytest.raises(jsonl.Busy, match=rf'process {os.getpid()} on .*\(matrix paper\)'),
    ):
        Journal(tmp_path)
    Journal(tmp_path).close()


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    book = Journal(tmp_path)
    book.close()
    book.close()


def test_a_forked_child_does_not_keep_the_folder_locked(tmp_path: Path) -> None:
    ours, childs = os.pipe()
    book = Journal(tmp_path)
    child = os.fork()
    if child == 0:  # pragma: no cover
        os.write(childs, b'x')
        time.sleep(60)
        os._exit(0)
    try:
        os.read(ours, 1)
        book.close()
        Journal(tmp_path).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ours)
        os.close(childs)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, a_row())
    before = path.read_bytes()
    real_write = os.write

    def half_then_full(descriptor: int, data: memoryview) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, 'No space left on device')
        return real_write(descriptor, data[: len(data) // 2])

    with Journal(tmp_path) as book:
        monkeypatch.setattr(os, 'write', half_then_full)
        with pytest.raises(OSError, match='No space'):
            book.append(a_row(run_id='control_001'))
        monkeypatch.undo()
        assert path.read_bytes() == before
        book.append(a_row(run_id='control_001'))
    assert len(journal.read(tmp_path).rows) == 2


def test_a_disk_that_is_full_from_the_beginning_is_named_by_the_file_and_locks_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, 'No space left on device')

    monkeypatch.setattr(os, 'pwrite', full)
    with pytest.raises(OSError, match=r'No space left on device: .*/journal\.lock') as caught:
        Journal(tmp_path)
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    with Journal(tmp_path) as book:
        book.append(a_row())


def test_an_interrupt_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    with Journal(tmp_path) as book:
        monkeypatch.setattr(os, 'fsync', interrupted)
        with pytest.raises(KeyboardInterrupt):
            book.append(a_row())
        monkeypatch.undo()
        assert (book.rows, journal.read(tmp_path).rows) == ([], ())


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_journal import a_row
from alpha_chaos.journal import Journal
with Journal(Path(sys.argv[1])) as book:
    number = len(book.rows)
    while True:
        book.append(a_row(run_id=f'control_{number}', episode_index=number))
        number += 1
        print(number, flush=True)
"""


@pytest.mark.parametrize('seen', [1, 4, 9])
def test_rows_acknowledged_before_a_kill_are_there_after_it(tmp_path: Path, seen: int) -> None:
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, '-c', WRITER, str(tmp_path), str(Path(__file__).parent)],
            stdout=subprocess.PIPE,
        )
        assert writer.stdout is not None
        for _ in range(seen):
            acknowledged = int(writer.stdout.readline())
        writer.kill()
        writer.wait()
        writer.stdout.close()
        with Journal(tmp_path) as book:
            assert len(book.rows) >= acknowledged
            assert [row.episode_index for row in book.rows] == list(range(len(book.rows)))


def test_the_last_attempt_that_ran_counts() -> None:
    rows = [
        an_abort(attempt=1),
        a_failure(attempt=2),
        a_row(attempt=3),
        an_abort(attempt=4),
        an_abort('first', run_id='control_001'),
        an_abort('second', run_id='control_001'),
    ]
    chosen = final(rows)
    assert chosen['control_000', 'oracle'].attempt == 3
    assert chosen['control_001', 'oracle'].reason == 'second'
    assert list(chosen) == [('control_000', 'oracle'), ('control_001', 'oracle')]


@dataclass(frozen=True)
class Planned:
    run_id: str
    arm: str


def test_missing_is_what_has_no_result_in_the_order_asked() -> None:
    planned = [Planned(f'control_{n:03}', arm) for n in range(2) for arm in ('llm', 'oracle')]
    rows = [an_abort(arm='oracle'), a_failure(run_id='control_001', arm='llm'), a_row(arm='x')]
    assert missing(planned, rows) == [planned[0], planned[1], planned[3]]
    assert missing(planned, []) == planned


def test_attempts_are_numbered_an_episode() -> None:
    rows = [an_abort(attempt=1), a_row(attempt=2), a_row(run_id='control_001')]
    assert next_attempt(rows, 'control_000', 'oracle') == 3
    assert next_attempt(rows, 'control_001', 'oracle') == 2
    assert next_attempt(rows, 'control_001', 'llm') == 1
