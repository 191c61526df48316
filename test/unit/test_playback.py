"""Playing a recording: which messages, when, and with which QoS."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from synthetic_runs import paper_run

from alpha_chaos.bag.playback import Due, Pace, cut, strictest
from alpha_chaos.journal import Journal
from alpha_chaos.plugins import BadSetting
from alpha_chaos.run.playback import find_recording, player

S = 10**9


def due(second, topic='/scan', data=b''):
    return Due(second * S, topic, data)


# -- which messages

TAPE = [
    due(0, '/map', b'first'),
    due(1),
    due(2, '/map', b'second'),
    due(3),
    due(4, '/map', b'third'),
    due(5),
]


def test_the_whole_recording_is_what_was_recorded():
    assert list(cut(TAPE, 0, 5 * S, {'/map': 1})) == TAPE


def test_both_ends_are_included():
    assert list(cut(TAPE, 1 * S, 3 * S, {})) == TAPE[1:4]


def test_who_begins_in_the_middle_learns_what_a_latched_topic_held_then():
    held = due(2, '/map', b'second')._replace(time_ns=3 * S)
    assert list(cut(TAPE, 3 * S, 4 * S, {'/map': 1})) == [held, *TAPE[3:5]]


def test_a_latched_topic_holds_as_many_messages_as_it_keeps():
    found = list(cut(TAPE, 5 * S, 5 * S, {'/map': 2}))
    assert [(one.time_ns, one.data) for one in found] == [
        (5 * S, b'second'),
        (5 * S, b'third'),
        (5 * S, b''),
    ]


def test_what_was_latched_is_played_though_nothing_else_comes():
    assert [one.data for one in cut(TAPE, 6 * S, 9 * S, {'/map': 1})] == [b'third']


# -- when


def test_a_second_of_the_recording_takes_a_second_divided_by_the_rate():
    pace = Pace(rate=4.0)
    pace.jump(10 * S, now_s=100.0)
    assert pace.time_ns(102.0) == 18 * S
    assert pace.wait_s(20 * S, 102.0) == 0.5
    assert pace.wait_s(18 * S, 102.0) == 0.0
    assert pace.wait_s(11 * S, 102.0) == 0.0


def test_a_pause_takes_no_time_out_of_the_recording():
    pace = Pace(rate=1.0)
    pace.jump(0, now_s=0.0)
    pace.pause(True, 2.0)
    assert pace.time_ns(50.0) == 2 * S
    assert pace.wait_s(3 * S, 50.0) == math.inf
    assert pace.wait_s(2 * S, 50.0) == 0.0
    pace.pause(False, 60.0)
    assert pace.wait_s(3 * S, 60.0) == 1.0


@given(
    st.floats(0.01, 1000),
    st.lists(st.tuples(st.booleans(), st.floats(0, 100)), max_size=10),
)
def test_time_never_runs_backwards_however_often_it_pauses(rate, turns):
    pace, now_s, before = Pace(rate), 0.0, 0
    for paused, seconds in turns:
        now_s += seconds
        pace.pause(paused, now_s)
        assert pace.time_ns(now_s) >= before
        before = pace.time_ns(now_s)


# -- with which QoS

ENDLESS = QosTime(9223372036, 854775807)
SENSOR = Qos(
    QosHistory.KEEP_LAST,
    5,
    QosReliability.BEST_EFFORT,
    QosDurability.VOLATILE,
    QosTime(0, 0),
    QosTime(0, 0),
    QosLiveliness.AUTOMATIC,
    QosTime(0, 0),
    False,
)
LATCHED = SENSOR._replace(
    depth=1,
    reliability=QosReliability.RELIABLE,
    durability=QosDurability.TRANSIENT_LOCAL,
    deadline=QosTime(2, 0),
)


def test_one_profile_is_kept_and_no_limit_is_written_as_the_longest_time():
    spans = dict.fromkeys(('deadline', 'lifespan', 'liveliness_lease_duration'), ENDLESS)
    assert strictest([SENSOR]) == SENSOR._replace(**spans)


def test_of_two_publishers_the_stricter_promise_is_kept():
    both = strictest([SENSOR, LATCHED])
    assert (both.reliability, both.durability) == (
        QosReliability.RELIABLE,
        QosDurability.TRANSIENT_LOCAL,
    )
    assert (both.depth, both.deadline) == (5, QosTime(2, 0))


def test_a_topic_without_a_profile_is_played_as_rosbag2_plays_it():
    # Rosbag2QoS: the default of rclcpp with a depth of 10, reliable and volatile.
    profile = strictest([])
    assert (profile.history, profile.depth) == (QosHistory.KEEP_LAST, 10)
    assert (profile.reliability, profile.durability) == (
        QosReliability.RELIABLE,
        QosDurability.VOLATILE,
    )


def test_a_history_that_the_middleware_did_not_tell_becomes_ten_messages():
    unknown = SENSOR._replace(history=QosHistory.UNKNOWN, depth=0)
    assert strictest([unknown])[:2] == (QosHistory.KEEP_LAST, 10)


# -- which recording


@pytest.fixture
def run(tmp_path):
    with Journal(tmp_path / 'run') as journal:
        for row in paper_run(['oracle', 'llm'])[:1] + paper_run(['llm'])[:2]:
            journal.append(row)
    return tmp_path / 'run'


def test_an_episode_is_found_by_its_names(run):
    found = run / 'bags/control_000-llm'
    assert find_recording(run, 'control_000', 'llm') == found
    # With one arm there is nothing to choose.
    assert find_recording(run, 'control_001', None) == run / 'bags/control_001-llm'
    assert player(found, rate=None, loop=True).parameters == {'bag': str(found), 'loop': True}


@pytest.mark.parametrize(
    ('run_id', 'arm', 'why'),
    [
        (None, None, 'no RUN_ID is named; known: control_000, control_001'),
        ('contrl_000', 'llm', "did you mean 'control_000'"),
        ('control_000', None, 'no ARM is named; known: llm, oracle'),
        ('control_000', 'lm', "did you mean 'llm'"),
    ],
)
def test_what_there_is_to_choose_from_is_said(run, run_id, arm, why):
    with pytest.raises(BadSetting, match=re.escape(why)):
        find_recording(run, run_id, arm)


def test_the_only_episode_needs_no_names(tmp_path):
    with Journal(tmp_path / 'run') as journal:
        journal.append(paper_run(['llm'])[0])
    assert find_recording(tmp_path / 'run', None, None) == tmp_path / 'run/bags/control_000-llm'


def test_a_folder_that_is_a_recording_needs_no_names(tmp_path):
    (tmp_path / 'metadata.yaml').touch()
    assert find_recording(tmp_path, None, None) == tmp_path
    # Its one file will do, too.
    file = tmp_path / 'bag.mcap'
    file.touch()
    assert find_recording(file, None, None) == file
    with pytest.raises(BadSetting, match='is a recording itself'):
        find_recording(tmp_path, 'control_000', None)


def test_a_folder_that_is_neither_is_refused(tmp_path):
    with pytest.raises(BadSetting, match='neither a recording nor the folder of a run'):
        find_recording(tmp_path, 'control_000', 'oracle')
