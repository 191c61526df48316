"""What each probe holds for steady, and what not. Times are virtual."""

import math

import pytest
from probe_traffic import Message, judged, reading, unreadable

from alpha_chaos.faults.base import Fields
from alpha_chaos.probes.diagnostics_level import DiagnosticsLevel
from alpha_chaos.probes.node_alive import NodeAlive
from alpha_chaos.probes.safety_events import SafetyEvents
from alpha_chaos.probes.service_answers import ServiceAnswers
from alpha_chaos.probes.topic_rate import TopicRate
from alpha_chaos.probes.value_range import ValueRange

# -- topic_rate


def arrivals(*times_s):
    """Return what shows a watch messages at these times."""

    def see(watch):
        watch.on_senders(1)
        for time_s in times_s:
            watch.on_message(time_s, unreadable)  # a rate needs no content

    return see


def every(period_s, until_s, begin_s=0.0):
    """Return times that far apart."""
    return [begin_s + number * period_s for number in range(round((until_s - begin_s) / period_s))]


def test_a_rate_in_the_range_holds_and_is_told():
    finding = judged(TopicRate(topic='scan', min_hz=8.0, max_hz=12.0), arrivals(*every(0.1, 10)))
    assert finding.verdict == 'held'
    assert finding.measured == {'lowest_hz': 10.0, 'highest_hz': 10.0, 'windows': 10}


@pytest.mark.parametrize(('period_s', 'verdict'), [(0.1, 'held'), (0.2, 'deviated')])
def test_a_rate_that_is_too_low_deviates(period_s, verdict):
    probe = TopicRate(topic='scan', min_hz=8.0)
    assert judged(probe, arrivals(*every(period_s, 10))).verdict == verdict


def test_a_rate_that_is_too_high_deviates():
    finding = judged(TopicRate(topic='scan', max_hz=12.0), arrivals(*every(0.05, 10)))
    assert finding.verdict == 'deviated'
    assert finding.reason == '20 Hz, above 12 Hz'


def test_an_outage_that_a_mean_would_hide_deviates():
    # 90 messages in 10 s are 9 Hz, but there is a second without any.
    times = [time_s for time_s in every(0.1, 10) if not 4 <= time_s < 5]
    finding = judged(TopicRate(topic='scan', min_hz=8.0), arrivals(*times))
    assert finding.verdict == 'deviated'
    assert finding.measured['lowest_hz'] == 0


def test_a_window_is_counted_also_if_no_message_ends_it():
    finding = judged(TopicRate(topic='scan', min_hz=8.0), arrivals(*every(0.1, 3)), seconds=10)
    assert finding.measured == {'lowest_hz': 0.0, 'highest_hz': 10.0, 'windows': 10}


def test_where_a_window_begins_makes_one_message_and_no_more():
    # Every 0.103 s is 9.7 Hz, of which a window of 1 s holds 9 or 10: not below 10 - 1.
    probe = TopicRate(topic='scan', min_hz=10.0)
    assert judged(probe, arrivals(*every(0.103, 10))).verdict == 'held'
    assert judged(probe, arrivals(*every(0.125, 10))).verdict == 'deviated'


def test_silence_is_0_hz_and_says_whether_anybody_publishes():
    probe = TopicRate(topic='scan', min_hz=8.0)
    mute = judged(probe, lambda watch: watch.on_senders(1))
    absent = judged(probe, lambda watch: watch.on_senders(0))
    assert (mute.verdict, mute.reason) == ('deviated', '0 Hz, below 8 Hz')
    assert (absent.verdict, absent.reason) == (
        'deviated',
        '0 Hz, below 8 Hz; nobody publishes it',
    )


def test_a_phase_without_a_full_window_says_nothing():
    finding = judged(TopicRate(topic='scan', min_hz=8.0), arrivals(0.1), seconds=0.9)
    assert (finding.verdict, finding.reason) == ('unknown', 'no window of 1 s was full')


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({}, 'min_hz or max_hz is needed'),
        ({'min_hz': 9.0, 'max_hz': 8.0}, 'max_hz 8 is below min_hz 9'),
        ({'min_hz': 0.5}, 'window_s must be at least 4 s for 0.5 Hz'),
        ({'min_hz': math.nan}, 'finite'),
    ],
)
def test_a_rate_that_cannot_be_judged_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        TopicRate(topic='scan', **settings)


