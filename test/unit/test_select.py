"""Which model answers."""

import socket
from pathlib import Path

import pytest
from ollama_double import DIGEST, OllamaDouble, chat_reply, hang

from alpha_chaos.plan import ActionPlan
from alpha_chaos.planners.base import CompletionRequest
from alpha_chaos.planners.providers.base import ProviderError, Timeouts
from alpha_chaos.planners.providers.embedded import DEFAULT_MODEL
from alpha_chaos.planners.providers.select import Choice, ProviderKind, choose

SHORT = Timeouts(connect_s=0.3, load_s=0.3, generate_s=0.3)
PATIENT = Timeouts(connect_s=30, load_s=30, generate_s=30)  # even on a busy machine


@pytest.fixture
def nobody() -> str:
    """An address where nothing listens."""
    with socket.socket() as closed:
        closed.bind(('127.0.0.1', 0))
        return f'127.0.0.1:{closed.getsockname()[1]}'


def pick(
    host: str, kind: ProviderKind = 'auto', model: str = '', timeouts: Timeouts = PATIENT
) -> Choice:
    return choose(kind, model, host=host, timeouts=timeouts, replies=Path('/nonexistent'))


def failure(host: str, kind: ProviderKind = 'auto', model: str = '') -> ProviderError:
    with pytest.raises(ProviderError) as error:
        pick(host, kind, model)
    return error.value


def test_auto_is_ollama_if_it_answers_and_has_a_model() -> None:
    with OllamaDouble() as double:
        choice = pick(double.host)
    assert (choice.provider.name, choice.provider.model) == ('ollama', 'llama3:latest')
    assert choice.sentence == (
        'Planning with llama3:latest of Ollama, because it answers at'
        f' http://{double.host}; no model was named.'
    )
    assert choice.settings == {'provider': 'ollama', 'model': 'llama3:latest'}


def test_auto_takes_the_model_that_was_named() -> None:
    with OllamaDouble({'a:latest': '', '7e1': DIGEST}) as double:
        assert pick(double.host, model='7e1').provider.model == '7e1'


def test_auto_is_the_embedded_model_if_nothing_answers(nobody: str) -> None:
    choice = pick(nobody)
    assert (choice.provider.name, choice.provider.model) == ('embedded', DEFAULT_MODEL)
    assert choice.sentence == (
        f'Planning with the embedded model {DEFAULT_MODEL},'
        f' because Ollama at http://{nobody} cannot be reached.'
    )
    assert choice.settings == {'provider': 'embedded', 'model': DEFAULT_MODEL}


def test_auto_is_the_embedded_model_if_ollama_has_none_or_hangs() -> None:
    with OllamaDouble({}) as double:
        choice = pick(double.host)
    assert choice.provider.name == 'embedded'
    assert 'has no model' in choice.sentence
    with OllamaDouble(tags=hang) as double:
        choice = pick(double.host, timeouts=SHORT)
    assert choice.provider.name == 'embedded'
    assert 'did not answer' in choice.sentence


def test_what_was_chosen_can_be_had_again_without_choosing(nobody: str) -> None:
    settings = pick(nobody).settings
    again = pick(nobody, 'embedded', settings['model'])
    assert again.provider.model == DEFAULT_MODEL
    assert again.settings == settings
    assert again.sentence.endswith('as asked for.')


def test_a_gguf_file_is_for_the_embedded_provider(nobody: str, tmp_path: Path) -> None:
    file = tmp_path / 'other.gguf'
    file.write_bytes(b'weights')
    choice = pick(nobody, model=str(file))
    assert (choice.provider.name, choice.provider.model) == ('embedded', 'other')
    assert choice.settings == {'provider': 'embedded', 'model': str(file)}


def test_a_named_model_is_never_replaced_by_another(nobody: str) -> None:
    with OllamaDouble({'gemma3:4b': ''}) as double:
        error = failure(double.host, model='llama3')
        assert error.code == 'model_not_found'
        assert 'ollama pull llama3' in error.message
        assert failure(double.host, 'ollama', 'llama3').code == 'model_not_found'
    error = failure(nobody, model='llama3')
    assert error.code == 'unreachable'
    assert DEFAULT_MODEL in error.message
    error = failure(nobody, 'embedded', 'llama3')
    assert error.code == 'model_not_found'
    assert DEFAULT_MODEL in error.message
    assert failure(nobody, model='/nowhere/some.gguf').code == 'model_not_found'


def test_ollama_that_was_asked_for_is_not_replaced_either(nobody: str) -> None:
    assert failure(nobody, 'ollama').code == 'unreachable'


def test_a_chosen_provider_keeps_its_replies(tmp_path: Path) -> None:
    question = CompletionRequest('You plan.', 'Move red.', ActionPlan.json_schema())
    with OllamaDouble(chat=chat_reply('{}')) as double:
        for cached in (False, True):
            choice = choose(host=double.host, timeouts=PATIENT, replies=tmp_path)
            assert choice.provider.complete(question).cached is cached


def test_with_neither_it_says_what_is_missing_of_both(
    nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    error = failure(nobody)
    assert error.code == 'not_installed'
    assert 'cannot be reached, and the embedded model is not installed' in str(error)
