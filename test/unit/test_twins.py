"""Faulty cells against their fault-free controls, and arms that recover against their base."""

import pytest
from synthetic_runs import aborted, paper_run, twin_run

from alpha_chaos.journal import Row
from alpha_chaos.stats.cells import OVERALL
from alpha_chaos.stats.notes import notes
from alpha_chaos.stats.recoveries import Recovered
from alpha_chaos.stats.summary import Summary, summarise
from alpha_chaos.stats.twins import Twin


def twin_of(summary: Summary, arm: str, condition: str) -> Twin:
    (found,) = [twin for twin in summary.twins if (twin.arm, twin.condition) == (arm, condition)]
    return found


def recovered(summary: Summary, condition: str = OVERALL) -> Recovered:
    (found,) = [item for item in summary.recoveries if item.condition == condition]
    return found


def said(summary: Summary) -> str:
    return '\n'.join(notes(summary))


# -- twins -------------------------------------------------------------------------------------


def test_a_faulty_cell_stands_beside_its_control_in_every_arm() -> None:
    summary = summarise(twin_run())
    assert [(twin.arm, twin.condition, twin.control) for twin in summary.twins] == [
        ('oracle', 'sensor_noise', 'control'),
        ('oracle', 'scene_drop', 'control'),
        ('llm', 'sensor_noise', 'control'),
        ('llm', 'scene_drop', 'control'),
    ]
    noise = twin_of(summary, 'llm', 'sensor_noise')
    assert (noise.first_rate.k, noise.second_rate.k, noise.pairs, noise.distinct) == (
        6,
        10,
        10,
        10,
    )
    assert noise.second_only == tuple(f'sensor_noise_00{index}' for index in (0, 2, 4, 6))
    assert noise.difference.value == pytest.approx(-0.4)
    assert noise.difference.interval is not None
    assert noise.difference.interval.high < 0 < noise.detectable.difference
    assert noise.test is not None
    assert noise.test.p_exact == pytest.approx(2 * 0.5**4)
    assert noise.test.p_mid == pytest.approx(0.5**4)
    assert (noise.detectable.pairs, noise.detectable.difference) == (6, 0.6)
    assert noise.why == ''


def test_holm_counts_the_conditions_of_an_arm() -> None:
    summary = summarise(twin_run())
    # Two tests in an arm: the smaller p, 0.125, counts double; the other one is 1.
    assert twin_of(summary, 'llm', 'sensor_noise').p_holm == pytest.approx(0.25)
    assert twin_of(summary, 'llm', 'scene_drop').p_holm == 1.0


def test_a_fault_without_effect_is_bounded_not_excluded() -> None:
    drop = twin_of(summarise(twin_run()), 'llm', 'scene_drop')
    assert (drop.discordant, drop.difference.value) == (0, 0.0)
    assert drop.difference.method == 'exact'
    assert drop.difference.interval is not None
    # Clopper and Pearson: 10 of 10 agree, so at least 0.025 ** 0.1 = 69.2 % do.
    assert drop.difference.interval.high == pytest.approx(1 - 0.025**0.1)


def test_the_papers_seeds_make_no_twins_and_that_is_said() -> None:
    rows = [
        row if row.condition == 'control' else row.model_copy(update={'control': 'control'})
        for row in paper_run()
    ]
    summary = summarise(rows)
    assert len(summary.twins) == 3 * 13
    assert not any(twin.pairs for twin in summary.twins)
    assert all(twin.why for twin in summary.twins)
    assert all(twin.test is None and twin.p_holm is None for twin in summary.twins)
    lag = twin_of(summary, 'llm', 'sensor_lag_low')
    assert lag.why == 'other seeds'
    assert {item.why for item in lag.unpaired} == {'other seeds'}
    assert 'No faulty cell has a fault-free twin (other seeds)' in said(summary)


def test_rows_that_name_no_control_have_no_twins() -> None:
    assert summarise(paper_run()).twins == ()


def test_a_twin_that_is_not_there_is_named() -> None:
    rows = twin_run(['llm'])
    gone = rows[3]
    assert gone.run_id == 'control_003'
    rows[4] = aborted(rows[4], 'node_died: sim')
    rows.remove(gone)
    rows[-1] = aborted(rows[-1], 'timeout: plan').model_copy(update={'control': 'control'})
    summary = summarise(rows)
    drop = twin_of(summary, 'llm', 'scene_drop')
    assert drop.pairs == 7
    assert {item.run_id: item.why for item in drop.unpaired} == {
        'scene_drop_003': 'control: no attempt',
        'scene_drop_004': 'control: aborted (node_died)',
        'scene_drop_009': 'scene_drop: aborted (timeout)',
    }


