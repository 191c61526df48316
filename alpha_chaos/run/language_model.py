"""The language model of an arm: the one that was asked for, found before anything starts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from alpha_chaos.experiment import Experiment
from alpha_chaos.planners.llm import Llm
from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.planners.providers.select import choose
from alpha_chaos.plugins import BadSetting

REPLIES = 'replies'


def replies_folder(out: Path) -> str:
    """Return where a run keeps the replies of its models."""
    return str((out / REPLIES).resolve())


def with_model(experiment: Experiment, llm: str | None, model: str) -> Experiment:
    """Return the experiment with the model that was asked for, by command line or launch file.

    :raises BadSetting: for a provider that there is not
    """
    asked: dict[str, JsonValue] = {}
    if llm is not None:
        asked['provider'] = llm
    if model:
        asked['model'] = model
    return experiment.with_planner('llm', asked) if asked else experiment


def decide(
    experiment: Experiment, arms: Sequence[str] | None, say: Callable[[str], None]
) -> tuple[Experiment, dict[str, Any]]:
    """Find the model of each arm that needs one, before anything starts.

    Returns the experiment with the models named, so that no episode decides for itself, and what
    the manifest says about them.

    :raises BadSetting: for a model that is not to be had
    """
    experiment.episodes(arms)  # refuses an arm that there is not
    decided, about, said = [], {}, set()
    for arm in experiment.arms:
        if isinstance(arm.planner, Llm) and (arms is None or arm.name in arms):
            try:
                choice = choose(arm.planner.provider, arm.planner.model)
                provider = choice.provider
                about[arm.name] = {
                    'provider': provider.name,
                    'model': provider.model,
                    'engine': provider.engine,
                    'digest': provider.digest(),
                }
            except ProviderError as error:
                raise BadSetting(f'arm {arm.name!r}: {error.message}') from None
            if choice.sentence not in said:
                say(choice.sentence)
                said.add(choice.sentence)
            # The embedded model keeps what was asked for: a file is named by its path.
            model = provider.model if provider.name == 'ollama' else arm.planner.model
            named = {'provider': provider.name, 'model': model}
            arm = replace(arm, planner=arm.planner.model_copy(update=named))
        decided.append(arm)
    return replace(experiment, arms=tuple(decided)), about
