"""The summary of what lies in a run's folder."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from alpha_chaos import journal
from alpha_chaos.plugins import BadSetting, explain
from alpha_chaos.resources import config_folder
from alpha_chaos.stats import paper as published
from alpha_chaos.stats.summary import Planned, Summary, summarise

MANIFEST = 'manifest.json'


class _Episode(BaseModel):
    run_id: str
    arm: str
    condition: str


class _Manifest(BaseModel):
    """What is needed of a manifest; it holds more."""

    model_config = ConfigDict(extra='ignore')

    experiment: str | Mapping[str, object] = ''
    episodes: tuple[_Episode, ...]

    @property
    def name(self) -> str:
        """The name of the experiment, '' if the manifest does not say."""
        if isinstance(self.experiment, str):
            return self.experiment
        return str(self.experiment.get('name', ''))


def _read_manifest(path: Path) -> _Manifest | None:
    try:
        return _Manifest.model_validate(json.loads(path.read_text(encoding='utf-8')))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise BadSetting(f'{path}: {explain(error)}') from None
    except ValueError as error:
        raise BadSetting(f'{path}: {error}') from None


def load_and_summarise(folder: Path, paper: published.Paper | None = None) -> Summary:
    """Return the summary of a run from its journal, and its manifest where there is one.

    Without a manifest the run is taken to consist of what the journal holds.

    :param paper: numbers to lay beside; None takes the shipped ones
    :raises BadSetting: when `folder` holds no run, or a manifest that cannot be read
    :raises jsonl.CorruptLine: when the journal cannot be read, naming file and line
    """
    manifest = _read_manifest(folder / MANIFEST)
    if manifest is None and not (folder / journal.FILE).is_file():
        raise BadSetting(f'{folder} holds no run: neither {journal.FILE} nor {MANIFEST} is there')
    found = journal.read(folder)
    planned = None
    if manifest is not None:
        planned = [Planned(item.run_id, item.arm, item.condition) for item in manifest.episodes]
    return summarise(
        found.rows,
        planned,
        paper or published.read_paper(config_folder() / published.FILE),
        experiment=manifest.name if manifest else '',
        torn=bool(found.torn),
    )
