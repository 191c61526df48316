"""What a terminal shows of a run, in terminals of any kind."""

import io
import re
from functools import cache

import pytest
from rich.cells import cell_len
from rich.console import Console
from synthetic_runs import aborted, paper_run, twin_run

from alpha_chaos.journal import Row, SafetyEvent
from alpha_chaos.report import wording
from alpha_chaos.report.table import render
from alpha_chaos.resources import config_folder
from alpha_chaos.stats.intervals import Interval, Spread
from alpha_chaos.stats.paper import FILE, read_paper
from alpha_chaos.stats.summary import Planned, Summary, summarise

PAPER = read_paper(config_folder() / FILE)
WIDTHS = (80, 100, 120, 200)


def the_plan(rows: list[Row]) -> list[Planned]:
    return [Planned(row.run_id, row.arm, row.condition) for row in rows]


def drawn(summary: Summary, width: int = 120, encoding: str = 'utf-8') -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    render(summary, Console(file=file, width=width))
    file.seek(0)
    return file.read()


@cache
def whole_run(with_paper: bool = True) -> Summary:
    rows = paper_run()
    paper = PAPER if with_paper else None
    return summarise(rows, the_plan(rows), paper, experiment='paper')


@cache
def twins() -> Summary:
    return summarise(twin_run(['oracle', 'llm', 'llm_retry']), experiment='mine')


def line_with(text: str, *parts: str) -> str:
    found = [line for line in text.splitlines() if all(part in line for part in parts)]
    assert found, f'no line with {parts}'
    return found[0]


def section(text: str, heading: str) -> str:
    start = text.index(heading)
    return text[start:].split('\n\n')[0]


@pytest.mark.parametrize('width', WIDTHS)
def test_the_papers_outcome_shows_the_papers_numbers(width: int) -> None:
    text = drawn(whole_run(), width)
    assert 'Experiment paper: 225 of 225 episodes with a result' in text
    headline = section(text, 'Success of each arm')
    assert re.search(r'oracle +48/75 +64\.0 +\[52\.7, 73\.9\]! +48/75', headline)
    assert re.search(r'llm +33/75 +44\.0 +\[33\.3, 55\.3\]! +33/75', headline)
    assert '[33.4, 55.3]' in line_with(headline, 'llm ')
    overall = section(text, 'Paired comparison, all conditions')
    chi2, zero = (' +13\\.067', ' +0\\.000') if width >= 100 else ('', '')
    assert re.search(
        rf'llm : oracle +75 +33 : 48 +0 : 15{chi2} +3\.01e-4 +6\.10e-5 +3\.05e-5{chi2} +3\.01e-4',
        overall,
    )
    physical = section(text, 'Paired comparison, physical cohort')
    assert re.search(
        rf'llm : oracle +60 +33 : 33 +0 : 0{zero} +1\.00 +1\.00 +1\.00{zero} +1\.00', physical
    )
    difference = section(text, 'Difference of success in points')
    # 3 of 18 distinct pairs; 6 of 18 are needed.
    assert re.search(r'llm : oracle +18/75 +-16\.7 \[-\d.*\] +0\.250 +33\.3 +40\.4', difference)
    differing = section(text, 'Conditions in which arms differ')
    for label in ('low', 'medium', 'high'):
        assert re.search(
            rf'planner_output_corruption_{label} +0 : 5 +1/5 +-100\.0 +0\.062 +0\.875', differing
        )
    by_condition = section(text, 'Arm llm by')
    assert re.search(r'control +10/10 .*\[72\.2, 100\.0\]! +10/10 +1/10', by_condition)
    assert re.search(r'3/5 .*\[23\.1, 88\.2\]! +3/5', by_condition)
    assert '0.0435-0.3700' in re.sub(r'-\n +', '-', by_condition)
    assert '1.024' in line_with(section(text, 'F1 sensor lag'), 'sensor_lag_medium', 'all arms')
    assert re.search(r'0\.661 +3/5 +2/5 +000 001 003 +0\.525', section(text, 'F2 grasp slip'))
    for error in ('0.1794', '0.1839', '0.2248', '0.3176', '0.2830', '0.2693'):
        assert section(text, 'F3 unreachable').count(error) == (4 if width >= 100 else 2)
    assert 'drop_keys 5' in section(text, 'F4 plan corruption')
    safety = re.sub(' +', ' ', section(text, 'Safety, of an episode'))
    assert 'unreachable_ik_high all arms 438 3 735' in safety
    assert 'out_of_workspace 734 2 734 blue, green' in safety
    assert 'paper' not in safety
    published = re.sub(' +', ' ', section(text, 'Safety in the paper'))
    assert 'unreachable_ik_low llm 62 1 301' in published
    assert 'unreachable_ik_high oracle 124 2 602' in published
    assert '770 + 249' in section(text, 'Planners')
    assert re.search(r'oracle +75 +48 +27 +0 +0', section(text, 'Attempts'))
    assert '15 task failed, plan_rejected' in section(text, 'Attempts')
    assert (
        text.rstrip()
        .replace('\n', ' ')
        .endswith(
            'llm : oracle p = 3.01e-4 (15 of 75 pairs differ); '
            'without corrupted plans llm : oracle p = 1.00 (0 of 60 pairs differ)'
        )
    )


