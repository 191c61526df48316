"""The benchmark with the language model that is always there, from prompt to table."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_chaos.planners.base import CompletionRequest, Sampling
from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.planners.providers.embedded import DEFAULT_MODEL, Embedded
from alpha_chaos.worldmodel.answers import final, read
from alpha_chaos.worldmodel.baselines import BASELINES
from alpha_chaos.worldmodel.score import own_tasks

pytestmark = pytest.mark.model
TASKS = 10
LIMIT_S = 180.0  # of one core: three minutes are what it may take where everything is tested
PATIENCE_S = 1200.0  # the cores may be busy with other things


TOLD = f'You know a kitchen.\n{"What lies on the counter is within reach. " * 12}'
ASKED = ('Boil an egg.', 'Boil two eggs.', 'Bake bread.')


def test_a_beginning_that_is_not_read_again_changes_no_reply() -> None:
    replies = []
    for keep_prompt in (False, True):
        model = Embedded(keep_prompt=keep_prompt)
        questions = [
            CompletionRequest(TOLD, each, None, Sampling(max_tokens=16)) for each in ASKED
        ]
        replies.append([model.complete(question).text for question in questions])
        model.close()
    assert replies[0] == replies[1]
    assert len(set(replies[0])) > 1


def test_a_prompt_that_does_not_fit_is_refused_and_named_so() -> None:
    model = Embedded(context_tokens=256)
    with pytest.raises(ProviderError) as error:
        model.complete(CompletionRequest(TOLD * 4, ASKED[0], None, Sampling(max_tokens=16)))
    model.close()
    assert error.value.code == 'context_full'
    assert 'exceeds the available context size (256 tokens)' in error.value.message


def test_ten_tasks_are_planned_judged_and_stand_beside_the_baselines(tmp_path: Path) -> None:
    exams = own_tasks(short_prompts=True)
    shortest = sorted(exams, key=lambda name: len(exams[name].briefing().situation))[:TASKS]
    out = tmp_path / 'run'
    # The whole kitchen takes a 135 M model minutes to read; the beginning is read once.
    settings = ('--out', out, '--llm', 'embedded', '--short-prompts', '--context', '4096')
    asked = ('--conditions', 'base', '--tasks', ','.join(shortest), '--reply-tokens', '40')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*[sys.executable, '-m', 'alpha_chaos.cli', 'simmer', 'run'], *settings, *asked],
        env={**os.environ, 'COLUMNS': '200'},
        timeout=PATIENCE_S,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    assert done.returncode == 0, done.stderr
    answers = final(read(out))
    planned = {task: answers['base', task] for task in shortest}
    for task, answer in planned.items():
        assert answer.status == 'done', task
        (exchange,) = answer.exchanges
        assert exchange.prompt_tokens > 1000
        assert 0 < exchange.completion_tokens <= 40
        assert answer.verdict is not None
    assert len({answer.exchanges[0].prompt_sha256 for answer in planned.values()}) == TASKS
    clean = {
        name: sum(
            verdict.clean
            for task in shortest
            if (verdict := answers[name, task].verdict) is not None
        )
        for name in BASELINES
    }
    assert (clean['golden'], clean['empty']) == (TASKS, 0)
    assert DEFAULT_MODEL in done.stdout
    for name in (*BASELINES, 'base'):
        assert any(line.startswith(name) for line in done.stdout.split('\n')), name
    assert (out / 'report' / 'index.html').is_file()
    print(
        f'{TASKS} tasks in {took_s:.0f} s of one core\n{done.stdout}'
    )  # shown with -rP, whatever it is
    assert took_s < LIMIT_S
