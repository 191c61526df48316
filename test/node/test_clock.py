"""Stamps in messages."""

from builtin_interfaces.msg import Time
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.msg import SceneObservation
from alpha_chaos.nodes.clock import latest_stamp
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
