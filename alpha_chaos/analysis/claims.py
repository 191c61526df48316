"""What the files of a run claim: one claim for every attempt, and one for every recording."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from alpha_chaos import jsonl, ledger
from alpha_chaos.analysis.difference import ABSENT, Difference, spelled
from alpha_chaos.analysis.examine import Claim
from alpha_chaos.bag.writer import METADATA
from alpha_chaos.experiment import SIM, Episode
from alpha_chaos.journal import FILE as JOURNAL
from alpha_chaos.journal import Row
from alpha_chaos.jsonl import Line
from alpha_chaos.plugins import BadSetting, explain
from alpha_chaos.stats.run_folder import MANIFEST
from alpha_chaos.stats.summary import Planned

BAGS = 'bags'
TORN = 'torn'  # folder in it of the recordings of aborted attempts

Attempt = tuple[str, str, int]  # run_id, arm, attempt


@dataclass
class Claims:
    """What lies in the folder of a run.

    :param claims: one for each recording that the journal names
    :param rows: the journal, line by line, as it can be read
    :param differences: what can be said before any recording is read
    :param stray: folders of recordings that no line of the journal names
    :param unsealed: files with lines that nothing protects against changes
    :param torn: files whose last line is incomplete
    """

    folder: Path
    manifest: Mapping[str, Any] | None
    planned: list[Planned] | None = None
    claims: list[Claim] = field(default_factory=list)
    rows: list[tuple[Row, Mapping[str, Any]]] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    unsealed: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)


def read_claims(folder: Path) -> Claims:
    """Return what the files of a run claim.

    :raises BadSetting: where there is no run, and for a manifest that is none
    """
    manifest = _manifest(folder / MANIFEST)
    if manifest is None and not (folder / JOURNAL).is_file():
        raise BadSetting(f'{folder} holds no run: neither {JOURNAL} nor {MANIFEST} is there')
    return _Reader(folder, manifest).read()


class _Reader:
    def __init__(self, folder: Path, manifest: Mapping[str, Any] | None) -> None:
        self._out = Claims(folder, manifest)
        self._folder = folder
        self._entries: dict[Attempt, list[tuple[int, Mapping[str, Any]]]] = {}

    def read(self) -> Claims:
        out = self._out
        if out.manifest is not None:
            out.planned = [
                Planned(item['run_id'], item['arm'], item['condition'])
                for item in out.manifest['episodes']
            ]
        settings = dict(self._settings())
        for line, entry in self._lines(ledger.FILE, ledger.Entry):
            key = entry.run_id, entry.arm, entry.attempt
            self._entries.setdefault(key, []).append((line.number, line.item or {}))
        seen: dict[Attempt, int] = {}
        named: set[str] = set()
        for line, row in self._lines(JOURNAL, Row):
            attempt = row.run_id, row.arm, row.attempt
            item = line.item or {}
            if attempt in seen:
                self._note(line, attempt, 'attempt', row.attempt, f'line {seen[attempt]} has it')
                continue
            seen[attempt] = line.number
            out.rows.append((row, item))
            if row.bag:
                named.add(row.bag)
                out.claims.append(
                    Claim(
                        bag=row.bag,
                        episode=f'{row.run_id}/{row.arm}',
                        attempt=row.attempt,
                        row=item,
                        row_line=line.number,
                        entries=self._entries.get(attempt, ()),
                        settings=settings.get((row.run_id, row.arm), ''),
                    )
                )
            elif row.status != 'aborted':
                self._note(line, attempt, 'bag', ABSENT, 'a recording is needed')
        for key in self._entries.keys() - seen.keys():
            number, _ = self._entries[key][0]
            out.differences.append(
                Difference(
                    'ledger',
                    f'{ledger.FILE}, line {number}',
                    _name(*key),
                    '',
                    'an attempt',
                    f'no line in {JOURNAL}',
                )
            )
        out.stray = sorted(set(self._bags()) - named)
        return out

    def _lines(self, file: str, model: Any) -> Iterator[tuple[Line, Any]]:
        """Return the lines that can be read, and note what is wrong with the others."""
        found = jsonl.scan(self._folder / file)
        sealed = False
        for line in found.lines:
            problem, parsed = line.problem, None
            if line.item is not None:
                try:
                    parsed = model.model_validate(line.item)
                except ValidationError as error:
                    problem = explain(error)
            sealed = sealed or line.intact is not None
            if problem:
                self._complain(file, line, problem)
            elif line.intact is False:
                self._complain(file, line, 'its hash is another: the line was changed')
            elif line.intact is None and sealed:
                self._complain(file, line, 'it has no hash, though lines before it have')
            elif line.intact is None and file not in self._out.unsealed:
                self._out.unsealed.append(file)
            if parsed is not None:
                yield line, parsed
        if found.torn.endswith(b'\n'):
            last = Line(len(found.lines) + 1, None)
            self._complain(file, last, 'it is not JSON')
        elif found.torn:
            self._out.torn.append(file)

    def _complain(self, file: str, line: Line, why: str) -> None:
        item = line.item or {}
        named = item.get('run_id'), item.get('arm'), item.get('attempt', 1)
        self._out.differences.append(
            Difference(
                'journal' if file == JOURNAL else 'ledger',
                f'{file}, line {line.number}',
                _name(*named) if named[0] else '',
                '',
                'a line as it was written',
                spelled(why),
            )
        )

    def _note(self, line: Line, attempt: Attempt, where: str, said: Any, found: Any) -> None:
        file = f'{JOURNAL}, line {line.number}'
        self._out.differences.append(
            Difference('journal', file, _name(*attempt), where, spelled(said), spelled(found))
        )

    def _bags(self) -> Iterator[str]:
        for place in (BAGS, f'{BAGS}/{TORN}'):
            parent = self._folder / place
            for path in sorted(parent.iterdir()) if parent.is_dir() else ():
                if path.is_dir() and path.name != TORN:
                    yield f'{place}/{path.name}'

    def _settings(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Return the settings of every planned episode, as far as the manifest has them."""
        experiment: Any = (self._out.manifest or {}).get('experiment')
        try:
            for cell in experiment['cells']:
                for index, seed in enumerate(cell['seeds']):
                    for arm, planner in experiment['arms'].items():
                        episode = _episode(experiment, cell, index, seed, arm, planner)
                        yield (episode.run_id, arm), episode.to_json()
        except (ValidationError, KeyError, TypeError, AttributeError):
            return  # of another format; then the recordings must know


