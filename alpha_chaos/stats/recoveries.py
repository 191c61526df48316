"""What an arm that recovers buys, and what it costs, against the same planner without."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from alpha_chaos.journal import Row
from alpha_chaos.stats.cells import OVERALL
from alpha_chaos.stats.difference import Difference, Draws, mean_difference
from alpha_chaos.stats.paired import Pair, Paired, Unpaired, counted, distinct, pair_up

NONE = 'none'


@dataclass(frozen=True, kw_only=True)
class Recovered(Paired):
    """An arm with a recovery policy (first) and its base arm (second) on the same scenarios.

    What it costs is of an episode, first less second, over the distinct pairs that know it.

    :param condition: OVERALL for all of them
    :param kind: the policy's, NONE for an arm that differs in its planner's settings
    :param rounds: of recovery
    :param calls: answers of the planner
    :param tokens: of prompts and replies
    :param plan_s: wall time of the planner [s]
    :param wall_s: wall time of the episode [s]
    """

    arm: str
    base: str
    kind: str
    condition: str
    unpaired: tuple[Unpaired, ...]
    rounds: Difference
    calls: Difference
    tokens: Difference
    plan_s: Difference
    wall_s: Difference


def _calls(row: Row) -> float | None:
    return row.planner.calls or None  # rows written before they were counted say 0


def _tokens(row: Row) -> float | None:
    prompt, reply = row.planner.prompt_tokens, row.planner.completion_tokens
    return None if prompt is None or reply is None else prompt + reply


def _more(pairs: Iterable[Pair], of: Callable[[Row], float | None], draws: Draws) -> Difference:
    known = ((of(pair.first), of(pair.second)) for pair in pairs)
    return mean_difference(
        [ours - theirs for ours, theirs in known if ours is not None and theirs is not None],
        draws,
    )


def policy_of(rows: Iterable[Row]) -> str:
    """Return the kind of recovery of an arm, 'none' for an arm without rows."""
    return next((row.recovery.kind for row in rows), NONE)


def _planner_of(rows: Iterable[Row]) -> tuple[str, str, str] | None:
    """Return planner, model and digest of most of an arm's results; None if no row says."""
    found = Counter(
        (row.planner.planner, row.planner.model, row.planner.digest)
        for row in rows
        if row.planner.planner
    )
    return found.most_common(1)[0][0] if found else None


def base_of(arm: str, arms: Sequence[str], rows: Mapping[str, Sequence[Row]]) -> str | None:
    """Return the first arm with the planner of `arm` and without recovery; None if there is none.

    An arm without recovery can have a base, too: an earlier one, from which it differs in the
    settings of the planner, for instance in how a plan is handed over.

    :param rows: the attempts that count, by arm
    """
    planner = _planner_of(rows[arm])
    others = arms[: arms.index(arm)] if policy_of(rows[arm]) == NONE else arms
    for other in others:
        if (
            planner is not None
            and policy_of(rows[other]) == NONE
            and _planner_of(rows[other]) == planner
        ):
            return other
    return None


def recoveries(
    results: Mapping[tuple[str, str], Row], arms: Sequence[str], draws: Draws
) -> tuple[Recovered, ...]:
    """Return for every arm that has a base what it buys: overall, then by condition.

    :param results: the attempt that counts of each (run_id, arm)
    :param draws: seeded generator for the intervals, made anew
    """
    rows = {arm: [row for row in results.values() if row.arm == arm] for arm in arms}
    found: list[Recovered] = []
    for arm in arms:
        base = base_of(arm, arms, rows)
        if base is None:
            continue
        conditions = {
            row.run_id: row.condition for row in results.values() if row.arm in (arm, base)
        }
        for condition in (OVERALL, *dict.fromkeys(conditions.values())):
            run_ids = [
                run_id for run_id, name in conditions.items() if condition in (OVERALL, name)
            ]
            pairs, unpaired = pair_up(results, arm, base, run_ids)
            once = distinct(pairs)
            found.append(
                Recovered(
                    arm=arm,
                    base=base,
                    kind=policy_of(rows[arm]),
                    condition=condition,
                    unpaired=tuple(unpaired),
                    rounds=_more(once, lambda row: row.recovery.tries, draws),
                    calls=_more(once, _calls, draws),
                    tokens=_more(once, _tokens, draws),
                    plan_s=_more(once, lambda row: row.planner.wall_s, draws),
                    wall_s=_more(once, lambda row: row.wall_s, draws),
                    **vars(counted(pairs, draws)),
                )
            )
    return tuple(found)
