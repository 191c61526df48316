"""One cell of the experiment: what its episodes did, counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_chaos.journal import FaultProof, Row
from alpha_chaos.stats.intervals import Estimate, Spread, estimate, spread

OVERALL = ''  # the condition of a cell that holds all of an arm
CONTROL = 'control'


@dataclass(frozen=True)
class Share:
    """`k` of `n`, where no claim is made about a rate."""

    k: int
    n: int


@dataclass(frozen=True)
class Lag:
    """What F1 asked for and what arrived, in the episodes that asked for a lag."""

    requested_s: Spread
    delivered_s: Spread | None
    staleness_m: Spread | None


@dataclass(frozen=True)
class Slips:
    """How often F2 drew, how often the grasp slipped, and in which episodes."""

    probability: Spread
    slipped: Share
    run_ids: tuple[str, ...]


@dataclass(frozen=True)
class Corruptions:
    """How often F4 hit a text, and what it did; `kinds` counts by what was done."""

    probability: Spread
    corrupted: Share
    kinds: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Effect:
    """What one fault, of any kind, did in a cell: its evidence, put together by key.

    :param fault: kind; where a condition has several of a kind, with a number
    :param exercised: episodes in which it had its chance, of those that say
    :param struck: how often it changed what travelled on, of an episode; None if it does not count
    :param numbers: every number of the evidence, of an episode; nested keys are joined by dots
    :param words: every other value, with the number of episodes
    """

    fault: str
    exercised: Share
    struck: Spread | None
    numbers: tuple[tuple[str, Spread], ...]
    words: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


@dataclass(frozen=True)
class RuleTotals:
    """One safety rule in a cell; numbers are of an episode, `keys` counts events by block."""

    rule: str
    raw_sweeps: Spread
    events: Spread
    steps: Spread
    keys: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class SafetyTotals:
    """What the monitor saw in a cell; numbers are of an episode."""

    raw_sweeps: Spread
    events: Spread
    steps: Spread
    rules: tuple[RuleTotals, ...]


@dataclass(frozen=True)
class Model:
    """The model that planned in a cell."""

    provider: str
    model: str
    digest: str


@dataclass(frozen=True)
class Cost:
    """What planning and running took, of an episode.

    :param tokens_per_success: of all prompts and replies, also those of failures
    :param plan_s_per_success: wall time of the planner, also in failures [s]
    """

    prompt_tokens: Spread | None
    completion_tokens: Spread | None
    plan_wall_s: Spread | None
    wall_s: Spread | None
    cached: Share
    models: tuple[Model, ...]
    tokens_per_success: float | None
    plan_s_per_success: float | None


@dataclass(frozen=True)
class Cell:
    """One condition of one arm, or all of one arm (`condition` is then `OVERALL`).

    Everything but `aborted` and `missing` is about the attempts that have a result.

    :param aborted: episodes of which every attempt was aborted
    :param missing: episodes that were planned and never attempted
    :param distinct: different trajectories among the `digested` ones, of each condition apart
    :param effects: what each fault did, of any kind
    :param exercised: episodes all of whose faults manifested, of those that say
    :param unproven: episodes of a faulty condition that say nothing about their faults
    :param rejected: plans the parser refused, of those it saw
    """

    arm: str
    condition: str
    result: Estimate
    secondary: Share
    aborted: int
    missing: int
    distinct: int
    digested: int
    exercised: Share
    not_exercised: tuple[str, ...]
    unproven: int
    error_m: Spread | None
    lag: Lag | None
    slips: Slips | None
    offset_m: Spread | None
    corruptions: Corruptions | None
    effects: tuple[Effect, ...]
    rejected: Share
    safety: SafetyTotals | None
    cost: Cost

    @property
    def copies(self) -> bool:
        """Whether some episodes repeat others, so that `n` counts copies."""
        return self.distinct < self.digested


def _lag(rows: Sequence[Row]) -> Lag | None:
    asked = [row.observation for row in rows if row.observation.requested_lag_s is not None]
    requested = spread(item.requested_lag_s for item in asked)
    if requested is None:
        return None
    return Lag(
        requested,
        spread(item.delivered_lag_s for item in asked),
        spread(item.staleness_m for item in asked),
    )


def _slips(rows: Sequence[Row]) -> Slips | None:
    drawn = [row for row in rows if row.slip.probability is not None]
    probability = spread(row.slip.probability for row in drawn)
    if probability is None:
        return None
    slipped = tuple(row.run_id for row in drawn if row.slip.slipped)
    return Slips(probability, Share(len(slipped), len(drawn)), slipped)


def _corruptions(rows: Sequence[Row]) -> Corruptions | None:
    exposed = [row.corruption for row in rows if row.corruption.probability is not None]
    probability = spread(item.probability for item in exposed)
    if probability is None:
        return None
    kinds = Counter(item.kind for item in exposed if item.kind)
    return Corruptions(
        probability, Share(kinds.total(), len(exposed)), tuple(sorted(kinds.items()))
    )


def _leaves(evidence: Mapping[str, Any], above: str = '') -> Iterator[tuple[str, Any]]:
    """Return what the evidence says, key by key; of a list only how long it is."""
    for key, value in evidence.items():
        name = f'{above}{key}'
        if isinstance(value, Mapping):
            yield from _leaves(value, f'{name}.')
        elif isinstance(value, list | tuple):
            yield name, len(value)
        elif value is not None:
            yield name, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _word(value: Any) -> str:
    return ('no', 'yes')[value] if isinstance(value, bool) else str(value)


def _effect(fault: str, proofs: Sequence[FaultProof]) -> Effect:
    found: dict[str, list[Any]] = {}
    for proof in proofs:
        for key, value in _leaves(proof.evidence):
            found.setdefault(key, []).append(value)
    numbers: dict[str, Spread] = {}
    words = {}
    for key, values in found.items():
        if all(map(_is_number, values)) and (lies := spread(values)):
            numbers[key] = lies
        else:
            words[key] = tuple(sorted(Counter(map(_word, values)).items()))
    return Effect(
        fault,
        Share(sum(proof.exercised for proof in proofs), len(proofs)),
        numbers.get('struck'),
        tuple(numbers.items()),
        tuple(words.items()),
    )


def _effects(rows: Sequence[Row]) -> tuple[Effect, ...]:
    by_fault: dict[str, list[FaultProof]] = {}
    for row in rows:
        before: Counter[str] = Counter()
        for proof in row.faults:
            before[proof.fault] += 1
            number = before[proof.fault]
            name = proof.fault if number == 1 else f'{proof.fault} {number}'
            by_fault.setdefault(name, []).append(proof)
    return tuple(_effect(fault, proofs) for fault, proofs in by_fault.items())


def _safety(rows: Sequence[Row]) -> SafetyTotals | None:
    watched = [row.safety for row in rows if row.safety.raw_sweeps is not None]
    raw_sweeps = spread(item.raw_sweeps for item in watched)
    events = spread(len(item.events) for item in watched)
    steps = spread(sum(event.duration_steps for event in item.events) for item in watched)
    if raw_sweeps is None or events is None or steps is None:
        return None
    totals = []
    for rule in sorted({event.rule for item in watched for event in item.events}):
        of_rule = [[event for event in item.events if event.rule == rule] for item in watched]
        raw = spread(sum(event.raw_sweeps for event in found) for found in of_rule)
        counts = spread(len(found) for found in of_rule)
        lasting = spread(sum(event.duration_steps for event in found) for found in of_rule)
        keys = Counter(event.key for found in of_rule for event in found)
        if raw and counts and lasting:
            totals.append(RuleTotals(rule, raw, counts, lasting, tuple(sorted(keys.items()))))
    return SafetyTotals(raw_sweeps, events, steps, tuple(totals))


def _cost(rows: Sequence[Row]) -> Cost:
    used = [row.planner for row in rows]
    models = dict.fromkeys(
        Model(item.provider, item.model, item.digest) for item in used if item.model
    )
    tokens = [
        None
        if item.prompt_tokens is None or item.completion_tokens is None
        else item.prompt_tokens + item.completion_tokens
        for item in used
    ]
    successes = sum(row.success is True for row in rows)
    return Cost(
        prompt_tokens=spread(item.prompt_tokens for item in used),
        completion_tokens=spread(item.completion_tokens for item in used),
        plan_wall_s=spread(item.wall_s for item in used),
        wall_s=spread(row.wall_s for row in rows),
        cached=Share(sum(item.cached for item in used), len(used)),
        models=tuple(models),
        tokens_per_success=_per(successes, tokens),
        plan_s_per_success=_per(successes, [item.wall_s for item in used]),
    )


def _per(successes: int, values: Sequence[float | None]) -> float | None:
    """Return the sum of the values for each success; None if one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) / successes if successes and len(known) == len(values) else None


