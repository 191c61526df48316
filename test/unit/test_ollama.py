"""The Ollama provider against servers that behave, and servers that do not."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from ollama_double import (
    DIGEST,
    Answer,
    OllamaDouble,
    chat_reply,
    drop,
    flood,
    hang,
    trickle,
    trickle_headers,
)

from alpha_chaos.plan import ActionPlan
from alpha_chaos.planners.base import Completion, CompletionRequest, Sampling
from alpha_chaos.planners.providers.base import ProviderError, Timeouts
from alpha_chaos.planners.providers.ollama import Ollama

QUESTION = CompletionRequest(
    'You plan.', 'Move red.', ActionPlan.json_schema(), Sampling(seed=7, max_tokens=99)
)
SHORT = Timeouts(connect_s=0.3, load_s=0.3, generate_s=0.3)
PATIENT = Timeouts(connect_s=30, load_s=30, generate_s=30)  # even on a busy machine


@pytest.fixture(autouse=True)
def no_call_is_left_behind() -> Iterator[None]:
    """A call that was given up ends soon after its server."""
    yield
    until = time.monotonic() + 30
    while any(thread.name == 'completion' for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)


def ask(double: OllamaDouble, model: str = '', timeouts: Timeouts = PATIENT) -> Completion:
    return Ollama(model, host=double.host, timeouts=timeouts).complete(QUESTION)


def failure(double: OllamaDouble, model: str = '', timeouts: Timeouts = PATIENT) -> ProviderError:
    with pytest.raises(ProviderError) as error:
        ask(double, model, timeouts)
    assert error.value.infrastructure
    assert error.value.provider == 'ollama'
    return error.value


def test_schema_and_options_go_where_the_server_reads_them() -> None:
    with OllamaDouble(chat=chat_reply('{}')) as double:
        ask(double)
        (listed, _), (loaded, load), (path, body) = double.asked
    assert (listed, loaded, path) == ('/api/tags', '/api/generate', '/api/chat')
    assert body['format'] == ActionPlan.json_schema()
    sampling = {'temperature': 0.0, 'top_p': 0.9, 'seed': 7, 'num_predict': 99}
    assert body['options'].items() >= sampling.items()
    assert not body.keys() & {'seed', 'temperature', 'top_p', 'num_predict'}
    assert [part['role'] for part in body['messages']] == ['system', 'user']
    assert [part['content'] for part in body['messages']] == ['You plan.', 'Move red.']
    assert body['stream'] is False
    assert load['options'] == body['options']  # other options would load the model again
    assert not load.get('prompt')


def test_a_reply_comes_with_its_provenance() -> None:
    with OllamaDouble(chat=chat_reply('{"actions":[]}')) as double:
        reply = ask(double)
    assert reply.text == '{"actions":[]}'
    assert (reply.provider, reply.model, reply.digest) == ('ollama', 'llama3:latest', DIGEST)
    assert (reply.prompt_tokens, reply.completion_tokens) == (770, 249)
    assert (reply.done_reason, reply.cached) == ('stop', False)
    assert 0 < reply.wall_s < 30


def test_text_beside_the_answer_is_not_the_answer() -> None:
    with OllamaDouble(chat=chat_reply('', thinking='Let me see.')) as double:
        reply = ask(double)
    assert (reply.text, reply.thinking) == ('', 'Let me see.')


def test_a_reply_cut_off_says_so() -> None:
    with OllamaDouble(chat=chat_reply(' ' * 99, done_reason='length')) as double:
        assert ask(double).done_reason == 'length'


def test_a_reply_without_counts_is_a_reply() -> None:
    reply = {'message': {'role': 'assistant', 'content': None}, 'done': True}
    with OllamaDouble(chat=reply) as double:
        answer = ask(double)
    assert (answer.text, answer.prompt_tokens, answer.done_reason) == ('', 0, '')


def test_a_server_that_counts_below_zero_has_counted_nothing() -> None:
    with OllamaDouble(chat=chat_reply('x', prompt_eval_count=-5, eval_count=-1)) as double:
        answer = ask(double)
    assert (answer.prompt_tokens, answer.completion_tokens) == (0, 0)


@pytest.mark.parametrize(
    'tag', ['7e1', '123E5', '1', 'null', 'library/llama3:8b-q4', 'hf.co/a/b:Q4']
)
def test_a_tag_stays_what_it_is(tag: str) -> None:
    with OllamaDouble({'other:latest': '', tag: DIGEST}, chat=chat_reply('{}')) as double:
        assert ask(double, tag).model == tag
        assert double.asked[-1][1]['model'] == tag


def test_a_tag_without_a_version_means_the_latest() -> None:
    with OllamaDouble({'llama3:latest': f'sha256:{DIGEST}'}, chat=chat_reply('{}')) as double:
        reply = ask(double, 'llama3')
    assert (reply.model, reply.digest) == ('llama3:latest', DIGEST)


@pytest.mark.parametrize(
    ('models', 'chosen'),
    [
        ({'gemma3:4b': '', 'llama3:latest': ''}, 'llama3:latest'),
        ({'gemma3:4b': '', 'qwen3:8b': ''}, 'gemma3:4b'),
    ],
)
def test_without_a_model_it_is_the_papers_else_the_first(
    models: dict[str, str], chosen: str
) -> None:
    with OllamaDouble(models) as double:
        assert Ollama(host=double.host).model == chosen


def test_a_missing_model_is_named_with_those_there_are_and_how_to_get_it() -> None:
    with OllamaDouble({'gemma3:4b': '', 'qwen3:8b': ''}) as double:
        error = failure(double, '7e1')
    assert error.code == 'model_not_found'
    for words in ("'7e1'", 'gemma3:4b, qwen3:8b', 'ollama pull 7e1'):
        assert words in error.message


def test_a_server_without_models_says_how_to_get_one() -> None:
    with OllamaDouble({}) as double:
        error = failure(double)
    assert error.code == 'model_not_found'
    assert 'ollama pull llama3' in error.message


@pytest.mark.parametrize(
    ('answer', 'code'),
    [
        ((404, {'error': 'model "llama3" not found, try pulling it first'}), 'model_not_found'),
        ((404, b'404 page not found'), 'bad_response'),
        ((429, {'error': 'too many requests'}), 'rate_limited'),
        ((401, {'error': 'unauthorized'}), 'forbidden'),
        ((400, {'error': 'invalid options'}), 'bad_request'),
        ((500, {'error': 'llama runner process has terminated'}), 'server_error'),
        ((503, b'<html>overloaded</html>'), 'server_error'),
        (b'<html>hello</html>', 'bad_response'),
        (b'', 'bad_response'),
        (b'[1, 2]', 'bad_response'),
        (b'{"message": 5}', 'bad_response'),
        (b'{"message": {"role": "assistant", "content": "\xff"}}', 'bad_response'),
        ({'error': 'something'}, 'bad_response'),
        (drop, 'connection_lost'),
    ],
)
def test_every_other_answer_is_a_typed_error(answer: Answer, code: str) -> None:
    with OllamaDouble(chat=answer) as double:
        assert failure(double).code == code


@pytest.mark.parametrize('answer', [hang, trickle, trickle_headers])
@pytest.mark.parametrize(
    ('stage', 'limit', 'code'),
    [
        ('tags', 'connect_s', 'timeout'),
        ('load', 'load_s', 'load_timeout'),
        ('chat', 'generate_s', 'timeout'),
    ],
)
def test_no_stage_waits_longer_than_its_limit(
    answer: Answer, stage: str, limit: str, code: str
) -> None:
    with OllamaDouble(**{'chat': chat_reply('{}'), stage: answer}) as double:
        start = time.monotonic()
        error = failure(double, timeouts=replace(PATIENT, **{limit: 0.3}))
        assert 0.25 < time.monotonic() - start < 20
    assert error.code == code
    assert 'did not answer within 0.3 s' in error.message


def test_a_slow_load_does_not_run_into_the_limit_of_an_answer() -> None:
    def load(body: object) -> dict[str, object]:
        time.sleep(1.2)
        return {'response': '', 'done': True, 'done_reason': 'load'}

    patient = replace(PATIENT, generate_s=1.0)
    with OllamaDouble(load=load, chat=chat_reply('{}')) as double:
        reply = ask(double, timeouts=patient)
    assert reply.wall_s < 1.0  # the load is not part of it


def test_a_server_that_never_takes_the_connection_is_a_timeout() -> None:
    with socket.socket() as listening:
        listening.bind(('127.0.0.1', 0))
        listening.listen()
        host = f'127.0.0.1:{listening.getsockname()[1]}'
        with pytest.raises(ProviderError) as error:
            Ollama(host=host, timeouts=SHORT)
    assert error.value.code == 'timeout'


def test_nobody_there_is_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(('127.0.0.1', 0))
        host = f'127.0.0.1:{closed.getsockname()[1]}'
        with pytest.raises(ProviderError, match=host) as error:
            Ollama(host=host, timeouts=SHORT)
    assert error.value.code == 'unreachable'


@pytest.mark.parametrize('host', ['http://[', '127.0.0.1:port'])
def test_an_address_that_is_none_is_named(host: str) -> None:
    with pytest.raises(ProviderError, match='no address') as error:
        Ollama(host=host, timeouts=SHORT)
    assert error.value.code == 'bad_setting'


def test_the_server_is_found_through_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # A proxy for the internet must not come between, on the way to this very machine.
    monkeypatch.setenv('HTTP_PROXY', 'http://127.0.0.1:9')
    monkeypatch.setenv('http_proxy', 'http://127.0.0.1:9')
    monkeypatch.delenv('NO_PROXY', raising=False)
    monkeypatch.delenv('no_proxy', raising=False)
    with OllamaDouble() as double:
        monkeypatch.setenv('OLLAMA_HOST', double.host)
        assert Ollama(timeouts=PATIENT).url == f'http://{double.host}'


def test_an_answer_that_nobody_wants_any_more_is_given_up() -> None:
    with OllamaDouble(chat=hang) as double:
        provider = Ollama(host=double.host, timeouts=Timeouts(generate_s=60))
        threading.Timer(0.1, provider.close).start()
        with pytest.raises(ProviderError) as error:
            provider.complete(QUESTION)
    assert error.value.code == 'closed'


def test_a_reply_without_an_end_is_not_read_into_memory() -> None:
    with OllamaDouble(chat=flood) as double:
        error = failure(double)
    assert error.code == 'bad_response'
    assert 'bytes' in error.message
