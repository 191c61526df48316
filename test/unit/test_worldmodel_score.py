"""`alpha-chaos simmer score`: baselines, folders of plans, and what is wrong with them."""

import json
from pathlib import Path

import pytest
from release_data import write_release
from typer.testing import CliRunner

from alpha_chaos.cli import app
from alpha_chaos.worldmodel.baselines import baseline
from alpha_chaos.worldmodel.exam import Briefing, Exam, Executor
from alpha_chaos.worldmodel.plan_text import Plan, read_plan
from alpha_chaos.worldmodel.score import score
from alpha_chaos.worldmodel.verdict import Failure, Link, Verdict

GOLDEN = '\n'.join(f'[WAIT] <{i}_minutes>' for i in range(1, 8))


class Counted(Exam):
    """A task that is reached by seven steps, whichever."""

    title, technique, golden = 'Wait', 'waiting', GOLDEN

    def judge(self, plan: Plan) -> Verdict:
        return Verdict(len(plan.steps), (), len(plan.steps) == 7)

    def briefing(self) -> Briefing:
        return Briefing('', '')

    def begin(self) -> Executor:
        raise NotImplementedError


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ['simmer', 'score', *arguments])
    return result.exit_code, result.output


def test_the_verdicts_of_a_folder_of_plans_are_written(tmp_path: Path) -> None:
    data = write_release(tmp_path / 'data')
    plans = tmp_path / 'plans'
    plans.mkdir()
    (plans / 'plan_000.txt').write_text('1. [GRAB] <stove> (1)\n2. [SWITCH_ON] <stove> (1)\n')
    out = tmp_path / 'deep' / 'out.json'
    code, output = invoke(
        '--data', str(data), '--mode', 'compat', '--plans', str(plans), '--json', str(out)
    )
    assert code == 0, output
    written = json.loads(out.read_text())
    assert set(written) == {'tasks', 'totals'}
    task = written['tasks']['000']
    assert (task['immediate'], task['latent'], task['irreversible']) == (1, 2, 1)
    assert task['goal_reached'] is None
    assert task['clean'] is False
    assert task['failures'][0] == {
        'step': 1,
        'rule': 'object that can be grabbed',
        'kind': 'immediate',
        'reversible': True,
        'message': 'missing: object that can be grabbed',
    }
    assert {'step', 'rule', 'kind', 'reversible', 'message'} <= set(task['failures'][1])
    totals = written['totals']
    assert (totals['tasks'], totals['clean'], totals['latent']) == (1, 0, 2)
    assert totals['rules'] == {
        'appliance_left_on': 1,
        'object that can be grabbed': 1,
        'unwashed': 1,
    }


def test_the_modes_differ_on_the_empty_plan(tmp_path: Path) -> None:
    data = write_release(tmp_path)
    out = tmp_path / 'out.json'
    seen = {}
    for mode in ('strict', 'compat'):
        assert invoke('--data', str(data), '--mode', mode, '--plans', 'empty', '--json', str(out))
        seen[mode] = json.loads(out.read_text())['tasks']['000']
    assert seen['compat']['latent'] == 1
    assert seen['strict']['latent'] == 0
    assert seen['strict']['goal_reached'] is False


@pytest.mark.parametrize(
    ('arguments', 'complaint'),
    [
        (('--plans', 'empty', '--mode', 'compat'), 'so it needs --data DIR'),
        (('--plans', 'golden', '--data', '{data}'), 'the release has no golden plans'),
        (('--plans', 'shuffled', '--data', '{data}'), 'so there is no shuffled one'),
        (('--plans', 'best', '--data', '{data}'), 'there is no folder best'),
        (('--plans', '{data}', '--data', '{data}'), 'there is no plan such as plan_000.txt'),
        (('--plans', 'empty', '--data', '{data}/nowhere'), 'there is no folder'),
        (('--plans', 'empty', '--data', '{data}', '--json', '{data}'), 'Is a directory'),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    data = write_release(tmp_path)
    code, output = invoke(*(argument.format(data=data) for argument in arguments))
    assert code == 2
    assert complaint in output
    assert output.startswith('error: ')
    assert output.count('\n') == 1


def test_the_baselines_are_the_same_every_time_and_differ_from_each_other() -> None:
    golden = read_plan(GOLDEN)
    assert baseline('empty', golden, 'a') == Plan(())
    assert baseline('golden', golden, 'a') == golden
    assert baseline('truncated', golden, 'a').steps == golden.steps[:3]
    shuffled = baseline('shuffled', golden, 'a')
    assert shuffled == baseline('shuffled', golden, 'a')
    assert sorted(shuffled.steps) == sorted(golden.steps)
    assert shuffled != golden
    assert shuffled != baseline('shuffled', golden, 'b')


def test_every_baseline_can_be_scored_where_there_are_golden_plans() -> None:
    reached = {
        kind: score({'a': Counted()}, kind).totals()['goal_reached']
        for kind in ('empty', 'golden', 'shuffled', 'truncated')
    }
    assert reached == {'empty': 0, 'golden': 1, 'shuffled': 1, 'truncated': 0}


def test_a_verdict_counts_what_it_says() -> None:
    link = Link(2, 'germs of board (1)', '[CUT] <beef> (1)')
    verdict = Verdict(
        9,
        (
            Failure(1, 'unknown_object', 'syntax', True, 'a'),
            Failure(2, 'grab: hands', 'immediate', True, 'b'),
            Failure(0, 'germs', 'latent', False, 'c', 'contact', 3, 2, 5, (link,)),
            Failure(0, 'stove', 'latent', True, 'd', 'left_on', 2, 4),
        ),
        True,
    )
    assert (verdict.immediate, verdict.latent, verdict.irreversible) == (2, 2, 1)
    assert not verdict.clean
    assert verdict.json()['failures'][2] == {
        'step': 0,
        'rule': 'germs',
        'kind': 'latent',
        'reversible': False,
        'message': 'c',
        'family': 'contact',
        'severity': 3,
        'planted': 2,
        'sealed': 5,
        'chain': [{'step': 2, 'fact': 'germs of board (1)', 'action': '[CUT] <beef> (1)'}],
    }
    assert Verdict(1, (), None).clean
    assert not Verdict(1, (), False).clean
