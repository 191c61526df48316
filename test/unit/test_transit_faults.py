"""What each fault in transit does, in numbers."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng
from pydantic import ValidationError
from transit_traffic import (
    PERIOD_NS,
    Link,
    decode,
    encode,
    lags_s,
    message,
    numbers,
    on_time,
    parcel,
    seen,
)

from alpha_chaos.transit.burst_loss import BurstLoss
from alpha_chaos.transit.drop import Drop
from alpha_chaos.transit.duplicate import Duplicate
from alpha_chaos.transit.field_bias import FieldBias
from alpha_chaos.transit.field_freeze import FieldFreeze
from alpha_chaos.transit.field_nan import FieldNan
from alpha_chaos.transit.field_noise import FieldNoise
from alpha_chaos.transit.field_scale import FieldScale
from alpha_chaos.transit.frame_shift import FrameShift
from alpha_chaos.transit.jitter import Jitter
from alpha_chaos.transit.lag import Lag
from alpha_chaos.transit.partition import Partition
from alpha_chaos.transit.reorder import Reorder
from alpha_chaos.transit.schedule import NANOSECONDS, Condition, Schedule
from alpha_chaos.transit.stamp_shift import StampShift
from alpha_chaos.transit.stuck import Stuck
from alpha_chaos.transit.throttle import Throttle
from alpha_chaos.transit.truncate import Truncate

MANY = 4000


def drawn_lags_s(fault: Lag, count: int = MANY) -> np.ndarray:
    """Return the lags that a fault draws, before they keep the order."""
    injector = fault.injector(default_rng(1), default_rng(2), 0)
    found = []
    for number in range(count):
        _, decision = injector.on_parcel(parcel(1, 0, b''), number)
        assert decision is not None
        found.append(decision.detail['lag_s'])
    return np.array(found, dtype=float)


def texts(link: Link, path: str, count: int = 60) -> list:
    """Return a field of every message that left."""
    record = link.run(count)
    found = []
    for _, one in record.left:
        value = decode(one.data)
        for name in path.split('.'):
            value = getattr(value, name)
        found.append(value)
    return found


# -- late


def test_a_fixed_lag_is_the_same_for_all() -> None:
    record = Link(Lag(lag_s=0.25)).run()
    assert lags_s(record).tolist() == [0.25] * 60
    assert numbers(record) == list(range(1, 61))


def test_a_uniform_lag_is_within_its_spread_and_even() -> None:
    lags = drawn_lags_s(Lag(lag_s=0.5, spread_s=0.2, distribution='uniform'))
    assert 0.3 <= lags.min() < 0.301
    assert 0.699 < lags.max() <= 0.7
    # Standard deviation of an even distribution: width / sqrt(12).
    assert lags.std() == pytest.approx(0.4 / math.sqrt(12), rel=0.03)


def test_a_normal_lag_has_its_mean_and_deviation_and_no_memory() -> None:
    lags = drawn_lags_s(Lag(lag_s=0.5, spread_s=0.05, distribution='normal'))
    assert lags.mean() == pytest.approx(0.5, abs=4 * 0.05 / math.sqrt(MANY))
    assert lags.std() == pytest.approx(0.05, rel=0.05)
    assert abs(np.corrcoef(lags[:-1], lags[1:])[0, 1]) < 4 / math.sqrt(MANY)


def test_a_correlated_lag_remembers_the_one_before() -> None:
    lags = drawn_lags_s(Lag(lag_s=0.5, spread_s=0.05, distribution='correlated', correlation=0.8))
    assert np.corrcoef(lags[:-1], lags[1:])[0, 1] == pytest.approx(0.8, abs=0.05)
    assert lags.std() == pytest.approx(0.05, rel=0.1)


def test_a_lag_is_never_negative_and_nothing_overtakes_it() -> None:
    record = Link(Lag(lag_s=0.0, spread_s=0.3, distribution='normal')).run()
    assert lags_s(record).min() == 0.0
    assert numbers(record) == list(range(1, 61))


def test_what_a_lag_spares_waits_for_what_it_struck() -> None:
    record = Link(Lag(lag_s=0.25, probability=0.5)).run()
    assert numbers(record) == list(range(1, 61))
    assert set(np.round(lags_s(record), 9)) == {0.0, 0.05, 0.15, 0.25}


def test_jitter_is_within_its_width_and_lets_messages_overtake() -> None:
    record = Link(Jitter(jitter_s=0.35)).run()
    assert lags_s(record).min() >= 0
    assert lags_s(record).max() < 0.35
    assert numbers(record) != sorted(numbers(record))
    assert sorted(numbers(record)) == list(range(1, 61))


# -- lost


def test_drop_loses_its_share_independently() -> None:
    lost = np.array(Link(Drop(probability=0.3)).run(MANY).struck, dtype=float)
    deviation = math.sqrt(0.3 * 0.7 / MANY)
    assert lost.mean() == pytest.approx(0.3, abs=4 * deviation)
    assert abs(np.corrcoef(lost[:-1], lost[1:])[0, 1]) < 4 / math.sqrt(MANY)


def test_bursts_are_as_long_and_as_frequent_as_gilbert_and_elliott_say() -> None:
    record = Link(BurstLoss(enter=0.05, leave=0.25)).run(MANY)
    lost = record.struck
    # Share of time that the link is bad: enter / (enter + leave); mean burst: 1 / leave.
    assert np.mean(lost) == pytest.approx(0.05 / 0.30, abs=0.03)
    ends = sum(one and not following for one, following in pairwise(lost))
    assert sum(lost) / ends == pytest.approx(4.0, rel=0.2)
    assert {verdict.decision.detail['link'] for verdict in record.verdicts} == {'good', 'bad'}


def test_a_good_link_may_lose_some_too() -> None:
    record = Link(BurstLoss(enter=0.0, leave=1.0, loss_good=0.5)).run(400)
    assert np.mean(record.struck) == pytest.approx(0.5, abs=0.1)


def test_throttle_keeps_the_rate_of_a_source_that_is_no_multiple_of_it() -> None:
    # 10 Hz to 4 Hz for 6 s: 24 messages, and the first.
    record = Link(Throttle(rate_hz=4.0)).run()
    assert len(record.left) == pytest.approx(24, abs=1)
    assert numbers(record)[:5] == [1, 3, 5, 8, 10]


def test_throttle_above_the_rate_of_the_source_changes_nothing() -> None:
    assert seen(Link(Throttle(rate_hz=11.0)).run()) == on_time()


def test_in_a_partition_nothing_passes_and_then_everything_again() -> None:
    window = Schedule(after_s=1.05, for_s=1.0)
    assert numbers(Link(Partition(schedule=window)).run()) == [*range(1, 11), *range(21, 61)]


def test_a_partition_can_deliver_late_what_it_kept() -> None:
    window = Schedule(after_s=1.05, for_s=1.0)
    record = Link(Partition(after='delivered', schedule=window)).run()
    assert numbers(record) == list(range(1, 61))
    assert [left_ns for left_ns, _ in record.left[10:20]] == [2_050_000_000] * 10


def test_a_partition_that_delivers_must_end() -> None:
    with pytest.raises(ValidationError, match='delivered when'):
        Partition(after='delivered')


def test_a_partition_is_drawn_once_a_window() -> None:
    over = Condition(topic='/t', field='f', above=0.0)
    link = Link(Partition(probability=0.5, schedule=Schedule(when=over)))
    draws = []
    for window in range(40):
        link.stack.observe('/t', lambda _: [1.0], link.now_ns)
        for _ in range(3):
            link.send(window)
        link.stack.observe('/t', lambda _: [-1.0], link.now_ns)
        draws.append(set(link.record.draws[-3:]))
    assert all(len(one) == 1 for one in draws)
    assert len({min(one) for one in draws}) == 40  # type: ignore[type-var]


# -- more, or in another order


def test_duplicates_follow_at_their_distance() -> None:
    record = Link(Duplicate(copies=2, after_s=0.03)).run(2)
    assert [(left_ns - PERIOD_NS) / NANOSECONDS for left_ns, _ in record.left] == pytest.approx(
        [0.0, 0.03, 0.06, 0.1, 0.13, 0.16]
    )
    assert numbers(record) == [1, 1, 1, 2, 2, 2]


def test_a_message_is_overtaken_by_so_many() -> None:
    record = Link(Reorder(depth=2, hold_s=10.0, schedule=Schedule(every_n=5))).run(9)
    assert numbers(record) == [1, 2, 3, 4, 6, 7, 5, 8, 9]


def test_what_nobody_overtakes_waits_only_so_long() -> None:
    record = Link(Reorder(depth=5, hold_s=0.25)).run(1)
    assert lags_s(record).tolist() == [0.25]


# -- stuck


def test_stuck_repeats_the_last_good_message() -> None:
    record = Link(Stuck(schedule=Schedule(after_s=0.55))).run(9)
    assert [one.data for _, one in record.left] == [
        *(message(number) for number in range(1, 6)),
        *[message(5)] * 4,
    ]


def test_a_source_that_was_stuck_from_the_beginning_repeats_its_first_message() -> None:
    record = Link(Stuck()).run(3)
    assert [one.data for _, one in record.left] == [message(1)] * 3
    assert record.struck == [False, True, True]


def test_a_frozen_field_keeps_its_value_and_the_rest_goes_on() -> None:
    fault = FieldFreeze(field='pose.position.x', schedule=Schedule(after_s=0.55))
    assert texts(Link(fault), 'pose.position.x', 9) == [1.5, 2.5, 3.5, 4.5, 5.5] + [5.5] * 4
    assert texts(Link(fault), 'number', 9) == list(range(1, 10))


# -- fields


def test_bias_and_scale_are_exact() -> None:
    assert texts(Link(FieldBias(field='pose.position.x', bias=0.25)), 'pose.position.x', 2) == [
        1.75,
        2.75,
    ]
    assert texts(Link(FieldScale(field='ranges[*]', factor=-2.0)), 'ranges', 1) == [
        [-3.0, -5.0, -7.0, -9.0]
    ]
    assert texts(Link(FieldBias(field='ranges[1]', bias=1.0)), 'ranges', 1) == [
        [1.5, 3.5, 3.5, 4.5]
    ]


def test_an_integer_stays_one() -> None:
    assert texts(Link(FieldScale(field='number', factor=1.4)), 'number', 4) == [1, 3, 4, 6]
    assert texts(Link(FieldNan(field='number')), 'number', 2) == [1, 2]


def test_noise_has_its_deviation_and_is_new_for_each_element() -> None:
    fault = FieldNoise(field='ranges[*]', sigma=0.1)
    moved = np.array(texts(Link(fault), 'ranges', 500))
    noise = moved - np.array([decode(message(number)).ranges for number in range(1, 501)])
    assert noise.std() == pytest.approx(0.1, rel=0.1)
    assert noise.mean() == pytest.approx(0.0, abs=0.01)
    assert len(set(noise.ravel())) == 2000


@pytest.mark.parametrize('value', ['nan', 'inf', '-inf'])
def test_numbers_become_none(value: str) -> None:
    fault = FieldNan(field='pose.position.z', value=value)
    (came,) = texts(Link(fault), 'pose.position.z', 1)
    assert str(came) == value


def test_a_frame_and_a_stamp_are_shifted() -> None:
    assert texts(Link(FrameShift(frame='odom')), 'header.frame_id', 1) == ['odom']
    shifted = Link(StampShift(shift_s=-0.5))
    (stamp,) = texts(shifted, 'header.stamp', 1)
    assert (stamp.sec, stamp.nanosec) == (100, 500_000_001)


def test_a_stamp_stays_one_that_ros_can_hold() -> None:
    (stamp,) = texts(Link(StampShift(shift_s=-1000.0)), 'header.stamp', 1)
    assert (stamp.sec, stamp.nanosec) == (0, 0)


def test_an_array_is_cut_and_one_that_is_short_enough_is_not() -> None:
    assert texts(Link(Truncate(field='ranges', keep=3)), 'ranges', 1) == [[1.5, 2.5, 3.5]]
    record = Link(Truncate(field='ranges', keep=4)).run(1)
    assert seen(record) == on_time(1)
    assert record.struck == [False]


def test_a_field_that_a_message_does_not_have_is_said_and_the_message_passes() -> None:
    link = Link(FieldBias(field='ranges[7]', bias=1.0))
    record = link.run(1)
    assert seen(record) == on_time(1)
    assert 'no element 7' in str(record.verdicts[0].decision.detail['passed'])
    text = Link(FieldBias(field='header.frame_id', bias=1.0)).run(1)
    assert 'header.frame_id is no number' in str(text.verdicts[0].decision.detail['passed'])


def test_bytes_after_a_change_are_those_of_the_changed_message() -> None:
    record = Link(FieldBias(field='number', bias=1.0)).run(1)
    expected = decode(message(1))
    expected.number = 2
    assert record.left[0][1].data == encode(expected)
