"""The ledger on disk."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from alpha_chaos import jsonl, ledger
from alpha_chaos.ledger import Entry, Ledger


def an_entry(**changes: Any) -> Entry:
    settings: dict[str, Any] = {
        'run_id': 'grip_slip_low_002',
        'arm': 'oracle',
        'stamp_s': 3.5,
        'route': 'arm/move_to',
        'sequence': 3,
        'stage': 'request',
        'fault': 'grasp_slip',
        'probability': 0.3805,
        'draw': 0.21,
        'triggered': True,
        'detail': {'factor': 0.0},
    }
    return Entry(**(settings | changes))


def test_entries_come_back_in_order(tmp_path: Path) -> None:
    entries = tuple(an_entry(sequence=number, detail={'n': number}) for number in range(3))
    with Ledger(tmp_path) as book:
        book.extend(entries[:2])
        book.extend(entries[2:])
        book.extend([])
    assert ledger.read(tmp_path) == entries


def test_a_draw_that_was_not_needed_is_null_on_disk(tmp_path: Path) -> None:
    with Ledger(tmp_path) as book:
        book.extend([an_entry(draw=math.nan)])
    assert json.loads((tmp_path / ledger.FILE).read_text())['draw'] is None


def test_a_torn_end_is_set_aside(tmp_path: Path) -> None:
    with Ledger(tmp_path) as book:
        book.extend([an_entry(), an_entry()])
    path = tmp_path / ledger.FILE
    path.write_bytes(path.read_bytes()[:-5])
    assert len(ledger.read(tmp_path)) == 1
    with Ledger(tmp_path) as book:
        assert book.torn
    assert (tmp_path / 'ledger.torn').exists()


def test_a_line_of_another_shape_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / ledger.FILE).write_text('{"run_id": "x"}\n')
    with pytest.raises(jsonl.CorruptLine, match=r'ledger\.jsonl, line 1: arm'):
        ledger.read(tmp_path)


def test_only_one_process_writes(tmp_path: Path) -> None:
    with Ledger(tmp_path, 'matrix smoke'), pytest.raises(jsonl.Busy, match='matrix smoke'):
        Ledger(tmp_path)


def test_no_file_is_an_empty_ledger(tmp_path: Path) -> None:
    assert ledger.read(tmp_path) == ()