# -- value_range


def values(*found):
    """Return what shows a watch messages with these values."""

    def see(watch):
        for value in found:
            watch.on_message(0.0, reading(Message(joint=Message(position=value))))

    return see


def test_values_in_the_range_hold_up_to_its_ends():
    probe = ValueRange(topic='joints', field='joint.position', min=-1.0, max=1.0)
    finding = judged(probe, values(-1.0, 0, 1.0))
    assert finding.verdict == 'held'
    assert finding.measured == {'messages': 3, 'outside': 0, 'lowest': -1.0, 'highest': 1.0}


@pytest.mark.parametrize('value', [1.001, -1.001, math.nan, math.inf, -math.inf])
def test_one_value_outside_deviates(value):
    probe = ValueRange(topic='joints', field='joint.position', min=-1.0, max=1.0)
    finding = judged(probe, values(0.0, value, 0.0))
    assert finding.verdict == 'deviated'
    assert finding.measured['outside'] == 1
    assert finding.reason == f'joint.position was {value:g}, not in -1 to 1'


def test_an_end_that_is_not_given_is_open_and_still_no_place_for_nan():
    probe = ValueRange(topic='joints', field='joint.position', min=0.0)
    assert judged(probe, values(1e300)).verdict == 'held'
    assert judged(probe, values(math.nan)).verdict == 'deviated'


def test_every_element_of_an_array_is_looked_at():
    probe = ValueRange(topic='joints', field='joint.position[*]', min=-1.0, max=1.0)
    assert judged(probe, values([0.0, 0.5])).verdict == 'held'
    assert judged(probe, values([0.0, 1.5])).verdict == 'deviated'
    assert judged(probe, values([])).verdict == 'unknown'


@pytest.mark.parametrize(
    ('see', 'words'),
    [
        (lambda watch: None, 'no value came'),
        (values('text'), 'joint.position is no number'),
        (lambda watch: watch.on_message(0.0, reading(Message())), 'joint'),
        (lambda watch: watch.on_message(0.0, unreadable), 'the end was not expected there'),
    ],
)
def test_without_a_number_nothing_is_known(see, words):
    probe = ValueRange(topic='joints', field='joint.position', min=-1.0)
    finding = judged(probe, see)
    assert finding.verdict == 'unknown'
    assert words in finding.reason


def test_a_message_that_cannot_be_read_does_not_hide_a_value_outside():
    def see(watch):
        values(7.0)(watch)
        watch.on_message(0.0, unreadable)

    probe = ValueRange(topic='joints', field='joint.position', max=1.0)
    assert judged(probe, see).verdict == 'deviated'


def test_an_array_of_pixels_is_not_looked_through():
    probe = ValueRange(topic='image', field='joint.position[*]', max=255.0)
    finding = judged(probe, values([0] * 1001))
    assert (finding.verdict, finding.reason) == (
        'unknown',
        'joint.position has more than 1000 elements',
    )


# -- service_answers


def test_a_service_that_answers_in_time_holds():
    def see(watch):
        watch.on_answer(0.2, Fields(Message(success=True)))
        watch.on_answer(0.9, Fields(Message(success=True)))

    finding = judged(ServiceAnswers(service='ready', expects={'success': True}), see)
    assert finding.verdict == 'held'
    assert finding.measured == {'answers': 2, 'failures': 0, 'slowest_s': 0.9}


@pytest.mark.parametrize(
    ('see', 'reason'),
    [
        (lambda watch: watch.on_silence('no answer within 1 s'), 'no answer within 1 s'),
        (
            lambda watch: watch.on_answer(1.5, Fields(Message(success=True))),
            'answered after 1.5 s',
        ),
        (
            lambda watch: watch.on_answer(0.1, Fields(Message(success=False))),
            'success is False, not True',
        ),
        (
            lambda watch: watch.on_answer(0.1, Fields(Message())),
            "success is 'not there', not True",
        ),
    ],
)
def test_one_call_that_fails_deviates(see, reason):
    def all_of_it(watch):
        watch.on_answer(0.1, Fields(Message(success=True)))
        see(watch)

    finding = judged(ServiceAnswers(service='ready', expects={'success': True}), all_of_it)
    assert (finding.verdict, finding.reason) == ('deviated', reason)


