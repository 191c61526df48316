"""A benchmark in numbers: sets of plans on the same tasks, counted, compared and paid for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from alpha_chaos.stats.difference import Difference, mean_difference
from alpha_chaos.stats.intervals import Estimate, Spread, estimate, spread
from alpha_chaos.stats.mcnemar import McNemar, holm, mcnemar
from alpha_chaos.worldmodel.answers import Answer, Origin, VerdictRecord, final
from alpha_chaos.worldmodel.baselines import BASELINES

RESAMPLES = 10_000
SEED = 42
COUNTS = ('immediate', 'latent', 'irreversible')
REFERENCE = 'base'  # the condition that others are compared with, if it is there
_DRAWS = partial(np.random.default_rng, SEED)

Verdicts = Mapping[str, VerdictRecord]


@dataclass(frozen=True)
class Failures:
    """How often something failed.

    :param total: failures in all
    :param tasks: tasks with any
    :param mean: of a task, with its bootstrap interval
    """

    total: int
    tasks: Estimate
    mean: Difference


@dataclass(frozen=True)
class Cost:
    """What the answers of a set took, of a task, failed attempts included.

    :param cut_off: replies that the limit of tokens ended
    :param cached: replies that were recorded before; they count with their first cost
    """

    calls: Spread | None
    prompt_tokens: Spread | None
    completion_tokens: Spread | None
    wall_s: Spread | None
    cut_off: int
    cached: int
    ended: Mapping[str, int]


@dataclass(frozen=True)
class PlanSet:
    """A set of plans, one a task.

    :param aborted: tasks to which nothing was answered
    :param goal: None where the tasks have no goals
    :param rules: failures of each rule
    """

    name: str
    origin: Origin
    verdicts: Verdicts
    aborted: int
    counts: Mapping[str, Failures]
    goal: Estimate | None
    clean: Estimate
    rules: Mapping[str, int]
    cost: Cost | None

    @property
    def n(self) -> int:
        """How many plans were judged."""
        return len(self.verdicts)


@dataclass(frozen=True)
class Comparison:
    """Two sets of plans on the tasks that both have a verdict for.

    :param differences: of the counts of a task, `name` less `reference`
    :param test: of clean; b: only the reference is clean, c: only the other one
    :param p_holm: exact p, corrected for the number of sets of this kind
    """

    name: str
    reference: str
    baseline: bool
    n: int
    test: McNemar | None
    differences: Mapping[str, Difference]
    p_holm: float | None = None


@dataclass(frozen=True)
class Rule:
    """What a rule found in each set: failures by name of the set.

    :param kind: immediate, syntax or latent
    """

    name: str
    kind: str
    family: str
    reversible: bool
    failures: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many it found in all."""
        return sum(self.failures.values())


@dataclass(frozen=True)
class Technique:
    """The tasks of one technique in each set."""

    name: str
    sets: Mapping[str, PlanSet]


@dataclass(frozen=True)
class BenchmarkSummary:
    """Everything that is computed from the record of a benchmark.

    :param sets: baselines first, then plans from files, then what a model was asked
    :param without: baselines that cannot be, for want of golden plans
    """

    sets: tuple[PlanSet, ...]
    without: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    rules: tuple[Rule, ...]
    techniques: tuple[Technique, ...]


def summarize(answers: Iterable[Answer]) -> BenchmarkSummary:
    """Return what a record amounts to."""
    rows = list(answers)
    chosen = list(final(rows).values())
    order = {'baseline': 0, 'files': 1, 'model': 2}
    names = sorted(
        dict.fromkeys((answer.plan_set, answer.origin) for answer in chosen),
        key=lambda item: order[item[1]],
    )
    sets = tuple(
        _plan_set(
            name,
            origin,
            [answer for answer in chosen if answer.plan_set == name],
            [answer for answer in rows if answer.plan_set == name],
        )
        for name, origin in names
    )
    present = {item.name for item in sets}
    return BenchmarkSummary(
        sets=sets,
        without=tuple(name for name in BASELINES if name not in present),
        comparisons=comparisons(sets),
        rules=_rules(sets),
        techniques=_techniques(chosen, names),
    )


def plan_set(name: str, origin: Origin, verdicts: Verdicts) -> PlanSet:
    """Return what a set of verdicts amounts to; what it cost is not known."""
    found = list(verdicts.values())
    goals = [verdict.goal_reached for verdict in found if verdict.goal_reached is not None]
    return PlanSet(
        name=name,
        origin=origin,
        verdicts=verdicts,
        aborted=0,
        counts={count: _failures([getattr(v, count) for v in found]) for count in COUNTS},
        goal=estimate(sum(goals), len(goals)) if goals else None,
        clean=estimate(sum(verdict.clean for verdict in found), len(found)),
        rules=Counter(failure.rule for verdict in found for failure in verdict.failures),
        cost=None,
    )