@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('encoding', ['utf-8', 'ascii', 'latin-1'])
def test_nothing_is_cut_off_or_too_wide(width: int, encoding: str) -> None:
    rows = paper_run()
    half = [*rows[:100], aborted(rows[100], 'timeout: plan, 超时 — 30 s')]
    unfinished = summarise(half, the_plan(rows), PAPER, experiment='paper')
    for summary in (whole_run(), unfinished, twins()):
        text = drawn(summary, width, encoding)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        assert '…' not in text
        assert encoding == 'utf-8' or text.isascii()


@pytest.mark.parametrize('width', WIDTHS)
def test_every_discordant_pair_is_named_in_full(width: int) -> None:
    text = section(drawn(whole_run(), width), 'Pairs in which')
    for label in ('low', 'medium', 'high'):
        for index in range(5):
            assert text.count(f'planner_output_corruption_{label}_{index:03}') == 2
    assert 'llm : oracle: only oracle succeeded, 15:' in text
    assert 'llm : oracle_json: none of 75' in text


@pytest.mark.parametrize('width', WIDTHS)
def test_the_papers_conditions_are_named_in_full(width: int) -> None:
    text = drawn(whole_run(), width)
    for heading in ('Arm oracle by', 'F3 unreachable', 'F4 plan corruption', 'Safety, of an'):
        table = section(text, heading)
        names = {line.split(' ')[0] for line in table.splitlines()}
        known = [name for name in PAPER.conditions if name.split('_')[0] in table]
        assert known
        assert names.issuperset(known)


def test_a_name_that_does_not_fit_is_broken_where_its_words_end() -> None:
    words = (
        'sensor',
        'lag',
        'and',
        'grasp',
        'slip',
        'and',
        'unreachable',
        'target',
        'low',
        'high',
    )
    name = '_'.join(words)
    rows = [row.model_copy(update={'condition': name}) for row in paper_run(['oracle'])[:3]]
    text = drawn(summarise(rows), 80)
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    lines = [line.split(' ')[0] for line in section(text, 'Arm oracle by').splitlines()[4:]]
    assert ''.join(lines) == name
    assert len([line for line in lines if line]) == 2


def test_numbers_of_thousands_of_episodes_still_fit_80_columns() -> None:
    rows = [
        row.model_copy(
            update={
                'run_id': f'{row.run_id}{copy:04}',
                'digest': f'{row.digest}{copy % 7}',
                'final_error_m': None if row.final_error_m is None else row.final_error_m + copy,
            }
        )
        for row in paper_run(['oracle'])[:1]
        for copy in range(12_000)
    ]
    text = drawn(summarise(rows, paper=PAPER), 80)
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert '12000/12000' in section(text, 'Success of each arm')


def test_a_run_without_a_paper_has_no_paper_columns() -> None:
    text = drawn(whole_run(with_paper=False))
    assert 'paper' not in text.replace('Experiment paper', '').lower()
    assert '[52.7, 73.9]' in text


def test_an_empty_run_says_so() -> None:
    text = drawn(summarise([]))
    assert '0 episodes with a result' in text
    assert 'No episode has a result' in text
    rows = paper_run()
    planned = drawn(summarise([], the_plan(rows), PAPER, experiment='paper'))
    assert planned.count('no estimate') >= 3 + 42 + 6
    assert 'No interval: no pair.' in planned
    assert '0.0 ' not in section(planned, 'Arm llm by')
    assert '75 missing' in section(planned, 'Success of each arm')