def test_a_run_without_its_controls_says_so_in_every_cell() -> None:
    summary = summarise([row for row in twin_run(['llm']) if row.condition != 'control'])
    assert {twin.why for twin in summary.twins} == {'control: no attempt'}


def test_twins_that_are_copies_count_once() -> None:
    rows = [row.model_copy(update={'digest': row.condition}) for row in twin_run(['llm'])]
    noise = twin_of(summarise(rows), 'llm', 'sensor_noise')
    # One trajectory that fails would be one verdict; here two verdicts are two pairs.
    assert (noise.pairs, noise.distinct, noise.copies) == (10, 2, True)
    drop = twin_of(summarise(rows), 'llm', 'scene_drop')
    assert (drop.pairs, drop.distinct) == (10, 1)
    assert drop.difference.interval is None
    assert drop.difference.why == 'a single distinct pair has no spread'
    assert drop.detectable.pairs is None


# -- recoveries --------------------------------------------------------------------------------


def test_a_recovery_shows_what_it_buys_and_what_it_costs() -> None:
    summary = summarise(twin_run(['oracle', 'llm', 'llm_retry']))
    assert [(item.condition, item.arm, item.base, item.kind) for item in summary.recoveries] == [
        (OVERALL, 'llm_retry', 'llm', 'retry'),
        ('control', 'llm_retry', 'llm', 'retry'),
        ('sensor_noise', 'llm_retry', 'llm', 'retry'),
        ('scene_drop', 'llm_retry', 'llm', 'retry'),
    ]
    noise = recovered(summary, 'sensor_noise')
    assert noise.first_only == ('sensor_noise_000', 'sensor_noise_002')
    assert noise.difference.value == pytest.approx(0.2)
    # 2 of 10 episodes have one round, one call, 1600 + 500 - 770 - 249 tokens, 31.0 - 15.6 s more.
    assert noise.rounds.value == pytest.approx(0.2)
    assert noise.calls.value == pytest.approx(0.2)
    assert noise.tokens.value == pytest.approx(0.2 * 1081)
    assert noise.plan_s.value == pytest.approx(0.2 * 15.4)
    assert noise.tokens.interval is not None
    assert 0 <= noise.tokens.interval.low < noise.tokens.value < noise.tokens.interval.high
    control = recovered(summary, 'control')
    assert (control.tokens.value, control.tokens.interval) == (0, None)
    overall = recovered(summary)
    assert (overall.pairs, overall.first_rate.k - overall.second_rate.k) == (30, 2)


def test_an_arm_whose_planner_has_no_other_arm_has_no_base() -> None:
    assert summarise(twin_run(['oracle', 'llm_retry'])).recoveries == ()


def test_an_arm_of_another_model_is_no_base() -> None:
    rows = [
        row.model_copy(update={'planner': row.planner.model_copy(update={'digest': 'other'})})
        if row.arm == 'llm'
        else row
        for row in twin_run(['llm', 'llm_retry'])
    ]
    assert summarise(rows).recoveries == ()


def test_an_arm_with_other_settings_of_the_planner_is_set_against_the_first() -> None:
    rows = twin_run(['llm'])
    typed = [row.model_copy(update={'arm': 'llm_typed'}) for row in rows]
    summary = summarise([*rows, *typed])
    assert {(item.arm, item.base, item.kind) for item in summary.recoveries} == {
        ('llm_typed', 'llm', 'none')
    }
    assert recovered(summary).discordant == 0


def test_calls_that_were_not_counted_are_not_known() -> None:
    def uncounted(row: Row) -> Row:
        return row.model_copy(update={'planner': row.planner.model_copy(update={'calls': 0})})

    found = recovered(summarise(map(uncounted, twin_run(['llm', 'llm_retry']))))
    assert (found.calls.n, found.calls.value, found.calls.why) == (0, None, 'no pair')
    assert found.rounds.n == 30


def test_recoveries_of_aborts_alone_say_nothing() -> None:
    rows = [aborted(row, 'model_not_found') for row in twin_run(['llm', 'llm_retry'])]
    assert summarise(rows).recoveries == ()
