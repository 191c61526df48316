"""The QoS of a relay's two ends, made from that of the publishers it finds."""

from collections.abc import Sequence

from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)

from alpha_chaos.transit.config import Qos

# DDS tells nobody how many messages a publisher keeps. So many bridge a relay that stands still
# for 0.2 s at 5 kHz.
DEPTH = 1000


def incoming(found: Sequence[QoSProfile], wanted: Qos, publishers: int) -> QoSProfile:
    """Return what to ask for, so that all of these publishers are heard.

    :param publishers: how many have latched something, at most, at a time

    A stricter request than a publisher's offer would not be met, and this one asks for no deadline
    and no sign of life: whoever listens behind the relay does.
    """
    reliable = all(one.reliability == ReliabilityPolicy.RELIABLE for one in found)
    latched = all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in found)
    if wanted.reliability is not None:
        reliable = wanted.reliability == 'reliable'
    if wanted.durability is not None:
        latched = wanted.durability == 'transient_local'
    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL
        if wanted.history == 'keep_all'
        else HistoryPolicy.KEEP_LAST,
        depth=wanted.depth or (publishers if latched else DEPTH),
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def outgoing(found: Sequence[QoSProfile], wanted: Qos, publishers: int) -> QoSProfile:
    """Return what to offer: what these publishers all do."""
    profile = incoming(found, wanted, publishers)
    if found:
        profile.deadline = max(one.deadline for one in found)
        profile.lifespan = min(one.lifespan for one in found)
        profile.liveliness_lease_duration = max(one.liveliness_lease_duration for one in found)
        if all(one.liveliness == LivelinessPolicy.MANUAL_BY_TOPIC for one in found):
            profile.liveliness = LivelinessPolicy.MANUAL_BY_TOPIC
    if wanted.deadline_s is not None:
        profile.deadline = Duration(seconds=wanted.deadline_s)
    return profile
