"""A whole run: every cell, every comparison, every attempt."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from alpha_chaos.journal import Row, final
from alpha_chaos.stats.agreement import Agreement, Disagreement, agreements, disagreements
from alpha_chaos.stats.cells import OVERALL, Cell, count
from alpha_chaos.stats.paired import (
    ALL,
    COHORTS,
    COMPARISONS,
    PHYSICAL,
    PLAN_TEXT_FAULTS,
    Comparison,
    compare,
)
from alpha_chaos.stats.paper import Condition, Paper
from alpha_chaos.stats.recoveries import Recovered, recoveries
from alpha_chaos.stats.twins import Twin, twins

BOOTSTRAP_SEED = 42  # every interval is made from the same draws, whatever else there is
ARMS = ('oracle', 'oracle_json', 'llm')  # their order where no experiment gives one


@dataclass(frozen=True)
class Planned:
    """One episode that a run should have.

    :param faults: kinds of the condition's faults, None if the plan does not say
    """

    run_id: str
    arm: str
    condition: str
    faults: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Reason:
    """Attempts that ended for one type of reason; `texts` are the full reasons, with counts."""

    type: str
    attempts: int
    texts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Replacement:
    """An attempt that does not count, and the one of the same episode that does.

    :param what: status and reason of the attempt that does not
    """

    run_id: str
    attempt: int
    by: int
    what: str
    instead: str


@dataclass(frozen=True)
class Attempts:
    """The account of one arm: every attempt is in exactly one of the three numbers.

    :param superseded: attempts that do not count because another one of the episode does
    :param accepted: attempts that have a result and count
    :param repeated: attempts that had a result and were run again all the same
    :param successes: of the accepted ones
    :param replacements: which attempt took the place of which
    """

    arm: str
    total: int
    done: int
    task_failed: int
    aborted: int
    superseded: int
    accepted: int
    repeated: int
    successes: int
    failures: tuple[Reason, ...]
    aborts: tuple[Reason, ...]
    replacements: tuple[Replacement, ...]


@dataclass(frozen=True)
class Summary:
    """What a run amounts to so far.

    :param arms, conditions: in the order of the experiment
    :param expected: episodes planned, None when the plan is not known
    :param results: episodes that have a result
    :param unresolved: (run_id, arm) of episodes of which every attempt was aborted
    :param missing: (run_id, arm) of planned episodes without an attempt
    :param unexpected: (run_id, arm) of results that were not planned; they are in no number
    :param lost: (run_id, arm, messages) of recordings that are not complete
    :param torn: whether the journal ends in an incomplete line, which was left out
    :param twins: each faulty cell against its fault-free control on the same seeds
    :param recoveries: what each arm that recovers buys and costs, overall and by condition
    :param agreements: guard, physics and safety monitor, where plans were checked
    :param disagreements: the episodes behind them
    """

    experiment: str
    calibrations: tuple[str, ...]
    arms: tuple[str, ...]
    conditions: tuple[str, ...]
    expected: int | None
    results: int
    unresolved: tuple[tuple[str, str], ...]
    missing: tuple[tuple[str, str], ...]
    unexpected: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str, int], ...]
    overall: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    comparisons: tuple[Comparison, ...]
    twins: tuple[Twin, ...]
    recoveries: tuple[Recovered, ...]
    agreements: tuple[Agreement, ...]
    disagreements: tuple[Disagreement, ...]
    attempts: tuple[Attempts, ...]
    torn: bool
    paper: Paper | None

    def of_arm(self, arm: str) -> tuple[Cell, ...]:
        """Return the cells of one arm, in the order of the conditions."""
        return tuple(cell for cell in self.cells if cell.arm == arm)

    def of_condition(self, condition: str) -> tuple[Cell, ...]:
        """Return the cells of one condition, in the order of the arms."""
        return tuple(cell for cell in self.cells if cell.condition == condition)

    @property
    def text_attacked(self) -> bool:
        """Whether the physical cohort is any smaller than the whole."""

        def scenarios(cohort: str) -> list[int]:
            found = (item for item in self.comparisons if item.cohort == cohort)
            return [item.pairs + len(item.unpaired) for item in found]

        return scenarios(ALL) != scenarios(PHYSICAL)

    def published(self, condition: str) -> Condition | None:
        """Return what the paper says of a condition; None if it says nothing."""
        return self.paper.conditions.get(condition) if self.paper else None


def _reasons(rows: Iterable[Row]) -> tuple[Reason, ...]:
    """Return the reasons by type, the most frequent first."""
    texts: dict[str, Counter[str]] = {}
    for row in rows:
        texts.setdefault(row.reason_type or 'no reason given', Counter())[row.reason] += 1
    reasons = [
        Reason(
            kind,
            found.total(),
            tuple(sorted(found.items(), key=lambda item: (-item[1], item[0]))),
        )
        for kind, found in texts.items()
    ]
    return tuple(sorted(reasons, key=lambda reason: (-reason.attempts, reason.type)))


def _outcome(row: Row) -> str:
    return f'{row.status}: {row.reason}' if row.reason else row.status


def _account(arm: str, rows: Sequence[Row], counting: Mapping[tuple[str, str], Row]) -> Attempts:
    """Return the account of an arm.

    :param counting: the attempts that count, of any arm
    """
    by_status = Counter(row.status for row in rows)
    accepted = [row for row in rows if row is counting.get(row.key) and row.status != 'aborted']
    superseded = [row for row in rows if row.key in counting and row is not counting[row.key]]
    return Attempts(
        arm=arm,
        total=len(rows),
        done=by_status['done'],
        task_failed=by_status['task_failed'],
        aborted=by_status['aborted'],
        superseded=len(superseded),
        accepted=len(accepted),
        repeated=sum(row.status != 'aborted' for row in superseded),
        successes=sum(row.success is True for row in accepted),
        replacements=tuple(
            Replacement(
                row.run_id,
                row.attempt,
                counting[row.key].attempt,
                _outcome(row),
                _outcome(counting[row.key]),
            )
            for row in superseded
        ),
        failures=_reasons(row for row in rows if row.status == 'task_failed'),
        aborts=_reasons(row for row in rows if row.status == 'aborted'),
    )


def _orderings(arms: Sequence[str]) -> list[tuple[str, str]]:
    """Return the comparisons to make: the known ones first, then every other pair of arms."""
    known = [pair for pair in COMPARISONS if set(pair) <= set(arms)]
    return known + [
        (first, second)
        for second, first in combinations(arms, 2)
        if (first, second) not in known and (second, first) not in known
    ]


def _in_order(names: Iterable[str], known: Sequence[str]) -> dict[str, int]:
    """Return the place of each name: the known ones first, the others as they come."""
    found = tuple(dict.fromkeys(names))
    ordered = [name for name in known if name in found]
    ordered += [name for name in found if name not in known]
    return {name: place for place, name in enumerate(ordered)}


def _plan_of(rows: Collection[Row], paper: Paper | None) -> list[Planned]:
    """Return what a journal holds in the order of an experiment file, not of its workers."""
    arms = _in_order((row.arm for row in rows), ARMS)
    conditions = _in_order(
        (row.condition for row in rows), list(paper.conditions) if paper else []
    )
    ordered = sorted(
        rows, key=lambda row: (conditions[row.condition], row.episode_index, arms[row.arm])
    )
    return [Planned(row.run_id, row.arm, row.condition) for row in ordered]


def summarise(
    rows: Iterable[Row],
    planned: Sequence[Planned] | None = None,
    paper: Paper | None = None,
    *,
    experiment: str = '',
    torn: bool = False,
) -> Summary:
    """Return what a run amounts to so far.

    :param rows: every attempt, in the order of the journal
    :param planned: every episode the run should have; None if that is not known
    :param paper: published numbers; left out if the run is not of the experiment they belong to
    :param torn: whether the journal ends in an incomplete line
    """
    rows = list(rows)
    keys = None if planned is None else {(item.run_id, item.arm) for item in planned}
    used = [row for row in rows if keys is None or row.key in keys]
    counting = final(used)
    plan = _plan_of(counting.values(), paper) if planned is None else list(planned)
    results = {key: counting[key] for item in plan if (key := (item.run_id, item.arm)) in counting}
    arms = tuple(dict.fromkeys(item.arm for item in plan))
    conditions = tuple(dict.fromkeys(item.condition for item in plan))
    missing = [item for item in plan if (item.run_id, item.arm) not in results]
    faults = {item.condition: item.faults for item in plan if item.faults is not None}
    draws = partial(np.random.default_rng, BOOTSTRAP_SEED)

    def cell(arm: str, condition: str) -> Cell:
        return count(
            arm,
            condition,
            [
                row
                for row in results.values()
                if row.arm == arm and condition in (OVERALL, row.condition)
            ],
            sum(item.arm == arm and condition in (OVERALL, item.condition) for item in missing),
            {name: bool(kinds) for name, kinds in faults.items()},
        )

    of_plan = {(item.arm, item.condition) for item in plan}
    return Summary(
        experiment=experiment,
        calibrations=tuple(sorted({row.calibration for row in used if row.calibration})),
        arms=arms,
        conditions=conditions,
        expected=None if planned is None else len(plan),
        results=sum(row.status != 'aborted' for row in results.values()),
        unresolved=tuple(key for key, row in results.items() if row.status == 'aborted'),
        missing=tuple((item.run_id, item.arm) for item in missing),
        unexpected=tuple(
            dict.fromkeys(row.key for row in rows if keys is not None and row.key not in keys)
        ),
        lost=tuple(
            (row.run_id, row.arm, row.recording.lost)
            for row in results.values()
            if row.recording.lost
        ),
        overall=tuple(cell(arm, OVERALL) for arm in arms),
        cells=tuple(
            cell(arm, condition)
            for arm in arms
            for condition in conditions
            if (arm, condition) in of_plan
        ),
        comparisons=tuple(
            compare(
                results,
                first,
                second,
                cohort,
                {item.run_id: item.condition for item in plan if item.arm in (first, second)},
                attacked=[
                    name for name, kinds in faults.items() if PLAN_TEXT_FAULTS.intersection(kinds)
                ],
                draws=draws,
            )
            for cohort in COHORTS
            for first, second in _orderings(arms)
        ),
        twins=tuple(twin for arm in arms for twin in twins(list(results.values()), arm, draws)),
        recoveries=recoveries(results, arms, draws),
        agreements=agreements(results.values(), arms, conditions),
        disagreements=disagreements(results.values()),
        attempts=tuple(
            _account(arm, [row for row in used if row.arm == arm], results) for arm in arms
        ),
        torn=torn,
        paper=paper if paper and paper.belongs_to(experiment, conditions) else None,
    )
