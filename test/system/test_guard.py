"""A guard that blocks: nothing moves for a plan that fails, and who asks again is told why."""

import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from alpha_chaos import jsonl
from alpha_chaos.analysis.replay import replay
from alpha_chaos.analysis.verify import DIFFERENT, SAME, verify
from alpha_chaos.bag.reader import Recording

# With this seed the fault strikes the first answer of a planner, and not the second.
EXPERIMENT = """
description: A plan in the wrong order before a guard that blocks, with and without asking again.
master_seed: 0
seed_rule: episode_hash
body: {kind: panda}
task: {kind: pick_place}
guard: block
arms:
  oracle: {kind: oracle}
  oracle_retry: {kind: oracle, recovery: {kind: retry}}
conditions:
  - name: wrong_order
    faults: [{kind: wrong_plan, mode: wrong_order, probability: 0.5}]
"""


@pytest.fixture(scope='module')
def run(new_run):
    made = new_run('guarded')
    experiment = made.folder.parent / 'guarded.yaml'
    experiment.write_text(EXPERIMENT)
    call = made.start(
        '--isolation', 'worker', '--workers', '1', arms=(), experiment=str(experiment)
    )
    assert call.end() == 0, f'{call.out}\n{call.err}\n{made.log()}'
    return made


def said(check, folder: Path) -> tuple[int, str]:
    out = io.StringIO()
    code = check(folder, Console(file=out, width=200), workers=1)
    return code, out.getvalue()


def test_a_plan_that_fails_moves_nothing_and_is_a_failure_of_the_task(run):
    row = run.final['wrong_order_000/oracle']
    assert row.status == 'task_failed'
    assert row.reason == 'plan_blocked: actions[1]: the gripper closed on nothing'
    assert row.plan.valid
    assert row.steps == 60  # the rest phase alone
    (verdict,) = row.guard.verdicts
    assert (row.guard.mode, verdict.clean, verdict.blocked) == ('block', False, True)


def test_who_asks_again_is_told_why_and_may_do_better(run):
    row = run.final['wrong_order_000/oracle_retry']
    assert (row.status, row.recovery.tries, row.recovery.plans) == ('done', 1, 2)
    first, second = row.guard.verdicts
    assert (first.blocked, second.clean) == (True, True)
    recording = Recording(run.folder / row.bag)
    *_, asked = (
        entry.message for entry in recording.exchanges() if entry.type.endswith('Plan_Request')
    )
    assert tuple(asked.reasons) == first.objections
    verdicts = list(recording.decoded('/plan_verdicts'))
    assert [verdict.sequence for verdict in verdicts] == [1, 2]


def test_the_verdicts_come_out_again_from_the_recordings(run):
    assert said(verify, run.folder)[0] == SAME
    code, text = said(replay, run.folder)
    assert code == SAME, text


def test_a_verdict_that_was_changed_in_the_journal_is_named(run, tmp_path):
    folder = shutil.copytree(run.folder, tmp_path / 'run')
    path = folder / 'journal.jsonl'
    first, *others = [json.loads(line) for line in path.read_text('utf-8').splitlines()]
    del first['sha256']
    first['guard']['verdicts'][0] |= {'clean': True, 'failures': []}
    sealed = [jsonl.seal(first).decode(), *map(json.dumps, others)]
    path.write_text('\n'.join(sealed) + '\n', 'utf-8')
    code, text = said(verify, folder)
    assert code == DIFFERENT
    assert 'guard.verdicts[0].clean: said true, found false' in text
