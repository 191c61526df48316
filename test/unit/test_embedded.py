"""The embedded provider as far as no model is run."""

import importlib.metadata
import importlib.util
import sys
import time
from pathlib import Path

import pytest

from alpha_chaos.planners.base import CompletionRequest
from alpha_chaos.planners.providers.base import ProviderError, Timeouts
from alpha_chaos.planners.providers.embedded import (
    DEFAULT_MODEL,
    MODEL_PACKAGE,
    Embedded,
    file_digest,
    model_file,
)

QUESTION = CompletionRequest('You plan.', 'Move red.', {'type': 'object'})


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / 'some.gguf'
    file.write_bytes(b'no weights')
    return file


def test_the_shipped_model_is_found_without_importing_its_package() -> None:
    assert model_file() == model_file(DEFAULT_MODEL)
    assert model_file().stem == DEFAULT_MODEL
    assert MODEL_PACKAGE not in sys.modules


def test_a_model_that_is_not_there_is_named_with_what_is() -> None:
    with pytest.raises(ProviderError, match=f"'llama3'.*{DEFAULT_MODEL}.*gguf") as error:
        Embedded('llama3')
    assert error.value.code == 'model_not_found'


@pytest.mark.parametrize('package', [MODEL_PACKAGE, 'xllamacpp'])
def test_a_missing_package_is_named(
    package: str, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setitem(sys.modules, 'xllamacpp', None)
    monkeypatch.setattr(
        importlib.util, 'find_spec', lambda name: None if name == package else find_spec(name)
    )
    with pytest.raises(ProviderError, match=package.replace('_', '-')) as error:
        Embedded('' if package == MODEL_PACKAGE else str(weights), cache=weights.parent).complete(
            QUESTION
        )
    assert error.value.code == 'not_installed'
    assert error.value.infrastructure


def test_the_program_that_runs_the_model_is_on_record(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = importlib.metadata.version('xllamacpp')
    assert Embedded(str(weights)).engine == f'xllamacpp {version}'

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr('alpha_chaos.planners.providers.embedded.version', missing)
    assert Embedded(str(weights)).engine == ''


def test_loading_has_a_limit_of_its_own(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Embedded(str(weights), timeouts=Timeouts(load_s=0.05), cache=weights.parent)
    monkeypatch.setattr(provider, '_load', lambda: time.sleep(0.3))
    with pytest.raises(ProviderError, match=r'loading some: no answer within 0\.05 s') as error:
        provider.complete(QUESTION)
    assert error.value.code == 'load_timeout'
    provider.close()


def test_the_digest_of_a_file_is_computed_once_until_it_changes(
    weights: Path, tmp_path: Path
) -> None:
    cache = tmp_path / 'cache'
    first = file_digest(weights, cache)
    (note,) = cache.iterdir()
    note.write_text(note.read_text().replace(first, 'remembered'))
    assert file_digest(weights, cache) == 'remembered'
    note.write_text('{')
    assert file_digest(weights, cache) == first
    weights.write_bytes(b'others')
    assert file_digest(weights, cache) not in (first, 'remembered')


def test_a_file_that_cannot_be_read_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r'cannot read .*missing\.gguf') as error:
        file_digest(tmp_path / 'missing.gguf', tmp_path)
    assert error.value.code == 'model_not_found'
