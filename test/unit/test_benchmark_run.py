"""`alpha-chaos simmer run`: asked, judged, stopped, gone on with, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from kitchenette import CHICKEN, GERMS, LETTUCE, answers, write_kitchenette
from ollama_double import OllamaDouble, chat_reply
from release_data import write_release
from rich.console import Console
from typer.testing import CliRunner

from alpha_chaos.cli import app
from alpha_chaos.planners.base import Completion, CompletionRequest
from alpha_chaos.planners.providers.embedded import Embedded
from alpha_chaos.run.benchmark import Display, lasting
from alpha_chaos.worldmodel.answers import Answer, VerdictRecord, final, read
from alpha_chaos.worldmodel.benchmark_manifest import read_manifest
from alpha_chaos.worldmodel.verdict import Verdict

BY_TITLE = {'Serve lettuce': LETTUCE, 'Warm the chicken': CHICKEN}


@pytest.fixture(scope='module')
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_kitchenette(tmp_path_factory.mktemp('world') / 'kitchenette')


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / 'run'


def simmer(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ['simmer', *map(str, arguments)])
    return result.exit_code, result.output


def ask(world: Path, out: Path, double: OllamaDouble, *more: object) -> tuple[int, str]:
    os.environ['OLLAMA_HOST'] = double.host
    # Drawing takes seconds, and other tests look at the page.
    common = ('--world', world, '--out', out, '--llm', 'ollama', '--no-report')
    return simmer('run', *common, *more)


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test find a real server; what a test sets is undone."""
    monkeypatch.setenv('OLLAMA_HOST', '127.0.0.1:1')


def counted(out: Path) -> dict[tuple[str, str], Answer]:
    return final(read(out))


def questions(double: OllamaDouble) -> int:
    return sum(path == '/api/chat' for path, _ in double.asked)


def test_every_plan_is_judged_beside_the_baselines_and_can_be_scored_again(
    world: Path, out: Path
) -> None:
    told = {**BY_TITLE, 'Serve lettuce': GERMS}
    with OllamaDouble(chat=answers(told)) as double:
        code, said = ask(world, out, double, '--conditions', 'base,self-refine')
    assert code == 0, said
    found = counted(out)
    clean = {key: answer.verdict and answer.verdict.clean for key, answer in found.items()}
    assert clean == {
        ('empty', 'salad'): False,
        ('empty', 'warm_chicken'): False,
        ('golden', 'salad'): True,
        ('golden', 'warm_chicken'): True,
        ('shuffled', 'salad'): True,  # its two steps, drawn in their own order
        ('shuffled', 'warm_chicken'): False,
        ('truncated', 'salad'): False,
        ('truncated', 'warm_chicken'): False,
        ('base', 'salad'): False,
        ('base', 'warm_chicken'): True,
        ('self-refine', 'salad'): False,
        ('self-refine', 'warm_chicken'): True,
    }
    germs = found['base', 'salad'].verdict
    assert germs is not None
    # Chicken on the board in step 2, hands and lettuce in 1 and 3; served, and so sealed, in 4.
    assert [(f.rule, f.planted, f.sealed) for f in germs.failures] == [('served_with_germs', 1, 4)]
    twice = found['self-refine', 'salad'].exchanges
    assert [(e.prompt_tokens, e.completion_tokens, e.cached) for e in twice] == [
        (770, 249, True),  # the question of `base`, which was asked already
        (770, 249, False),
    ]
    for name in ('empty', 'golden', 'shuffled', 'truncated', 'base', 'self-refine'):
        assert name in said
    written = out.parent / 'score.json'
    code, said = simmer(
        'score', '--world', world, '--plans', out / 'plans' / 'base', '--json', written
    )
    assert code == 0, said
    assert json.loads(written.read_text())['tasks']['salad']['latent'] == 1
    assert 'golden' in said  # in every table
    manifest = json.loads((out / 'manifest.json').read_text())
    assert manifest['model']['digest'].startswith('365c0bd3c000')
    assert manifest['tasks']['names'] == ['salad', 'warm_chicken']


def test_the_same_call_again_asks_nothing_and_adds_nothing(world: Path, out: Path) -> None:
    with OllamaDouble(chat=answers(BY_TITLE)) as double:
        assert ask(world, out, double, '--conditions', 'base')[0] == 0
        journal = (out / 'journal.jsonl').read_bytes()
        asked = questions(double)
        assert ask(world, out, double, '--conditions', 'base')[0] == 0
        assert (out / 'journal.jsonl').read_bytes() == journal
        assert questions(double) == asked
        # More is added to what is there.
        assert ask(world, out, double, '--conditions', 'foresight', '--tasks', 'sal*')[0] == 0
        said = simmer('table', out)[1]
        assert 'missing' not in said  # foresight was asked for one task, and base for both
        planned = read_manifest(out).planned()
    assert planned == {('base', 'salad'), ('base', 'warm_chicken'), ('foresight', 'salad')}
    assert set(counted(out)) - {key for key in counted(out) if key[0] != 'foresight'} == {
        ('foresight', 'salad')
    }


