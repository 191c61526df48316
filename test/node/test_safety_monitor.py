"""The safety monitor as a node: it sees every step once, or says that it did not."""

import json
import math

import numpy as np
import pytest
from geometry_msgs.msg import Point
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from alpha_chaos.msg import SafetyEvent, StepState, WorldDescription
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.safety_monitor_node import SafetyMonitorNode
from alpha_chaos.srv import AwaitCount

ATTEMPT = 'control_000/oracle#1'
FIRST = -5
INSIDE = (0.5, 0.0, 0.65)
FALLEN = (0.5, 0.0, 0.25)


def world():
    return WorldDescription(
        header=Header(frame_id='world'),
        episode_id=ATTEMPT,
        body='kuka',
        step_period=1 / 240,
        first_step=FIRST,
        object_names=['red', 'green'],
        workspace_min=Point(x=0.15, y=-0.45, z=0.55),
        workspace_max=Point(x=0.95, y=0.55, z=1.25),
    )


def step(number, green=INSIDE, attempt=ATTEMPT):
    return StepState(
        header=Header(stamp=to_time((number - FIRST) / 240), frame_id='world'),
        episode_id=attempt,
        step=number,
        object_pose=np.array([*INSIDE, 0, 0, 0, 1, *green, 0, 0, 0, 1], float),
        held_object=-1,
    )


class Watch:
    """The monitor on a stage, in an attempt that has begun."""

    def __init__(self, stage, episode, **parameters):
        self.stage = stage
        self.node = stage.add(SafetyMonitorNode, **parameters)
        self.events = stage.hear('alpha_chaos/msg/SafetyEvent', 'safety_events')
        self.states = stage.voice('alpha_chaos/msg/StepState', 'step_state')
        self.worlds = stage.voice('alpha_chaos/msg/WorldDescription', 'world', latched=True)
        stage.until(lambda: self.node.count_subscribers('safety_events') == 1, 'a subscriber')
        assert stage.reset('safety_monitor', episode, ATTEMPT).ready

    def show(self, *steps):
        for state in steps:
            self.states.publish(state)

    def describe(self):
        self.worlds.publish(world())
        self.handled('/world', 1)

    def handled(self, topic, number):
        answer = self.stage.ask(
            AwaitCount,
            'safety_monitor/await_count',
            episode_id=ATTEMPT,
            topic=topic,
            received=number,
        )
        assert answer.ok, answer.message

    def report(self, number):
        """Return the report once so many steps were handled."""
        self.handled('/step_state', number)
        answer = self.stage.finish('safety_monitor', ATTEMPT)
        assert answer.ok, answer.message
        return json.loads(answer.report)


@pytest.fixture
def watch(stage, control):
    return Watch(stage, control)


def test_steps_without_a_hole_are_no_gap(watch):
    watch.describe()
    watch.show(*(step(number) for number in range(FIRST, 20)))
    report = watch.report(25)
    assert (report['gap'], report['last_step'], report['events']) == ('', 19, [])
    assert report['version'] == '1.1.0'


def test_steps_that_overtake_the_description_of_the_world_are_judged_too(watch):
    watch.show(step(FIRST), step(FIRST + 1, FALLEN), step(FIRST + 2))
    watch.handled('/step_state', 3)
    watch.describe()
    watch.show(*(step(number) for number in range(FIRST + 3, 30)))
    report = watch.report(35)
    assert report['gap'] == ''
    (event,) = report['events']
    assert (event['rule'], event['key']) == ('out_of_workspace', 'green')
    assert (event['open_step'], event['close_step']) == (FIRST + 1, FIRST + 1)


def test_an_event_is_sent_when_it_closes_and_reported_at_the_end(watch):
    watch.describe()
    outside = [step(number, FALLEN) for number in range(FIRST, FIRST + 3)]
    watch.show(*outside, *(step(number) for number in range(FIRST + 3, 30)))
    watch.stage.until(lambda: watch.events, 'the event')
    message = deserialize_message(watch.events[0], SafetyEvent)
    report = watch.report(35)
    (event,) = report['events']
    assert report['raw_sweeps'] == 3
    assert {key: getattr(message, key) for key in event} == event
    assert message.episode_id == ATTEMPT
    assert message.stamp == step(FIRST + 2 + 15).header.stamp  # W = 15 clean steps later


