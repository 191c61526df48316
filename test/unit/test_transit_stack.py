"""Faults one behind the other, and when they are on."""

import pytest
from numpy.random import default_rng
from pydantic import ValidationError
from transit_traffic import PERIOD_NS, Link, lags_s, message, numbers, on_time, seen

from alpha_chaos.transit.base import TransitInjector
from alpha_chaos.transit.drop import Drop
from alpha_chaos.transit.duplicate import Duplicate
from alpha_chaos.transit.lag import Lag
from alpha_chaos.transit.reorder import Reorder
from alpha_chaos.transit.schedule import NANOSECONDS, Condition, Gate, Schedule
from alpha_chaos.transit.stack import MOST_WORK, Limits
from alpha_chaos.transit.stamp_shift import StampShift


def on(schedule: Schedule, *times_s: float) -> list[bool]:
    gate = Gate(schedule, 0)
    return [gate.lets_strike(round(time_s * NANOSECONDS)) for time_s in times_s]


# -- schedules


def test_a_window_begins_at_its_first_moment_and_has_ended_at_its_last() -> None:
    schedule = Schedule(after_s=1.0, for_s=0.5)
    assert on(schedule, 0.0, 0.999999, 1.0, 1.25, 1.499999, 1.5, 9.0) == [
        *[False, False, True, True, True, False, False],
    ]


def test_every_nth_message_of_the_window_counts() -> None:
    assert on(Schedule(after_s=1.0, every_n=3), 0.5, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5) == [
        *[False, False, False, True, False, False, True],
    ]


def condition(**limits: float) -> Condition:
    return Condition(topic='/t', field='f', **limits)


def test_a_condition_is_a_moment_of_crossing_and_lasts_until_it_is_crossed_back() -> None:
    gate = Gate(Schedule(when=condition(above=5.0)), 0)
    found = []
    for value in (4.0, 5.0, 6.0, 7.0, float('nan'), 6.0, 4.0):
        gate.observe([value], 0)
        found.append(gate.lets_strike(0))
    assert found == [False, False, True, True, False, True, False]


def test_of_several_values_one_is_enough_and_none_says_nothing() -> None:
    gate = Gate(Schedule(when=condition(below=0.2)), 0)
    found = []
    for values in ([0.5, 0.9], [0.5, 0.1, 0.9], [], [0.3]):
        gate.observe(values, 0)
        found.append(gate.lets_strike(0))
    assert found == [False, True, True, False]


def test_with_for_s_it_lasts_so_long_whatever_the_value_does() -> None:
    gate = Gate(Schedule(when=condition(below=0.2), after_s=1.0, for_s=2.0), 0)
    gate.observe([0.1], 10 * NANOSECONDS)
    gate.observe([0.9], 11 * NANOSECONDS)
    assert [gate.lets_strike(time_s * NANOSECONDS) for time_s in (10, 11, 12, 13)] == [
        *[False, True, True, False],
    ]
    assert gate.ends_ns == 13 * NANOSECONDS
    gate.observe([0.1], 20 * NANOSECONDS)
    assert gate.lets_strike(21 * NANOSECONDS)
    assert gate.windows == 2


def test_a_condition_has_exactly_one_side() -> None:
    for limits in ({}, {'above': 1.0, 'below': 0.0}):
        with pytest.raises(ValidationError, match='either `above` or `below`'):
            condition(**limits)


@pytest.mark.parametrize('step', [1, 7, 24, 25])
@pytest.mark.parametrize('rate_hz', [240, 1000, 30])
def test_a_lag_of_whole_steps_is_that_of_whole_steps_however_stamps_are_rounded(
    step: int, rate_hz: int
) -> None:
    link = Link(Lag(lag_s=step / rate_hz))
    for number in range(1, 120):
        tick_ns = round(number / rate_hz * NANOSECONDS)
        for passage in link.stack.pump(tick_ns):
            assert number - passage.parcel.sequence == step
        link.now_ns = tick_ns
        link.send(number)
    assert link.stack.held == step


