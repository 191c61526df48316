"""Guard, physics and safety monitor laid beside each other."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from synthetic_runs import paper_run

from alpha_chaos.journal import Row
from alpha_chaos.report.export_tables import tables
from alpha_chaos.report.exports import counting, write_table
from alpha_chaos.report.page import Material, page
from alpha_chaos.report.recordings import Filmed, Looked
from alpha_chaos.report.table import render
from alpha_chaos.stats.agreement import FALSE_ALARM, MISSED, Agreement
from alpha_chaos.stats.summary import Summary, summarise

FAILURE = {
    'action': 5,
    'rule': 'dropped',
    'family': 'place',
    'kind': 'latent',
    'severity': 2,
    'reversible': True,
    'message': 'red fell 0.2 m when it was let go',
    'planted': 5,
    'sealed': -1,
}
EVENT = {
    'rule': 'out_of_workspace',
    'key': 'red',
    'open_step': 1,
    'close_step': 2,
    'duration_steps': 2,
}


def a_row(**changes: Any) -> Row:
    return Row.model_validate({**paper_run(['oracle'])[0].model_dump(), **changes})


def verdict(clean: bool, blocked: bool = False) -> dict[str, Any]:
    failures = [] if clean else [FAILURE]
    return {'clean': clean, 'blocked': blocked, 'goal_reached': True, 'failures': failures}


def row(index: int, clean: bool | None, success: bool, events: int = 0, **more: Any) -> Row:
    verdicts = () if clean is None else (verdict(clean),)
    return a_row(
        run_id=f'control_{index:03}',
        episode_index=index,
        status='done' if success else 'task_failed',
        success=success,
        reason='' if success else 'not_in_zone: 0.3 m from its centre',
        safety={'raw_sweeps': 2 * events, 'events': [EVENT] * events},
        bag=f'bags/control_{index:03}-oracle',
        **({'guard': {'mode': 'observe', 'verdicts': verdicts}} | more),
    )


ROWS = [
    row(0, True, True),
    row(1, True, True),
    row(2, True, True, events=1),  # missed: an event
    row(3, True, False),  # missed: a failure
    row(4, False, False),
    row(5, False, False, events=1),
    row(6, False, True),  # false alarm
    row(7, None, False),  # no plan reached the guard
    row(8, False, False, guard={'mode': 'block', 'verdicts': [verdict(False, True)]}),
    row(9, True, True, guard={'mode': 'block', 'verdicts': [verdict(False, True), verdict(True)]}),
]


def overall(rows: list[Row]) -> Agreement:
    return next(item for item in summarise(rows).agreements if item.condition == '')


def test_every_episode_is_in_one_place() -> None:
    found = overall(ROWS)
    assert {
        (item.clean, item.success, item.quiet): item.episodes
        for item in found.outcomes
        if item.episodes
    } == {
        (True, True, True): 3,  # the last plan of episode 9 was clean
        (True, True, False): 1,
        (True, False, True): 1,
        (False, False, True): 1,
        (False, False, False): 1,
        (False, True, True): 1,
    }
    assert (found.blocked, found.unchecked) == (1, 1)
    assert found.agreed.n + found.blocked + found.unchecked == len(ROWS)


def test_agreement_is_clean_and_fine_or_neither() -> None:
    found = overall(ROWS)
    assert (found.agreed.k, found.agreed.n) == (5, 8)
    # Clean 5 of 8, fine 4 of 8: by chance 5/8 * 4/8 + 3/8 * 4/8 = 1/2 would agree.
    assert found.kappa == pytest.approx((5 / 8 - 1 / 2) / (1 - 1 / 2))
    assert overall(ROWS[:2]).kappa is None


def test_each_disagreement_names_its_episode_and_its_recording() -> None:
    found = summarise(ROWS).disagreements
    assert [(item.run_id, item.kind) for item in found] == [
        ('control_002', MISSED),
        ('control_003', MISSED),
        ('control_006', FALSE_ALARM),
    ]
    event, failure, alarm = found
    assert (event.outcome, event.events) == ('', ('out_of_workspace red',))
    assert failure.outcome == 'not_in_zone: 0.3 m from its centre'
    assert alarm.said == ('actions[5]: red fell 0.2 m when it was let go',)
    assert alarm.bag == 'bags/control_006-oracle'


def test_a_run_without_a_guard_has_nothing_to_agree_on() -> None:
    summary = summarise([a_row()])
    assert (summary.agreements, summary.disagreements) == ((), ())
    assert [table.lines for table in tables(summary) if table.name.startswith('guard')] == [[], []]
    assert 'Guard' not in printed(summary)


def printed(summary: Summary) -> str:
    file = io.StringIO()
    render(summary, Console(file=file, width=100))
    return file.getvalue()


def test_the_table_stands_in_the_terminal_and_in_files(tmp_path: Path) -> None:
    summary = summarise(ROWS)
    text = printed(summary)
    assert 'Guard, physics and safety monitor' in text
    assert '5/8' in text
    assert 'missed, 2:' in text
    assert 'control_006/oracle' in text
    for table in tables(summary):
        if table.name.startswith('guard'):
            write_table(tmp_path, table)
    with (tmp_path / 'guard_agreement.csv').open() as file:
        lines = list(csv.DictReader(file))
    assert [line['condition'] for line in lines] == ['all', 'control']
    assert (lines[0]['agreed'], lines[0]['carried_out'], lines[0]['blocked']) == ('5', '8', '1')
    assert lines[0]['clean_success_events'] == lines[0]['flagged_success_quiet'] == '1'
    with (tmp_path / 'guard_disagreements.csv').open() as file:
        bags = [line['bag'] for line in csv.DictReader(file)]
    assert bags == [f'bags/control_{index:03}-oracle' for index in (2, 3, 6)]
    assert r'\begin{table}' in (tmp_path / 'guard_agreement.tex').read_text()


def test_the_page_leads_from_each_disagreement_to_its_recording_and_its_episode() -> None:
    summary = summarise(ROWS)
    names = [table.name for table in tables(summary) if table.lines]
    material = Material(
        summary, counting(summary, ROWS), Looked({}, {}), (), Filmed({}, {}), names
    )
    html = page(material)
    start = html.index('<section id="guard"')
    section = html[start : html.index('</section>', start)]
    for index in (2, 3, 6):
        assert f'href="../bags/control_{index:03}-oracle/"' in section
        assert f'href="#episode:control_{index:03}:oracle"' in section
    assert 'tables/guard_disagreements.csv' in section
    assert 'stopped: actions[5]: red fell 0.2 m when it was let go; then clean' in html
    assert '<section id="guard"' not in page(replace(material, summary=summarise([a_row()])))