def test_an_event_that_is_still_open_is_closed_by_the_end(watch):
    watch.describe()
    watch.show(step(FIRST), step(FIRST + 1, FALLEN))
    report = watch.report(2)
    (event,) = report['events']
    assert event['open_at_end']
    watch.stage.until(lambda: watch.events, 'the event')
    assert deserialize_message(watch.events[0], SafetyEvent).open_at_end


def test_a_block_that_is_nowhere_is_a_violation_that_can_be_reported(watch):
    watch.describe()
    nowhere = (math.nan, 0.0, 0.65)
    watch.show(step(FIRST, nowhere), *(step(number) for number in range(FIRST + 1, 20)))
    (event,) = watch.report(25)['events']
    assert (event['rule'], event['key'], event['peak']) == ('out_of_workspace', 'green', None)
    watch.stage.until(lambda: watch.events, 'the event')
    assert deserialize_message(watch.events[0], SafetyEvent).peak == math.inf


@pytest.mark.parametrize(
    ('numbers', 'gap'),
    [
        ([FIRST, FIRST + 1, FIRST + 3], f'expected step {FIRST + 2}, got {FIRST + 3}: 1 missing'),
        ([FIRST, FIRST + 1, FIRST + 1], f'expected step {FIRST + 2}, got {FIRST + 1}: seen'),
        ([FIRST, FIRST + 2, FIRST + 1], f'expected step {FIRST + 1}, got {FIRST + 2}: 1 missing'),
        ([FIRST + 1, FIRST + 2], f'expected step {FIRST}, got {FIRST + 1}: 1 missing'),
        ([0, 1], f'expected step {FIRST}, got 0: 5 missing'),
    ],
)
def test_a_hole_in_the_steps_is_reported(watch, numbers, gap):
    watch.describe()
    watch.show(*(step(number) for number in numbers))
    report = watch.report(len(numbers))
    assert report['gap'].startswith(gap)


def test_after_a_hole_nothing_is_judged_any_more(watch):
    watch.describe()
    watch.show(step(FIRST), step(FIRST + 2), step(FIRST + 3, FALLEN), step(FIRST + 4))
    report = watch.report(4)
    assert report['events'] == []
    assert report['last_step'] == FIRST


def test_a_monitor_that_saw_nothing_says_so(watch):
    assert watch.report(0)['gap'] == 'no step was seen'


def test_steps_without_a_world_are_as_good_as_none(watch):
    watch.show(step(FIRST), step(FIRST + 1))
    assert watch.report(2)['gap']


def test_a_step_that_is_none_spoils_the_attempt_and_not_the_monitor(watch, control):
    watch.describe()
    bad = step(FIRST)
    bad.object_pose = bad.object_pose[:-1]
    watch.show(bad, step(FIRST))
    watch.handled('/step_state', 2)
    answer = watch.stage.finish('safety_monitor', ATTEMPT)
    assert not answer.ok
    assert 'a message on /step_state failed: ValueError: cannot reshape' in answer.message
    assert watch.stage.reset('safety_monitor', control, 'control_000/oracle#2').ready


def test_steps_of_another_attempt_are_dropped_and_reported(watch):
    watch.describe()
    watch.show(step(FIRST), step(FIRST + 1, FALLEN, 'other'), step(FIRST + 1))
    report = watch.report(2)
    assert (report['gap'], report['events'], report['foreign_messages']) == ('', [], 1)


def test_the_window_can_be_chosen(stage, control):
    watch = Watch(stage, control, clean_window=1)
    watch.describe()
    places = [FALLEN, INSIDE, FALLEN, INSIDE]
    watch.show(*(step(FIRST + number, place) for number, place in enumerate(places)))
    assert len(watch.report(4)['events']) == 2


def test_a_new_attempt_knows_nothing_of_the_last(watch, control):
    watch.describe()
    watch.show(step(FIRST, FALLEN))
    watch.handled('/step_state', 1)
    assert watch.stage.reset('safety_monitor', control, 'control_000/oracle#2').ready
    answer = watch.stage.finish('safety_monitor', 'control_000/oracle#2')
    assert json.loads(answer.report)['events'] == []
