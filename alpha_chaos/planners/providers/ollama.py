"""A model served by Ollama."""

import ipaddress
import os
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from alpha_chaos.planners.base import Completion, CompletionRequest
from alpha_chaos.planners.providers.base import ProviderError, Timeouts
from alpha_chaos.planners.providers.deadline import GivenUp, Waiting

NAME = 'ollama'
PAPER_MODEL = 'llama3:latest'  # what the paper used; the first choice if nobody chose
CONTEXT_TOKENS = (
    4096  # prompt and answer; the server's default has been less, and it cuts silently
)
KEEP_ALIVE = '10m'
MAX_RESPONSE_BYTES = 16 * 1024 * 1024

T = TypeVar('T')


class Ollama:
    """One model of one Ollama server, asked through the `ollama` client."""

    name = NAME
    engine = ''  # the digest names the weights; the server's version is its own affair

    def __init__(
        self,
        model: str = '',
        *,
        host: str | None = None,
        context_tokens: int = CONTEXT_TOKENS,
        timeouts: Timeouts | None = None,
    ) -> None:
        """Find the server and the model in it.

        :param model: tag, also one that looks like a number; empty for `PAPER_MODEL` if the server
            has it, else for the first model it lists
        :param host: as in OLLAMA_HOST, which is the default
        :param context_tokens: room for prompt and answer together
        :raises ProviderError: 'unreachable', 'timeout', 'model_not_found', 'not_installed' ...
        """
        self._timeouts = timeouts or Timeouts()
        self._host = host
        self._context_tokens = context_tokens
        self._waiting = Waiting()
        self.model = model
        self.url = _address(host)
        models = self._call(self._timeouts.connect_s, 'timeout', lambda client: client.list())
        listed = {str(entry.model): str(entry.digest or '') for entry in models.models}
        self.model = self._chosen(model, listed)
        self._digest = listed[self.model].removeprefix('sha256:')

    @property
    def context_tokens(self) -> int:
        """Room for prompt and answer together: what is asked for, if the model has so much.

        :raises ProviderError: as `complete` does
        """
        shown = self._call(
            self._timeouts.connect_s, 'timeout', lambda client: client.show(self.model)
        )
        told = (shown.modelinfo or {}).items()
        limits = [value for key, value in told if key.endswith('.context_length')]
        return min([self._context_tokens, *map(int, limits)])

    def digest(self) -> str:
        """Return the sha256 that the server gives for the model, empty if it gives none."""
        return self._digest

    def complete(self, request: CompletionRequest) -> Completion:
        """Return the model's answer.

        :raises ProviderError: 'load_timeout' while the model is loaded, 'timeout' afterwards, and
            the others
        """
        options = {
            'temperature': request.options.temperature,
            'top_p': request.options.top_p,
            'seed': request.options.seed,
            'num_predict': request.options.max_tokens,
            'num_ctx': self._context_tokens,
        }
        # A request without a prompt loads the model, and is answered at once when it is loaded.
        # The options must be those of the real one, or the model is loaded a second time.
        self._call(
            self._timeouts.load_s,
            'load_timeout',
            lambda client: client.generate(
                model=self.model, options=options, keep_alive=KEEP_ALIVE
            ),
        )
        start = time.monotonic()
        reply = self._call(
            self._timeouts.generate_s,
            'timeout',
            lambda client: client.chat(
                model=self.model,
                messages=[
                    {'role': 'system', 'content': request.system},
                    {'role': 'user', 'content': request.prompt},
                ],
                format=None if request.schema is None else dict(request.schema),
                options=options,
                think=False,
                keep_alive=KEEP_ALIVE,
            ),
        )
        return Completion(
            text=reply.message.content or '',
            provider=self.name,
            model=self.model,
            digest=self._digest,
            prompt_tokens=max(0, reply.prompt_eval_count or 0),
            completion_tokens=max(0, reply.eval_count or 0),
            wall_s=time.monotonic() - start,
            done_reason=reply.done_reason or '',
            thinking=reply.message.thinking or '',
        )

    def close(self) -> None:
        """Wait no longer."""
        self._waiting.give_up()

    def _chosen(self, model: str, listed: dict[str, str]) -> str:
        if not model:
            if not listed:
                message = f'Ollama at {self.url} has no model; try: ollama pull llama3'
                raise self._error('model_not_found', message)
            return PAPER_MODEL if PAPER_MODEL in listed else next(iter(listed))
        full = model if ':' in model.rpartition('/')[2] else f'{model}:latest'
        for tag in (model, full):
            if tag in listed:
                return tag
        have = ', '.join(sorted(listed)) or 'none'
        message = (
            f'Ollama at {self.url} has no model {model!r}; it has: {have}.'
            f' To get it: ollama pull {model}'
        )
        raise self._error('model_not_found', message)

    def _call(self, limit_s: float, late: str, ask: Callable[[Any], T]) -> T:
        """Return what `ask` gets from the client, every failure as a ProviderError.

        :param late: code of the error when it takes longer than `limit_s`
        """
        try:
            import httpx
            import ollama
        except ImportError as error:
            message = f'asking an Ollama server needs the package ollama ({error})'
            raise self._error('not_installed', message) from None
        try:
            timeout = httpx.Timeout(limit_s, connect=min(limit_s, self._timeouts.connect_s))
            # A proxy for the internet is no way to this machine.
            client: Any = ollama.Client(
                self._host,
                timeout=timeout,
                trust_env=not _is_local(self.url),
                event_hooks={'response': [_read_no_more_than_fits]},
            )
        except (ValueError, httpx.InvalidURL) as error:
            message = f'{self.url} is no address of a server: {error}'
            raise self._error('bad_setting', message) from None
        where = f'Ollama at {self.url}'
        try:
            return self._waiting.within(limit_s, lambda: ask(client))
        except GivenUp:
            raise self._error('closed', f'{where} was not waited for any longer') from None
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout):
            raise self._error('unreachable', f'{where} cannot be reached') from None
        except (TimeoutError, httpx.TimeoutException):
            message = f'{where} accepted the request but did not answer within {limit_s:g} s'
            if late == 'load_timeout':
                message += f', loading {self.model}'
            raise self._error(late, message) from None
        except ollama.ResponseError as error:
            raise self._error(_code(error), f'{where}: {error}') from None
        except httpx.HTTPError as error:
            message = f'{where} broke off: {error or type(error).__name__}'
            raise self._error('connection_lost', message) from None
        except (ValueError, TypeError, AttributeError) as error:  # not JSON, or other JSON
            message = f'{where} answered in another protocol: {error}'
            raise self._error('bad_response', message) from None
        finally:
            client.close()  # a call that is still on ends with its next byte

    def _error(self, code: str, message: str) -> ProviderError:
        error = ProviderError(code, message)
        error.provider, error.model = self.name, self.model
        return error


def _read_no_more_than_fits(response: Any) -> None:
    """Read a response here, before the client does without a limit.

    :raises ValueError: when it is longer than any answer of ours
    """
    body = bytearray()
    for part in response.iter_bytes(65536):
        body += part
        if len(body) > MAX_RESPONSE_BYTES:
            raise ValueError(f'more than {MAX_RESPONSE_BYTES} bytes')
    response._content = bytes(body)  # what `response.read()` would have left


def _code(error: Any) -> str:
    status = error.status_code
    if status == 404:  # without a word about a model it is the path that is unknown
        return 'model_not_found' if 'model' in str(error.error) else 'bad_response'
    if status == 429:
        return 'rate_limited'
    if status in (401, 403):
        return 'forbidden'
    return 'server_error' if status >= 500 else 'bad_request'


def _address(host: str | None) -> str:
    """Return a host, as in OLLAMA_HOST, as an address to show; the client makes its own of it."""
    host = host or os.environ.get('OLLAMA_HOST', '') or '127.0.0.1:11434'
    return host if '://' in host else f'http://{host}'


def _is_local(url: str) -> bool:
    name = urlsplit(url).hostname or 'localhost'
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == 'localhost'
    return address.is_loopback or address.is_unspecified
