"""A mean of paired differences, and how far it can be trusted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Literal

import numpy as np

from alpha_chaos.stats.intervals import Interval

CONFIDENCE = 0.95
RESAMPLES = 9999
_BATCH = 500  # resamples at once, so that thousands of pairs fit into memory

Draws = Callable[[], np.random.Generator]  # a new generator in the same state, at every call


@dataclass(frozen=True)
class Difference:
    """The mean of `n` paired differences, in the unit of what is compared.

    :param value: None when n is 0
    :param interval: with 95 % confidence; None where `why` says why there is none
    :param method: 'bootstrap' (BCa), or 'exact' where all pairs agree and resampling them
        would only repeat it
    """

    n: int
    value: float | None
    interval: Interval | None
    method: Literal['bootstrap', 'exact', ''] = ''
    why: str = ''


def mean_difference(
    values: Sequence[float], draws: Draws, resamples: int = RESAMPLES
) -> Difference:
    """Return the mean of differences of anything, with its bootstrap interval.

    :param values: one of each distinct pair
    :param draws: seeded generator, made anew
    """
    if not values:
        return Difference(0, None, None, why='no pair')
    n, mean = len(values), fmean(values)
    if n < 2:
        return Difference(n, mean, None, why='a single distinct pair has no spread')
    if min(values) == max(values):
        return Difference(n, mean, None, why=f'all {n} distinct pairs differ by the same')
    # Sorted, so that the order in which episodes finished does not show.
    return Difference(n, mean, _bootstrap(tuple(sorted(values)), draws, resamples), 'bootstrap')


def success_difference(pairs: Sequence[tuple[bool, bool]], draws: Draws) -> Difference:
    """Return the difference of two success rates, first less second, from distinct pairs.

    Where all pairs agree, a resample is the sample, and its interval would have no width. Then
    at least the share p of pairs that agree is bounded: by Clopper and Pearson p >= low, and the
    rest of the pairs, 1 - low of them, can differ by anything from -1 to 1.

    :param pairs: success of the first and of the second, one of each distinct pair
    :param draws: seeded generator, made anew
    """
    values = [float(first) - float(second) for first, second in pairs]
    found = mean_difference(values, draws)
    if found.interval is None:
        if found.value is None or found.n < 2:
            return found
        # Not at the top: it takes seconds to import, and a run needs it only at its end.
        from statsmodels.stats.proportion import proportion_confint

        low = float(proportion_confint(found.n, found.n, 1 - CONFIDENCE, method='beta')[0])
        ends = low * found.value - (1.0 - low), low * found.value + (1.0 - low)
        return Difference(found.n, found.value, _within(*ends), 'exact')
    return replace(found, interval=_within(found.interval.low, found.interval.high))


def _within(low: float, high: float) -> Interval:
    return Interval(max(-1.0, low), min(1.0, high))


@lru_cache(maxsize=10_000)  # few counts of pairs come up again and again
def _bootstrap(values: tuple[float, ...], draws: Draws, resamples: int) -> Interval:
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.asarray(values),),
        np.mean,
        n_resamples=resamples,
        batch=_BATCH,
        vectorized=True,
        confidence_level=CONFIDENCE,
        method='BCa',
        rng=draws(),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))
