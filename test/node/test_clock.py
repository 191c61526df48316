"""Stamps in messages."""

from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.msg import SceneObservation
from alpha_chaos.nodes.clock import latest_stamp, peek_nanoseconds
from alpha_chaos.srv import Plan

EARLY, LATE = Time(sec=1, nanosec=999_999_999), Time(sec=2)


def test_the_stamp_of_a_message_is_found_in_what_it_carries():
    scene = SceneObservation(header=Header(stamp=LATE))
    assert latest_stamp(scene, EARLY) == LATE
    assert latest_stamp(Plan.Request(scene=scene), EARLY) == LATE
    result = MoveTo.Result()
    result.reached_pose.header.stamp = LATE
    assert latest_stamp(result, EARLY) == LATE


def test_an_older_stamp_or_none_changes_nothing():
    assert (
        latest_stamp(Plan.Request(scene=SceneObservation(header=Header(stamp=EARLY))), LATE)
        == LATE
    )
    assert latest_stamp(GripperCommand.Goal(), LATE) == LATE


def test_a_stamp_is_read_from_bytes_unless_they_are_too_few():
    data = serialize_message(Header(stamp=EARLY, frame_id='world'))
    assert peek_nanoseconds(data) == 1_999_999_999
    assert peek_nanoseconds(data[:12]) == 1_999_999_999
    assert [peek_nanoseconds(data[:size]) for size in range(12)] == [None] * 12
