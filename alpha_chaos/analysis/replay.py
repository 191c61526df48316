"""`alpha-chaos replay`: pass an episode's faults through again, and execute it again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console

from alpha_chaos.analysis.claims import Claims, read_claims
from alpha_chaos.analysis.difference import (
    Contradiction,
    Difference,
    spelled,
    unequal_decisions,
)
from alpha_chaos.analysis.examine import Claim, Shown, show
from alpha_chaos.analysis.execution import CLOSE_M, Executed, execute_again
from alpha_chaos.analysis.injection import decision_of
from alpha_chaos.analysis.pool import each
from alpha_chaos.analysis.verdicts import unequal_verdicts
from alpha_chaos.analysis.walk import Command, Walked
from alpha_chaos.bag.reader import BagError, Recording
from alpha_chaos.catalogues import bodies, drivers
from alpha_chaos.experiment import Episode
from alpha_chaos.journal import final
from alpha_chaos.ledger import FILE as LEDGER
from alpha_chaos.plugins import BadSetting, parse, unknown
from alpha_chaos.report.wording import shown
from alpha_chaos.run.manifest import processor

SAME = 0
DIFFERENT = 4


@dataclass
class Replayed:
    """What came of one episode.

    :param executed: None if it did not come to that
    :param decisions: of its faults
    :param commands: of arm and gripper
    :param verdicts: of the guard
    """

    claim: Claim
    differences: list[Difference] = field(default_factory=list)
    executed: Executed | None = None
    decisions: int = 0
    commands: int = 0
    verdicts: int = 0
    faults: tuple[str, ...] = ()


def replay(
    folder: Path,
    console: Console,
    *,
    run_id: str | None = None,
    arm: str | None = None,
    workers: int | None = None,
    limit: int = 10,
) -> int:
    """Replay one episode of a run, or all that have a result; return the exit code.

    :param limit: differences that are listed
    :raises BadSetting: where there is no run, or no such episode
    """
    claims = read_claims(folder)
    chosen = _chosen(claims, run_id, arm)
    replayed = each(
        partial(replay_one, folder), chosen, console, title='episodes', workers=workers
    )
    found = [difference for item in replayed for difference in item.differences]
    if run_id is not None:
        for item in replayed:
            _tell(item, console)
    else:
        same = sum(not item.differences for item in replayed)
        steps = sum(item.executed.steps for item in replayed if item.executed)
        decisions = sum(item.decisions for item in replayed)
        _say(
            console,
            f'{folder}: {same} of {len(replayed)} episodes the same, bit for bit: '
            f'{steps} physics steps, {decisions} decisions of faults',
        )
    for difference in found[:limit]:
        _say(console, f'  {difference.kind:9s} {difference}')
    if len(found) > limit:
        _say(console, f'  and {len(found) - limit} more; --limit {len(found)} lists them')
    if found:
        _tell_why(claims.manifest, replayed, console)
    return DIFFERENT if found else SAME


def replay_one(run: Path, claim: Claim) -> Replayed:
    """Pass an episode's faults through again and execute it again."""
    out = Replayed(claim)
    name = f'{claim.episode}#{claim.attempt}'

    def note(difference: Difference) -> None:
        out.differences.append(difference)

    try:
        recording = Recording(run / claim.bag)
        if not recording.complete:
            raise Contradiction('complete', 'false', 'a whole episode is needed')
        known = show(recording, claim)
        for place, said, found in known.passed.unequal:
            note(Difference('faults', claim.bag, name, place, spelled(said), spelled(found)))
        _compare_ledger(claim, known, out)
        out.decisions = len(known.passed.decisions)
        out.faults = tuple(str(fault['kind']) for fault in known.record.episode.faults)
        walked = known.walk()
        for place, said, found in unequal_verdicts(recording, walked):
            note(Difference('guard', claim.bag, name, place, spelled(said), spelled(found)))
        out.verdicts = len(walked.verdicts)
        out.commands = sum(isinstance(item, Command) for item in walked.moved)
        out.executed = _execute(recording, walked.record.episode, walked)
        for difference in _physics(claim, out.executed, recording.digest()):
            note(difference)
    except BagError as error:
        note(Difference('recording', claim.bag, name, '', 'a recording', error.why))
    except Contradiction as wrong:
        said, found = spelled(wrong.said), spelled(wrong.found)
        note(Difference('recording', claim.bag, name, wrong.field, said, found))
    except Exception as error:  # of what its messages hold, or of a plug-in that is not here
        why = spelled(f'{type(error).__name__}: {error}')
        note(Difference('recording', claim.bag, name, '', 'messages of a graph', why))
    return out


