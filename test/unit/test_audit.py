"""The account of every attempt, of any run folder and of the paper's pilot."""

import io
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from synthetic_runs import aborted, paper_run

from alpha_chaos.journal import Journal, Row
from alpha_chaos.plugins import BadSetting
from alpha_chaos.report.audit import audit, of_arm, of_pilot
from alpha_chaos.resources import config_folder
from alpha_chaos.stats.paper import FILE, read_paper
from alpha_chaos.stats.summary import summarise

PAPER = read_paper(config_folder() / FILE)


def printed(folder: Path | None, width: int = 80, paper: bool = False) -> str:
    file = io.StringIO()
    audit(folder, Console(file=file, width=width), paper=paper)
    return file.getvalue()


def journal_of(folder: Path, rows: list[Row]) -> Path:
    with Journal(folder) as book:
        for row in rows:
            book.append(row)
    return folder


@pytest.mark.parametrize('width', [80, 120])
def test_the_papers_169_attempts_are_all_accounted_for(width: int) -> None:
    text = printed(None, width, paper=True)
    lines = re.sub(' +', ' ', text)
    # Section VII: attempts, accepted, successes, aborted.
    assert 'openai 99 0 0 - 99 100.0 - -' in lines
    assert 'ollama 70 70 20 28.6 0 0.0 - -' in lines
    assert 'all 169 70 20 28.6 99 58.6 - -' in lines
    assert 'openai: 70 aborted, openai_runtime_error' in text
    assert 'openai: 26 aborted, openai_quota_exceeded_429' in text
    assert 'openai: 3 aborted, zero_step_abort' in text
    assert 'control 5, sensor_lag 15' in text
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_the_pilot_adds_up() -> None:
    openai, ollama = of_pilot(PAPER)
    assert (openai.aborted, ollama.aborted) == (99, 0)
    for account in (openai, ollama):
        assert account.attempts == account.accepted + account.aborted


@pytest.mark.parametrize('width', [80, 120])
def test_a_run_has_the_same_columns_and_names_what_replaced_what(
    tmp_path: Path, width: int
) -> None:
    rows = paper_run(['oracle', 'llm'])
    lost = aborted(rows[76], 'timeout: plan, 30 s')
    again = rows[2].model_copy(update={'attempt': 2})
    rows[76] = rows[76].model_copy(update={'attempt': 2})
    never = aborted(rows[77], 'node_died: sim (signal 9)')
    folder = journal_of(tmp_path, [lost, *rows[:77], again, never, *rows[78:]])
    text = printed(folder, width)
    lines = re.sub(' +', ' ', text)
    assert 'oracle 76 75 48 64.0 0 0.0 1 1' in lines
    assert 'llm 76 74 32 43.2 2 2.6 0 1' in lines
    assert 'all 152 149 80 53.7 2 1.3 1 2' in lines
    assert 'llm: 1 aborted, node_died' in text
    assert '  1 x node_died: sim (signal 9)' in text
    whole = ' '.join(text.split())
    assert 'control_002/oracle: attempt 1 (done) replaced by attempt 2 (done)' in whole
    assert (
        'control_001/llm: attempt 1 (aborted: timeout: plan, 30 s) replaced by attempt 2 (done)'
        in whole
    )
    assert '1 episodes of which every attempt was aborted control_002/llm' in whole
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_every_account_adds_up() -> None:
    rows = paper_run(['llm'])
    first = [aborted(row, 'crash: x') for row in rows[:20]]
    third = [row.model_copy(update={'attempt': 3}) for row in rows[:5]]
    fourth = [row.model_copy(update={'attempt': 4}) for row in rows[:3]]
    again = first + rows + third + fourth
    (account,) = [of_arm(item) for item in summarise(again).attempts]
    assert (account.accepted, account.aborted, account.repeated) == (75, 20, 8)
    assert account.attempts == account.accepted + account.aborted + (account.repeated or 0)
    assert account.superseded == len(account.replacements) == 28


def test_an_empty_run_and_one_of_aborts_alone_are_accounts_too(tmp_path: Path) -> None:
    (tmp_path / 'journal.jsonl').touch()
    assert 'all 0 0 0 - 0 - 0 0' in re.sub(' +', ' ', printed(tmp_path))
    rows = [aborted(row, 'model_not_found') for row in paper_run(['llm'])]
    folder = journal_of(tmp_path, rows)
    lines = re.sub(' +', ' ', printed(folder))
    assert 'llm 75 0 0 - 75 100.0 0 0' in lines
    assert '75 episodes of which every attempt was aborted' in lines
    assert 'and 65 more' in lines


def test_nothing_to_account_for_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match='the folder of a run, or --paper'):
        printed(None)
    with pytest.raises(BadSetting, match='holds no run'):
        printed(tmp_path / 'nowhere')
