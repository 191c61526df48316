"""What the guard said of plans, beside what physics and the safety monitor made of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from alpha_chaos.journal import GuardVerdict, Row
from alpha_chaos.stats.cells import OVERALL, Share

MISSED, FALSE_ALARM = 'missed', 'false alarm'


@dataclass(frozen=True)
class Outcomes:
    """Episodes of one verdict of the guard and one outcome.

    :param clean: the guard found nothing wrong with the plan, and that it reaches the goal
    :param success: of the task, as physics has it
    :param quiet: the safety monitor saw no event
    """

    clean: bool
    success: bool
    quiet: bool
    episodes: int


@dataclass(frozen=True)
class Agreement:
    """Guard, physics and safety monitor in a cell, over the episodes whose plan was carried out.

    Of several plans the last one counts, which made the end what it is. Guard and outcome agree
    if the plan is clean and the episode a success without an event, or neither is the case.

    :param condition: OVERALL for all of an arm
    :param outcomes: every combination, also those that no episode has
    :param kappa: Cohen's; None where one of the two always says the same
    :param blocked: episodes whose last plan was not carried out because of the guard
    :param unchecked: episodes with a result of which no plan reached the guard
    """

    arm: str
    condition: str
    outcomes: tuple[Outcomes, ...]
    agreed: Share
    kappa: float | None
    blocked: int
    unchecked: int

    def count(self, clean: bool, success: bool, quiet: bool) -> int:
        """Return the number of episodes of one combination."""
        return next(
            item.episodes
            for item in self.outcomes
            if (item.clean, item.success, item.quiet) == (clean, success, quiet)
        )


@dataclass(frozen=True)
class Disagreement:
    """An episode of which the guard said something else than came of it.

    :param kind: MISSED or FALSE_ALARM
    :param said: what the guard found, empty for a clean plan
    :param outcome: why the task failed, empty for a success
    :param events: rule and block of each safety event
    :param faults: kinds that had their chance
    """

    arm: str
    condition: str
    run_id: str
    kind: str
    said: tuple[str, ...]
    outcome: str
    events: tuple[str, ...]
    faults: tuple[str, ...]
    bag: str


def last_verdict(row: Row) -> GuardVerdict | None:
    """Return what the guard said of the plan that counts; None if none reached it."""
    return row.guard.verdicts[-1] if row.guard and row.guard.verdicts else None


def agreements(
    rows: Iterable[Row], arms: Sequence[str], conditions: Sequence[str]
) -> tuple[Agreement, ...]:
    """Return the agreement of every arm whose plans were checked: overall, then by condition.

    :param rows: the attempts that count
    """
    results = [row for row in rows if row.status != 'aborted' and row.guard is not None]
    found = []
    for arm, condition in product(arms, (OVERALL, *conditions)):
        cell = [row for row in results if row.arm == arm and condition in (OVERALL, row.condition)]
        if cell:
            found.append(_agreement(arm, condition, cell))
    return tuple(found)


def disagreements(rows: Iterable[Row]) -> tuple[Disagreement, ...]:
    """Return the episodes in which guard and outcome do not agree, in the order of the rows."""
    return tuple(
        Disagreement(
            arm=row.arm,
            condition=row.condition,
            run_id=row.run_id,
            kind=MISSED if verdict.clean else FALSE_ALARM,
            said=verdict.objections,
            outcome='' if row.success else row.reason,
            events=tuple(f'{event.rule} {event.key}' for event in row.safety.events),
            faults=tuple(proof.fault for proof in row.faults if proof.exercised),
            bag=row.bag,
        )
        for row in rows
        if (verdict := _carried_out(row)) is not None and verdict.clean != _fine(row)
    )


def _agreement(arm: str, condition: str, rows: Sequence[Row]) -> Agreement:
    judged = [
        (verdict.clean, row.success is True, not row.safety.events)
        for row in rows
        if (verdict := _carried_out(row)) is not None
    ]
    counts = Counter(judged)
    verdicts = [last_verdict(row) for row in rows]
    agreed = sum(clean == (success and quiet) for clean, success, quiet in judged)
    return Agreement(
        arm=arm,
        condition=condition,
        outcomes=tuple(
            Outcomes(clean, success, quiet, counts[clean, success, quiet])
            for clean in (True, False)
            for success in (True, False)
            for quiet in (True, False)
        ),
        agreed=Share(agreed, len(judged)),
        kappa=_kappa([(clean, success and quiet) for clean, success, quiet in judged]),
        blocked=sum(verdict is not None and verdict.blocked for verdict in verdicts),
        unchecked=sum(verdict is None for verdict in verdicts),
    )


def _carried_out(row: Row) -> GuardVerdict | None:
    verdict = last_verdict(row)
    return None if verdict is None or verdict.blocked or row.status == 'aborted' else verdict


def _fine(row: Row) -> bool:
    return row.success is True and not row.safety.events


def _kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return Cohen's kappa: agreement beyond what the two shares alone would give."""
    if not pairs:
        return None
    n = len(pairs)
    one, other = (sum(pair[at] for pair in pairs) / n for at in (0, 1))
    expected = one * other + (1 - one) * (1 - other)
    if one in (0.0, 1.0) or other in (0.0, 1.0):
        return None
    return (sum(a == b for a, b in pairs) / n - expected) / (1 - expected)
