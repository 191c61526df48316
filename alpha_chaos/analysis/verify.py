"""`alpha-chaos verify`: compare what a run says of itself with what its recordings show."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from alpha_chaos import jsonl
from alpha_chaos.analysis.claims import TORN, Claims, is_torn, read_claims
from alpha_chaos.analysis.difference import Difference, spelled, unequal
from alpha_chaos.analysis.examine import Examined, examine, restricted
from alpha_chaos.analysis.pool import each
from alpha_chaos.bag.reader import BagError, Recording
from alpha_chaos.journal import FILE as JOURNAL
from alpha_chaos.journal import Row, final, next_attempt
from alpha_chaos.report.wording import shown
from alpha_chaos.stats.summary import summarise

SAME = 0
DIFFERENT = 4

# What names an item of a list in a summary.
_NAMES = ('arm', 'condition', 'first', 'second', 'cohort', 'control')


def verify(folder: Path, console: Console, *, workers: int | None = None, limit: int = 10) -> int:
    """Compute a run again from its recordings, say where it differs, and return the exit code.

    :param limit: differences of each kind that are listed
    :raises BadSetting: where there is no run
    """
    claims = read_claims(folder)
    examined = each(
        partial(examine, folder), claims.claims, console, title='recordings', workers=workers
    )
    found = [*claims.differences]
    for item in examined:
        found += item.differences
    found += _strays(claims)
    found += _table(claims, examined)
    _report(claims, examined, found, limit, console)
    return DIFFERENT if found else SAME


def _strays(claims: Claims) -> list[Difference]:
    """Return the recordings that a line of the journal should name.

    A runner that was killed leaves some that none names yet: of the next attempt at an episode,
    whole or not, for its nodes may outlive it by a moment.
    """
    if jsonl.holder(claims.folder / JOURNAL):
        return []
    return [
        Difference('journal', JOURNAL, '', '', 'no line about it', f'the recording {name}')
        for name in claims.stray
        if f'/{TORN}/' in name or not _comes_next(claims, name)
    ]


def _comes_next(claims: Claims, name: str) -> bool:
    folder = claims.folder / name
    if is_torn(folder):
        return True
    try:
        episode, _, attempt = Recording(folder).episode_id.rpartition('#')
    except BagError:
        return False
    run_id, _, arm = episode.rpartition('/')
    rows = [row for row, _ in claims.rows]
    done = any(row.key == (run_id, arm) and row.status != 'aborted' for row in rows)
    return not done and attempt == str(next_attempt(rows, run_id, arm))


def _table(claims: Claims, examined: Sequence[Examined]) -> list[Difference]:
    """Compare the summary of the journal with that of what the recordings show."""
    shown_by = {
        (item.claim.episode, item.claim.attempt): item.row
        for item in examined
        if item.row is not None
    }
    ours: list[Row] = []
    for row, item in claims.rows:
        again = shown_by.get((f'{row.run_id}/{row.arm}', row.attempt))
        if again is None or row.status == 'aborted':
            ours.append(row)
        else:
            ours.append(Row.model_validate({**item, **restricted(item, again)}))
    theirs = [row for row, _ in claims.rows]
    if ours == theirs:  # then so are their summaries, which take seconds
        return []
    said, found = (_plain(summarise(rows, claims.planned)) for rows in (theirs, ours))
    return [
        Difference('table', JOURNAL, '', f'table: {place}', spelled(one), spelled(other))
        for place, one, other in unequal(said, found)
    ]


def _plain(value: Any) -> Any:
    """Return a summary as JSON data, its lists by name where their items have one."""
    if dataclasses.is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        names = [_name(item) for item in value]
        if all(names) and len(set(names)) == len(names):
            return {name: _plain(item) for name, item in zip(names, value, strict=True)}
        return [_plain(item) for item in value]
    return value


def _name(item: Any) -> str:
    if not dataclasses.is_dataclass(item):
        return ''
    parts = (getattr(item, key, None) for key in _NAMES)
    return ' '.join(part for part in parts if isinstance(part, str) and part)


def _report(
    claims: Claims,
    examined: Sequence[Examined],
    found: Sequence[Difference],
    limit: int,
    console: Console,
) -> None:
    notes = _notes(claims, examined)
    messages = sum(item.messages for item in examined)
    if not found:
        _say(
            console,
            f'{claims.folder}: the same comes out again from {len(examined)} '
            f'recording{"" if len(examined) == 1 else "s"} with {messages} messages: verdicts, '
            'plans, safety events, draws, digests, ledger and table'
            + ''.join(f'; {note}' for note in notes),
        )
        return
    kinds = Counter(item.kind for item in found)
    parts = ', '.join(f'{kind} {number}' for kind, number in kinds.items())
    many = f'{len(found)} difference{"" if len(found) == 1 else "s"}'
    _say(console, f'{claims.folder}: {many} ({parts})' + ''.join(f'; {note}' for note in notes))
    for kind, number in kinds.items():
        for item in [item for item in found if item.kind == kind][:limit]:
            _say(console, f'  {kind:9s} {item}')
        if number > limit:
            _say(console, f'  {kind:9s} and {number - limit} more; --limit {number} lists them')


def _notes(claims: Claims, examined: Sequence[Examined]) -> list[str]:
    """Return what must be known beside the result."""
    notes = []
    rows = final(row for row, _ in claims.rows)
    if claims.planned is not None:
        keys = {(item.run_id, item.arm) for item in claims.planned}
        done = sum(row.status != 'aborted' for key, row in rows.items() if key in keys)
        if done < len(keys):
            notes.append(f'unfinished: {done} of {len(keys)} episodes have a result')
    if holder := jsonl.holder(claims.folder / JOURNAL):
        notes.append(f'under way: {holder}')
    ended = [name for name in claims.stray if f'/{TORN}/' not in name]
    if ended:
        notes.append(f'{_some(len(ended), "recording")} of attempts that have no line yet')
    if early := sum(not item.complete for item in examined):
        notes.append(f'{_some(early, "recording")} of aborted attempts, which end early')
    if claims.torn:
        notes.append(f'{" and ".join(claims.torn)} with an incomplete last line')
    if claims.unsealed:
        files = ' and '.join(sorted(claims.unsealed))
        notes.append(f'lines without a hash in {files}: wall times in them are unprotected')
    return notes


def _some(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def _say(console: Console, text: str) -> None:
    console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
