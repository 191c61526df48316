"""The arm that asks a language model, from end to end: a real one, embedded."""

import json

import pytest

from alpha_chaos.bag.reader import Recording
from alpha_chaos.plan import ActionPlan

CELLS = ('control', 'concurrent', 'unreachable_ik_low', 'planner_output_corruption_high')
LLM = ('--arms', 'llm', '--llm', 'embedded')


@pytest.fixture(scope='module')
def asked(new_run):
    """Return the run of the arm that asks a model."""
    return new_run('asked').finish('--isolation', 'worker', '--workers', '1', arms=LLM)


@pytest.fixture(scope='module')
def recordings(asked):
    return {name: Recording(asked.folder / row.bag) for name, row in asked.final.items()}


def test_every_episode_has_a_result(asked):
    assert sorted(asked.final) == sorted(f'{cell}_000/llm' for cell in CELLS)
    assert {row.status for row in asked.rows} <= {'done', 'task_failed'}


def test_without_a_fault_the_model_moves_the_block(asked):
    row = asked.final['control_000/llm']
    assert (row.status, row.plan.valid) == ('done', True), row.reason


def test_a_corrupted_reply_is_refused(asked):
    row = asked.final['planner_output_corruption_high_000/llm']
    assert (row.status, row.plan.valid) == ('task_failed', False)
    assert row.corruption.kind


def test_where_every_plan_came_from_is_recorded(asked):
    about = json.loads((asked.folder / 'manifest.json').read_text())['llm']
    for row in asked.final.values():
        planner = row.planner
        assert (planner.planner, planner.provider) == ('llm', 'embedded')
        assert planner.model
        assert len(planner.digest) == len(planner.prompt_sha256) == 64
        assert planner.prompt_tokens > 100
        assert planner.completion_tokens > 10
        assert planner.wall_s > 0
        assert json.dumps(planner.digest) in json.dumps(about)


def test_the_reply_is_in_the_journal_and_in_the_recording(asked, recordings):
    for name, row in asked.final.items():
        answers = [
            exchange.message
            for exchange in recordings[name].exchanges()
            if exchange.type.endswith('/Plan_Response') and exchange.side == 'client'
        ]
        (answer,) = answers
        assert not answer.typed
        assert answer.text == row.plan.text
        verdict = ActionPlan.validate_raw_plan(answer.text)
        assert [str(reason) for reason in verdict.reasons] == list(row.plan.reasons)


def test_its_recordings_say_what_the_journal_says(asked, recordings):
    for name, row in asked.final.items():
        recording = recordings[name]
        assert recording.digest() == row.digest
        assert row.recording.lost == 0
        assert recording.seen().lag_s == row.observation.delivered_lag_s
        assert sum(recording.safety().raw_sweeps.values()) == row.safety.raw_sweeps


def test_a_reply_is_kept_and_the_same_question_gets_it_again(asked, cli):
    before = asked.final['control_000/llm']
    assert not before.planner.cached
    arguments = ['-e', 'smoke', '--run-id', 'control_000', '--arm', 'llm', '--llm', 'embedded']
    call = cli('episode', *arguments, '-o', asked.folder, folder=asked.folder.parent)
    assert call.returncode == 0, call.stderr
    after = asked.final['control_000/llm']
    assert after.attempt == before.attempt + 1
    assert after.planner.cached
    assert (after.plan.text, after.digest) == (before.plan.text, before.digest)
    assert after.planner.prompt_sha256 == before.planner.prompt_sha256
