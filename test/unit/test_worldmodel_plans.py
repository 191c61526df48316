"""Plans as text, however odd: a verdict each, soon, and never an exception."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from release_data import little_release
from small_worlds import load, salad

from alpha_chaos.worldmodel.plan_text import (
    MAX_STEPS,
    Plan,
    PlanStep,
    read_plan,
    read_plan_file,
    read_step,
)
from alpha_chaos.worldmodel.release.judge import ReleaseWorld
from alpha_chaos.worldmodel.verdict import Verdict

Judge = Callable[[str | bytes], Verdict]


@pytest.fixture(scope='module', params=['own', 'compat', 'strict release'])
def judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    folder = tmp_path_factory.mktemp('world')
    if request.param == 'own':
        return salad(load(folder)).judge
    release = little_release(folder)
    return ReleaseWorld(release, release.tasks['000'], request.param != 'compat').judge


@pytest.mark.parametrize(
    ('line', 'action', 'arguments'),
    [
        ('1. [CUT] <carrot> (1) <knife> (2)', 'cut', (('carrot', '1'), ('knife', '2'))),
        ('[cut]<carrot>(1)', 'cut', (('carrot', '1'),)),
        ('12. [WAIT] <5_minutes>', 'wait', (('5_minutes', ''),)),
        ('  - **[Wait]** <5_minutes>, then go on', 'wait', (('5_minutes', ''),)),
        ('[SERVE] <soup> (a) now', 'serve', (('soup', 'a'),)),
        ('<soup> (1) [SERVE]', 'serve', (('soup', '1'),)),
        ('[DO IT] [GRAB] <cup> (1)', 'grab', (('cup', '1'),)),
        ('[GRAB] < cup > (1)', 'grab', ()),
    ],
)
def test_a_step_is_read_from_a_line(
    line: str, action: str, arguments: tuple[tuple[str, str], ...]
) -> None:
    assert read_step(line) == PlanStep(action, arguments)
    assert read_plan(f'Plan:\n{line}\n').steps == (PlanStep(action, arguments),)


@pytest.mark.parametrize('line', ['', 'Here is the plan:', '1. GRAB <cup> (1)', '[]', '[ GRAB ]'])
def test_a_line_without_an_action_is_no_step(line: str) -> None:
    assert read_step(line) is None


def test_a_step_is_written_as_it_is_read() -> None:
    line = '[GRAB] <cup> (1) <5_minutes>'
    step = read_step(line)
    assert step is not None
    assert step.text == line


def rules(verdict: Verdict) -> set[tuple[str, str]]:
    return {(failure.rule, failure.kind) for failure in verdict.failures}


@pytest.mark.parametrize(
    ('plan', 'expected'),
    [
        ('[JUGGLE] <pan> (1)', {'unknown_action'}),
        ('[GRAB] <dragon> (1)', {'unknown_object'}),
        ('[GRAB] <pan> (2)', {'unknown_object'}),
        ('[GRAB] <pan>', {'missing_id'}),
        ('[GRAB]', {'argument_count'}),
        ('[GRAB] <pan> (1) <plate> (1)', {'argument_count'}),
        ('[WAIT] <soon>', {'bad_value'}),
        ('[PUT_ON] <pan> (1) <pan> (1)', {'same_object'}),
        ('[SERVE] <\u83dc\u82b1> (\u4e00) <plate> (1)', {'unknown_object'}),
        ('[\u0413\u0420\u042d\u0411] <pan> (1)', {'unknown_action'}),
        ('\u3010GRAB\u3011 \u300apan\u300b', {'no_steps'}),
        (b'\xff\xfe\x00\x01binary', {'not_text'}),
        ('[GRAB] <pan> (1)\0', {'not_text'}),
        (b'\x89PNG\r\n\x1a\n', {'not_text'}),
    ],
)
def test_what_is_wrong_with_a_plan_of_ours_is_named(
    tmp_path: Path, plan: str | bytes, expected: set[str]
) -> None:
    verdict = salad(load(tmp_path)).judge(plan)
    assert {failure.rule for failure in verdict.failures} == expected
    assert {failure.kind for failure in verdict.failures} == {'syntax'}
    assert all(failure.message for failure in verdict.failures)
    assert not verdict.clean


@pytest.mark.parametrize(
    ('plan', 'expected'),
    [
        ('x' * 10_000_000, None),  # a text without a step
        ('[GRAB] ' + '<pan> (1) ' * 1_000_000, 'line_too_long'),
        ('[' * 10_000_000, 'line_too_long'),
        ('[GRAB] <' + 'a' * 10_000_000 + '> (1)', 'line_too_long'),
        ('<' * 1_900 + '[GRAB]' + ' ' * 90, 'argument_count'),
        ('[GRAB] <pan>' + ' ' * 1_900, None),
        ('[GRAB] <pan> (1)\n' * 100_000, 'too_many_steps'),
        ('\n'.join(f'[CUT] <p{i}> (1) <b> (1) <k> (1)' for i in range(100_000)), 'too_many_steps'),
        ('\n' * 10_000_000, None),
        (bytes(range(256)) * 40_000, 'not_text'),
        (b'a' * 40_000_000, 'too_long'),
    ],
    ids=range(11),
)
def test_an_enormous_plan_is_judged_soon(
    judge: Judge, plan: str | bytes, expected: str | None
) -> None:
    started = time.process_time()
    verdict = judge(plan)
    # generous: 10 000 steps take about a second; a pattern that tries again and again, minutes
    assert time.process_time() - started < 20
    if expected:
        assert expected in {failure.rule for failure in verdict.failures}
    assert verdict.steps <= MAX_STEPS


def test_names_that_pile_up_are_forgotten(tmp_path: Path) -> None:
    release = little_release(tmp_path)
    world = ReleaseWorld(release, release.tasks['000'])
    odd = '\n'.join(f'[GRAB] <thing{i}> (1)' for i in range(9_000))
    expected = world.judge('[GRAB] <apple> (1)')
    for _ in range(3):
        assert world.judge(odd).immediate > 9_000
        assert world.judge('[GRAB] <apple> (1)') == expected
    assert len(world._start.names.text) < 100


def test_a_plan_is_read_from_a_file_of_any_line_ends(tmp_path: Path) -> None:
    path = tmp_path / 'plan.txt'
    path.write_bytes(b'\xef\xbb\xbf[GRAB] <pan> (1)\r\n[WAIT] <5_s>\r[WAIT] <6_s>\n')
    assert [step.action for step in read_plan_file(path).steps] == ['grab', 'wait', 'wait']


def test_a_plan_without_a_line_is_empty_and_not_wrong() -> None:
    assert read_plan('') == read_plan('\n \n') == Plan(())