def _episode(experiment: Any, cell: Any, index: int, seed: int, arm: str, planner: Any) -> Episode:
    return Episode(
        experiment=experiment['name'],
        run_id=f'{cell["name"]}_{index:03d}',
        arm=arm,
        planner=planner,
        condition=cell['name'],
        fault_class=cell['fault_class'],
        label=cell['label'],
        intensity=cell['intensity'],
        calibration=(experiment['calibration'] or {}).get('name', ''),
        episode_index=index,
        seed=seed,
        draws=experiment['draws'],
        body=experiment['body'],
        driver=experiment.get('driver', SIM),
        task=cell.get('task', experiment['task']),
        faults=cell['faults'],
    )


def is_torn(folder: Path) -> bool:
    """Return whether a recording was never closed."""
    return not (folder / METADATA).is_file()


def _name(run_id: Any, arm: Any, attempt: Any) -> str:
    return f'{run_id}/{arm}#{attempt}'


def _manifest(path: Path) -> Mapping[str, Any] | None:
    try:
        manifest = json.loads(path.read_text('utf-8'))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise BadSetting(f'{path}: {error}') from None
    try:
        for item in manifest['episodes']:
            _ = item['run_id'], item['arm'], item['condition']
    except (KeyError, TypeError):
        raise BadSetting(
            f'{path}: no manifest of an experiment: the list "episodes" is expected'
        ) from None
    assert isinstance(manifest, dict)
    return manifest