def test_what_is_asked_for_and_what_is_under_way_is_said_before_the_first_answer(
    world: Path, out: Path
) -> None:
    with OllamaDouble(chat=answers(BY_TITLE)) as double:
        said = ask(world, out, double, '--conditions', 'base,self-refine')[1].splitlines()
        again = ask(world, out, double, '--conditions', 'base,self-refine')[1]
    assert said[1:4] == [
        '4 plans to ask for: 2 tasks in each of base, self-refine',
        '0/4 plans, 0 s: base/salad under way',
        '1/4 base/salad: 2 steps, immediate 0, latent 0, clean',
    ]
    assert '0 plans to ask for: 2 tasks in each of base, self-refine; 4 are there' in again


def test_the_embedded_model_is_said_to_take_long_before_it_is_asked(
    world: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Embedded, request: CompletionRequest) -> Completion:
        raise KeyboardInterrupt

    def close(self: Embedded) -> None:
        closing.append(signal.getsignal(signal.SIGINT))

    closing: list[object] = []
    monkeypatch.setattr(Embedded, 'complete', stop)
    monkeypatch.setattr(Embedded, 'close', close)
    arguments = ('--world', world, '--out', out, '--llm', 'embedded')
    code, said = simmer('run', *arguments)
    assert code == 130
    assert closing == [signal.SIG_IGN]  # a second Ctrl-C does not cut that off
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    assert said.splitlines()[-1] == 'stopped; the same command goes on where this one ended'
    assert said.splitlines()[1:3] == [
        '4 plans to ask for: 2 tasks in each of base, foresight',
        'With the embedded model a plan takes a minute or more on two cores, a dialogue many '
        'times that, so this may take 4 min or more; begin with a few: --tasks salad; '
        '--short-prompts and fewer --reply-tokens make it shorter',
    ]
    code, said = simmer('run', *arguments, '--tasks', 'salad', '--conditions', 'base')
    assert '1 plan to ask for: 1 task in each of base\n' in said
    assert 'begin with' not in said
    said = simmer('table', out)[1]
    assert said.splitlines()[-1] == '4 of 4 plans are missing; the same command goes on'
    (out / 'manifest.json').unlink()
    assert 'missing' not in simmer('table', out)[1]


def judged(task: str) -> Answer:
    return Answer(
        plan_set='base',
        task=task,
        origin='model',
        status='done',
        verdict=VerdictRecord.of(Verdict(0, (), False)),
    )


def test_lines_for_logs_come_now_and_then_and_say_how_long_it_will_take() -> None:
    now_s = [0.0]
    console = Console(record=True, width=120, force_terminal=False)
    with Display(console, 300, 100, lambda: now_s[0]) as display:
        display.under_way('base/a')
        now_s[0] = 9.0
        display.under_way('base/a, question 2')  # too soon for another line
        now_s[0] = 70.0
        display.show(judged('a'))
        display.under_way('base/b')
        now_s[0] = 100.0
        display.under_way('base/b, question 2')
    # One plan in 70 s, 199 to go: 3.87 h, however long the one under way has been so.
    assert console.export_text().splitlines() == [
        '100/300 plans, 0 s: base/a under way',
        '101/300 base/a: 0 steps, immediate 0, latent 0',
        '101/300 plans, 70 s, about 3.9 h left: base/b under way',
        '101/300 plans, 100 s, about 3.9 h left: base/b, question 2 under way',
    ]
    assert [lasting(each) for each in (119.4, 120.0, 7199.0, 7200.0)] == [
        '119 s',
        '2 min',
        '120 min',
        '2.0 h',
    ]


def test_a_bar_names_the_plan_under_way_and_knows_the_time_left_of_slow_ones() -> None:
    now_s = [0.0]
    console = Console(record=True, width=100, force_terminal=True)
    with Display(console, 4, 1, lambda: now_s[0]) as display:
        for task in ('[red]a', 'b'):
            now_s[0] += 100.0
            display.show(judged(task))
            display.under_way(f'base/{task}')
        display.under_way('base/[red]c')
    last = console.export_text().partition('base/[red]c')[2]
    # Three of four are there after 200 s, the last two 100 s apart: another 1:40.
    assert last.split()[-4:] == ['3/4', '0:03:20', 'left', '01:40']


