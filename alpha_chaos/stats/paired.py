"""Two arms on the same scenarios, pair by pair."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from alpha_chaos.journal import Row
from alpha_chaos.stats.intervals import BadCountError, Estimate, estimate

ALL = 'all'
PHYSICAL = 'physical'  # the paper's name for everything but attacks on the text of the plan
COHORTS = (ALL, PHYSICAL)
PLAN_TEXT_FAULT = 'planner_output_corruption'

# First the planner together with its interface, then each of the two alone.
COMPARISONS = (('llm', 'oracle'), ('llm', 'oracle_json'), ('oracle_json', 'oracle'))


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of `n` pairs, of which `b` + `c` are discordant, both ways round."""

    b: int
    c: int
    n: int
    chi2_corrected: float
    p_corrected: float
    p_exact: float


@dataclass(frozen=True)
class Unpaired:
    """A scenario that could not be compared, and why."""

    run_id: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """Two arms over a cohort; every tuple of run ids is in the order of the results."""

    first: str
    second: str
    cohort: str
    first_rate: Estimate
    second_rate: Estimate
    both: int
    neither: int
    first_only: tuple[str, ...]
    second_only: tuple[str, ...]
    unpaired: tuple[Unpaired, ...]
    test: McNemar | None

    @property
    def pairs(self) -> int:
        """How many scenarios have a result in both arms."""
        return self.first_rate.n

    @property
    def discordant(self) -> int:
        """In how many pairs one arm succeeded and the other did not."""
        return len(self.first_only) + len(self.second_only)


def mcnemar(b: int, c: int, n: int) -> McNemar | None:
    """Return McNemar's test for `b` and `c` discordant pairs of `n`; None when n is 0.

    The correction never exceeds the difference it corrects: for |b - c| <= 1 chi2 is 0 and p is
    1. There the library gives p = 0.0 for b = c = 0, and chi2 = 1 / (2 b) for b = c > 0.

    :raises BadCountError: for counts that cannot be
    """
    if b < 0 or c < 0 or b + c > n:
        raise BadCountError(
            f'{b} and {c} discordant pairs of {n}: counts from 0 to {n} are needed'
        )
    if n == 0:
        return None
    if abs(b - c) <= 1:
        return McNemar(b, c, n, chi2_corrected=0.0, p_corrected=1.0, p_exact=1.0)
    # Not at the top: it takes seconds to import, and a run needs it only at its end.
    from statsmodels.stats.contingency_tables import mcnemar as library

    table = [[0, b], [c, 0]]  # the test does not look at the concordant pairs
    exact = library(table, exact=True)
    corrected = library(table, exact=False, correction=True)
    return McNemar(
        b, c, n, float(corrected.statistic), float(corrected.pvalue), float(exact.pvalue)
    )


def attacks_plan_text(row: Row) -> bool:
    """Return whether the fault of this attempt aimed at the text of a plan."""
    return row.corruption.probability is not None or PLAN_TEXT_FAULT in row.condition


def _no_result(arm: str, row: Row | None) -> str:
    if row is None:
        return f'{arm}: no attempt'
    return f'{arm}: aborted ({row.reason_type})' if row.status == 'aborted' else ''


def _no_pair(ours: Row, theirs: Row) -> str:
    for name in ('seed', 'condition', 'calibration', 'episode_index'):
        if getattr(ours, name) != getattr(theirs, name):
            return f'{name} differs: {getattr(ours, name)} and {getattr(theirs, name)}'
    return ''


def compare(
    results: Mapping[tuple[str, str], Row],
    first: str,
    second: str,
    cohort: str = ALL,
    planned: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare two arms over the scenarios that both have a result for.

    :param results: the attempt that counts of each (run_id, arm), as `journal.final` gives
    :param planned: condition by run id of all that should be there; those without any attempt
        count as unpaired
    """
    conditions = dict(planned or {}) | {
        row.run_id: row.condition for row in results.values() if row.arm in (first, second)
    }
    outcomes: dict[str, tuple[bool | None, bool | None]] = {}
    unpaired: list[Unpaired] = []
    for run_id, condition in conditions.items():
        ours, theirs = results.get((run_id, first)), results.get((run_id, second))
        if cohort == PHYSICAL and (
            PLAN_TEXT_FAULT in condition
            or any(attacks_plan_text(row) for row in (ours, theirs) if row is not None)
        ):
            continue
        why = _no_result(first, ours) or _no_result(second, theirs)
        if ours is None or theirs is None or why or (why := _no_pair(ours, theirs)):
            unpaired.append(Unpaired(run_id, why))
        else:
            outcomes[run_id] = (ours.success, theirs.success)
    counts = Counter(outcomes.values())
    first_only = tuple(run_id for run_id, pair in outcomes.items() if pair == (True, False))
    second_only = tuple(run_id for run_id, pair in outcomes.items() if pair == (False, True))
    both, n = counts[True, True], len(outcomes)
    return Comparison(
        first=first,
        second=second,
        cohort=cohort,
        first_rate=estimate(both + len(first_only), n),
        second_rate=estimate(both + len(second_only), n),
        both=both,
        neither=counts[False, False],
        first_only=first_only,
        second_only=second_only,
        unpaired=tuple(unpaired),
        test=mcnemar(len(second_only), len(first_only), n),
    )
