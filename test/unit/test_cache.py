"""Replies that are kept."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from alpha_chaos.planners.base import Completion, CompletionRequest, Sampling
from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.planners.providers.cache import Cached, user_cache, write_atomically

QUESTION = CompletionRequest('system', 'prompt', {'type': 'object'}, Sampling())


class Model:
    """A provider that counts how often it was asked."""

    name = 'embedded'
    model = 'tiny'
    engine = 'engine 1'

    def __init__(self, digest: str = 'ab' * 32, done_reason: str = 'stop', text: str = '{"é": 1}'):
        self._digest = digest
        self._done_reason = done_reason
        self._text = text
        self.asked = 0
        self.closed = False

    def digest(self) -> str:
        return self._digest

    def complete(self, request: CompletionRequest) -> Completion:
        self.asked += 1
        wall_s = 1.0 + self.asked
        return Completion(
            self._text, self.name, self.model, self._digest, 700, 99, wall_s, self._done_reason
        )

    def close(self) -> None:
        self.closed = True


def test_the_same_question_is_asked_once_and_says_so(tmp_path: Path) -> None:
    model = Model()
    first = Cached(model, tmp_path).complete(QUESTION)
    second = Cached(model, tmp_path).complete(QUESTION)
    assert model.asked == 1
    assert not first.cached
    assert second == replace(first, cached=True)  # with the first one's time and counts


@pytest.mark.parametrize(
    'other',
    [
        replace(QUESTION, system='other'),
        replace(QUESTION, prompt='other'),
        replace(QUESTION, system='systemp', prompt='rompt'),
        replace(QUESTION, schema={'type': 'array'}),
        replace(QUESTION, options=Sampling(seed=7)),
        replace(QUESTION, options=Sampling(max_tokens=7)),
        replace(QUESTION, options=Sampling(top_p=0.5)),
    ],
)
def test_another_question_is_asked_anew(tmp_path: Path, other: CompletionRequest) -> None:
    model = Model()
    cached = Cached(model, tmp_path)
    cached.complete(QUESTION)
    assert not cached.complete(other).cached
    assert model.asked == 2


def test_the_order_in_which_keys_are_to_be_written_makes_another_question(tmp_path: Path) -> None:
    model = Model()
    cached = Cached(model, tmp_path)
    cached.complete(replace(QUESTION, schema={'a': 1, 'b': 2}))
    assert not cached.complete(replace(QUESTION, schema={'b': 2, 'a': 1})).cached


@pytest.mark.parametrize('change', ['digest', 'engine', 'name'])
def test_another_model_or_program_is_asked_anew(tmp_path: Path, change: str) -> None:
    Cached(Model(), tmp_path).complete(QUESTION)
    other = Model(digest='cd' * 32 if change == 'digest' else 'ab' * 32)
    if change != 'digest':
        setattr(other, change, 'other')
    assert not Cached(other, tmp_path).complete(QUESTION).cached


@pytest.mark.parametrize(
    ('model', 'question'),
    [
        (Model(), replace(QUESTION, options=Sampling(temperature=0.1))),
        (Model(digest=''), QUESTION),
        (Model(done_reason='length'), QUESTION),
        (Model(text=' '), QUESTION),
    ],
)
def test_what_could_come_out_otherwise_is_not_kept(
    tmp_path: Path, model: Model, question: CompletionRequest
) -> None:
    cached = Cached(model, tmp_path)
    for _ in range(2):
        assert not cached.complete(question).cached
    assert model.asked == 2
    assert list(tmp_path.iterdir()) == []


def test_an_error_is_not_kept(tmp_path: Path) -> None:
    class Failing(Model):
        def complete(self, request: CompletionRequest) -> Completion:
            raise ProviderError('timeout', 'late')

    with pytest.raises(ProviderError):
        Cached(Failing(), tmp_path).complete(QUESTION)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    'tear',
    [
        lambda text: '',
        lambda text: text[: len(text) // 2],
        lambda text: '[]',
        lambda text: '{"completion": {"text": 5}}',
        lambda text: '\x00' * len(text),
        lambda text: text.replace('"prompt_tokens": 700', '"prompt_tokens": "many"'),
    ],
)
def test_a_torn_file_is_ignored_and_written_anew(
    tmp_path: Path, tear: Callable[[str], str]
) -> None:
    model = Model()
    cached = Cached(model, tmp_path)
    cached.complete(QUESTION)
    (file,) = tmp_path.iterdir()
    whole = file.read_text()
    file.write_text(tear(whole))
    assert not cached.complete(QUESTION).cached
    assert cached.complete(QUESTION).cached
    assert json.loads(file.read_text())['question'] == {'system': 'system', 'prompt': 'prompt'}


def test_a_folder_that_cannot_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / 'file').write_text('')
    model = Model()
    cached = Cached(model, tmp_path / 'file' / 'replies')
    assert cached.complete(QUESTION) != cached.complete(QUESTION)
    assert 'not kept' in caplog.text


def test_it_stands_in_for_the_provider_it_asks(tmp_path: Path) -> None:
    model = Model()
    cached = Cached(model, tmp_path)
    assert (cached.name, cached.model, cached.engine) == ('embedded', 'tiny', 'engine 1')
    assert cached.digest() == model.digest()
    cached.close()
    assert model.closed


WRITER = """
import sys
from pathlib import Path
from alpha_chaos.planners.providers.cache import write_atomically
while True:
    write_atomically(Path(sys.argv[1]), sys.argv[2] * 200_000)
"""


def test_killed_writers_never_leave_half_a_file(tmp_path: Path) -> None:
    file = tmp_path / 'reply.json'
    writers = [
        subprocess.Popen([sys.executable, '-c', WRITER, str(file), letter]) for letter in 'ab'
    ]
    seen = set()
    try:
        while len(seen) < 2:
            if file.exists():
                text = file.read_text()
                assert len(text) == 200_000
                assert len(set(text)) == 1
                seen.add(text[0])
    finally:
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
    text = file.read_text()
    assert text in ('a' * 200_000, 'b' * 200_000)
    write_atomically(file, 'c')
    assert file.read_text() == 'c'


def test_the_users_cache_is_where_others_keep_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert user_cache() == tmp_path / 'alpha_chaos'
    monkeypatch.setenv('XDG_CACHE_HOME', 'relative')  # to be ignored, says the specification
    monkeypatch.setenv('HOME', '/home/somebody')
    assert user_cache() == Path('/home/somebody/.cache/alpha_chaos')

    def no_home() -> Path:
        raise RuntimeError('Could not determine home directory.')

    monkeypatch.setattr(Path, 'home', no_home)
    assert user_cache().is_absolute()