def _plan_set(
    name: str, origin: Origin, chosen: Sequence[Answer], rows: Sequence[Answer]
) -> PlanSet:
    verdicts = {a.task: a.verdict for a in chosen if a.verdict is not None}
    return replace(
        plan_set(name, origin, verdicts),
        aborted=sum(answer.status == 'aborted' for answer in chosen),
        cost=_cost(rows) if origin == 'model' else None,
    )


def _failures(counts: Sequence[int]) -> Failures:
    return Failures(
        total=sum(counts),
        tasks=estimate(sum(count > 0 for count in counts), len(counts)),
        mean=mean_difference([float(count) for count in counts], _DRAWS, RESAMPLES),
    )


def _cost(rows: Sequence[Answer]) -> Cost:
    by_task: dict[str, list[Answer]] = {}
    for answer in rows:
        by_task.setdefault(answer.task, []).append(answer)
    asked = [
        [exchange for answer in answers for exchange in answer.exchanges]
        for answers in by_task.values()
    ]
    every = [exchange for exchanges in asked for exchange in exchanges]
    return Cost(
        calls=spread(len(exchanges) for exchanges in asked),
        prompt_tokens=spread(sum(e.prompt_tokens for e in exchanges) for exchanges in asked),
        completion_tokens=spread(
            sum(e.completion_tokens for e in exchanges) for exchanges in asked
        ),
        wall_s=spread(sum(e.wall_s or 0.0 for e in exchanges) for exchanges in asked),
        cut_off=sum(exchange.cut_off for exchange in every),
        cached=sum(exchange.cached for exchange in every),
        ended=Counter(answer.ended for answer in rows if answer.ended),
    )


def comparisons(sets: Sequence[PlanSet]) -> tuple[Comparison, ...]:
    """Return each set against the condition `base`, or the first that is no baseline."""
    asked = [item for item in sets if item.origin != 'baseline']
    if not asked:
        return ()
    reference = next((item for item in asked if item.name == REFERENCE), asked[0])
    found = [_compared(item, reference) for item in sets if item is not reference]
    corrected: dict[str, float | None] = {}
    for baseline in (False, True):
        family = [item for item in found if item.baseline == baseline]
        p_values = holm([item.test.p_exact if item.test else None for item in family])
        corrected |= {item.name: p for item, p in zip(family, p_values, strict=True)}
    return tuple(replace(item, p_holm=corrected[item.name]) for item in found)


def _compared(item: PlanSet, reference: PlanSet) -> Comparison:
    pairs = [
        (verdict, reference.verdicts[task])
        for task, verdict in item.verdicts.items()
        if task in reference.verdicts
    ]
    only_reference = sum(theirs.clean and not ours.clean for ours, theirs in pairs)
    only_item = sum(ours.clean and not theirs.clean for ours, theirs in pairs)
    return Comparison(
        name=item.name,
        reference=reference.name,
        baseline=item.origin == 'baseline',
        n=len(pairs),
        test=mcnemar(only_reference, only_item, len(pairs)),
        differences={
            count: mean_difference(
                [float(getattr(ours, count) - getattr(theirs, count)) for ours, theirs in pairs],
                _DRAWS,
                RESAMPLES,
            )
            for count in COUNTS
        },
    )


def _rules(sets: Sequence[PlanSet]) -> tuple[Rule, ...]:
    found: dict[str, Rule] = {}
    for item in sets:
        for verdict in item.verdicts.values():
            for failure in verdict.failures:
                if failure.rule not in found:
                    found[failure.rule] = Rule(
                        failure.rule,
                        failure.kind,
                        failure.family,
                        failure.reversible,
                        {other.name: other.rules.get(failure.rule, 0) for other in sets},
                    )
    return tuple(sorted(found.values(), key=lambda rule: (rule.kind != 'latent', -rule.total)))


def _techniques(
    chosen: Sequence[Answer], names: Sequence[tuple[str, Origin]]
) -> tuple[Technique, ...]:
    techniques = sorted({answer.technique for answer in chosen if answer.technique})
    return tuple(
        Technique(
            technique,
            {
                name: plan_set(
                    name,
                    origin,
                    {
                        a.task: a.verdict
                        for a in chosen
                        if (a.plan_set, a.technique) == (name, technique) and a.verdict is not None
                    },
                )
                for name, origin in names
            },
        )
        for technique in techniques
    )
