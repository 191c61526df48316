"""What a driver publishes."""

import math
from typing import Any

from rclpy.qos import ReliabilityPolicy

from alpha_chaos.driver_contract.probe import Probe
from alpha_chaos.nodes.clock import to_nanoseconds


def heard(probe: Probe, topic: str, kind: str) -> list[Any]:
    """Return what came on a topic while the arm moved; fail if it is not as it must be."""
    senders = probe.senders(topic)
    assert senders, f'nobody publishes {topic}'
    for sender in senders:
        assert sender.topic_type == kind, f'{topic} is of type {sender.topic_type}, not {kind}'
        assert sender.qos_profile.reliability == ReliabilityPolicy.RELIABLE, (
            f'{topic} of {sender.node_name} is not reliable'
        )
    probe.begin()
    if probe.arm.server_is_ready():
        probe.move(probe.place(0.3))
    probe.settled()
    probe.until(lambda: probe.heard[topic], f'a message on {topic}')
    stamps = [to_nanoseconds(message.header.stamp) for message in probe.heard[topic]]
    assert stamps == sorted(stamps), f'stamps of {topic} go back'
    return probe.heard[topic]


def test_publishes_joint_states(probe: Probe) -> None:
    """sensor_msgs/JointState, reliable: a finite position for every name, stamps in order."""
    for message in heard(probe, probe.options.joint_states, 'sensor_msgs/msg/JointState'):
        names = list(message.name)
        assert names, 'no joint is named'
        assert len(set(names)) == len(names), f'two joints have one name: {names}'
        assert len(message.position) == len(names), (
            f'{len(message.position)} positions for {len(names)} joints'
        )
        assert all(map(math.isfinite, message.position)), f'positions {list(message.position)}'


def test_publishes_objects(probe: Probe) -> None:
    """alpha_chaos/ObjectStates, reliable: each object once, real poses, stamps in order."""
    for message in heard(probe, probe.options.objects, 'alpha_chaos/msg/ObjectStates'):
        assert message.header.frame_id == probe.options.frame, (
            f'objects are in frame {message.header.frame_id!r}'
        )
        names = [entry.name for entry in message.objects]
        assert len(set(names)) == len(names), f'an object is there twice: {names}'
        for entry in message.objects:
            at, turn = entry.pose.position, entry.pose.orientation
            length = math.hypot(turn.x, turn.y, turn.z, turn.w)
            assert all(map(math.isfinite, (at.x, at.y, at.z))), f'{entry.name} is nowhere'
            assert abs(length - 1) < 1e-3, f'{entry.name} has a quaternion of length {length}'