# -- composition


def test_lags_add_up_however_late_the_link_is_looked_at() -> None:
    exact, late = (Link(Lag(lag_s=0.15), Lag(lag_s=0.12)) for _ in range(2))
    assert lags_s(exact.run()) == pytest.approx(0.27)
    for number in range(1, 61):
        late.now_ns = number * PERIOD_NS
        late.send(number)
    late.now_ns = 100 * PERIOD_NS
    assert [verdict.decision for verdict in late.record.verdicts] != []
    late._note(late.stack.pump(late.now_ns))
    assert late.record.verdicts == exact.record.verdicts


def test_the_order_of_faults_counts() -> None:
    once = Link(Duplicate(copies=1), Drop(schedule=Schedule(every_n=2))).run(4)
    assert seen(once) == on_time(4)
    twice = Link(Drop(schedule=Schedule(every_n=2)), Duplicate(copies=1)).run(4)
    assert numbers(twice) == [1, 1, 3, 3]


def test_a_message_that_is_due_leaves_before_one_that_comes_later() -> None:
    link = Link(Lag(lag_s=0.1, schedule=Schedule(every_n=2)))
    link.now_ns = PERIOD_NS
    link.send(1)
    link.send(2)
    link.now_ns = 5 * PERIOD_NS
    link.send(3)
    assert numbers(link.record) == [1, 2, 3]


def test_removing_one_fault_sends_what_it_held_through_those_behind_it() -> None:
    link = Link(Lag(lag_s=100.0), StampShift(shift_s=1.0))
    link.now_ns = PERIOD_NS
    link.send(1)
    (freed,) = link.disarm(0)
    assert freed.fields().get('header.stamp.sec') == 102
    assert link.stack.due_ns is None


def test_what_does_not_fit_is_lost_and_said() -> None:
    link = Link(Lag(lag_s=10.0), limits=Limits(messages=3))
    for number in range(1, 6):
        link.send(number)
    assert link.stack.held == 3
    assert [
        verdict.parcel.sequence for verdict in link.record.verdicts if verdict.after == b''
    ] == [4, 5]
    link.drain()
    assert numbers(link.record) == [1, 2, 3]


def test_bytes_count_too_also_those_a_fault_keeps_itself() -> None:
    size = len(message(1))
    link = Link(Reorder(depth=100, hold_s=5.0), limits=Limits(bytes=3 * size))
    for _ in range(6):
        link.send(1)
    assert link.stack.held_bytes == 3 * size


def test_removal_frees_all_that_was_held_through_those_behind() -> None:
    link = Link(Lag(lag_s=100.0), Lag(lag_s=0.0), limits=Limits(messages=2))
    link.send(1)
    link.send(2)
    assert [one.sequence for one in link.disarm(0)] == [1, 2]


def test_faults_that_multiply_each_other_do_not_run_away() -> None:
    link = Link(*[Duplicate(copies=100)] * 8)
    link.send(1)
    assert len(link.record.left) <= MOST_WORK
    lost = [verdict for verdict in link.record.verdicts if 'lost' in verdict.decision.detail]
    assert len(lost) == 1


def test_a_fault_that_fails_lets_the_message_pass_and_says_so() -> None:
    class Broken(TransitInjector):
        def strike(self, parcel: object, now_ns: int) -> object:
            raise ZeroDivisionError('of a plug-in')

    link = Link()
    link.stack.arm(0, lambda now_ns: Broken(Drop(), default_rng(1), default_rng(2), now_ns), 0)
    link.send(1)
    assert seen(link.record) == [(0, 1, message(1))]
    (verdict,) = link.record.verdicts
    assert verdict.decision.detail == {'error': 'ZeroDivisionError: of a plug-in'}
    assert not verdict.decision.triggered
