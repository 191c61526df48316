"""Mid-p, Holm's correction and what few pairs can show, against published values."""

import pytest
from scipy.stats import binom

from alpha_chaos.stats.intervals import BadCountError
from alpha_chaos.stats.mcnemar import detectable, holm, mcnemar

# Discordant pairs either way, pairs, and p: exact and mid. The first is the worked example of
# Fagerland, Lydersen and Laake 2013 (BMC Med Res Methodol 13:91, table 1, after Bentur 2009). The
# second, after Cavo 2012, and its values are those of the tests of their R package
# contingencytables (chapter 8), corrected p included.
BENTUR = (1, 7, 21)
CAVO = (6, 16, 161)


def test_the_worked_example_gives_the_published_p() -> None:
    test = mcnemar(*BENTUR)
    assert test is not None
    assert test.p_exact == pytest.approx(2 * (1 + 8) / 2**8)
    assert test.p_mid == pytest.approx(2 * (1 + 8 / 2) / 2**8)
    assert (round(test.p_exact, 3), round(test.p_mid, 3)) == (0.070, 0.039)


def test_a_larger_example_gives_the_published_p() -> None:
    test = mcnemar(*CAVO)
    assert test is not None
    assert test.p_exact == pytest.approx(0.052479, abs=5e-7)
    assert test.p_mid == pytest.approx(0.034690, abs=5e-7)
    assert test.p_corrected == pytest.approx(0.055009, abs=5e-7)


@pytest.mark.parametrize(
    ('b', 'c', 'exact'),
    # The library's own test values, computed online at vassarstats.net.
    [(121, 59, 0.000004), (70, 59, 0.378688), (80, 59, 0.089452), (10, 30, 0.002221)],
)
def test_the_exact_p_is_the_librarys(b: int, c: int, exact: float) -> None:
    test = mcnemar(b, c, 101 + b + c + 33)
    assert test is not None
    assert test.p_exact == pytest.approx(exact, abs=5e-7)
    assert test.p_mid == pytest.approx(exact - binom.pmf(c, b + c, 0.5), abs=5e-7)


def test_as_many_one_way_as_the_other_share_what_was_observed() -> None:
    # Fagerland et al.: 1 - f / 2 for b = c. Of two flips of a coin half are one of each.
    test = mcnemar(1, 1, 2)
    assert test is not None
    assert (test.p_exact, test.p_mid) == (1.0, pytest.approx(0.75))
    one = mcnemar(1, 0, 5)
    assert one is not None
    assert (one.p_exact, one.p_mid) == (1.0, pytest.approx(0.5))


def test_no_discordant_pair_is_p_1_for_every_test() -> None:
    test = mcnemar(0, 0, 60)
    assert test is not None
    assert (test.p_corrected, test.p_exact, test.p_mid) == (1.0, 1.0, 1.0)


def test_holm_gives_the_published_example() -> None:
    # Wikipedia, Holm-Bonferroni method: 0.01, 0.04, 0.03 and 0.005 at 0.05; only the first and
    # the last are rejected.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_was_not_tested_does_not_count_as_a_test() -> None:
    assert holm([]) == []
    assert holm([None, None]) == [None, None]
    assert holm([None, 0.02, 0.9]) == [None, pytest.approx(0.04), pytest.approx(0.9)]


@pytest.mark.parametrize('n', range(6))
def test_five_pairs_can_show_nothing(n: int) -> None:
    found = detectable(n)
    assert (found.n, found.pairs, found.difference, found.with_power) == (n, None, None, None)
    all_one_way = mcnemar(n, 0, n)
    assert all_one_way is None or all_one_way.p_exact > 0.05


def test_six_pairs_show_only_what_happens_always() -> None:
    found = detectable(6)
    assert (found.pairs, found.difference) == (6, 1.0)
    assert found.with_power == pytest.approx(0.8 ** (1 / 6))


@pytest.mark.parametrize('n', [7, 10, 50, 75, 1000])
def test_six_discordant_pairs_come_together_in_80_percent_of_experiments(n: int) -> None:
    found = detectable(n)
    assert found.pairs == 6
    assert found.difference == 6 / n
    assert found.with_power is not None
    assert binom.sf(5, n, found.with_power) == pytest.approx(0.8)
    assert found.difference < found.with_power


def test_fewer_than_no_pairs_are_refused() -> None:
    with pytest.raises(BadCountError, match='-1 pairs'):
        detectable(-1)
