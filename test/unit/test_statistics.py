"""Intervals and paired tests: the published values, and where the library goes wrong."""

import json
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_runs import aborted, paper_run

from alpha_chaos.journal import Corruption, Row, final
from alpha_chaos.stats.intervals import BadCountError, estimate, spread, wilson
from alpha_chaos.stats.mcnemar import mcnemar
from alpha_chaos.stats.paired import ALL, PHYSICAL
from alpha_chaos.stats.paired import compare as compare_with

compare = partial(compare_with, draws=partial(np.random.default_rng, 1))
CASES = json.loads((Path(__file__).parents[1] / 'cases' / 'statistics.json').read_text())


@pytest.mark.parametrize('case', CASES['wilson'], ids=lambda case: f'{case["k"]}-of-{case["n"]}')
def test_wilson_gives_the_right_values(case: dict[str, Any]) -> None:
    if case.get('error'):
        with pytest.raises(BadCountError):
            wilson(case['k'], case['n'])
        return
    interval = wilson(case['k'], case['n'])
    if 'estimate' in case:
        assert interval is case['estimate']
        return
    assert interval is not None
    if 'lo' in case:
        assert interval.low == pytest.approx(case['lo'], abs=5e-4)
    if 'hi' in case:
        assert interval.high == pytest.approx(case['hi'], abs=5e-4)
    assert 0.0 <= interval.low <= case['k'] / case['n'] <= interval.high <= 1.0


@pytest.mark.parametrize('case', CASES['mcnemar'], ids=lambda case: f'{case["b"]}-{case["c"]}')
def test_mcnemar_gives_the_right_values(case: dict[str, Any]) -> None:
    test = mcnemar(case['b'], case['c'], case['n'])
    assert test is not None
    assert test.chi2_corrected == pytest.approx(case['chi2_corrected'], abs=5e-5)
    assert test.p_corrected == pytest.approx(case['p_corrected'], abs=5e-8)
    assert test.p_exact == pytest.approx(case['p_exact'], abs=5e-10)


def test_no_pair_is_no_test_and_no_trial_is_no_rate() -> None:
    assert mcnemar(0, 0, 0) is None
    assert estimate(0, 0).rate is None
    assert estimate(1, 2).rate == 0.5


@pytest.mark.parametrize(('b', 'c', 'n'), [(-1, 0, 5), (0, -1, 5), (3, 3, 5), (0, 0, -1)])
def test_impossible_pairs_are_refused(b: int, c: int, n: int) -> None:
    with pytest.raises(BadCountError):
        mcnemar(b, c, n)


def test_fewer_than_no_trials_are_refused() -> None:
    with pytest.raises(BadCountError, match='-1 trials'):
        wilson(0, -1)


def test_the_library_is_still_wrong_where_it_is_guarded() -> None:
    """If this fails, the guards may have become unnecessary."""
    from statsmodels.stats.contingency_tables import mcnemar as library
    from statsmodels.stats.proportion import proportion_confint

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        assert library([[5, 0], [0, 5]], exact=False, correction=True).pvalue == 0.0
        assert library([[5, 2], [2, 5]], exact=False, correction=True).statistic == 0.25
        low, high = proportion_confint(0, 0, method='wilson')
        assert low != low
        assert high != high
        assert proportion_confint(7, 7, method='wilson')[1] < 1.0


COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(deadline=None)  # the first example imports the library, which takes seconds
@given(COUNTS)
def test_an_interval_holds_its_estimate_and_stays_a_probability(counts: tuple[int, int]) -> None:
    k, n = counts
    interval = wilson(k, n)
    assert interval is not None
    assert 0.0 <= interval.low <= k / n <= interval.high <= 1.0
    assert (interval.low == 0.0) == (k == 0)
    assert (interval.high == 1.0) == (k == n)


@settings(deadline=None)  # the first example imports the library, which takes seconds
@given(COUNTS)
def test_one_success_more_moves_both_ends_up(counts: tuple[int, int]) -> None:
    k, n = counts
    if k == n:
        return
    before, after = wilson(k, n), wilson(k + 1, n)
    assert before is not None
    assert after is not None
    assert before.low < after.low
    assert before.high < after.high


