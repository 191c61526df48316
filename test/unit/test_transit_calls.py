"""What faults of calls do to requests and answers."""

import pytest
from transit_traffic import PERIOD_NS, Link, Message, encode, lags_s, message, numbers, parcel

from alpha_chaos.faults.base import Fields, Unreadable
from alpha_chaos.plugins import BadSetting
from alpha_chaos.transit.config import parse_fault
from alpha_chaos.transit.content import fill
from alpha_chaos.transit.delay import Delay
from alpha_chaos.transit.ignore_cancel import IgnoreCancel
from alpha_chaos.transit.lag import Lag
from alpha_chaos.transit.refuse import Refuse
from alpha_chaos.transit.reject_goal import RejectGoal
from alpha_chaos.transit.stale_response import StaleResponse
from alpha_chaos.transit.wrong_response import WrongResponse


def answers(fault, data=None):
    """Return what a fault answers to one request."""
    link = Link(fault)
    passages = link.stack.feed(request(data), 0)
    return [passage.answer for passage in passages]


def request(data=None):
    made = parcel(1, 0, data)
    return type(made)(
        made.data, 0.0, 1, made.codec, answers=lambda: Message(ok=True, text='', n=0)
    )


# -- delay


def test_a_delayed_call_is_overtaken_by_the_next_one():
    # Every second call is delayed, by two and a half periods.
    class Alternately:
        def __init__(self):
            self.number = 0

        def random(self):
            self.number += 1
            return self.number % 2

    link = Link()
    link.arm(0, Delay(delay_s=0.25, probability=0.5), draws=Alternately())
    record = link.run(count=6)
    assert numbers(record) == [1, 3, 2, 5, 4, 6]
    assert lags_s(record).round(6).tolist() == [0, 0, 0.25, 0, 0.25, 0.25]


def test_behind_a_lag_calls_wait_for_each_other():
    record = Link(Lag(lag_s=0.25, probability=0.5)).run(count=20)
    assert numbers(record) == sorted(numbers(record))


def test_a_delay_is_drawn_evenly_around_its_mean_and_is_never_negative():
    record = Link(Delay(delay_s=0.1, spread_s=0.2)).run(count=400)
    found = lags_s(record)
    assert found.min() == 0.0
    assert found.max() <= 0.3
    # Even on [-0.1, 0.3], and what is below 0 is 0: the mean is 0.3**2 / 2 / 0.4.
    assert found.mean() == pytest.approx(0.1125, abs=0.015)


# -- what a fault answers itself


def test_a_refusal_is_an_empty_answer_with_the_values_that_were_given():
    (empty,) = answers(Refuse())
    assert vars(empty) == {'ok': True, 'text': '', 'n': 0}
    (filled,) = answers(Refuse(answer={'ok': False, 'text': 'busy'}))
    assert vars(filled) == {'ok': False, 'text': 'busy', 'n': 0}


def test_a_rejected_goal_is_an_empty_answer():
    (answer,) = answers(RejectGoal())
    assert answer is not None


def test_an_ignored_cancel_is_reported_as_accepted_or_as_rejected():
    data = encode(Message(goal_info=Message(goal_id=7)))
    (accepted,) = answers(IgnoreCancel(), data)
    assert [info.goal_id for info in accepted.goals_canceling] == [7]
    (rejected,) = answers(IgnoreCancel(claims='rejected'), data)
    assert rejected.return_code == 1


def test_what_is_no_request_cannot_be_answered():
    made = parcel(1, 0)
    with pytest.raises(Unreadable):
        type(made)(made.data, 0.0, 1, made.codec).blank_answer()


# -- answers of the server


def test_a_wrong_response_has_the_new_values_and_keeps_the_rest():
    link = Link(WrongResponse(values={'number': 99, 'pose.position.x': 3, 'ranges[*]': 0.5}))
    (passed,) = link.send(1)
    fields = passed.fields()
    assert fields.get('number') == 99
    assert fields.get('pose.position.x') == 3.0
    assert fields.get('ranges') == [0.5] * 4
    assert fields.get('header.frame_id') == 'frame_1'


