"""What the report takes from the recordings: each is read once, several at a time."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from alpha_chaos import catalogues
from alpha_chaos.analysis.pool import each
from alpha_chaos.analysis.quiet import unheard
from alpha_chaos.bag.reader import BagError, Recording
from alpha_chaos.journal import Row
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.report.film import Film, film
from alpha_chaos.safety.monitor import MissedStep
from alpha_chaos.stats.run_folder import MANIFEST
from alpha_chaos.stats.sensitivity import Sensitivity, sensitivity

Key = tuple[str, str]  # run_id and arm


@dataclass(frozen=True)
class Looked:
    """What could be seen in the recordings.

    :param safety: how far the safety counts hang on window and schedule
    :param unread: why a recording that a line of the journal names could not be used
    """

    safety: Mapping[Key, Sensitivity]
    unread: Mapping[Key, str]


@dataclass(frozen=True)
class Filmed:
    """The films, by condition: the episode that each shows, or why there is none."""

    films: Mapping[str, tuple[Row, Film]]
    unfilmed: Mapping[str, str]


def look(
    folder: Path, rows: Iterable[Row], console: Console, workers: int | None = None
) -> Looked:
    """Look at the recording of every attempt that has a result.

    :param folder: of the run
    :param rows: the attempts that count
    """
    shown = [row for row in rows if row.status != 'aborted' and row.bag]
    found = each(
        partial(_look, folder),
        [row.bag for row in shown],
        console,
        title='recordings',
        workers=workers,
    )
    pairs = list(zip((row.key for row in shown), found, strict=True))
    return Looked(
        {key: item for key, item in pairs if isinstance(item, Sensitivity)},
        {key: item for key, item in pairs if isinstance(item, str)},
    )


def _look(folder: Path, bag: str) -> Sensitivity | str:
    try:
        return sensitivity(Recording(folder / bag))
    except BagError as error:
        return error.why
    except MissedStep as error:
        return str(error)


def shoot(
    folder: Path,
    chosen: Mapping[str, Row],
    console: Console,
    workers: int | None = None,
) -> Filmed:
    """Make a film of one episode of each condition.

    :param folder: of the run
    :param chosen: the episode to show, by condition
    """
    rows = list(chosen.values())
    found = each(partial(_film, folder), rows, console, title='films', workers=workers)
    pairs = list(zip(chosen.items(), found, strict=True))
    return Filmed(
        {name: (row, item) for (name, row), item in pairs if isinstance(item, Film)},
        {name: item for (name, _), item in pairs if isinstance(item, str)},
    )


def _film(folder: Path, row: Row) -> Film | str:
    title = f'{row.run_id}, {row.arm}: {"success" if row.success else "failure"}'
    try:
        recording = Recording(folder / row.bag)
        settings = recording.episode.body if recording.episode else _planned_body(folder)
        body = parse(catalogues.bodies(), settings, 'body')
        with unheard():  # the engine greets
            return film(folder / row.bag, body, title)
    except BagError as error:
        return error.why
    except BadSetting as error:
        return str(error)


def _planned_body(folder: Path) -> dict[str, Any]:
    """Return the robot of the run, for recordings that do not say which it was.

    :raises BadSetting: if the manifest does not say it
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text('utf-8'))
        return dict(manifest['experiment']['body'])
    except (OSError, ValueError, LookupError, TypeError):
        raise BadSetting('neither recording nor manifest say which robot it was') from None


def choose(
    conditions: Sequence[str], rows: Sequence[Row], readable: Iterable[Key]
) -> dict[str, Row]:
    """Return the episode to show of each condition that has one with a usable recording.

    It is one that ended as most of its cell did, of the arm with a language model if there is one.

    :param rows: the attempts that count, in the order of the arms
    """
    usable = set(readable)
    found = {}
    for condition in conditions:
        there = [row for row in rows if row.condition == condition and row.key in usable]
        if not there:
            continue
        arm = next((row.arm for row in there if row.planner.model), there[0].arm)
        of_arm = [row for row in there if row.arm == arm]
        usual = 2 * sum(row.success is True for row in of_arm) >= len(of_arm)
        found[condition] = next(row for row in of_arm if (row.success is True) == usual)
    return found
