"""Greedy replies, kept: the same question to the same model is not computed twice."""

import hashlib
import json
import logging
import os
import tempfile
import threading
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from alpha_chaos.planners.base import Completion, CompletionRequest
from alpha_chaos.planners.providers.base import Provider

_LOG = logging.getLogger(__name__)
_COMPLETION = TypeAdapter(Completion)


class Cached:
    """A provider that asks another one, and remembers what it said in a folder.

    Kept are complete replies at temperature 0, by model digest, program, prompt, schema and
    options, one JSON file each. A reply from here says `cached` and has the token counts and the
    wall-clock time of the call that made it. Several processes may share the folder.
    """

    def __init__(self, inner: Provider, folder: Path) -> None:
        """Take the provider to ask.

        :param folder: made when needed; one that cannot be written is done without
        """
        self._inner = inner
        self._folder = folder

    @property
    def name(self) -> str:
        """Kind of the provider that is asked."""
        return self._inner.name

    @property
    def model(self) -> str:
        """Full name of the model."""
        return self._inner.model

    @property
    def engine(self) -> str:
        """What else a greedy reply depends on."""
        return self._inner.engine

    @property
    def context_tokens(self) -> int:
        """Room for prompt and answer together; raises ProviderError."""
        return self._inner.context_tokens

    def digest(self) -> str:
        """Return the sha256 of the model; raises ProviderError."""
        return self._inner.digest()

    def complete(self, request: CompletionRequest) -> Completion:
        """Return the remembered answer, else the model's; raises ProviderError."""
        digest = self.digest()
        # Without a digest the name could mean another model tomorrow.
        if request.options.temperature != 0 or not digest:
            return self._inner.complete(request)
        file = self._folder / f'{self._key(request, digest)}.json'
        if kept := _read(file):
            return replace(kept, cached=True)
        completion = self._inner.complete(request)
        # A reply that was cut off or is empty may be a mishap of that one call.
        if completion.done_reason == 'stop' and completion.text.strip():
            question = {'system': request.system, 'prompt': request.prompt}
            content = {'completion': asdict(completion), 'question': question}
            write_atomically(file, json.dumps(content, indent=1))
        return completion

    def close(self) -> None:
        """Let go of the provider that is asked."""
        self._inner.close()

    def _key(self, request: CompletionRequest, digest: str) -> str:
        # The order of the schema's keys counts: the reply is generated in it.
        parts = {
            'digest': digest,
            'provider': self.name,
            'engine': self.engine,
            'system': request.system,
            'prompt': request.prompt,
            'schema': request.schema,
            'options': asdict(request.options),
        }
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _read(file: Path) -> Completion | None:
    """Return a kept reply; None if there is none, or only the torn rest of one."""
    try:
        return _COMPLETION.validate_python(json.loads(file.read_bytes())['completion'])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None


def write_atomically(file: Path, text: str) -> None:
    """Write a file that others see whole or not at all; a folder that refuses is no error."""
    draft = file.with_name(f'.{file.name}.{os.getpid()}.{threading.get_ident()}.tmp')
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with draft.open('w', encoding='utf-8') as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, file)
    except OSError as error:
        _LOG.warning('not kept: %s', error)


def user_cache() -> Path:
    """Return the folder for what can be computed again: `$XDG_CACHE_HOME/alpha_chaos`."""
    base = os.environ.get('XDG_CACHE_HOME', '')
    if os.path.isabs(base):
        return Path(base) / 'alpha_chaos'
    try:
        return Path.home() / '.cache' / 'alpha_chaos'
    except RuntimeError:  # a user without a home, as in some containers
        return Path(tempfile.gettempdir()) / f'alpha_chaos-{os.getuid()}'
