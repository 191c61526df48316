"""A run of the shipped experiment, and that nothing about how it is run shows in its results."""

import json
import shutil

import pytest

ARMS = ('oracle', 'oracle_json')
CELLS = ('control', 'concurrent', 'unreachable_ik_low', 'planner_output_corruption_high')

# What scripts outside of this package read from a journal.
CONTRACT = {
    '': 'run_id arm condition calibration episode_index seed status reason success final_error_m '
    'steps digest observation slip offset_m corruption plan safety planner wall_s bag',
    'observation': 'requested_lag_s delivered_lag_s staleness_m',
    'slip': 'probability draw slipped',
    'corruption': 'probability draw kind',
    'plan': 'valid reasons n_actions',
    'safety': 'raw_sweeps events',
    'planner': 'provider model digest prompt_tokens completion_tokens wall_s cached',
}


def test_every_episode_has_one_result_and_nothing_was_aborted(fresh):
    assert sorted(row.key for row in fresh.rows) == sorted(
        (f'{cell}_000', arm) for cell in CELLS for arm in ARMS
    )
    assert {row.status for row in fresh.rows} == {'done', 'task_failed'}
    assert {row.attempt for row in fresh.rows} == {1}


@pytest.mark.parametrize('arm', ARMS)
def test_without_a_fault_the_block_ends_in_the_zone(fresh, arm):
    row = fresh.final[f'control_000/{arm}']
    assert (row.status, row.steps, row.plan.n_actions) == ('done', 1260, 7)
    assert 0.035 <= row.final_error_m <= 0.05  # chaotic in the last move
    assert row.observation.delivered_lag_s == 0.0
    assert row.faults == ()


@pytest.mark.parametrize('arm', ARMS)
def test_an_unreachable_target_leaves_the_block_behind(fresh, arm):
    row = fresh.final[f'unreachable_ik_low_000/{arm}']
    assert row.status == 'task_failed'
    assert row.final_error_m == pytest.approx(0.182, abs=0.03)
    outside = [event for event in row.safety.events if event.rule == 'out_of_workspace']
    assert len(outside) == 1
    assert [proof.exercised for proof in row.faults] == [True]


@pytest.mark.parametrize('arm', ARMS)
def test_a_lagging_sensor_shows_the_world_half_a_second_ago(fresh, arm):
    row = fresh.final[f'concurrent_000/{arm}']
    assert row.observation.requested_lag_s > 0.5
    assert row.observation.delivered_lag_s == pytest.approx(0.5)
    assert row.observation.staleness_m == pytest.approx(0.025, abs=1e-3)
    assert row.slip.draw is not None
    assert row.slip.slipped == (row.slip.draw < row.slip.probability)


def test_a_corrupted_text_is_refused_and_a_typed_plan_is_beyond_its_reach(fresh):
    text = fresh.final['planner_output_corruption_high_000/oracle_json']
    assert (text.status, text.plan.valid, text.plan.n_actions) == ('task_failed', False, 0)
    assert text.plan.reasons
    assert text.reason.startswith('plan_rejected: ')
    assert text.corruption.kind
    typed = fresh.final['planner_output_corruption_high_000/oracle']
    assert (typed.status, typed.plan.valid, typed.corruption.kind) == ('done', True, '')
    assert [proof.exercised for proof in typed.faults] == [False]


def test_both_arms_of_a_pair_draw_the_same_numbers(fresh):
    for cell in CELLS:
        one, other = (fresh.final[f'{cell}_000/{arm}'] for arm in ARMS)
        assert (one.seed, one.slip.draw, one.corruption.draw, one.offset_m) == (
            other.seed,
            other.slip.draw,
            other.corruption.draw,
            other.offset_m,
        )
        if cell != 'planner_output_corruption_high':
            assert one.digest == other.digest


def test_the_journal_has_what_others_read_from_it(fresh):
    for line in (fresh.folder / 'journal.jsonl').read_text().splitlines():
        row = json.loads(line)
        for part, keys in CONTRACT.items():
            found = row[part] if part else row
            assert set(keys.split()) <= found.keys(), part
        assert isinstance(row['safety']['events'], list)


def test_processes_that_are_used_again_give_the_same_results(fresh, reused):
    assert reused.verdicts() == fresh.verdicts()


def test_all_nodes_in_one_process_give_the_same_results(fresh, composed):
    assert composed.verdicts() == fresh.verdicts()


def test_the_ledgers_are_the_same_too(fresh, reused, composed):
    def decisions(run):
        return sorted(json.dumps(entry, sort_keys=True) for entry in run.ledger)

    assert decisions(reused) == decisions(fresh)
    assert decisions(composed) == decisions(fresh)


def test_the_result_is_shown_at_the_end_and_again_from_the_journal_alone(fresh, cli, tmp_path):
    (call,) = fresh.calls
    (tmp_path / 'copy').mkdir()
    shutil.copy(fresh.folder / 'journal.jsonl', tmp_path / 'copy')
    shown = cli('table', 'copy', folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert 'oracle_json : oracle' in call.out
    for line in shown.stdout.splitlines():
        if 'oracle_json : oracle' in line or line.startswith(('oracle ', 'oracle_json ')):
            assert line in call.out
    assert sorted(path.name for path in (tmp_path / 'copy').iterdir()) == ['journal.jsonl']


def test_the_same_command_again_has_nothing_to_do(fresh):
    before = (fresh.folder / 'journal.jsonl').read_bytes()
    call = fresh.start('--workers', '2')
    assert call.end() == 0
    assert '8 are there already' in call.out
    assert (fresh.folder / 'journal.jsonl').read_bytes() == before
    fresh.calls.remove(call)
