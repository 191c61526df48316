"""Which model answers: the one that was asked for, or the best there is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from alpha_chaos.planners.providers.base import Provider, ProviderError, Timeouts
from alpha_chaos.planners.providers.cache import Cached, user_cache
from alpha_chaos.planners.providers.embedded import CONTEXT_TOKENS as EMBEDDED_TOKENS
from alpha_chaos.planners.providers.embedded import DEFAULT_MODEL, Embedded
from alpha_chaos.planners.providers.ollama import CONTEXT_TOKENS as OLLAMA_TOKENS
from alpha_chaos.planners.providers.ollama import Ollama

ProviderKind = Literal['auto', 'ollama', 'embedded']


@dataclass(frozen=True)
class Choice:
    """The provider that will answer.

    :param sentence: says which it is and why
    :param settings: of the planner `llm`, to get the same model again without choosing
    """

    provider: Provider
    sentence: str
    settings: Mapping[str, str]


def choose(
    kind: ProviderKind = 'auto',
    model: str = '',
    *,
    host: str | None = None,
    timeouts: Timeouts | None = None,
    replies: Path | None = None,
    long_prompts: int | None = None,
    room: int | None = None,
) -> Choice:
    """Return a provider for a model, without loading it.

    'auto' is Ollama if it answers and has a model, else the embedded one. A model that was asked
    for by name is never replaced by another.

    :param model: Ollama tag, or path of a .gguf file; empty for the provider's first choice
    :param host: as in OLLAMA_HOST, which is the default
    :param replies: folder of kept replies, the user's by default
    :param long_prompts: room for prompt and answer together in tokens, where prompts are long and
        begin alike; None for what the prompts of the robot need
    :param room: for prompt and answer together in tokens, where prompts are the robot's but longer
    :raises ProviderError: naming what would be right
    """
    choice = _choose(kind, model, host, timeouts, long_prompts, room)
    folder = user_cache() / 'replies' if replies is None else replies
    return replace(choice, provider=Cached(choice.provider, folder))


def _choose(
    kind: ProviderKind,
    model: str,
    host: str | None,
    timeouts: Timeouts | None,
    long_prompts: int | None,
    room: int | None,
) -> Choice:
    asked = 'as asked for'
    if kind == 'auto' and (model == DEFAULT_MODEL or model.endswith('.gguf')):
        kind, asked = 'embedded', f'because {model!r} is a model for it'
    if kind == 'embedded':
        return _embedded(model, timeouts, asked, long_prompts, room)
    try:
        tokens = long_prompts or room or OLLAMA_TOKENS
        ollama = Ollama(model, host=host, context_tokens=tokens, timeouts=timeouts)
    except ProviderError as error:
        if kind == 'ollama':
            raise
        if model:
            if error.code != 'model_not_found':
                error.message += f'; without Ollama there is {DEFAULT_MODEL}, or any .gguf file'
            raise
        try:
            return _embedded('', timeouts, f'because {error.message}', long_prompts, room)
        except ProviderError as missing:
            missing.message = f'{error.message}, and {missing.message}'
            raise
    why = asked if kind == 'ollama' else f'because it answers at {ollama.url}'
    if not model:
        why += '; no model was named'
    return Choice(
        ollama,
        f'Planning with {ollama.model} of Ollama, {why}.',
        {'provider': ollama.name, 'model': ollama.model},
    )


def _embedded(
    model: str,
    timeouts: Timeouts | None,
    why: str,
    long_prompts: int | None,
    room: int | None,
) -> Choice:
    embedded = Embedded(
        model,
        context_tokens=long_prompts or room or EMBEDDED_TOKENS,
        keep_prompt=long_prompts is not None,
        timeouts=timeouts,
    )
    again = DEFAULT_MODEL if model in ('', DEFAULT_MODEL) else str(embedded.path)
    return Choice(
        embedded,
        f'Planning with the embedded model {embedded.model}, {why}.',
        {'provider': embedded.name, 'model': again},
    )
