"""A job is one attempt at one episode; here is where its files lie."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_chaos.experiment import Episode
from alpha_chaos.journal import Row, next_attempt
from alpha_chaos.ledger import Entry

BAGS = 'bags'
TORN = 'torn'


@dataclass(frozen=True)
class Job:
    """One attempt.

    :param bag: folder to record into, empty for no recording
    :param bag_name: the same as the journal has it, relative to the folder of the run
    """

    episode: Episode
    attempt: int = 1
    bag: str = ''
    bag_name: str = ''

    @property
    def id(self) -> str:
        """Return what every message of the attempt carries."""
        return f'{self.episode.id}#{self.attempt}'


def bag_name(episode: Episode) -> str:
    """Return where the recording of an episode lies, relative to the folder of the run."""
    return f'{BAGS}/{episode.run_id}.{episode.arm}'


def prepare(episode: Episode, rows: Iterable[Row], out: Path) -> Job:
    """Return the next attempt; what an earlier one left in its place is kept apart."""
    attempt = next_attempt(rows, episode.run_id, episode.arm)
    name = bag_name(episode)
    folder = out / name
    if folder.exists():
        apart = out / BAGS / TORN
        apart.mkdir(parents=True, exist_ok=True)
        number = 1
        while (place := apart / f'{folder.name}.{number}').exists():
            number += 1
        shutil.move(folder, place)
    return Job(episode, attempt, str(folder.resolve()), name)


def entries(row: Row, ledger: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Return what the relay reported as lines of the ledger."""
    key = {'run_id': row.run_id, 'arm': row.arm, 'attempt': row.attempt}
    return [Entry.model_validate({**key, **entry}) for entry in ledger]