def test_a_response_without_the_field_passes_as_it_is():
    link = Link(WrongResponse(values={'colour': 1}))
    (passed,) = link.send(1)
    assert passed.data == message(1)
    (verdict,) = link.record.verdicts
    assert not verdict.decision.triggered
    assert 'colour' in verdict.decision.detail['passed']


@pytest.mark.parametrize(('calls_ago', 'given'), [(1, [1, 1, 2, 3, 4]), (3, [1, 2, 3, 1, 2])])
def test_a_stale_response_is_that_of_some_calls_ago(calls_ago, given):
    record = Link(StaleResponse(calls_ago=calls_ago)).run(count=5)
    assert [one.data for _, one in record.left] == [message(number) for number in given]
    assert [left_ns for left_ns, _ in record.left] == [n * PERIOD_NS for n in range(1, 6)]
    assert numbers(record) == [1, 2, 3, 4, 5]  # whoever asked gets it, and nobody else


# -- values


@pytest.mark.parametrize(
    ('path', 'value'),
    [
        ('ok', 1),
        ('ok', 'true'),
        ('n', True),
        ('n', 1.5),
        ('n', '1'),
        ('n', None),
        ('x', '1'),
        ('x', 10**400),
        ('text', 1),
        ('text', 'a\ud800'),
        ('text', 'a\x00b'),
        ('inner', 1),
        ('inner', {}),
        ('many', [1]),
        ('nothing', 1),
    ],
)
def test_a_value_that_a_field_cannot_hold_is_refused_and_changes_nothing(path, value):
    made = Message(ok=True, n=1, x=0.5, text='', inner=Message(a=1), many=[1, 2])
    before = repr(made)
    with pytest.raises(AttributeError, match=path):
        fill(Fields(made), {path: value})
    assert repr(made) == before


def test_values_that_fit_are_written():
    made = Message(ok=True, n=1, x=0.5, text='', inner=Message(a=1), many=[1, 2])
    fill(Fields(made), {'ok': False, 'n': 2, 'x': 3, 'text': 'é', 'inner.a': 4, 'many[*]': 5})
    assert made == Message(ok=False, n=2, x=3.0, text='é', inner=Message(a=4), many=[5, 5])


# -- where they can be


@pytest.mark.parametrize(
    ('settings', 'kind', 'words'),
    [
        ({'kind': 'refuse'}, 'topic', 'cannot strike a route of kind topic'),
        ({'kind': 'refuse'}, 'action', 'cannot strike a route of kind action'),
        ({'kind': 'reject_goal'}, 'service', 'cannot strike a route of kind service'),
        ({'kind': 'ignore_cancel', 'claims': 'maybe'}, 'action', 'claims'),
        ({'kind': 'delay', 'delay_s': 1}, 'topic', 'cannot strike a route of kind topic'),
        ({'kind': 'delay', 'delay_s': 1}, 'service', 'request, response'),
        ({'kind': 'stale_response', 'calls_ago': 0}, 'service', 'calls_ago'),
        ({'kind': 'wrong_response', 'values': {}}, 'service', 'values'),
        ({'kind': 'wrong_response', 'values': {'a': 1}}, 'action', 'goal_response'),
    ],
)
def test_a_fault_where_it_cannot_be_is_refused(settings, kind, words):
    with pytest.raises(BadSetting, match=words):
        parse_fault(settings, kind)


def test_a_fault_that_can_only_be_in_one_place_needs_no_side():
    assert parse_fault({'kind': 'refuse'}, 'service').side_on('service') == 'request'
    assert parse_fault({'kind': 'reject_goal'}, 'action').side_on('action') == 'goal'
    assert parse_fault({'kind': 'ignore_cancel'}, 'action').side_on('action') == 'cancel'
    assert parse_fault({'kind': 'stale_response'}, 'service').side_on('service') == 'response'
