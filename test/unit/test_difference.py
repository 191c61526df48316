"""Intervals of paired differences: published examples, and where there is nothing to resample."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_chaos.stats.difference import Difference, mean_difference, success_difference

DRAWS = partial(np.random.default_rng, 7)


def pairs(both: int, first: int, second: int, neither: int) -> list[tuple[bool, bool]]:
    return (
        [(True, True)] * both
        + [(True, False)] * first
        + [(False, True)] * second
        + [(False, False)] * neither
    )


@pytest.mark.parametrize(
    ('counts', 'value', 'published'),
    [
        # Cavo 2012 as in the tests of R package contingencytables (Fagerland, Lydersen, Laake
        # 2017, chapter 8): Newcombe's square-and-add interval.
        ((59, 6, 16, 80), -0.0621, (-0.1186, -0.0046)),
    ],
)
def test_the_interval_is_the_published_one_but_for_a_pair(
    counts: tuple[int, int, int, int], value: float, published: tuple[float, float]
) -> None:
    found = success_difference(pairs(*counts), DRAWS)
    assert found.value == pytest.approx(value, abs=5e-5)
    assert found.method == 'bootstrap'
    assert found.interval is not None
    one_pair = 1 / sum(counts)
    assert found.interval.low == pytest.approx(published[0], abs=one_pair)
    assert found.interval.high == pytest.approx(published[1], abs=one_pair)


def test_fewer_than_two_distinct_pairs_have_no_interval_and_say_why() -> None:
    assert success_difference([], DRAWS) == Difference(0, None, None, why='no pair')
    one = success_difference([(True, False)], DRAWS)
    assert (one.n, one.value, one.interval) == (1, 1.0, None)
    assert one.why == 'a single distinct pair has no spread'


@pytest.mark.parametrize(
    ('same', 'expected'),
    [
        # Clopper and Pearson, 12 of 12 and 5 of 5: at least 0.025 ** (1 / n) of pairs agree.
        ([(True, True)] * 12, (-0.2646, 0.2646)),
        ([(False, False)] * 12, (-0.2646, 0.2646)),
        ([(True, False)] * 5, (2 * 0.4782 - 1, 1.0)),
        ([(False, True)] * 5, (-1.0, 1 - 2 * 0.4782)),
    ],
)
def test_pairs_that_all_agree_are_bounded_not_certain(
    same: list[tuple[bool, bool]], expected: tuple[float, float]
) -> None:
    found = success_difference(same, DRAWS)
    assert found.method == 'exact'
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(expected, abs=1e-4)
    low = 0.025 ** (1 / len(same))
    assert abs(found.interval.high - found.interval.low) == pytest.approx(2 * (1 - low), abs=1e-9)


def test_a_constant_cost_has_no_interval_and_says_why() -> None:
    found = mean_difference([120.0] * 4, DRAWS)
    assert (found.value, found.interval) == (120.0, None)
    assert found.why == 'all 4 distinct pairs differ by the same'


def test_the_same_generator_gives_the_same_interval_in_any_order() -> None:
    values = [1.0, 4.0, 2.5, -3.0, 0.25]
    assert mean_difference(values, DRAWS) == mean_difference(values[::-1], DRAWS)
    other = partial(np.random.default_rng, 8)
    assert mean_difference(values * 3, DRAWS) != mean_difference(values * 3, other)


def test_the_interval_of_a_mean_is_about_students() -> None:
    # 200 values of N(3, 2): mean +- 1.96 * 2 / sqrt(200) = 0.277.
    values = np.random.default_rng(3).normal(3.0, 2.0, 200)
    found = mean_difference(values.tolist(), DRAWS)
    assert found.interval is not None
    assert found.interval.high - found.interval.low == pytest.approx(2 * 0.277, rel=0.15)
    assert found.interval.low < values.mean() < found.interval.high


@settings(deadline=None, max_examples=40)  # the first example imports the library
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=25))
def test_an_interval_holds_its_difference_and_warns_of_nothing(
    outcomes: list[tuple[bool, bool]],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        found = success_difference(outcomes, DRAWS)
    assert found.value is not None
    assert found.interval is not None
    assert -1.0 <= found.interval.low <= found.value <= found.interval.high <= 1.0
    assert found.interval.low < found.interval.high
