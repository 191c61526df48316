"""The account of every attempt, of a run or of the paper's pilot, in the same columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from alpha_chaos.plugins import BadSetting
from alpha_chaos.report import wording as say
from alpha_chaos.report.screen import Column, Screen
from alpha_chaos.resources import config_folder
from alpha_chaos.stats.paper import FILE, Paper, read_paper
from alpha_chaos.stats.run_folder import load_and_summarise
from alpha_chaos.stats.summary import Attempts, Replacement, Summary, summarise

LISTED = 10  # texts shown of a reason that is also counted
ALL = 'all'


@dataclass(frozen=True)
class Account:
    """The attempts of one cohort: of an arm, or of the pilot with one provider.

    :param attempts: accepted, aborted and repeated together
    :param accepted: attempts that have a result and count
    :param successes: of these
    :param repeated: attempts that had a result and were run again all the same; None if nobody
        says
    :param superseded: attempts, repeated or aborted, of episodes that have a later one that
        counts; None if nobody says
    :param aborts: attempts without a result by the type of their reason, and the full texts
    :param replacements: which attempt took the place of which
    """

    cohort: str
    attempts: int
    accepted: int
    successes: int
    repeated: int | None
    superseded: int | None
    aborts: tuple[tuple[str, int, tuple[tuple[str, int], ...]], ...]
    replacements: tuple[Replacement, ...] = ()

    @property
    def aborted(self) -> int:
        """How many attempts have no result because the infrastructure failed."""
        return sum(times for _, times, _ in self.aborts)


def of_arm(item: Attempts) -> Account:
    """Return the account of one arm of a run."""
    return Account(
        item.arm,
        item.total,
        item.accepted,
        item.successes,
        item.repeated,
        item.superseded,
        tuple((reason.type, reason.attempts, reason.texts) for reason in item.aborts),
        item.replacements,
    )


def of_pilot(paper: Paper) -> tuple[Account, ...]:
    """Return the accounts of the paper's pilot, by provider."""
    return tuple(
        Account(
            name,
            cohort.attempts,
            cohort.accepted,
            cohort.successes,
            repeated=None,
            superseded=None,
            aborts=tuple((reason, times, ()) for reason, times in cohort.aborted.items()),
        )
        for name, cohort in paper.pilot.cohorts.items()
    )


def audit(folder: Path | None, console: Console, *, paper: bool = False) -> None:
    """Print the account of a run, or of the paper's pilot.

    :raises BadSetting: where there is no run, and where neither is asked for
    """
    if folder is None and not paper:
        raise BadSetting("give the folder of a run, or --paper for the attempts of the paper's")
    if folder is not None:
        summary = load_and_summarise(folder)
        _of_run(summary, Screen(summary, console))
    if paper:
        _of_paper(read_paper(config_folder() / FILE), console)


def _of_run(summary: Summary, screen: Screen) -> None:
    accounts = [of_arm(item) for item in summary.attempts]
    name = f'Experiment {summary.experiment}: ' if summary.experiment else ''
    screen.line(f'{name}every attempt, by arm', style='bold')
    _print(accounts, 'arm', screen)
    gone = [(item.cohort, one) for item in accounts for one in item.replacements]
    if gone:
        screen.heading('Attempts that another one replaced')
    for arm, one in gone:
        screen.line(
            f'{one.run_id}/{arm}: attempt {one.attempt} ({one.what}) replaced by attempt '
            f'{one.by} ({one.instead})'
        )
    screen.heading('What is not there')
    for keys, what in (
        (summary.unresolved, 'episodes of which every attempt was aborted'),
        (summary.missing, 'planned episodes without an attempt'),
        (
            summary.unexpected,
            'episodes in the journal that were not planned: they are in no number',
        ),
    ):
        screen.line(f'{len(keys)} {what}')
        if keys:
            names = [f'{run_id}/{arm}' for run_id, arm in keys]
            screen.line(say.first_few(names, LISTED), indent=2)
    if summary.torn:
        screen.line('The last line of the journal is incomplete and was left out.')


def _of_paper(paper: Paper, console: Console) -> None:
    screen = Screen(summarise([]), console)
    screen.line(f'The pilot of the paper ({paper.pilot.where}), by provider', style='bold')
    _print(of_pilot(paper), 'provider', screen)
    for name, cohort in paper.pilot.cohorts.items():
        if cohort.successes_by_condition:
            split = ', '.join(
                f'{condition} {times}'
                for condition, times in cohort.successes_by_condition.items()
            )
            screen.line(f'{name}: successes by condition: {split}')
    screen.line(f'The paper: {paper.pilot.said}.')


def _print(accounts: Sequence[Account], cohort: str, screen: Screen) -> None:
    """Print the accounts and their sum, then why attempts were aborted."""
    screen.table(
        [
            Column(cohort, 'left', name=True),
            Column('attempts'),
            Column('accepted'),
            Column('successes'),
            Column('%'),
            Column('aborted'),
            Column('%'),
            Column('repeated'),
            Column('superseded'),
        ],
        [_line(item) for item in (*accounts, _sum(accounts))],
    )
    screen.line(
        'attempts = accepted + aborted + repeated. Accepted: has a result, and counts. Repeated: '
        'had a result and was run again. Superseded: aborted or repeated, and a later one counts.'
    )
    for item in accounts:
        for reason, times, texts in item.aborts:
            screen.line(f'{item.cohort}: {times} aborted, {reason}')
            _texts(texts, reason, screen)


def _texts(texts: Sequence[tuple[str, int]], reason: str, screen: Screen) -> None:
    """Print the full reasons, unless they say no more than their type."""
    if [text for text, _ in texts] == [reason]:
        return
    for text, times in texts[:LISTED]:
        screen.line(f'{times} x {text}', indent=2)
    if (more := len(texts) - LISTED) > 0:
        screen.line(f'and {more} other texts', indent=2)


def _line(item: Account) -> list[str]:
    return [
        item.cohort,
        str(item.attempts),
        str(item.accepted),
        str(item.successes),
        say.percent(item.successes / item.accepted if item.accepted else None),
        str(item.aborted),
        say.percent(item.aborted / item.attempts if item.attempts else None),
        say.known(item.repeated, say.plain),
        say.known(item.superseded, say.plain),
    ]


def _sum(accounts: Iterable[Account]) -> Account:
    every = list(accounts)

    def total(counts: Iterable[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(every) else None

    return Account(
        ALL,
        attempts=sum(item.attempts for item in every),
        accepted=sum(item.accepted for item in every),
        successes=sum(item.successes for item in every),
        repeated=total(item.repeated for item in every),
        superseded=total(item.superseded for item in every),
        aborts=tuple(abort for item in every for abort in item.aborts),
    )
