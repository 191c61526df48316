"""Two arms on the same scenarios, pair by pair."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from alpha_chaos.journal import Row
from alpha_chaos.stats.difference import Difference, Draws, success_difference
from alpha_chaos.stats.intervals import Estimate, estimate
from alpha_chaos.stats.mcnemar import Detectable, McNemar, detectable, holm, mcnemar

ALL = 'all'
PHYSICAL = 'physical'  # the paper's name for everything but attacks on the text of the plan
COHORTS = (ALL, PHYSICAL)
PLAN_TEXT_FAULTS = frozenset({'plan_corruption'})  # by kind

# First the planner together with its interface, then each of the two alone.
COMPARISONS = (('llm', 'oracle'), ('llm', 'oracle_json'), ('oracle_json', 'oracle'))


@dataclass(frozen=True)
class Pair:
    """Two results of one scenario."""

    first: Row
    second: Row

    @property
    def success(self) -> tuple[bool, bool]:
        """Whether the first succeeded, and whether the second did."""
        return self.first.success is True, self.second.success is True


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs without copies: those whose trajectories their cell had before.

    What has no digest is not known to be a copy.
    """
    kept: dict[tuple[object, ...], Pair] = {}
    for pair in pairs:
        key: tuple[object, ...] = (pair.first.run_id,)
        if pair.first.digest and pair.second.digest:
            digests = pair.first.digest, pair.second.digest
            key = pair.first.condition, pair.second.condition, *digests, *pair.success
        kept.setdefault(key, pair)
    return list(kept.values())


@dataclass(frozen=True)
class Unpaired:
    """A scenario that could not be compared, and why."""

    run_id: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Paired:
    """What pairs of results amount to; tuples of run ids are in the order of the results.

    :param test: over all pairs, copies and all, as the paper has it
    :param distinct_test: over the distinct pairs: copies are no evidence
    :param difference: of the success rates, first less second, over the distinct pairs
    :param detectable: what so many distinct pairs can show
    """

    first_rate: Estimate
    second_rate: Estimate
    both: int
    neither: int
    first_only: tuple[str, ...]
    second_only: tuple[str, ...]
    test: McNemar | None
    distinct_test: McNemar | None
    difference: Difference
    detectable: Detectable

    @property
    def pairs(self) -> int:
        """How many scenarios have both results."""
        return self.first_rate.n

    @property
    def discordant(self) -> int:
        """In how many pairs one succeeded and the other did not."""
        return len(self.first_only) + len(self.second_only)

    @property
    def distinct(self) -> int:
        """How many of the pairs are no copies of another."""
        return self.difference.n

    @property
    def copies(self) -> bool:
        """Whether some pairs repeat others."""
        return self.distinct < self.pairs


def counted(pairs: Sequence[Pair], draws: Draws) -> Paired:
    """Return what pairs amount to; its fields are those that every comparison begins with.

    :param draws: seeded generator for the interval, made anew
    """
    counts = Counter(pair.success for pair in pairs)
    outcomes = [pair.success for pair in distinct(pairs)]
    apart = Counter(outcomes)
    both, n = counts[True, True], len(pairs)
    first_only = tuple(pair.first.run_id for pair in pairs if pair.success == (True, False))
    second_only = tuple(pair.first.run_id for pair in pairs if pair.success == (False, True))
    return Paired(
        first_rate=estimate(both + len(first_only), n),
        second_rate=estimate(both + len(second_only), n),
        both=both,
        neither=counts[False, False],
        first_only=first_only,
        second_only=second_only,
        test=mcnemar(len(second_only), len(first_only), n),
        distinct_test=mcnemar(apart[False, True], apart[True, False], len(outcomes)),
        difference=success_difference(outcomes, draws),
        detectable=detectable(len(outcomes)),
    )


@dataclass(frozen=True, kw_only=True)
class ConditionPairs(Paired):
    """The pairs of one condition.

    :param p_holm: exact p over all pairs, corrected for the number of conditions
    """

    condition: str
    p_holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison(Paired):
    """Two arms over a cohort.

    :param conditions: the same for each condition that has a pair
    """

    first: str
    second: str
    cohort: str
    unpaired: tuple[Unpaired, ...]
    conditions: tuple[ConditionPairs, ...]


def attacks_plan_text(row: Row) -> bool:
    """Return whether a fault of this attempt aimed at the text of a plan."""
    return row.corruption.probability is not None or any(
        proof.fault in PLAN_TEXT_FAULTS for proof in row.faults
    )


def without_result(name: str, row: Row | None) -> str:
    """Return why there is no result, empty if there is one."""
    if row is None:
        return f'{name}: no attempt'
    return f'{name}: aborted ({row.reason_type})' if row.status == 'aborted' else ''


def _no_pair(ours: Row, theirs: Row) -> str:
    for name in ('seed', 'condition', 'calibration', 'episode_index'):
        if getattr(ours, name) != getattr(theirs, name):
            return f'{name} differs: {getattr(ours, name)} and {getattr(theirs, name)}'
    return ''


def pair_up(
    results: Mapping[tuple[str, str], Row], first: str, second: str, run_ids: Iterable[str]
) -> tuple[list[Pair], list[Unpaired]]:
    """Return the pairs of two arms, and the scenarios that make none."""
    pairs, unpaired = [], []
    for run_id in run_ids:
        ours, theirs = results.get((run_id, first)), results.get((run_id, second))
        why = without_result(first, ours) or without_result(second, theirs)
        if ours is None or theirs is None or why or (why := _no_pair(ours, theirs)):
            unpaired.append(Unpaired(run_id, why))
        else:
            pairs.append(Pair(ours, theirs))
    return pairs, unpaired


def compare(
    results: Mapping[tuple[str, str], Row],
    first: str,
    second: str,
    cohort: str = ALL,
    planned: Mapping[str, str] | None = None,
    *,
    attacked: Collection[str] = (),
    draws: Draws,
) -> Comparison:
    """Compare two arms over the scenarios that both have a result for.

    :param results: the attempt that counts of each (run_id, arm), as `journal.final` gives
    :param planned: condition by run id of all that should be there; those without any attempt
        count as unpaired
    :param attacked: conditions whose faults aim at the text of a plan, besides those in which a
        row says so; the physical cohort is without them
    :param draws: seeded generator for the intervals, made anew
    """
    conditions = dict(planned or {}) | {
        row.run_id: row.condition for row in results.values() if row.arm in (first, second)
    }
    if cohort == PHYSICAL:
        # A cell as a whole: an aborted attempt does not say what its faults were.
        hit = {row.condition for row in results.values() if attacks_plan_text(row)}
        hit.update(attacked)
        conditions = {run_id: name for run_id, name in conditions.items() if name not in hit}
    pairs, unpaired = pair_up(results, first, second, conditions)
    by_condition = [
        ConditionPairs(
            condition=name,
            **vars(counted([pair for pair in pairs if pair.first.condition == name], draws)),
        )
        for name in dict.fromkeys(pair.first.condition for pair in pairs)
    ]
    corrected = holm([item.test.p_exact if item.test else None for item in by_condition])
    return Comparison(
        first=first,
        second=second,
        cohort=cohort,
        unpaired=tuple(unpaired),
        conditions=tuple(
            replace(item, p_holm=p) for item, p in zip(by_condition, corrected, strict=True)
        ),
        **vars(counted(pairs, draws)),
    )
