"""What a benchmark run is: what was asked, how, and who answered."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from alpha_chaos.plugins import BadSetting, explain

MANIFEST = 'manifest.json'


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra='ignore')


class Tasks(_Part):
    """What was asked.

    :param source: name of the world, or `release`
    :param fingerprint: over the files of all tasks, also those that were not asked
    """

    source: str
    mode: str
    short_prompts: bool = False
    fingerprint: str
    names: tuple[str, ...]


class Model(_Part):
    """Who answered, and with how many tokens at most."""

    provider: str
    model: str
    engine: str = ''
    digest: str = ''
    reply_tokens: int
    context_tokens: int


class PlanFolder(_Part):
    """A folder of plans that were judged."""

    folder: str
    fingerprint: str


class BenchmarkManifest(_Part):
    """A run: what was asked, how, and who answered.

    :param asked: tasks that plans are asked for, by condition; all, where one is not in it
    """

    tasks: Tasks
    conditions: dict[str, dict[str, Any]] = {}
    asked: dict[str, tuple[str, ...]] = {}
    plans: dict[str, PlanFolder] = {}
    model: Model | None = None

    def planned(self) -> set[tuple[str, str]]:
        """Return condition and task of every plan that a model is to make."""
        return {
            (name, task)
            for name in self.conditions
            for task in self.asked.get(name, self.tasks.names)
        }


def read_manifest(folder: Path) -> BenchmarkManifest:
    """Return the manifest of a run.

    :raises BadSetting: if there is none, or it cannot be read
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise BadSetting(f'{folder}: there is no {MANIFEST}, so it is no benchmark run')
    try:
        return BenchmarkManifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise BadSetting(f'{path} cannot be read: {explain(error)}; use another folder') from None