@settings(deadline=None)  # the first example imports the library, which takes seconds
@given(COUNTS)
def test_swapping_success_and_failure_mirrors_the_interval(counts: tuple[int, int]) -> None:
    k, n = counts
    here, there = wilson(k, n), wilson(n - k, n)
    assert here is not None
    assert there is not None
    assert here.low == pytest.approx(1.0 - there.high, abs=1e-12)


@settings(deadline=None)  # the first example imports the library, which takes seconds
@given(COUNTS)
def test_ten_times_the_trials_narrow_the_interval(counts: tuple[int, int]) -> None:
    k, n = counts
    few, many = wilson(k, n), wilson(10 * k, 10 * n)
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


@settings(deadline=None)  # the first example imports the library, which takes seconds
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_symmetric_and_gives_probabilities(b: int, c: int, same: int) -> None:
    one, other = mcnemar(b, c, b + c + same), mcnemar(c, b, b + c + same)
    if one is None or other is None:
        assert b + c + same == 0
        return
    assert (one.p_exact, one.p_corrected) == (other.p_exact, other.p_corrected)
    assert 0.0 < one.p_exact <= 1.0
    assert 0.0 < one.p_corrected <= 1.0
    assert one.chi2_corrected >= 0.0
    if abs(b - c) <= 1:
        assert (one.p_exact, one.p_corrected, one.chi2_corrected) == (1.0, 1.0, 0.0)
    assert 0.0 < one.p_mid <= one.p_exact
    assert one.p_mid == other.p_mid


def test_a_spread_leaves_unknown_values_out() -> None:
    assert spread([None]) is None
    assert spread([]) is None
    one = spread([0.5, None])
    assert one is not None
    assert (one.n, one.mean, one.low, one.high, one.sd) == (1, 0.5, 0.5, 0.5, None)
    copies = spread([0.1839] * 5)
    assert copies is not None
    assert copies.sd == 0.0
    assert copies.mean == pytest.approx(0.1839)
    several = spread([1.0, 2.0, 6.0])
    assert several is not None
    assert (several.mean, several.low, several.high) == (3.0, 1.0, 6.0)


def test_the_papers_rows_give_the_papers_tests() -> None:
    results = final(paper_run())
    overall = compare(results, 'llm', 'oracle', ALL)
    assert (overall.first_rate.k, overall.second_rate.k, overall.pairs) == (33, 48, 75)
    assert (overall.first_only, len(overall.second_only)) == ((), 15)
    assert all('planner_output_corruption' in run_id for run_id in overall.second_only)
    assert overall.test is not None
    assert overall.test.chi2_corrected == pytest.approx(13.067, abs=5e-4)
    assert overall.test.p_corrected == pytest.approx(3.01e-4, abs=5e-7)
    assert overall.test.p_exact == pytest.approx(6.10e-5, abs=5e-8)
    physical = compare(results, 'llm', 'oracle', PHYSICAL)
    assert (physical.first_rate.k, physical.second_rate.k, physical.pairs) == (33, 33, 60)
    assert (physical.both, physical.neither, physical.discordant) == (33, 27, 0)
    assert physical.test is not None
    assert physical.test.p_corrected == 1.0
    assert compare(results, 'llm', 'oracle_json').discordant == 0
    assert compare(results, 'oracle_json', 'oracle').discordant == 15


def test_only_results_of_the_same_scenario_are_a_pair() -> None:
    rows = {row.key: row for row in paper_run(['llm', 'oracle'])}
    del rows['control_000', 'llm']
    rows['control_001', 'oracle'] = aborted(rows['control_001', 'oracle'], 'timeout: plan')
    rows['control_002', 'llm'] = rows['control_002', 'llm'].model_copy(update={'seed': 7})
    seed = rows['control_002', 'oracle'].seed
    planned = {'control_010': 'control', 'planner_output_corruption_low_005': 'x'}
    result = compare(rows, 'llm', 'oracle', ALL, planned)
    assert result.pairs == 72
    assert {item.run_id: item.why for item in result.unpaired} == {
        'control_000': 'llm: no attempt',
        'control_001': 'oracle: aborted (timeout)',
        'control_002': f'seed differs: 7 and {seed}',
        'control_010': 'llm: no attempt',
        'planner_output_corruption_low_005': 'llm: no attempt',
    }


