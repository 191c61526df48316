"""Late messages: which one is delivered, and what is said about it."""

import weakref

import pytest
from fault_traffic import AlwaysDraw
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.base import Sample
from alpha_chaos.faults.sensor_lag import SensorLag


def deliver(stamps_s: list[float], lag_s: float, probability: float = 1.0) -> list[int]:
    """Return the number, from 0, of what is delivered for each message."""
    injector = SensorLag(lag_s=lag_s, probability=probability).injector(default_rng(0))
    samples = [Sample(b'%d' % n, stamp, n + 1) for n, stamp in enumerate(stamps_s)]
    return [samples.index(passed) for sample in samples for passed in injector.on_message(sample)]


def test_the_newest_message_that_is_old_enough_is_delivered() -> None:
    assert deliver([0.0, 0.1, 0.2, 0.3, 0.4], lag_s=0.2) == [0, 0, 0, 1, 2]


def test_between_two_messages_the_older_one_is_delivered() -> None:
    assert deliver([0.0, 0.1, 0.2, 0.3], lag_s=0.15) == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ('lag_s', 'delivered'),
    [
        (0.0, 2),
        (1e-9, 2),
        (2e-9, 1),
        (0.1 - 1e-9, 1),
        (0.1, 1),
        (0.1 + 1e-9, 1),
        (0.1 + 2e-9, 0),
        (0.2, 0),
        (0.2 + 2e-9, 0),
        (60.0, 0),
    ],
)
def test_a_message_is_old_enough_to_the_nanosecond(lag_s: float, delivered: int) -> None:
    assert deliver([0.3, 0.4, 0.5], lag_s)[-1] == delivered


@given(st.integers(0, 240), st.integers(0, 240))
def test_a_lag_of_whole_steps_finds_the_step_although_floats_do_not_add_up(
    steps: int, lag: int
) -> None:
    stamps = [step / 240 for step in range(steps + 1)]
    assert deliver(stamps, lag_s=lag / 240)[-1] == max(steps - lag, 0)


@pytest.mark.parametrize('lag_s', [0.562, 1.024, 1.5])
def test_the_paper_s_lags_saturate_at_the_half_second_of_settling(lag_s: float) -> None:
    injector = SensorLag(lag_s=lag_s).injector(default_rng(0))
    for step in range(121):
        (passed,) = injector.on_message(Sample(b'', step / 240, step + 1))
    assert passed.stamp_s == 0.0
    decision = injector.decisions()[-1]
    assert decision.triggered
    assert decision.detail == {
        'requested_lag_s': lag_s,
        'delivered_lag_s': 0.5,
        'saturated': True,
        'delivered_sequence': 1,
    }
    evidence = injector.evidence()
    assert evidence.exercised
    assert evidence.detail['saturated'] == 121
    assert evidence.detail['last'] == decision.detail


def test_the_first_message_can_only_be_itself_and_was_not_changed() -> None:
    injector = SensorLag(lag_s=1.0).injector(default_rng(0))
    sample = Sample(b'first', 0.0, 1)
    assert list(injector.on_message(sample)) == [sample]
    (decision,) = injector.decisions()
    assert not decision.triggered
    assert decision.detail['saturated'] is True
    assert not injector.evidence().exercised


def test_a_lag_is_saturated_only_while_the_buffer_does_not_reach_back() -> None:
    injector = SensorLag(lag_s=0.2).injector(default_rng(0))
    for number in range(4):
        injector.on_message(Sample(b'', number * 0.1, number + 1))
    saturated = [decision.detail['saturated'] for decision in injector.decisions()]
    assert saturated == [True, True, False, False]
    assert injector.evidence().detail['saturated'] == 2


def test_a_decision_tells_the_lag_that_was_delivered() -> None:
    injector = SensorLag(lag_s=0.15, probability=0.5).injector(AlwaysDraw(0.25))
    for number in range(5):
        injector.on_message(Sample(b'', 10 + number * 0.1, number + 1))
    decision = injector.decisions()[-1]
    assert decision.detail == {
        'requested_lag_s': 0.15,
        'delivered_lag_s': pytest.approx(0.2),
        'saturated': False,
        'delivered_sequence': 3,
    }


def test_a_spared_message_was_not_late_and_not_saturated() -> None:
    injector = SensorLag(lag_s=0.15, probability=0.5).injector(AlwaysDraw(0.75))
    for number in range(2):
        injector.on_message(Sample(b'', number * 0.1, number + 1))
    decision = injector.decisions()[-1]
    assert decision.detail == {
        'requested_lag_s': 0.15,
        'delivered_lag_s': 0.0,
        'saturated': False,
        'delivered_sequence': 2,
    }
    assert injector.evidence().detail['saturated'] == 0


def test_one_late_message_is_enough_to_have_been_exercised() -> None:
    injector = SensorLag(lag_s=0.5).injector(default_rng(0))
    for number in range(2):
        assert not injector.evidence().exercised
        injector.on_message(Sample(b'', number * 0.1, number + 1))
    assert injector.evidence().exercised


def test_no_lag_passes_every_message_itself() -> None:
    injector = SensorLag(lag_s=0.0).injector(default_rng(0))
    for number in range(50):
        sample = Sample(b'%d' % number, number * 0.1, number + 1)
        (passed,) = injector.on_message(sample)
        assert passed is sample
    assert not any(decision.triggered for decision in injector.decisions())
    assert not injector.evidence().exercised


def test_of_two_messages_with_one_stamp_the_later_counts_as_newer() -> None:
    assert deliver([0.0, 0.0, 0.1], lag_s=0.1) == [0, 0, 1]


def test_spared_messages_pass_and_struck_ones_lag() -> None:
    struck = default_rng(0).random(200) < 0.5
    delivered = deliver([0.1 * number for number in range(200)], lag_s=0.1, probability=0.5)
    expected = [max(number - 1, 0) if strikes else number for number, strikes in enumerate(struck)]
    assert delivered == expected


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=60),
    st.integers(0, 60),
)
def test_in_order_it_agrees_with_looking_through_everything_ever_sent(
    gaps_ms: list[int], lag_ms: int
) -> None:
    stamps_ms = [sum(gaps_ms[: number + 1]) for number in range(len(gaps_ms))]
    expected = []
    for now, stamp in enumerate(stamps_ms):
        due = [n for n in range(now + 1) if stamps_ms[n] <= stamp - lag_ms]
        expected.append(due[-1] if due else 0)
    assert deliver([stamp / 1e3 for stamp in stamps_ms], lag_ms / 1e3) == expected


@given(st.lists(st.floats(0, 5), min_size=1, max_size=40), st.floats(0, 3))
def test_a_clock_that_jumps_neither_loses_nor_makes_messages(
    stamps_s: list[float], lag_s: float
) -> None:
    assert len(deliver(stamps_s, lag_s)) == len(stamps_s)


def test_what_can_never_be_due_again_is_let_go() -> None:
    injector = SensorLag(lag_s=0.5).injector(default_rng(0))
    sent: weakref.WeakSet[Sample] = weakref.WeakSet()
    for step in range(5000):
        sample = Sample(b'%d' % step, step / 240, step + 1)
        sent.add(sample)
        injector.on_message(sample)
    del sample
    assert len(sent) == 121  # half a second, both ends included


@pytest.mark.parametrize('lag_s', [-1e-9, 60.000001, float('nan'), float('inf')])
def test_a_lag_that_cannot_be_is_refused(lag_s: float) -> None:
    with pytest.raises(ValidationError, match='lag_s'):
        SensorLag(lag_s=lag_s)
