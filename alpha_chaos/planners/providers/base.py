"""What every provider of completions must do, and how it fails."""

from dataclasses import dataclass
from typing import Protocol

from alpha_chaos.planners.base import Completion, CompletionRequest


class ProviderError(Exception):
    """There is no completion.

    :param code: typed reason, one word; the providers raise
        'unreachable' (nothing listens there), 'timeout' (connected, but no answer in time),
        'load_timeout' (the same while the model was loading), 'connection_lost',
        'model_not_found', 'not_installed', 'rate_limited', 'forbidden', 'bad_request',
        'context_full' (the prompt does not fit), 'server_error',
        'bad_response' (an answer in another protocol), 'bad_setting',
        'closed' (nobody wants the answer any more)
    :param infrastructure: says nothing about the planner: the attempt is to be aborted, not failed
    """

    def __init__(self, code: str, message: str, infrastructure: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.infrastructure = infrastructure
        self.provider = ''  # filled in by the provider, for the record
        self.model = ''

    def __str__(self) -> str:
        """Return the message, as it stands now."""
        return self.message


@dataclass(frozen=True)
class Timeouts:
    """How long to wait, in wall-clock time [s]; each really ends the wait.

    :param connect_s: until a server has answered that it is there, and what models it has
    :param load_s: until the model is loaded
    :param generate_s: until the answer is there, the whole of it
    """

    connect_s: float = 3.0
    load_s: float = 300.0
    generate_s: float = 120.0


class Provider(Protocol):
    """A language model that answers one request at a time."""

    @property
    def name(self) -> str:
        """Kind of the provider: 'embedded', 'ollama'."""

    @property
    def model(self) -> str:
        """Full name of the model."""

    @property
    def engine(self) -> str:
        """What else a greedy reply depends on: program and version, empty if unknown."""

    @property
    def context_tokens(self) -> int:
        """Room for prompt and answer together; raises ProviderError."""

    def digest(self) -> str:
        """Return the sha256 of the model, empty if it cannot be known; raises ProviderError."""

    def complete(self, request: CompletionRequest) -> Completion:
        """Return the model's answer; raises ProviderError."""

    def close(self) -> None:
        """Let go of what is held; an answer under way, in another thread, is given up."""