# -- node_alive


@pytest.mark.parametrize('name', ['/arm/driver', 'arm/driver'])
def test_a_node_that_is_always_there_holds(name):
    def see(watch):
        for _ in range(3):
            watch.on_nodes({'/arm/driver', '/other'})

    finding = judged(NodeAlive(node=name), see)
    assert (finding.verdict, finding.measured) == ('held', {'looks': 3, 'missed': 0})


def test_a_node_that_was_away_once_deviates():
    def see(watch):
        watch.on_nodes({'/arm/driver'})
        watch.on_nodes({'/driver', '/arm/driver2'})
        watch.on_nodes({'/arm/driver'})

    finding = judged(NodeAlive(node='/arm/driver'), see)
    assert (finding.verdict, finding.reason) == ('deviated', '/arm/driver was not there')


# -- diagnostics_level


def reported(*statuses):
    """Return what shows a watch one report: (name, level) each."""
    report = Message(
        status=[Message(name=name, level=bytes([level]), message='') for name, level in statuses]
    )
    return lambda watch: watch.on_message(0.0, reading(report))


@pytest.mark.parametrize(
    ('lidar', 'battery', 'verdict'),
    [(0, 0, 'held'), (1, 0, 'held'), (2, 0, 'deviated'), (0, 1, 'deviated'), (3, 0, 'deviated')],
)
def test_each_name_has_its_own_worst_level(lidar, battery, verdict):
    probe = DiagnosticsLevel(worst={'lidar': 'warn', 'battery': 'ok'})
    found = judged(probe, reported(('lidar', lidar), ('battery', battery), ('motor', 2)))
    assert found.verdict == verdict


def test_a_pattern_stands_for_many_names_and_the_worst_counts():
    probe = DiagnosticsLevel(worst={'lidar: *': 'warn'})
    finding = judged(probe, reported(('lidar: spin', 0), ('lidar: heat', 2)))
    assert finding.verdict == 'deviated'
    assert finding.measured == {'levels': {'lidar: *': 'error'}}
    assert finding.reason == 'lidar: heat is at error, worse than warn'


def test_a_name_that_does_not_report_is_unknown():
    probe = DiagnosticsLevel(worst={'lidar': 'warn', 'battery': 'ok'})
    finding = judged(probe, reported(('lidar', 0)))
    assert (finding.verdict, finding.reason) == ('unknown', 'nothing was heard of battery')


def test_a_level_beyond_those_there_are_is_worse_than_all():
    finding = judged(DiagnosticsLevel(worst={'lidar': 'stale'}), reported(('lidar', 200)))
    assert (finding.verdict, finding.reason) == (
        'deviated',
        'lidar is at level 200, worse than stale',
    )


# -- safety_events


def events(*rules, senders=1):
    def see(watch):
        watch.on_senders(senders)
        for rule in rules:
            watch.on_message(0.0, reading(Message(rule=rule, key='red')))

    return see


def test_as_many_events_as_are_tolerated_hold():
    probe = SafetyEvents(at_most=1)
    assert judged(probe, events('violent_contact')).verdict == 'held'
    finding = judged(probe, events('violent_contact', 'out_of_workspace'))
    assert (finding.verdict, finding.reason) == (
        'deviated',
        '2 events, the last one out_of_workspace red',
    )


def test_events_of_another_rule_do_not_count():
    probe = SafetyEvents(rule='violent_contact')
    assert judged(probe, events('out_of_workspace')).verdict == 'held'
    assert judged(probe, events('violent_contact')).verdict == 'deviated'


def test_that_nobody_watches_is_not_that_nothing_happened():
    def gone(watch):
        watch.on_senders(1)
        watch.on_senders(0)

    for see in (events(senders=0), gone):
        finding = judged(SafetyEvents(), see)
        assert (finding.verdict, finding.reason) == ('unknown', 'nobody publishes safety_events')
    assert judged(SafetyEvents(), events('violent_contact', senders=0)).verdict == 'deviated'
