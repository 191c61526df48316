"""A success rate from counts, and how far it can be trusted."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev


class BadCountError(ValueError):
    """Counts that cannot be: fewer than none, or more successes than trials."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval; of a rate, if nothing else is said, and then within [0, 1]."""

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """`k` successes of `n`; `interval` is the 95 % Wilson score interval, None when n is 0."""

    k: int
    n: int
    interval: Interval | None

    @property
    def rate(self) -> float | None:
        """The share of successes [1]; None when n is 0: no trial is not 0 %."""
        return self.k / self.n if self.n else None


@dataclass(frozen=True)
class Spread:
    """Where `n` measured values lie; `sd` is the sample's, None for a single value."""

    n: int
    mean: float
    low: float
    high: float
    sd: float | None


def _check(k: int, n: int) -> None:
    if n < 0:
        raise BadCountError(f'{n} trials: a count is at least 0')
    if not 0 <= k <= n:
        raise BadCountError(f'{k} successes of {n} trials: a count from 0 to {n} is needed')


def wilson(k: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Return the Wilson score interval of `k` successes in `n` trials; None when n is 0.

    :raises BadCountError: for counts that cannot be, where the library answers NaN
    """
    _check(k, n)
    if n == 0:
        return None
    # Not at the top: it takes seconds to import, and a run needs it only at its end.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(k, n, alpha=1.0 - confidence, method='wilson')
    # At the ends the bound is exact; the library misses it by a rounding error.
    return Interval(
        0.0 if k == 0 else max(0.0, float(low)), 1.0 if k == n else min(1.0, float(high))
    )


def estimate(k: int, n: int) -> Estimate:
    """Return the success rate of `k` in `n` with its 95 % interval.

    :raises BadCountError: for counts that cannot be
    """
    return Estimate(k, n, wilson(k, n))


def spread(values: Iterable[float | None]) -> Spread | None:
    """Return where the known ones of `values` lie; None when there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    deviation = stdev(known) if len(known) > 1 else None
    return Spread(len(known), fmean(known), min(known), max(known), deviation)