def test_the_physical_cohort_leaves_out_attacked_text_under_any_name() -> None:
    rows = {row.key: row for row in paper_run(['llm', 'oracle'])}
    planned = {'planner_output_corruption_low_005': 'planner_output_corruption_low'}
    assert compare(rows, 'llm', 'oracle', PHYSICAL, planned).unpaired == ()
    renamed = {
        key: row.model_copy(update={'condition': row.condition.replace('planner', 'other')})
        for key, row in rows.items()
    }
    assert compare(renamed, 'llm', 'oracle', PHYSICAL).pairs == 60


def test_the_evidence_of_a_fault_alone_says_that_text_was_attacked() -> None:
    rows = {
        row.key: row.model_copy(update={'corruption': Corruption()})
        for row in paper_run(['llm', 'oracle'])
    }
    assert compare(rows, 'llm', 'oracle', PHYSICAL).pairs == 60


def test_a_name_alone_says_nothing_about_a_cohort() -> None:
    rows = {
        row.key: row.model_copy(update={'condition': 'planner_output_corruption'})
        for row in paper_run(['llm', 'oracle'])
        if row.condition == 'control'
    }
    assert compare(rows, 'llm', 'oracle', PHYSICAL).pairs == 10


def test_a_cell_that_only_the_plan_of_the_run_knows_is_left_out_too() -> None:
    rows = {row.key: row for row in paper_run(['llm', 'oracle']) if row.condition == 'control'}
    planned = {'garbled_000': 'garbled', 'control_010': 'control'}
    found = compare(rows, 'llm', 'oracle', PHYSICAL, planned, attacked=['garbled'])
    assert [item.run_id for item in found.unpaired] == ['control_010']


def test_an_aborted_attempt_belongs_to_the_cohort_of_its_cell() -> None:
    rows = {row.key: row for row in paper_run(['llm', 'oracle'])}
    key = 'planner_output_corruption_low_003', 'llm'
    rows[key] = aborted(rows[key], 'timeout: plan')
    assert compare(rows, 'llm', 'oracle', PHYSICAL).unpaired == ()


OUTCOMES = st.sampled_from(['done', 'task_failed', 'aborted', 'absent'])


@settings(deadline=None)  # the first example imports the library, which takes seconds
@given(st.lists(st.tuples(OUTCOMES, OUTCOMES), max_size=30))
def test_every_scenario_is_either_a_pair_or_named_as_none(pairs: list[tuple[str, str]]) -> None:
    rows: dict[tuple[str, str], Row] = {}
    for number, outcomes in enumerate(pairs):
        for arm, status in zip(('llm', 'oracle'), outcomes, strict=True):
            if status != 'absent':
                rows[f'control_{number}', arm] = Row(
                    run_id=f'control_{number}',
                    arm=arm,
                    condition='control',
                    episode_index=number,
                    seed=number,
                    status=status,
                    reason='' if status == 'done' else 'why',
                    success={'done': True, 'task_failed': False}.get(status),
                )
    result = compare(rows, 'llm', 'oracle')
    mirrored = compare(rows, 'oracle', 'llm')
    seen = Counter(
        ('first' if ours == 'done' else 'second')
        for ours, theirs in pairs
        if {ours, theirs} == {'done', 'task_failed'}
    )
    assert (len(result.first_only), len(result.second_only)) == (seen['first'], seen['second'])
    assert result.both + result.neither + result.discordant == result.pairs
    assert result.pairs + len(result.unpaired) == sum(p != ('absent', 'absent') for p in pairs)
    assert result.first_rate.k - result.second_rate.k == seen['first'] - seen['second']
    assert set(mirrored.first_only) == set(result.second_only)
    assert (mirrored.both, mirrored.neither) == (result.both, result.neither)
    assert (result.test is None) == (result.pairs == 0)
