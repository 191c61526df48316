"""What a node says of itself: rates, delays, and when something is wrong with its streams."""

import pytest

from alpha_chaos.health import (
    Delay,
    Delays,
    Level,
    Rates,
    Received,
    Sent,
    Streams,
    attempt_condition,
)

ATTEMPT = 'control_000/oracle#1'


def test_a_rate_is_what_came_since_the_last_look():
    rates = Rates({'a': 10}, 100.0)
    assert rates.look({'a': 250, 'b': 6}, 102.0) == {'a': 120.0, 'b': 3.0}
    assert rates.look({'a': 250, 'b': 6}, 103.0) == {'a': 0.0, 'b': 0.0}


def test_a_counter_that_begins_anew_has_no_negative_rate():
    rates = Rates({'a': 1000}, 0.0)
    assert rates.look({'a': 24}, 2.0) == {'a': 12.0}


@pytest.mark.parametrize('now_s', [5.0, 4.0])
def test_without_time_passing_there_is_no_rate(now_s):
    assert Rates({'a': 0}, 5.0).look({'a': 7}, now_s) == {'a': 0.0}


def test_delays_are_summed_up_and_forgotten():
    delays = Delays()
    assert delays.take() == Delay(0, 0.0, 0.0)
    for delay_s in (0.25, 0.5, 0.75):
        delays.add(delay_s)
    assert delays.take() == Delay(3, 0.5, 0.75)
    assert delays.take() == Delay(0, 0.0, 0.0)


def test_a_stream_shows_count_rate_and_losses():
    streams = Streams(0.0)
    found = streams.look({'/scene': Received(20)}, {'/relay/scene': Sent(18, 2, 2)}, 2.0)
    assert (found.what, found.level, found.message) == ('streams', Level.OK, '')
    assert found.values == {
        '/scene received': 20,
        '/relay/scene sent': 18,
        '/scene received [Hz]': 10.0,
        '/relay/scene sent [Hz]': 9.0,
        '/scene lost': 0,
    }


def test_what_was_announced_and_is_under_way_is_not_missing_yet():
    streams, scene = Streams(0.0), Received(count=3, announced=5)
    assert streams.look({'/scene': scene}, {}, 1.0).level == Level.OK
    found = streams.look({'/scene': scene}, {}, 2.0)
    assert (found.level, found.message) == (Level.WARN, '/scene: 2 of 5 messages are missing')
    scene.count = 5
    assert streams.look({'/scene': scene}, {}, 3.0).level == Level.OK


def test_other_messages_missing_than_at_the_last_look_are_under_way():
    streams, scene = Streams(0.0), Received(count=3, announced=5)
    streams.look({'/scene': scene}, {}, 1.0)
    scene.count, scene.announced = 5, 5
    streams.look({'/scene': scene}, {}, 2.0)
    scene.announced = 9
    assert streams.look({'/scene': scene}, {}, 3.0).level == Level.OK


def test_a_loss_is_an_error_whatever_else_is_wrong():
    found = Streams(0.0).look({'/scene': Received(count=3, lost=1)}, {'/x': Sent(0, 1, 2)}, 1.0)
    assert found.level == Level.ERROR
    assert found.message == ('/scene: 1 messages were lost; /x: 1 of 2 subscribers connected')


def test_a_missing_subscriber_is_a_warning_and_one_more_is_none():
    look = Streams(0.0).look
    assert look({}, {'/x': Sent(0, 1, 2)}, 1.0).level == Level.WARN
    assert look({}, {'/x': Sent(0, 3, 2)}, 2.0).level == Level.OK


@pytest.mark.parametrize(
    ('episode_id', 'options', 'level', 'message'),
    [
        ('', {}, Level.STALE, 'none has begun'),
        (ATTEMPT, {}, Level.OK, 'under way'),
        (ATTEMPT, {'under_way': False}, Level.OK, 'over'),
        (ATTEMPT, {'foreign': 2}, Level.WARN, '2 messages of other attempts were dropped'),
        (ATTEMPT, {'foreign': 2, 'trouble': 'motion failed'}, Level.ERROR, 'motion failed'),
    ],
)
def test_an_attempt_says_how_it_stands(episode_id, options, level, message):
    found = attempt_condition(episode_id, **{'under_way': True, **options})
    assert (found.what, found.level, found.message) == ('attempt', level, message)
    assert found.values['episode_id'] == episode_id
