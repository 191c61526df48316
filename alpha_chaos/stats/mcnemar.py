"""McNemar's test of discordant pairs, what many of them are worth, and what few can show."""

from collections.abc import Sequence
from dataclasses import dataclass

from alpha_chaos.stats.intervals import BadCountError

ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of `n` pairs, of which `b` + `c` are discordant, both ways round.

    :param p_corrected: chi2 with continuity correction
    :param p_exact: binomial; never below what it promises, and often far above
    :param p_mid: exact less half the probability of what was observed, in either tail
    """

    b: int
    c: int
    n: int
    chi2_corrected: float
    p_corrected: float
    p_exact: float
    p_mid: float


@dataclass(frozen=True)
class Detectable:
    """What `n` pairs can show at the 5 % level, at best: with all discordant pairs one way.

    :param pairs: fewest discordant pairs with an exact p of at most 0.05; None if `n` are too few
    :param difference: their share of `n`: no smaller difference can be significant
    :param with_power: true difference that is found in 80 % of such experiments
    """

    n: int
    pairs: int | None
    difference: float | None
    with_power: float | None


def mcnemar(b: int, c: int, n: int) -> McNemar | None:
    """Return McNemar's test for `b` and `c` discordant pairs of `n`; None when n is 0.

    The correction never exceeds the difference it corrects: for |b - c| <= 1 chi2 is 0 and p is
    1. There the library gives p = 0.0 for b = c = 0, and chi2 = 1 / (2 b) for b = c > 0.

    The library has no mid-p. Fagerland, Lydersen and Laake (BMC Med Res Methodol 2013, 13:91)
    give it, also for b = c, where both tails share what was observed. Without a discordant pair
    nothing was observed, and p is 1.

    :raises BadCountError: for counts that cannot be
    """
    if b < 0 or c < 0 or b + c > n:
        raise BadCountError(
            f'{b} and {c} discordant pairs of {n}: counts from 0 to {n} are needed'
        )
    if n == 0:
        return None
    if b == c == 0:
        return McNemar(b, c, n, chi2_corrected=0.0, p_corrected=1.0, p_exact=1.0, p_mid=1.0)
    # Not at the top: they take seconds to import, and a run needs them only at its end.
    from scipy.stats import binom
    from statsmodels.stats.contingency_tables import mcnemar as library

    observed = float(binom.pmf(min(b, c), b + c, 0.5))
    if b == c:
        return McNemar(b, c, n, 0.0, 1.0, p_exact=1.0, p_mid=1.0 - observed / 2)
    table = [[0, b], [c, 0]]  # the test does not look at the concordant pairs
    exact = float(library(table, exact=True).pvalue)
    if abs(b - c) == 1:
        return McNemar(b, c, n, 0.0, 1.0, p_exact=1.0, p_mid=1.0 - observed)
    corrected = library(table, exact=False, correction=True)
    return McNemar(
        b,
        c,
        n,
        chi2_corrected=float(corrected.statistic),
        p_corrected=float(corrected.pvalue),
        p_exact=exact,
        p_mid=exact - observed,
    )


def detectable(n: int) -> Detectable:
    """Return what `n` pairs can show.

    :raises BadCountError: for fewer than no pairs
    """
    if n < 0:
        raise BadCountError(f'{n} pairs: a count is at least 0')
    for pairs in range(1, n + 1):
        test = mcnemar(pairs, 0, n)
        if test is not None and test.p_exact <= ALPHA:
            break
    else:
        return Detectable(n, None, None, None)
    from scipy.stats import beta

    # P(at least k of n) is the distribution function of Beta(k, n - k + 1) at the probability of
    # one; so its quantile is the probability with which k come together in 80 % of experiments.
    with_power = float(beta.ppf(POWER, pairs, n - pairs + 1))
    return Detectable(n, pairs, pairs / n, with_power)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p values corrected by Holm for being many; None stays, and does not count."""
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests

    corrected = iter(multipletests(known, method='holm')[1].tolist())
    return [None if p is None else float(next(corrected)) for p in p_values]
