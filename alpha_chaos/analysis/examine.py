"""Everything that one recording says of its attempt, computed again and compared."""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_chaos.analysis.difference import (
    ABSENT,
    Contradiction,
    Difference,
    Kind,
    Unequal,
    spelled,
    unequal,
    unequal_decisions,
)
from alpha_chaos.analysis.injection import Passed, pass_again
from alpha_chaos.analysis.verdicts import unequal_verdicts
from alpha_chaos.analysis.walk import Walked, walk
from alpha_chaos.bag.reader import BagError, Exchange, Recording, TornBag
from alpha_chaos.episode import EpisodeRecord
from alpha_chaos.experiment import Episode
from alpha_chaos.journal import FILE as JOURNAL
from alpha_chaos.jsonl import SEAL
from alpha_chaos.ledger import FILE as LEDGER
from alpha_chaos.ledger import entry_of
from alpha_chaos.plugins import BadSetting
from alpha_chaos.safety.dedup import SafetyEvent
from alpha_chaos.safety.monitor import MissedStep
from alpha_chaos.stats.run_folder import MANIFEST

# What no recording holds: the wall clock of the runner, and where it put the recording.
NOT_RECORDED = ('wall_s', 'bag')
# What a manifest has for all episodes alike and may be another for each: a model that was looked
# for, a world that was varied, the pace at which somebody watched.
SETTLED_LATER = frozenset(('planner', 'body', 'recovery', 'guard', 'control', 'real_time_factor'))


@dataclass(frozen=True)
class Claim:
    """What the files of a run say of one attempt.

    :param bag: folder of the recording, relative to that of the run
    :param row: its line of the journal, None if there is none
    :param entries: its lines of the ledger
    :param settings: the episode as JSON, for recordings without settings; empty if not known
    """

    bag: str
    episode: str
    attempt: int
    row: Mapping[str, Any] | None
    row_line: int = 0
    entries: Sequence[tuple[int, Mapping[str, Any]]] = ()
    settings: str = ''


@dataclass
class Examined:
    """What came of a claim.

    :param row: what of the journal's row the recording shows; None if it shows nothing
    """

    claim: Claim
    differences: list[Difference] = field(default_factory=list)
    row: dict[str, Any] | None = None
    messages: int = 0
    complete: bool = True


def examine(run: Path, claim: Claim) -> Examined:
    """Compute everything again that a recording shows, and compare it with what is claimed."""
    return _Examination(run, claim).run()


@dataclass
class Shown:
    """What a recording shows of its attempt, before the way through it."""

    recording: Recording
    exchanges: list[Exchange]
    passed: Passed
    record: EpisodeRecord

    def walk(self) -> Walked:
        """Return the way through it.

        :raises Contradiction: where the recording contradicts itself
        """
        return walk(self.recording, self.exchanges, self.passed, self.record)


def show(recording: Recording, claim: Claim) -> Shown:
    """Return what a recording shows of its attempt.

    :raises Contradiction: where nobody knows its settings
    :raises BagError: where it cannot be read
    """
    exchanges = list(recording.exchanges())
    episode = settings_of(recording, claim.settings)
    passed = pass_again(recording, exchanges, episode)
    record = EpisodeRecord(episode, claim.attempt, claim.bag)
    record.ledger = passed.decisions
    record.faults = passed.proofs
    return Shown(recording, exchanges, passed, record)


def settings_of(recording: Recording, settings: str) -> Episode:
    """Return the settings of a recorded episode.

    :param settings: the same as JSON, for recordings that have none
    :raises Contradiction: where nobody knows them
    """
    if recording.episode is not None:
        return recording.episode
    if not settings:
        raise Contradiction('settings of the episode', ABSENT, 'needed')
    return Episode.from_json(settings)