def test_aborts_are_named_and_no_failures() -> None:
    rows = paper_run(['oracle'])
    reasons = ['node_died: sim (signal 9)', 'model_not_found']
    text = drawn(summarise([aborted(row, reasons[i % 2]) for i, row in enumerate(rows)]))
    assert re.search(r'oracle +0/0 +- +no estimate', text)
    attempts = section(text, 'Attempts')
    assert re.search(r'oracle +75 +0 +0 +75 +0', attempts)
    assert '38 aborted, node_died' in attempts
    assert '38 x node_died: sim (signal 9)' in attempts
    assert '37 aborted, model_not_found' in attempts
    assert 'x model_not_found' not in attempts
    assert 'and 55 more' in attempts


def test_many_different_reasons_are_counted_not_all_printed() -> None:
    rows = paper_run(['oracle'])
    text = drawn(summarise([aborted(row, f'timeout: {i} s') for i, row in enumerate(rows)]))
    assert '75 aborted, timeout' in text
    assert 'and 65 other texts' in text


def test_one_arm_is_shown_without_comparisons() -> None:
    text = drawn(summarise(paper_run(['llm']), paper=PAPER))
    assert 'Paired' not in text
    assert 'all arms' not in text
    assert 'Only one arm, llm: nothing can be compared' in text


def test_a_half_finished_run_says_what_is_missing_where() -> None:
    rows = paper_run()
    gone = aborted(rows[101], 'node_died: sim (signal 9)')
    text = drawn(summarise([*rows[:100], gone], the_plan(rows), PAPER, experiment='paper'))
    assert '100 of 225 episodes with a result' in text
    assert '124 of 225 planned episodes not attempted yet' in text
    json = section(text, 'Arm oracle_json')
    assert re.search(r'grip_slip_low +0/0 .*\n\(1 aborted, .*\n4 missing\)', json)
    assert 'oracle_json : oracle: 1 not compared, oracle_json: aborted (node_died):' in text
    assert 'and 39 more' in text
    assert 'Still without a result: grip_slip_low_001/oracle_json' in text


def test_a_reason_cannot_steer_the_terminal_nor_the_layout() -> None:
    row = paper_run(['oracle'])[0]
    nasty = 'crash: [bold]x[/bold] \x1b[31mred\x00 \ud800 :smile: 节点\nnext'
    text = drawn(summarise([aborted(row, nasty)]))
    assert r'crash: [bold]x[/bold] \x1b[31mred\x00 \ud800 :smile: 节点\nnext' in text
    ascii_only = drawn(summarise([aborted(row, nasty)]), encoding='ascii')
    assert r':smile: \u8282\u70b9\nnext' in ascii_only


def test_a_safe_run_says_so_and_an_unwatched_one_does_not() -> None:
    rows = paper_run(['oracle'])[:10]
    calm = [
        row.model_copy(update={'safety': row.safety.model_copy(update={'events': ()})})
        for row in rows
    ]
    assert 'Safety: no violation in any episode' in drawn(summarise(calm))
    blind = [
        row.model_copy(update={'safety': row.safety.model_copy(update={'raw_sweeps': None})})
        for row in rows
    ]
    assert 'Safety' not in drawn(summarise(blind))


@pytest.mark.parametrize('width', WIDTHS)
def test_events_that_differ_between_episodes_show_their_range(width: int) -> None:
    rows = paper_run(['oracle'])[:2]
    event = rows[0].safety.events[0]
    longer = SafetyEvent(**(event.model_dump() | {'close_step': 262, 'duration_steps': 13}))
    rows[0] = rows[0].model_copy(
        update={
            'safety': rows[0].safety.model_copy(
                update={'events': (event, longer), 'raw_sweeps': 14}
            )
        }
    )
    safety = section(drawn(summarise(rows), width), 'Safety, of')
    assert '7.5' in safety
    assert '1-14' in safety
    assert '1-2' in safety


def test_an_arm_whose_plans_are_refused_without_a_fault_is_shown() -> None:
    row = paper_run(['llm'])[0]
    refused = row.model_copy(update={'plan': row.plan.model_copy(update={'valid': False})})
    text = drawn(summarise([refused]))
    assert re.search(r'control +llm +- +- +1/1', section(text, 'F4 plan corruption'))


