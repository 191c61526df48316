"""A job is one attempt at one episode; here is where its files lie."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.experiment import Episode
from alpha_chaos.journal import Journal, Row, next_attempt
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


def next_job(episode: Episode, journal: Journal, out: Path) -> Job:
    """Return the next attempt at an episode.

    A recording without a row is what a killed runner left: that attempt becomes an abort in the
    journal, and its recording is set apart.
    """
    while True:
        attempt = next_attempt(journal.rows, episode.run_id, episode.arm)
        name = f'{BAGS}/{episode.run_id}.{episode.arm}{f".{attempt}" if attempt > 1 else ""}'
        job = Job(episode, attempt, str((out / name).resolve()), name)
        if not (out / name).exists():
            return job
        abort = Abort('interrupted', 'the runner ended during this attempt')
        row = EpisodeRecord(episode, attempt, name).row(0.0, abort)
        journal.append(set_apart(row, out))


def set_apart(row: Row, out: Path) -> Row:
    """Move the recording of an aborted attempt away, and return its row with the new place."""
    folder = out / row.bag
    if not row.bag or not folder.exists():
        return row.model_copy(update={'bag': ''})
    place = f'{BAGS}/{TORN}/{folder.name}'
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    if (out / place).exists():  # of a journal that was deleted
        shutil.rmtree(out / place)
    shutil.move(folder, out / place)
    return row.model_copy(update={'bag': place})


def entries(row: Row, ledger: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Return what the relay reported as lines of the ledger."""
    key = {'run_id': row.run_id, 'arm': row.arm, 'attempt': row.attempt}
    return [Entry.model_validate({**key, **entry}) for entry in ledger]
