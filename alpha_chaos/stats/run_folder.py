"""The summary of what lies in a run's folder."""

import json
from pathlib import Path
from typing import TypeAlias

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


class _Fault(BaseModel):
    kind: str


class _Cell(BaseModel):
    name: str
    faults: tuple[_Fault, ...] = ()


class _Experiment(BaseModel):
    name: str = ''
    cells: tuple[_Cell, ...] = ()


class Manifest(BaseModel):
    """What is needed of a manifest; it holds more."""

    model_config = ConfigDict(extra='ignore')

    experiment: _Experiment
    episodes: tuple[_Episode, ...]

    def planned(self) -> list[Planned]:
        """Return every episode that the run should have."""
        faults = {
            cell.name: tuple(fault.kind for fault in cell.faults) for cell in self.experiment.cells
        }
        return [
            Planned(item.run_id, item.arm, item.condition, faults.get(item.condition))
            for item in self.episodes
        ]


def read_manifest(path: Path) -> Manifest | None:
    """Return what a manifest plans; None if there is no such file.

    :raises BadSetting: when it cannot be read
    """
    try:
        return Manifest.model_validate(json.loads(path.read_text(encoding='utf-8')))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise BadSetting(f'{path}: no manifest of an experiment: {explain(error)}') from None
    except ValueError as error:
        raise BadSetting(f'{path}: {error}') from None


Loaded: TypeAlias = tuple[Summary, tuple[journal.Row, ...]]


def load_and_summarise(folder: Path, paper: published.Paper | None = None) -> Summary:
    """Return the summary of a run from its journal, and its manifest where there is one.

    :param paper: numbers to lay beside; None takes the shipped ones
    :raises BadSetting: when `folder` holds no run, or a manifest that cannot be read
    :raises jsonl.CorruptLine: when the journal cannot be read, naming file and line
    """
    return load(folder, paper)[0]


def load(folder: Path, paper: published.Paper | None = None) -> Loaded:
    """Return the summary of a run, and every attempt that it is made of.

    Without a manifest the run is taken to consist of what the journal holds.

    :param paper: numbers to lay beside; None takes the shipped ones
    :raises BadSetting: when `folder` holds no run, or a manifest that cannot be read
    :raises jsonl.CorruptLine: when the journal cannot be read, naming file and line
    """
    manifest = read_manifest(folder / MANIFEST)
    if manifest is None and not (folder / journal.FILE).is_file():
        raise BadSetting(f'{folder} holds no run: neither {journal.FILE} nor {MANIFEST} is there')
    found = journal.read(folder)
    summary = summarise(
        found.rows,
        manifest.planned() if manifest else None,
        paper or published.read_paper(config_folder() / published.FILE),
        experiment=manifest.experiment.name if manifest else '',
        torn=bool(found.torn),
    )
    return summary, found.rows