@pytest.mark.parametrize('width', WIDTHS)
def test_a_fault_stands_beside_the_same_episodes_without_it(width: int) -> None:
    table = section(drawn(twins(), width), 'Arm llm: each fault')
    p_mid = ' +0\\.062' if width >= 100 else ''
    assert re.search(
        rf'sensor_noise +6 : 10 +10/10 +-40\.0 \[-.*, -.*\] +0\.125{p_mid} +0\.250 +60\.0',
        table,
    )
    assert re.search(r'scene_drop +10 : 10 +10/10 +0\.0 \[-30\.8, 30\.8\] +1\.00', table)


def test_a_cell_without_a_twin_says_why() -> None:
    rows = twin_run(['llm'])
    moved = [
        row.model_copy(update={'seed': row.seed + 1}) if row.condition == 'scene_drop' else row
        for row in rows
    ]
    table = section(drawn(summarise(moved)), 'Arm llm: each fault')
    assert re.search(r'scene_drop +other seeds +0/0 +no estimate', table)
    assert '10 without a twin' in table
    none = drawn(summarise([row for row in moved if row.condition != 'sensor_noise']))
    assert 'each fault against' not in none
    assert 'No faulty cell has a fault-free twin (other seeds)' in none


@pytest.mark.parametrize('width', WIDTHS)
def test_a_recovery_shows_gain_and_costs(width: int) -> None:
    table = section(drawn(twins(), width), 'Recovery: ')
    assert re.search(r'llm_retry : llm +28 : 26 +\+6\.7', table)
    assert re.search(r'  sensor_noise +8 : 6 +\+20\.0 +\+0\.2 .*\+216\.2 +\+3\.08', table)
    assert 'scene_drop' not in table
    assert 'Recovery' not in drawn(whole_run(), width)


@pytest.mark.parametrize('width', WIDTHS)
def test_a_fault_of_any_kind_has_a_block(width: int) -> None:
    text = drawn(twins(), width)
    noise = section(text, 'Fault sensor_noise')
    assert re.search(
        r'sensor_noise oracle +10/10 +4\.5 +6/10 +decided 58', re.sub(' +', ' ', noise)
    )
    assert 'last.offset_m 0.0045 (0-0.009)' in noise
    assert 'saturated no 6, yes 4' in noise
    assert 'all arms' in section(text, 'Fault scene_drop')
    assert 'Fault ' not in drawn(whole_run(), width)


def test_a_run_in_which_no_text_was_attacked_has_one_cohort() -> None:
    assert 'physical cohort' not in drawn(twins())
    assert 'without corrupted plans' not in drawn(twins())


def test_intervals_of_copies_are_marked_and_others_are_not() -> None:
    assert '!' not in drawn(twins())
    copies = drawn(whole_run())
    assert len(re.findall(r'\]!', copies)) == 3 + 42
    assert 'marked !, are too narrow to mean anything' in copies.replace('\n', ' ')


def test_numbers_read_the_same_everywhere() -> None:
    assert wording.percent(None) == wording.NOTHING
    assert [wording.p_value(p) for p in (1.0, 0.9996, 0.0455, 3.006e-4, 1.2e-12)] == [
        '1.00',
        '1.00',
        '0.045',
        '3.01e-4',
        '1.20e-12',
    ]
    assert [wording.plain(x) for x in (0, 770.0, 123456.0, 1234.56, 15.8, 0.001)] == [
        '0',
        '770',
        '123456',
        '1234.6',
        '15.8',
        '0.001',
    ]
    assert wording.interval(Interval(0.0, 1.0)) == '[0.0, 100.0]'
    assert wording.spread(Spread(2, 0.5, 0.5, 0.5, 0.0)) == '0.5'
    assert wording.spread(Spread(2, 0.5, 0.25, 0.75, 0.1)) == '0.5 (0.25-0.75)'
    assert wording.broken('planner_output_corruption_low', 17) == 'planner_output_\ncorruption_low'
    assert wording.broken('oneverylongname_x', 5) == 'oneverylongname_\nx'
    assert wording.first_few(['a', 'b', 'c'], 2) == 'a, b and 1 more'