def _names_a_fault(row: Row) -> bool:
    return bool(row.control) or (row.fault_class or row.condition) != CONTROL


def count(
    arm: str,
    condition: str,
    rows: Sequence[Row],
    missing: int = 0,
    faulty: Mapping[str, bool] | None = None,
) -> Cell:
    """Return what `rows`, the attempts that count of a cell, amount to.

    :param missing: planned episodes without any attempt
    :param faulty: whether a condition has faults, where the plan of the run says so
    """
    results = [row for row in rows if row.status != 'aborted']
    # Of two cells each has its own: an episode in which a fault had no chance is its control.
    digests = [(row.condition, row.digest) for row in results if row.digest]
    proven = [row for row in results if row.faults]
    idle = [row for row in proven if not all(proof.exercised for proof in row.faults)]
    known = faulty or {}
    exposed = [row for row in results if known.get(row.condition, _names_a_fault(row))]
    judged = [row for row in results if row.secondary_success is not None]
    parsed = [row for row in results if row.plan.valid is not None]
    return Cell(
        arm=arm,
        condition=condition,
        result=estimate(sum(row.success is True for row in results), len(results)),
        secondary=Share(sum(row.secondary_success is True for row in judged), len(judged)),
        aborted=len(rows) - len(results),
        missing=missing,
        distinct=len(set(digests)),
        digested=len(digests),
        exercised=Share(len(proven) - len(idle), len(proven)),
        not_exercised=tuple(row.run_id for row in idle),
        unproven=sum(not row.faults for row in exposed),
        error_m=spread(row.final_error_m for row in results),
        lag=_lag(results),
        slips=_slips(results),
        offset_m=spread(row.offset_m for row in results),
        corruptions=_corruptions(results),
        effects=_effects(results),
        rejected=Share(sum(row.plan.valid is False for row in parsed), len(parsed)),
        safety=_safety(results),
        cost=_cost(results),
    )
