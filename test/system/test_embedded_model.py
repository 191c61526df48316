"""The language model that is always there, really run."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ollama_double import OllamaDouble, chat_reply

from alpha_chaos.plan import ActionPlan, Waypoints
from alpha_chaos.planners.base import CompletionRequest, PlanRequest, Sampling
from alpha_chaos.planners.llm import Llm
from alpha_chaos.planners.oracle import Oracle
from alpha_chaos.planners.providers.base import ProviderError, Timeouts
from alpha_chaos.planners.providers.cache import Cached
from alpha_chaos.planners.providers.embedded import DEFAULT_MODEL, Embedded
from alpha_chaos.planners.providers.ollama import Ollama

pytestmark = pytest.mark.model

# Where the blocks lie after settling, and where a lagging sensor still sees them: higher.
SETTLED = {'red': (0.5, -0.15, 0.655), 'green': (0.5, 0.0, 0.655), 'blue': (0.5, 0.15, 0.655)}
STALE = {'red': (0.5, -0.15, 0.68), 'green': (0.5, 0.0, 0.68), 'blue': (0.5, 0.15, 0.68)}
REQUEST = PlanRequest(
    block='red',
    zone=(0.6, 0.35, 0.65),
    success_radius=0.05,
    blocks=SETTLED,
    observed_s=0.5,
    waypoints=Waypoints(hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06),
)
SHORT = CompletionRequest('You plan.', 'Move red.', ActionPlan.json_schema(), Sampling())


@pytest.fixture(scope='module')
def model() -> Iterator[Embedded]:
    provider = Embedded()
    yield provider
    provider.close()


@pytest.fixture(scope='module')
def kept(model: Embedded, tmp_path_factory: pytest.TempPathFactory) -> Cached:
    return Cached(model, tmp_path_factory.mktemp('replies'))


@pytest.mark.parametrize('blocks', [SETTLED, STALE], ids=['settled', 'stale'])
def test_it_plans_what_the_oracle_plans(
    kept: Cached, model: Embedded, blocks: dict[str, tuple[float, float, float]]
) -> None:
    request = replace(REQUEST, blocks=blocks)
    reply = Llm().plan(request, kept.complete)
    assert not reply.error
    assert reply.text is not None
    plan = ActionPlan.validate_raw_plan(reply.text).plan
    resolved = request.resolve(plan)
    assert resolved == Oracle().plan(request).plan
    info = reply.info
    assert (info.provider, info.model, info.digest) == ('embedded', DEFAULT_MODEL, model.digest())
    assert info.prompt_tokens > 100
    assert 10 < info.completion_tokens < 400
    assert info.wall_s > 0
    assert (info.done_reason, info.cached) == ('stop', False)


def test_the_same_reply_comes_through_the_protocol_of_ollama(
    kept: Cached, model: Embedded
) -> None:
    def chat(body: dict[str, Any]) -> dict[str, Any]:
        system, prompt = (message['content'] for message in body['messages'])
        options = body['options']
        sampling = Sampling(
            temperature=options['temperature'],
            top_p=options['top_p'],
            seed=options['seed'],
            max_tokens=options['num_predict'],
        )
        answer = kept.complete(CompletionRequest(system, prompt, body['format'], sampling))
        return chat_reply(
            answer.text,
            prompt_eval_count=answer.prompt_tokens,
            eval_count=answer.completion_tokens,
        )

    with OllamaDouble({'smollm2:135m': model.digest()}, chat=chat) as double:
        reply = Llm().plan(REQUEST, Ollama('smollm2:135m', host=double.host).complete)
    assert (reply.info.provider, reply.info.model) == ('ollama', 'smollm2:135m')
    direct = Llm().plan(REQUEST, kept.complete)
    assert direct.info.cached
    assert reply.text == direct.text
    assert reply.info.digest == direct.info.digest
    assert reply.info.completion_tokens == direct.info.completion_tokens


def test_whatever_it_is_asked_it_answers_in_the_schema(model: Embedded) -> None:
    question = CompletionRequest(
        'You chat.', 'Say hello, no JSON!', {'enum': ['yes', 'no']}, Sampling()
    )
    assert model.complete(question).text in ('"yes"', '"no"')


def test_the_limit_of_tokens_ends_an_answer_and_says_so(model: Embedded) -> None:
    answer = model.complete(replace(SHORT, options=Sampling(max_tokens=5)))
    assert (answer.done_reason, answer.completion_tokens) == ('length', 5)


def test_an_answer_that_takes_too_long_is_the_infrastructures_error() -> None:
    hasty = Embedded(timeouts=Timeouts(generate_s=0.05))
    with pytest.raises(ProviderError) as error:
        hasty.complete(replace(SHORT, options=Sampling(max_tokens=1500)))
    hasty.close()
    assert (error.value.code, error.value.infrastructure) == ('timeout', True)
    assert (error.value.provider, error.value.model) == ('embedded', DEFAULT_MODEL)


def test_an_answer_under_way_can_be_given_up() -> None:
    provider = Embedded()
    threading.Timer(0.7, provider.close).start()
    with pytest.raises(ProviderError) as error:
        provider.complete(replace(SHORT, options=Sampling(max_tokens=1500)))
    assert error.value.code == 'closed'


ASK = """
import threading, time
from alpha_chaos.planners.base import CompletionRequest, Sampling
from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.planners.providers.embedded import Embedded
provider = Embedded()
question = CompletionRequest('You write.', 'Write.', {'type': 'array'}, Sampling(max_tokens=1500))
def ask():
    try:
        provider.complete(question)
    except ProviderError:
        pass
threading.Thread(target=ask, daemon=True).start()
"""
LOADING = 'time.sleep(0.05)'
WRITING = """
while provider._server is None:
    time.sleep(0.01)
time.sleep(0.3)
"""


@pytest.mark.parametrize('leave', [LOADING, WRITING], ids=['loading', 'writing'])
def test_a_program_can_end_while_the_model_is_busy(leave: str) -> None:
    done = subprocess.run(
        [sys.executable, '-c', ASK + leave], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_a_question_it_cannot_take_is_a_typed_error(model: Embedded) -> None:
    for question, code in (
        (replace(SHORT, prompt='a b c ' * 3000), 'context_full'),
        (replace(SHORT, schema={'type': 'no such type'}), 'bad_request'),
    ):
        with pytest.raises(ProviderError) as error:
            model.complete(question)
        assert error.value.code == code


def test_a_file_that_is_no_model_is_a_typed_error(tmp_path: Path) -> None:
    file = tmp_path / 'not.gguf'
    file.write_bytes(b'no weights')
    with pytest.raises(ProviderError, match=r'not\.gguf is no model') as error:
        Embedded(str(file), cache=tmp_path).complete(SHORT)
    assert error.value.code == 'model_not_found'
