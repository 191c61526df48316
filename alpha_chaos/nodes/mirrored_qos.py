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

    A stricter request than a publisher's offer would not be met, whatever is wanted of the output;
    and this one asks for no deadline and no sign of life: whoever listens behind the relay does.
    """
    reliable, latched = _offered(found)
    reliable = reliable and wanted.reliability != 'best_effort'
    latched = latched and wanted.durability != 'volatile'
    return _profile(reliable, latched, wanted, publishers)


def outgoing(found: Sequence[QoSProfile], wanted: Qos, publishers: int) -> QoSProfile:
    """Return what to offer: what these publishers all do, or what is wanted instead."""
    reliable, latched = _offered(found)
    if wanted.reliability is not None:
        reliable = wanted.reliability == 'reliable'
    if wanted.durability is not None:
        latched = wanted.durability == 'transient_local'
    profile = _profile(reliable, latched, wanted, publishers)
    if found:
        profile.deadline = max(one.deadline for one in found)
        profile.lifespan = min(one.lifespan for one in found)
        profile.liveliness_lease_duration = max(one.liveliness_lease_duration for one in found)
        if all(one.liveliness == LivelinessPolicy.MANUAL_BY_TOPIC for one in found):
            profile.liveliness = LivelinessPolicy.MANUAL_BY_TOPIC
    if wanted.deadline_s is not None:
        profile.deadline = Duration(seconds=wanted.deadline_s)
    return profile


def _offered(found: Sequence[QoSProfile]) -> tuple[bool, bool]:
    """Return whether all are reliable, and whether all latch."""
    return (
        all(one.reliability == ReliabilityPolicy.RELIABLE for one in found),
        all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in found),
    )


def _profile(reliable: bool, latched: bool, wanted: Qos, publishers: int) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_ALL
        if wanted.history == 'keep_all'
        else HistoryPolicy.KEEP_LAST,
        depth=wanted.depth or (publishers if latched else DEPTH),
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )
