"""The results as files: csv, LaTeX, Parquet, and the page beside the paper."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from recorded_episodes import PERIOD_NS, Recorder
from synthetic_runs import aborted, paper_run, twin_run
from tabletop_episodes import run_episode

from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.journal import PlanVerdict, Row
from alpha_chaos.report.exports import export, write_episodes
from alpha_chaos.resources import config_folder
from alpha_chaos.stats.paper import FILE, read_paper
from alpha_chaos.stats.summary import Planned, Summary, summarise

pq = pytest.importorskip('pyarrow.parquet')

PAPER = read_paper(config_folder() / FILE)


def the_plan(rows: list[Row]) -> list[Planned]:
    return [Planned(row.run_id, row.arm, row.condition) for row in rows]


def papers(rows: list[Row], planned: list[Row] | None = None) -> Summary:
    return summarise(rows, the_plan(planned or rows), PAPER, experiment='paper')


def lines_of(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / 'report' / 'tables' / f'{name}.csv').open(encoding='utf-8') as file:
        return list(csv.DictReader(file))


def one(lines: list[dict[str, str]], **wanted: str) -> dict[str, str]:
    (found,) = [line for line in lines if wanted.items() <= line.items()]
    return found


@pytest.fixture(scope='module')
def paper_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    folder, rows = tmp_path_factory.mktemp('paper'), paper_run()
    return folder, export(folder, papers(rows), rows)


@pytest.fixture(scope='module')
def twin_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    folder, rows = tmp_path_factory.mktemp('twins'), twin_run(['oracle', 'llm', 'llm_retry'])
    return folder, export(folder, summarise(rows, experiment='mine'), rows)


# -- csv


def test_the_files_that_are_named_are_there(paper_files: tuple[Path, list[Path]]) -> None:
    folder, written = paper_files
    assert all(path.is_file() and path.stat().st_size for path in written)
    tables = {path.stem for path in written if path.suffix == '.csv'}
    assert {path.stem for path in written if path.suffix == '.tex'} == tables
    assert {'success_by_arm', 'success_by_condition', 'comparisons', 'safety'} <= tables
    assert folder / 'episodes.parquet' in written
    assert folder / 'report' / 'paper.md' in written
    # Nothing in them depends on chance or on the order of the journal.
    before = {path: path.read_bytes() for path in written}
    rows = paper_run()[::-1]
    assert export(folder, papers(rows, paper_run()), rows) == written
    assert {path: path.read_bytes() for path in written} == before


def test_csv_has_the_numbers_as_they_are(paper_files: tuple[Path, list[Path]]) -> None:
    folder, _ = paper_files
    oracle = one(lines_of(folder, 'success_by_arm'), arm='oracle')
    assert (oracle['successes'], oracle['n'], oracle['rate']) == ('48', '75', '0.64')
    assert float(oracle['wilson_95_low']) == pytest.approx(0.527, abs=5e-4)
    assert (oracle['paper_successes'], oracle['interval_is_meaningful']) == ('48', 'False')
    test = one(lines_of(folder, 'comparisons'), first='llm', second='oracle', cohort='all')
    assert float(test['p_exact']) == pytest.approx(6.10e-5, abs=5e-8)
    assert float(test['p_mid']) == pytest.approx(3.05e-5, abs=5e-8)
    assert test['distinct_pairs'] == '18'
    assert len(lines_of(folder, 'discordant_pairs')) == 30
    cells = lines_of(folder, 'comparisons_by_condition')
    f4 = one(
        cells,
        cohort='all',
        first='llm',
        second='oracle',
        condition='planner_output_corruption_low',
    )
    assert float(f4['p_holm']) == pytest.approx(0.875)
    assert f4['difference_of_distinct_low'] == ''
    assert f4['difference_of_distinct_without_interval'].startswith('a single distinct pair')
    safety = lines_of(folder, 'safety')
    llm = one(safety, arm='llm', condition='unreachable_ik_low', rule='all')
    assert (llm['paper_raw_sweeps'], llm['paper_events']) == ('62', '1')
    control = one(safety, arm='llm', condition='control', rule='all')
    assert (control['raw_sweeps_mean'], control['paper_raw_sweeps']) == ('1.0', '0')
    json = one(safety, arm='oracle_json', condition='control', rule='all')
    assert json['paper_raw_sweeps'] == ''


def test_csv_has_twins_recoveries_and_every_faults_evidence(
    twin_files: tuple[Path, list[Path]],
) -> None:
    folder, written = twin_files
    twin = one(lines_of(folder, 'faults_against_controls'), arm='llm', condition='sensor_noise')
    assert (twin['faulty_successes'], twin['control_successes']) == ('6', '10')
    assert float(twin['p_holm']) == pytest.approx(0.25)
    gain = one(lines_of(folder, 'recoveries'), arm='llm_retry', condition='sensor_noise')
    assert gain['base'] == 'llm'
    assert float(gain['tokens_more']) == pytest.approx(216.2)
    evidence = one(
        lines_of(folder, 'faults'),
        arm='llm',
        condition='sensor_noise',
        fault='sensor_noise',
        key='last.offset_m',
    )
    assert float(evidence['value_max']) == pytest.approx(0.009)
    assert not (folder / 'report' / 'paper.md').exists()
    assert 'paper' not in ''.join(path.read_text() for path in written if path.suffix == '.csv')


# -- LaTeX


def test_latex_is_escaped_and_ruled(paper_files: tuple[Path, list[Path]]) -> None:
    _, written = paper_files
    for path in written:
        if path.suffix != '.tex':
            continue
        text = path.read_text('utf-8')
        assert text.isascii()
        for rule in ('toprule', 'midrule', 'bottomrule'):
            assert f'\\{rule}' in text
        body = text.split('\\toprule')[1]
        assert not re.search(r'(?<!\\)[_%#$]', body), path
        assert body.count('{') == body.count('}')
        # Without its own commands nothing of LaTeX is left in the caption.
        caption = re.search(r'\\caption\{(.*?)\}', text)
        assert caption
        assert not re.search(r'[_%#$&\\^~]', caption[1])
    (wide,) = [path for path in written if path.name == 'success_by_condition.tex']
    text = wide.read_text()
    assert '\\begin{longtable}' in text
    assert re.search(r'llm & grip\\_slip\\_low & 3/5 & 60\.0 & \[23\.1, 88\.2\]! & 2/5', text)
    assert 'An interval marked ! is not meaningful' in text


@pytest.mark.parametrize(
    'nasty', ['a_b & 5 % $x$ \\cmd {q} #1 ~ ^', '超时 \x1b[31m \ud800', '\n\n']
)
def test_what_a_model_said_breaks_no_file(tmp_path: Path, nasty: str) -> None:
    rows = twin_run(['llm'], 2)
    rows[0] = aborted(rows[0], f'crash: {nasty}')
    rows[1] = rows[1].model_copy(update={'plan': PlanVerdict(text=nasty, reasons=(nasty,))})
    export(tmp_path, summarise(rows), rows)
    reasons = (tmp_path / 'report' / 'tables' / 'reasons.tex').read_text('utf-8')
    assert reasons.isascii()
    (line,) = [line for line in reasons.splitlines() if 'crash' in line]
    assert not re.search(r'(?<!\\)[_%#$]|\\cmd', line)
    assert line.endswith(' & 1 \\\\')
    (said,) = [item for item in lines_of(tmp_path, 'reasons') if item['type'] == 'crash']
    assert '超时' not in nasty or '超时' in said['reason']
    assert pq.read_table(tmp_path / 'episodes.parquet').num_rows == 6


# -- Parquet


def test_parquet_has_one_line_an_episode_that_counts(tmp_path: Path) -> None:
    rows = paper_run(['oracle', 'llm'])
    stray = rows[0].model_copy(update={'run_id': 'stray_000', 'condition': 'stray'})
    journal = [aborted(rows[5], 'timeout: plan'), *rows[:100], aborted(rows[100], 'crash'), stray]
    journal[6] = journal[6].model_copy(update={'attempt': 2})
    export(tmp_path, papers(journal, rows), journal)
    table = pq.read_table(tmp_path / 'episodes.parquet')
    lines: list[dict[str, Any]] = table.to_pylist()
    assert len(lines) == 101
    assert len({(line['run_id'], line['arm']) for line in lines}) == 101
    retried = one_line(lines, 'control_005', 'oracle')
    assert (retried['attempt'], retried['success']) == (2, True)
    gone = [line for line in lines if line['status'] == 'aborted']
    assert [(line['success'], line['final_error_m']) for line in gone] == [(None, None)]
    slip = one_line(lines, 'grip_slip_low_002', 'oracle')
    assert (slip['slipped'], slip['slip_probability'], slip['success']) == (True, 0.3805, False)
    assert '"fault": "grasp_slip"' in slip['faults'][0]
    assert '"rule": "violent_contact"' in slip['safety_events'][0]
    assert str(table.schema.field('seed').type) == 'int64'
    assert str(table.schema.field('plan_reasons').type).startswith('list<')


def one_line(lines: list[dict[str, Any]], run_id: str, arm: str) -> dict[str, Any]:
    (found,) = [line for line in lines if (line['run_id'], line['arm']) == (run_id, arm)]
    return found


def test_the_columns_are_the_same_whatever_is_in_them(tmp_path: Path) -> None:
    none = pq.read_table(write_episodes(tmp_path / 'none.parquet', []))
    some = pq.read_table(write_episodes(tmp_path / 'some.parquet', twin_run(['llm'])))
    assert none.schema == some.schema
    assert (none.num_rows, some.num_rows) == (0, 30)


# -- runs of any state


@pytest.mark.parametrize(
    ('rows', 'planned'),
    [
        ([], None),
        ([], paper_run()),
        ([aborted(row, 'model_not_found') for row in paper_run()], paper_run()),
        (paper_run(['llm']), paper_run(['llm'])),
        (paper_run()[:100], paper_run()),
    ],
    ids=['nothing', 'planned', 'aborted', 'one arm', 'half'],
)
def test_a_run_in_any_state_is_exported(
    tmp_path: Path, rows: list[Row], planned: list[Row] | None
) -> None:
    summary = summarise(
        rows, None if planned is None else the_plan(planned), PAPER, experiment='paper'
    )
    written = export(tmp_path, summary, rows)
    assert written
    assert pq.read_table(tmp_path / 'episodes.parquet').num_rows == len(rows)
    if planned is None:
        return
    page = (tmp_path / 'report' / 'paper.md').read_text('utf-8')
    arms = {row.arm for row in planned}
    for line in lines_of(tmp_path, 'success_by_condition'):
        assert line['arm'] in arms
        if line['n'] == '0':
            assert (line['rate'], line['wilson_95_low']) == ('', '')
    if len(rows) < 225 and len(arms) > 1:
        assert '**Not there.** This run has no result for it.' in page
    assert 'nan' not in page.lower()


def test_a_table_that_has_no_line_any_more_is_removed(tmp_path: Path) -> None:
    rows = paper_run(['oracle', 'llm'])
    export(tmp_path, papers(rows[:10], rows), rows[:10])
    gone = tmp_path / 'report' / 'tables' / 'not_compared.csv'
    assert gone.is_file()
    export(tmp_path, papers(rows), rows)
    assert not gone.exists()


# -- the page beside the paper


@pytest.fixture(scope='module')
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the page of the paper's outcome, with real recordings of control and F3."""
    folder = tmp_path_factory.mktemp('page')
    offsets_m = {'control': 0.0, 'unreachable_ik_low': 0.1191, 'unreachable_ik_high': 0.3}
    digests = {}
    for condition, offset_m in offsets_m.items():
        run = run_episode(Kuka(), offset_m=lambda x, y, offset_m=offset_m: (offset_m, 0.0))
        recorder = Recorder(folder / 'bags' / condition)
        recorder.world()
        for number, (step, state) in enumerate(run.states.items()):
            recorder.state(step, number * PERIOD_NS, state)
        recorder.close()
        digests[condition] = run.digest
    rows = [
        row.model_copy(update={'digest': digests[row.condition], 'bag': f'bags/{row.condition}'})
        if row.condition in digests
        else row
        for row in paper_run()
    ]
    export(folder, papers(rows), rows)
    return (folder / 'report' / 'paper.md').read_text('utf-8')


def reasons(page: str) -> list[str]:
    return re.findall(r'^\d+\. \*\*(.*?)\.\*\*', page.split('## Why')[1], re.MULTILINE)


def row_of(page: str, heading: str, *cells: str) -> str:
    section = page.split(f'## {heading}')[1].split('\n## ')[0]
    (found,) = [
        line for line in section.splitlines() if line.startswith('| ' + ' | '.join(cells) + ' |')
    ]
    return found


def why(page: str, line: str) -> list[str]:
    """Return the reasons that a line of the page refers to."""
    listed = reasons(page)
    return [listed[int(number) - 1] for number in re.findall(r'\[(\d+)\]\(#why\)', line)]


def test_the_papers_schedule_stands_beside_every_step(page: str) -> None:
    low = row_of(page, 'Safety', 'unreachable_ik_low', 'llm')
    assert '| 62 / 1 / 301 | 62 / 1 / 301 | same at 62 looks' in low
    assert 'out_of_workspace green 367' in low
    assert why(page, low) == [
        'Scan schedule',
        'Violent contacts at each step',
        'Distractor blocks',
    ]
    high = row_of(page, 'Safety', 'unreachable_ik_high', 'oracle')
    assert '| 124 / 2 / 602 | 124 / 2 / 602 | same at 62 looks' in high
    oracle = row_of(page, 'Safety', 'unreachable_ik_low', 'oracle')
    assert '| 62 / 1 / 301 | 0 / 0 / 0 |' in oracle
    assert 'Other waypoints' in why(page, oracle)
    control = row_of(page, 'Safety', 'control', 'llm')
    assert '| 0 / 0 / 0 | 0 / 0 / 0 | same at 62 looks' in control
    assert why(page, control) == ['Scan schedule', 'Violent contacts at each step']


def test_a_trajectory_without_a_recording_says_so(page: str) -> None:
    line = row_of(page, 'Safety', 'unreachable_ik_medium', 'llm')
    assert '| - | - | - | 62 / 1 / 301 |' in line
    assert why(page, line) == ['No recording']


def test_the_window_changes_contacts_and_nothing_else(page: str) -> None:
    section = page.split('## Unique events by window')[1].split('\n## ')[0]
    assert 'for every W at 62 looks: yes;' in section
    assert 'outside the workspace: yes;' in section


def test_what_is_the_same_is_called_the_same(page: str) -> None:
    assert '| same, [' in row_of(page, 'Success by condition', 'control', 'llm')
    assert why(page, row_of(page, 'Success\n', 'oracle')) == ['Copies as replicates']
    assert 'Rounding' in why(page, row_of(page, 'Success\n', 'llm'))
    assert row_of(page, 'F1', 'sensor_lag_low', 'llm').endswith('| same |')


def test_what_differs_has_its_reason(page: str) -> None:
    slip = row_of(page, 'F2', 'grip_slip_low', 'llm')
    assert '| 0.381 | 002 003 | 0.270 | 002 003 |' in slip.replace('0.380', '0.381')
    assert why(page, slip) == ['Nominal values against formulas']
    assert why(page, row_of(page, 'F3', 'unreachable_ik_low', 'llm')) == [
        'Nominal values against formulas'
    ]
    assert 'Not explained' not in reasons(page)


def test_a_difference_that_nobody_can_explain_is_not_explained(tmp_path: Path) -> None:
    rows = [
        row.model_copy(
            update={'observation': row.observation.model_copy(update={'delivered_lag_s': 0.4})}
        )
        if row.condition == 'sensor_lag_low'
        else row
        for row in paper_run()
    ]
    rows = [
        row.model_copy(update={'final_error_m': 0.1818})
        if row.condition == 'unreachable_ik_low'
        else row
        for row in rows
    ]
    export(tmp_path, papers(rows), rows)
    text = (tmp_path / 'report' / 'paper.md').read_text('utf-8')
    lag = row_of(text, 'F1', 'sensor_lag_low', 'llm')
    assert why(text, lag) == ['Not explained']
    error = row_of(text, 'F3', 'unreachable_ik_low', 'llm')
    assert why(text, error) == ['Nominal values against formulas', 'Not explained']
    assert 'The 2 mm between' in text
    other = row_of(text, 'F3', 'unreachable_ik_low', 'oracle')
    assert why(text, other) == ['Nominal values against formulas', 'Other waypoints']