def test_a_run_that_was_killed_goes_on_where_it_was(world: Path, out: Path) -> None:
    def slow(body: dict[str, Any]) -> dict[str, Any]:
        reply = answers(BY_TITLE)(body)
        if 'Warm the chicken' in body['messages'][-1]['content'] and not killed:
            time.sleep(60)
        return reply

    killed: list[bool] = []
    arguments = ('--world', str(world), '--out', str(out), '--llm', 'ollama', '--no-report')
    arguments += ('--conditions', 'base')
    with OllamaDouble(chat=slow) as double:
        running = subprocess.Popen(
            [sys.executable, '-m', 'alpha_chaos.cli', 'simmer', 'run', *arguments],
            env={**os.environ, 'OLLAMA_HOST': double.host},
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not (out / 'plans' / 'base' / 'plan_salad.txt').is_file():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.wait(10)
        killed.append(True)
        with (out / 'journal.jsonl').open('ab') as file:
            file.write(b'{"plan_set":"base","task":"warm')  # what a kill in mid-write leaves
        assert ('base', 'salad') in {answer.key for answer in read(out)}
        assert ask(world, out, double, '--conditions', 'base')[0] == 0
        asked = [body for path, body in double.asked if path == '/api/chat']
    titles = ['Serve lettuce' in body['messages'][-1]['content'] for body in asked]
    assert titles.count(True) == 1
    assert counted(out)['base', 'warm_chicken'].status == 'done'
    assert (out / 'journal.torn').is_file()


def test_no_answer_is_no_failure_of_the_plan_and_the_run_can_be_mended(
    world: Path, out: Path
) -> None:
    def broken(body: dict[str, Any]) -> Any:
        if 'Warm the chicken' in body['messages'][-1]['content']:
            return 500, {'error': 'out of memory'}
        return chat_reply(LETTUCE)

    with OllamaDouble(chat=lambda body: broken(body)) as double:  # type: ignore[arg-type]
        code, said = ask(world, out, double, '--conditions', 'base', '--retries', '1')
    assert code == 3
    assert 'aborted: server_error' in said
    rows = [answer for answer in read(out) if answer.key == ('base', 'warm_chicken')]
    assert [(row.status, row.attempt) for row in rows] == [('aborted', 1), ('aborted', 2)]
    code, table = simmer('table', out)
    assert code == 0
    line = next(text for text in table.split('\n') if text.startswith('base'))
    assert line.split()[1] == '1'  # one plan judged; the other is in no count
    with OllamaDouble(chat=answers(BY_TITLE)) as double:
        assert ask(world, out, double, '--conditions', 'base')[0] == 0
    assert counted(out)['base', 'warm_chicken'].attempt == 3


def test_a_server_that_is_gone_is_not_asked_for_every_task(world: Path, out: Path) -> None:
    with OllamaDouble(chat=lambda body: (500, b'{}')) as double:  # type: ignore[arg-type, return-value]
        code, said = ask(world, out, double, '--conditions', 'base,foresight', '--retries', '0')
        assert (code, questions(double)) == (3, 3)
    assert 'giving up' in said
    assert '4 of 4 plans are missing; the same command goes on' in said
    code, said = simmer('table', out)
    assert (code, said.splitlines()[-1]) == (
        0,
        '4 of 4 plans are missing; the same command goes on',
    )


def test_plans_from_files_need_no_model(world: Path, out: Path, tmp_path: Path) -> None:
    plans = tmp_path / 'mine'
    plans.mkdir()
    (plans / 'plan_salad.txt').write_text(GERMS)
    (plans / 'plan_warm_chicken.txt').write_bytes(b'\xff\xfe' * 1000)
    code, said = simmer('run', '--world', world, '--out', out, '--plans', plans, '--no-report')
    assert code == 0, said
    found = counted(out)
    assert found['mine', 'salad'].origin == 'files'
    verdicts = {task: found['mine', task].verdict for task in ('salad', 'warm_chicken')}
    rules = {task: [f.rule for f in v.failures] for task, v in verdicts.items() if v}
    assert rules == {'salad': ['served_with_germs'], 'warm_chicken': ['not_text']}
    (plans / 'plan_salad.txt').write_text(LETTUCE)
    code, said = simmer('run', '--world', world, '--out', out, '--plans', plans, '--no-report')
    assert (code, 'holds other plans called mine' in said) == (2, True)


@pytest.mark.parametrize('mode', ['strict', 'compat'])
def test_the_tasks_of_the_release_can_be_asked_in_both_modes(
    out: Path, tmp_path: Path, mode: str
) -> None:
    def chat(body: dict[str, Any]) -> dict[str, Any]:
        asked = body['messages'][-1]['content'].count('Observation:')
        return chat_reply('Action: DONE' if asked == 2 else '[SWITCH_ON] <stove> (1)')

    data = write_release(tmp_path / 'data')
    with OllamaDouble(chat=chat) as double:
        os.environ['OLLAMA_HOST'] = double.host
        more = ('--llm', 'ollama', '--conditions', 'base,react', '--no-report')
        code, said = simmer('run', '--data', data, '--mode', mode, '--out', out, *more)
    assert code == 0, said
    assert 'golden (no' in said
    verdict = counted(out)['base', '000'].verdict
    assert verdict is not None
    # Compat also counts the pear that lies on the counter, which no step touched.
    assert verdict.latent == {'strict': 1, 'compat': 2}[mode]
    react = counted(out)['react', '000']
    assert (react.ended, len(react.exchanges)) == ('done', 3)
    assert react.plan == '1. [SWITCH_ON] <stove> (1)\n2. [SWITCH_ON] <stove> (1)'


@pytest.mark.parametrize(
    ('arguments', 'complaint'),
    [
        (('--conditions', 'bsae'), "unknown condition 'bsae', did you mean 'base'"),
        (('--tasks', 'soup_*'), "unknown task 'soup_*'"),
        (('--plans', '{tmp}/none'), 'there is no such folder'),
        (('--plans', '{tmp}'), 'there is no plan such as plan_salad.txt'),
        (('--world', 'kitchne'), "unknown world 'kitchne', did you mean 'kitchen'"),
        (('--mode', 'compat'), 'it needs --data DIR'),
        (('--model', 'mistral'), "has no model 'mistral'"),
        (
            ('--context', '300'),
            'tokens; give more --context, or choose --short-prompts or --tasks',
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    world: Path, out: Path, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    with OllamaDouble(chat=answers(BY_TITLE)) as double:
        code, said = ask(world, out, double, *(word.format(tmp=tmp_path) for word in arguments))
        assert questions(double) == 0
    assert code == 2, said
    assert complaint in said
    assert said.count('\n') <= 2  # which model it is may have been said before


def test_a_prompt_that_the_model_has_no_room_for_is_refused(world: Path, out: Path) -> None:
    with OllamaDouble(chat=answers(BY_TITLE), context_length=400) as double:
        code, said = ask(world, out, double)
    assert code == 2
    assert 'the prompts of 2 tasks may not fit into 400 tokens' in said
    assert 'take another model, llama3:latest has no more' in said


def test_a_dialogue_ends_before_the_server_would_cut_off_its_beginning(
    world: Path, out: Path
) -> None:
    def wait(body: dict[str, Any]) -> dict[str, Any]:
        size = sum(len(message['content']) for message in body['messages'])
        return chat_reply('[WAIT] <1_minutes>', prompt_eval_count=size // 3)

    # 2700 bytes may be 1080 tokens at the first question, and are known to be 900 at the second.
    with OllamaDouble(chat=wait, context_length=1150) as double:
        code, said = ask(world, out, double, '--conditions', 'react', '--tasks', 'salad')
    assert code == 0, said
    react = counted(out)['react', 'salad']
    assert react.ended == 'context_full'
    assert 5 < len(react.exchanges) < 80
    assert react.exchanges[-1].prompt_tokens <= 1150 < react.exchanges[-1].prompt_tokens + 30


def test_another_run_is_not_mixed_in(world: Path, out: Path, tmp_path: Path) -> None:
    with OllamaDouble(chat=answers(BY_TITLE)) as double:
        assert ask(world, out, double, '--conditions', 'base')[0] == 0
        code, said = ask(world, out, double, '--reply-tokens', '99')
        assert (code, 'answers of at most 2048 tokens' in said) == (2, True)
    with OllamaDouble({'llama3:latest': 'f' * 64}, chat=answers(BY_TITLE)) as double:
        code, said = ask(world, out, double)
        assert (code, 'holds answers of llama3:latest' in said) == (2, True)
    changed = write_kitchenette(tmp_path / 'kitchenette')
    (changed / 'tasks' / 'salad.yaml').write_text(
        (changed / 'tasks' / 'salad.yaml').read_text().replace('Serve', 'Bring')
    )
    with OllamaDouble(chat=answers(BY_TITLE)) as double:
        code, said = ask(changed, out, double)
        assert (code, 'another version of the tasks' in said) == (2, True)
