"""A loopback server that speaks Ollama's protocol: a double of the protocol, not of a model."""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

DIGEST = '365c0bd3c000' + 'a' * 52
STEP_S = 0.02  # between two bytes of a server that trickles

Body = Mapping[str, Any] | bytes
Answer = Body | tuple[int, Body] | Callable[['Handler'], None] | Callable[[dict[str, Any]], Body]


def chat_reply(content: str, **rest: Any) -> dict[str, Any]:
    """Return what /api/chat answers."""
    message = {'role': 'assistant', 'content': content}
    if 'thinking' in rest:
        message['thinking'] = rest.pop('thinking')
    return {
        'model': 'llama3:latest',
        'message': message,
        'done': True,
        'done_reason': 'stop',
        'prompt_eval_count': 770,
        'eval_count': 249,
        **rest,
    }


def hang(handler: 'Handler') -> None:
    """Take the request and never say a word."""
    handler.server.stopping.wait()


def trickle(handler: 'Handler') -> None:
    """Say something all the time, and never come to an end."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n')
    while not handler.server.stopping.wait(STEP_S):
        handler.wfile.write(b' ')


def flood(handler: 'Handler') -> None:
    """Say much, and never come to an end."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n')
    with suppress(OSError):  # until the client hangs up
        while not handler.server.stopping.is_set():
            handler.wfile.write(b' ' * 65536)


def trickle_headers(handler: 'Handler') -> None:
    """Never come to the end of the headers."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nX-Slow: ')
    while not handler.server.stopping.wait(STEP_S):
        handler.wfile.write(b'a')


def drop(handler: 'Handler') -> None:
    """Promise more than is sent."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"mod')


class Server(ThreadingHTTPServer):
    """The server, and what it was asked."""

    daemon_threads = True

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        super().__init__(('127.0.0.1', 0), Handler)
        self.answers = answers
        self.stopping = threading.Event()
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers['Content-Length']))))

    def log_message(self, *arguments: Any) -> None:
        """Nothing on the terminal."""

    def _answer(self, body: dict[str, Any]) -> None:
        self.server.asked.append((self.path, body))
        answer = self.server.answers.get(self.path, (404, b'404 page not found'))
        if answer in (hang, trickle, flood, trickle_headers, drop):
            self.close_connection = True
            answer(self)  # type: ignore[operator]
            return
        if callable(answer):
            answer = answer(body)  # type: ignore[arg-type, assignment]
        status, content = answer if isinstance(answer, tuple) else (200, answer)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class OllamaDouble:
    """Serves the given models; any answer can be replaced, by path."""

    def __init__(
        self,
        models: Mapping[str, str] | None = None,
        chat: Answer = b'',
        load: Answer | None = None,
        tags: Answer | None = None,
        context_length: int = 8192,
    ) -> None:
        models = {'llama3:latest': DIGEST} if models is None else models
        listed = [{'model': tag, 'name': tag, 'digest': digest} for tag, digest in models.items()]
        loaded = {'response': '', 'done': True, 'done_reason': 'load'}
        self._server = Server(
            {
                '/api/tags': {'models': listed} if tags is None else tags,
                '/api/generate': loaded if load is None else load,
                '/api/chat': chat,
                '/api/show': {'model_info': {'llama.context_length': context_length}},
            }
        )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def host(self) -> str:
        """The address, as in OLLAMA_HOST."""
        return f'127.0.0.1:{self._server.server_address[1]}'

    @property
    def asked(self) -> list[tuple[str, dict[str, Any]]]:
        """Path and body of every request."""
        return self._server.asked

    def __enter__(self) -> 'OllamaDouble':
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
