"""The record of what every fault decided, in the order in which it happened."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from alpha_chaos import jsonl
from alpha_chaos.closing import Closing
from alpha_chaos.journal import Count, Evidence, Name, Number, Part
from alpha_chaos.plugins import explain

FILE = 'ledger.jsonl'


class Entry(Part):
    """One decision of one fault about one message; the fields are those of FaultEvent.msg.

    `draw` is None where nothing was left to chance. `run_id`, `arm` and `attempt` name the line of
    the journal: an attempt that was killed has entries here and, there, an abort.
    """

    run_id: Name
    arm: Name
    attempt: int = 1
    stamp_s: Number = None
    episode_id: str = ''
    route: Name
    sequence: Count
    stage: Literal['message', 'request', 'response']
    fault: Name
    probability: Number = None
    draw: Number = None
    triggered: bool
    detail: Evidence
    digest_before: str = ''
    digest_after: str = ''


def entry_of(event: Any) -> dict[str, Any]:
    """Return a decision as the ledger has it, without the keys of its attempt.

    :param event: FaultEvent, or any object with its fields
    """
    draw = float(event.draw)
    return {
        'stamp_s': float(event.stamp.sec) + float(event.stamp.nanosec) * 1e-9,
        'episode_id': event.episode_id,
        'route': event.route,
        'sequence': event.sequence,
        'stage': event.stage,
        'fault': event.fault,
        'probability': event.probability,
        'draw': None if draw != draw else draw,
        'triggered': event.triggered,
        'detail': parsed(event.detail),
        'digest_before': event.digest_before,
        'digest_after': event.digest_after,
    }


def parsed(text: str) -> Any:
    """Return what a text of JSON says, or the text itself: of a recording that was changed."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def read(folder: Path) -> tuple[Entry, ...]:
    """Return the ledger of a run, without the torn end of its last line.

    :raises jsonl.CorruptLine: naming file and line
    """
    path = folder / FILE
    entries = []
    for number, item in enumerate(jsonl.read(path).objects, start=1):
        try:
            entries.append(Entry.model_validate(item))
        except ValidationError as error:
            raise jsonl.CorruptLine(path, number, explain(error)) from None
    return tuple(entries)


class Ledger(Closing):
    """The one writer of a run's ledger; `torn` is what a killed one left unfinished.

    :raises jsonl.Busy: when another process writes to it
    """

    def __init__(self, folder: Path, purpose: str = 'running a matrix') -> None:
        self._lines = jsonl.Appender(folder / FILE, purpose)
        self.torn = self._lines.torn

    def extend(self, entries: Iterable[Entry]) -> None:
        """Add the entries of one attempt, together; they are on disk when this returns."""
        self._lines.append(entry.model_dump() for entry in entries)

    def close(self) -> None:
        """Let the next writer in. Closing twice is harmless."""
        self._lines.close()