class _Examination:
    def __init__(self, run: Path, claim: Claim) -> None:
        self._run = run
        self._claim = claim
        self._out = Examined(claim)

    def run(self) -> Examined:
        claim = self._claim
        try:
            recording = Recording(self._run / claim.bag)
            self._out.complete = recording.complete
            self._out.messages = sum(recording.counts.values())
            self._compare_identity(recording)
            self._compare_settings(recording)
            if not self._aborted or claim.entries:
                self._compare_ledger(recording)
            if recording.complete and not self._aborted:
                self._compare_attempt(recording)
            elif not self._aborted:
                self._note('recording', claim.bag, 'complete', 'true', 'false')
        except TornBag as error:
            self._out.complete = False
            if not self._aborted:
                self._note('recording', self._relative(error.path), '', 'a recording', error.why)
        except BagError as error:
            self._note('recording', self._relative(error.path), '', 'a recording', error.why)
        except Contradiction as wrong:
            self._note('recording', claim.bag, wrong.field, wrong.said, wrong.found)
        except MissedStep as missed:
            self._note('recording', claim.bag, '/step_state', 'every step', str(missed))
        except BadSetting as error:
            self._note('recording', claim.bag, 'settings of the episode', 'usable', str(error))
        except (
            Exception
        ) as error:  # of what its messages hold; the others are examined all the same
            why = f'{type(error).__name__}: {error}'
            self._note('recording', claim.bag, '', 'messages of a graph', why)
        return self._out

    def _compare_identity(self, recording: Recording) -> None:
        claim = self._claim
        named = f'{claim.episode}#{claim.attempt}'
        for where, said in (
            ('metadata.yaml', recording.episode_id),
            (recording.path.name, recording.about.get('episode_id', named)),
            (recording.path.name, _id_of(recording.episode, claim.attempt) or named),
        ):
            if said != named:
                self._note('recording', f'{claim.bag}/{where}', 'episode_id', said, named)
        kept = (claim.row or {}).get('recording', {}).get('sha256', '')
        if kept and recording.sha256 != kept:
            self._note(
                'recording', f'{claim.bag}/metadata.yaml', 'SHA-256', kept, recording.sha256
            )

    @property
    def _aborted(self) -> bool:
        return self._claim.row is not None and self._claim.row['status'] == 'aborted'

    def _compare_settings(self, recording: Recording) -> None:
        """Compare what the manifest says of the episode with what was sent to the nodes."""
        if recording.episode is None or not self._claim.settings:
            return
        said = json.loads(self._claim.settings)
        found = recording.episode.model_dump(mode='json')
        keys = said.keys() - SETTLED_LATER
        self._note_all(
            'manifest',
            MANIFEST,
            unequal({key: said[key] for key in keys}, {key: found[key] for key in keys}),
        )

    def _compare_attempt(self, recording: Recording) -> None:
        claim = self._claim
        known = show(recording, claim)
        self._note_all('faults', claim.bag, known.passed.unequal)
        walked = known.walk()
        self._note_all('guard', claim.bag, unequal_verdicts(recording, walked))
        record = walked.record
        record.safety = self._safety(recording)
        record.recording = {
            'messages': self._out.messages,
            'bytes': recording.size_bytes,
            'lost': _lost(recording),
            'sha256': recording.sha256,
        }
        found = record.row(0.0).model_dump()
        for key in NOT_RECORDED:
            del found[key]
        self._out.row = found
        self._compare_result(recording, found)
        if claim.row is not None:
            file = _line(JOURNAL, claim.row_line)
            self._note_all('journal', file, disagreements(claim.row, found))

    def _safety(self, recording: Recording) -> dict[str, Any]:
        found = recording.safety()
        events = [event_as_row(event) for event in found.events]
        reported = [
            {key: getattr(event, key) for key in _EVENT_KEYS}
            for event in recording.decoded('/safety_events')
        ]
        self._note_all('safety', self._claim.bag, unequal(reported, events, '/safety_events'))
        return {'raw_sweeps': sum(found.raw_sweeps.values()), 'events': events}

    def _compare_result(self, recording: Recording, found: dict[str, Any]) -> None:
        """Compare the result that was announced at the end of the attempt."""
        results = list(recording.decoded('/result'))
        if len(results) != 1:
            self._note('result', self._claim.bag, '/result', f'{len(results)} messages', '1')
            return
        (result,) = results
        unknown = float('nan')
        error = found['final_error_m']
        expected = {
            'episode_id': f'{self._claim.episode}#{self._claim.attempt}',
            'run_id': found['run_id'],
            'arm': found['arm'],
            'condition': found['condition'],
            'status': found['status'],
            'reason': found['reason'],
            'success': bool(found['success']),
            'final_error': unknown if error is None else error,
            'steps': found['steps'] or 0,
            'digest': found['digest'],
        }
        said = {key: getattr(result, key) for key in expected}
        self._note_all('result', self._claim.bag, unequal(said, expected, '/result'))

    def _compare_ledger(self, recording: Recording) -> None:
        claim = self._claim
        run_id, _, arm = claim.episode.rpartition('/')
        key = {'run_id': run_id, 'arm': arm, 'attempt': claim.attempt}
        events = [{**key, **entry_of(event)} for event in recording.decoded('/fault_events')]
        entries = [(_line(LEDGER, number), entry) for number, entry in claim.entries]
        for file, place, said, found in unequal_decisions(entries, events):
            self._note('ledger', file or LEDGER, place, said, found)

    def _note_all(self, kind: Kind, file: str, places: Any) -> None:
        for place, said, found in places:
            self._note(kind, file, place, said, found)

    def _note(self, kind: Kind, file: str, place: str, said: Any, found: Any) -> None:
        named = f'{self._claim.episode}#{self._claim.attempt}'
        self._out.differences.append(
            Difference(kind, file, named, place, spelled(said), spelled(found))
        )

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self._run)) if path.is_relative_to(self._run) else str(path)


_EVENT_KEYS = (*(item.name for item in dataclasses.fields(SafetyEvent)), 'duration_steps')


def event_as_row(event: SafetyEvent) -> dict[str, Any]:
    """Return an event as a journal row has it."""
    return {key: getattr(event, key) for key in _EVENT_KEYS}


def disagreements(row: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Unequal]:
    """Return where a line of the journal says something else than `found`.

    What the line does not have is not compared: earlier formats knew less.
    """
    return unequal(
        {key: value for key, value in row.items() if key not in (*NOT_RECORDED, SEAL)},
        restricted(row, found),
    )


def restricted(row: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `found` says about the keys that a line of the journal has."""
    return {
        key: restricted(row[key], value)
        if isinstance(value, Mapping) and isinstance(row[key], Mapping) and key != 'evidence'
        else value
        for key, value in found.items()
        if key in row
    }


def _id_of(episode: Episode | None, attempt: int) -> str:
    return '' if episode is None else f'{episode.id}#{attempt}'


def _lost(recording: Recording) -> int:
    """Return how many messages of numbered streams are not there."""
    numbers = recording.step_states.step
    lost = int(numbers[-1] - numbers[0]) + 1 - len(numbers) if len(numbers) else 0
    scenes = list(recording.messages('/scene'))
    if scenes:
        lost += int(scenes[-1].decode().sequence) - len(scenes)
    return lost


def _line(file: str, number: int) -> str:
    return f'{file}, line {number}' if number else file
