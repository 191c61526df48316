"""When a message of a recording is due again: fed with the wall clock, and without ROS."""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)

# A profile that says nothing: what rosbag2 plays topics with that were recorded without one.
DEFAULT_DEPTH = 10
ENDLESS = QosTime(9223372036, 854775807)


class Due(NamedTuple):
    """A serialised message, its topic, and when it was recorded [ns]."""

    time_ns: int
    topic: str
    data: bytes


def cut(
    messages: Iterable[Due], begin_ns: int, end_ns: int, latched: Mapping[str, int]
) -> Iterator[Due]:
    """Yield the messages from `begin_ns` to `end_ns`, both included.

    Whoever begins in the middle still learns what latched topics held then, at `begin_ns`.

    :param latched: how many messages each latched topic keeps
    """
    held = {topic: deque[Due](maxlen=depth) for topic, depth in latched.items()}
    begun = False
    for message in messages:
        if message.time_ns < begin_ns:
            if message.topic in held:
                held[message.topic].append(message)
            continue
        if not begun:
            begun = True
            yield from _at(begin_ns, held)
        if message.time_ns > end_ns:
            return
        yield message
    if not begun:
        yield from _at(begin_ns, held)


def _at(begin_ns: int, held: Mapping[str, Iterable[Due]]) -> Iterator[Due]:
    kept = sorted(
        (message for topic in held.values() for message in topic), key=lambda one: one[0]
    )
    return (message._replace(time_ns=begin_ns) for message in kept)


class Pace:
    """Where in a recording its playback is."""

    def __init__(self, rate: float, paused: bool = False) -> None:
        """Begin at 0 ns.

        :param rate: seconds of the recording in a second of wall time
        """
        self._rate = rate
        self._time_ns = 0
        self._since_s = 0.0  # wall time at which it was there
        self.paused = paused

    def jump(self, time_ns: int, now_s: float) -> None:
        """Go on from another place."""
        self._time_ns, self._since_s = time_ns, now_s

    def pause(self, paused: bool, now_s: float) -> None:
        """Stand still, or go on."""
        self.jump(self.time_ns(now_s), now_s)
        self.paused = paused

    def time_ns(self, now_s: float) -> int:
        """Return the place [ns] at a wall time."""
        if self.paused:
            return self._time_ns
        return self._time_ns + round((now_s - self._since_s) * self._rate * 1e9)

    def wait_s(self, time_ns: int, now_s: float) -> float:
        """Return how long it takes to a place: 0 if it has been passed, endless while paused."""
        ahead_ns = time_ns - self.time_ns(now_s)
        if ahead_ns <= 0:
            return 0.0
        return math.inf if self.paused else ahead_ns / self._rate / 1e9


def strictest(profiles: Sequence[Qos]) -> Qos:
    """Return the one profile that serves everybody whom one of the recorded publishers served."""
    return Qos(
        history=(
            QosHistory.KEEP_ALL
            if any(one.history == QosHistory.KEEP_ALL for one in profiles)
            else QosHistory.KEEP_LAST
        ),
        # Some middlewares do not tell depths; rosbag2 writes 0 then.
        depth=max((one.depth for one in profiles), default=0) or DEFAULT_DEPTH,
        reliability=(
            QosReliability.BEST_EFFORT
            if profiles and all(one.reliability == QosReliability.BEST_EFFORT for one in profiles)
            else QosReliability.RELIABLE
        ),
        durability=(
            QosDurability.TRANSIENT_LOCAL
            if any(one.durability == QosDurability.TRANSIENT_LOCAL for one in profiles)
            else QosDurability.VOLATILE
        ),
        deadline=_shortest(one.deadline for one in profiles),
        lifespan=max((_or_endless(one.lifespan) for one in profiles), default=ENDLESS),
        liveliness=(
            QosLiveliness.MANUAL_BY_TOPIC
            if any(one.liveliness == QosLiveliness.MANUAL_BY_TOPIC for one in profiles)
            else QosLiveliness.AUTOMATIC
        ),
        liveliness_lease_duration=_shortest(one.liveliness_lease_duration for one in profiles),
        avoid_ros_namespace_conventions=any(
            one.avoid_ros_namespace_conventions for one in profiles
        ),
    )


def _shortest(spans: Iterable[QosTime]) -> QosTime:
    return min(map(_or_endless, spans), default=ENDLESS)


def _or_endless(span: QosTime) -> QosTime:
    """Return a span; without a limit ROS has 0, and what middlewares wrote until Foxy is less."""
    return span if QosTime(0, 0) < span < QosTime(0x7FFFFFFF, 0) else ENDLESS