def _chosen(claims: Claims, run_id: str | None, arm: str | None) -> list[Claim]:
    """Return the claims of the attempts that count."""
    counting = final(row for row, _ in claims.rows)
    bags = {row.bag for row in counting.values() if row.status != 'aborted'}
    chosen = [claim for claim in claims.claims if claim.bag in bags]
    if not chosen:
        raise BadSetting(f'{claims.folder}: no episode has a result yet')
    if run_id is None:
        return chosen
    runs = list(dict.fromkeys(key[0] for key in counting))
    if run_id not in runs:
        guess = unknown('run_id', run_id, runs).split(' known: ')[0]
        more = f' and {len(runs) - 5} more' if len(runs) > 5 else ''
        raise BadSetting(f'{guess} known: {", ".join(runs[:5])}{more}')
    if arm is None:
        return [claim for claim in chosen if claim.episode.rpartition('/')[0] == run_id]
    arms = [key[1] for key in counting if key[0] == run_id]
    if arm not in arms:
        raise BadSetting(unknown('arm', arm, arms))
    found = [claim for claim in chosen if claim.episode == f'{run_id}/{arm}']
    if not found:
        raise BadSetting(f'{run_id}/{arm} has no result: {counting[run_id, arm].reason}')
    return found


def _execute(recording: Recording, episode: Episode, walked: Walked) -> Executed:
    return execute_again(
        parse(bodies(), episode.body, 'body'),
        walked.moved,
        recording.step_states,
        recording.description.object_names,
        parse(drivers(), episode.driver, 'driver'),
    )


def _compare_ledger(claim: Claim, known: Shown, out: Replayed) -> None:
    """Compare what the ledger says of the faults' decisions with what they decided again."""
    name = f'{claim.episode}#{claim.attempt}'
    entries = [(f'{LEDGER}, line {number}', decision_of(entry)) for number, entry in claim.entries]
    for file, place, said, found in unequal_decisions(entries, known.passed.decisions):
        out.differences.append(
            Difference('ledger', file or LEDGER, name, place, spelled(said), spelled(found))
        )


def _physics(claim: Claim, executed: Executed, digest: str) -> list[Difference]:
    name = f'{claim.episode}#{claim.attempt}'
    found = [
        Difference('physics', claim.bag, name, place, spelled(said), spelled(other))
        for place, said, other in executed.unequal
    ]
    apart = executed.apart
    if apart is not None:
        by = '' if apart.by is None else f' by {apart.by:.3g}'
        close = 'within' if apart.close else 'not within'
        found.insert(
            0,
            Difference(
                'physics',
                claim.bag,
                name,
                'digest',
                digest[:16],
                f'{executed.digest[:16]}: the first state that differs is that of step '
                f'{apart.step}, in {apart.what}{by}; no object is ever more than '
                f'{apart.largest_m:.3g} m elsewhere ({apart.largest_object}, step '
                f'{apart.largest_step}), {close} {CLOSE_M:g} m',
            ),
        )
    elif executed.digest != digest:
        found.append(
            Difference('physics', claim.bag, name, 'digest', digest[:16], executed.digest[:16])
        )
    return found


def _tell(item: Replayed, console: Console) -> None:
    claim = item.claim
    result = 'the same' if not item.differences else 'not the same'
    _say(console, f'{claim.episode}, attempt {claim.attempt}: {result}')
    faults = ', '.join(item.faults) or 'none'
    _say(console, f'  faults     {faults}; {item.decisions} decisions drawn and made again')
    if item.verdicts:
        many = 'verdict' if item.verdicts == 1 else 'verdicts'
        _say(console, f'  guard      {item.verdicts} {many} concluded again')
    if item.executed is not None:
        _say(
            console,
            f'  physics    {item.commands} commands, {item.executed.steps} states, '
            f'digest {item.executed.digest[:16]}',
        )


def _tell_why(
    manifest: Mapping[str, object] | None, replayed: list[Replayed], console: Console
) -> None:
    """Say whether the machine may be the reason."""
    machine = (manifest or {}).get('machine')
    there = machine.get('processor', '') if isinstance(machine, Mapping) else ''
    here = processor()
    apart = [item.executed.apart for item in replayed if item.executed and item.executed.apart]
    if apart and there and there != here:
        largest = max(item.largest_m for item in apart)
        close = 'within' if largest <= CLOSE_M else 'not within'
        _say(
            console,
            f'recorded on {there}, replayed on {here}: the last bits may differ between '
            f'processors. The largest distance between places is {largest:.3g} m, {close} '
            f'{CLOSE_M:g} m',
        )


def _say(console: Console, text: str) -> None:
    console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
