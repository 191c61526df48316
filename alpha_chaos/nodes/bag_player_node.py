"""Publishes a recording again, with the clock and the QoS it was recorded with.

Any rosbag2 folder will do. Topics are published below the node's namespace; types that are not
installed are left out, by name. `~/pause` stops and goes on.
"""

import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from pydantic import Field
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)
from rclpy.task import Future
from rosbags.interfaces import Qos, QosDurability, QosTime
from rosbags.rosbag2 import Reader, ReaderError
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool

from alpha_chaos.bag.playback import Due, Pace, cut, strictest
from alpha_chaos.nodes import endpoints
from alpha_chaos.nodes.flow import Cancelled, Flow, Wait, after
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.params import Params, declare
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting

CLOCK = '/clock'
LONGEST_S = 9e9  # of a recording: what its times can hold
CLOCK_PERIOD_S = 0.01  # wall time between two messages of a clock that the recording has not
TELL_S = 1.0  # between two lines that say how far it is
BUSY_S = 0.05  # then others have their turn: signals, services
RETRY_S = 0.05
ACKNOWLEDGED_WITHIN = Duration(seconds=1)
# What rosbags says of a damaged recording: its own error, and Python's about text, numbers, sizes.
_DAMAGE = (
    *(ReaderError, OSError, ValueError, LookupError, TypeError),
    *(struct.error, AssertionError, OverflowError, MemoryError),
)


class BagPlayerParams(Params):
    """Parameters of the player."""

    bag: str = Field('', description='folder of a rosbag2 recording, or its .mcap or .db3 file')
    rate: float = Field(
        1.0, gt=0, le=1000, description='seconds of the recording in a second of wall time [1]'
    )
    loop: bool = Field(False, description='begin again at the end, until it is stopped')
    paused: bool = Field(False, description='wait for ~/pause {data: false} before the beginning')
    begin: float = Field(
        0.0, ge=0, le=LONGEST_S, description='where to begin, from the first message [s]'
    )
    end: float = Field(
        0.0,
        ge=0,
        le=LONGEST_S,
        description='where to end, from the first message; 0: with the last one [s]',
    )
    delay: float = Field(
        1.0,
        ge=0,
        le=3600,
        description='wall time that subscribers have to find the topics before the beginning [s]',
    )


class BagPlayerNode(Node):
    """Publishes what is due; `playback` knows what that is."""

    params_model = BagPlayerParams

    def __init__(self, **options: Any) -> None:
        super().__init__('bag_player', **options)
        self.params = declare(self, BagPlayerParams)
        self.exit_code = Future()
        self._pace = Pace(self.params.rate, self.params.paused)
        self._nap = Future()
        self._latched: dict[str, int] = {}
        with ExitStack() as opening:
            if not self.params.bag:
                raise BadSetting('which recording? Set the parameter bag to its folder')
            self._reader = _open(Path(self.params.bag), opening)
            self._first_ns = self._reader.start_time
            self._begin_ns, self._end_ns = self._window()
            self._topics = self._publish_what_can_be()
            self._opened = opening.pop_all()
        self._made_clock = (
            None
            if CLOCK in self._reader.topics
            else endpoints.publisher(self, Clock, CLOCK, QoSProfile(depth=10))
        )
        self._played = 0
        self._now_ns = self._begin_ns
        self._told_s = self._rests_s = 0.0
        self.create_service(SetBool, '~/pause', self._on_pause)
        self._flow = Flow(self._play(), self._on_end)

    def destroy_node(self) -> None:
        """Close the recording."""
        self._flow.cancel(Cancelled())
        self._opened.close()
        super().destroy_node()

    # -- what is played

    def _window(self) -> tuple[int, int]:
        length_ns = self._reader.duration - 1
        begin_ns = round(self.params.begin * 1e9)
        end_ns = min(round(self.params.end * 1e9) or length_ns, length_ns)
        if begin_ns > end_ns:
            raise BadSetting(
                f'from {begin_ns / 1e9:g} s to {end_ns / 1e9:g} s there is nothing to play: '
                f'{self.params.bag} is {length_ns / 1e9:g} s long'
            )
        return self._first_ns + begin_ns, self._first_ns + end_ns

    def _publish_what_can_be(self) -> dict[str, Publisher]:
        made = {}
        for topic, about in self._reader.topics.items():
            try:
                kind = load(about.msgtype or '')
            except BadSetting as error:
                self.get_logger().warning(f'{topic} is left out: {error}')
                continue
            offered = [
                profile
                for connection in about.connections
                for profile in connection.ext.offered_qos_profiles
            ]
            profile = strictest(offered)
            if profile.durability == QosDurability.TRANSIENT_LOCAL:
                self._latched[topic] = profile.depth
            # Below the namespace; but there is one clock.
            name = topic if topic == CLOCK else topic.lstrip('/')
            made[topic] = endpoints.publisher(self, kind, name, _qos(profile))
        if not made:
            raise BadSetting(f'{self.params.bag}: no type of its topics is installed')
        return made

    def _messages(self) -> Iterator[Due]:
        connections = [one for one in self._reader.connections if one.topic in self._topics]
        recorded = (
            Due(time_ns, connection.topic, data)
            for connection, time_ns, data in self._reader.messages(connections)
        )
        return cut(recorded, self._begin_ns, self._end_ns, self._latched)

    # -- how

    async def _play(self) -> None:
        self.get_logger().info(
            f'plays {self.params.bag}: {len(self._topics)} topics, '
            f'{self._s(self._begin_ns):g} s to {self._s(self._end_ns):g} s '
            f'at rate {self.params.rate:g}{", paused" if self._pace.paused else ""}'
        )
        await Wait(after(self, self.params.delay))
        self._told_s = time.monotonic()
        await self._play_once()
        while self.params.loop:
            await self._play_once()
        for publisher in self._topics.values():  # what goes with its publisher arrives nowhere
            publisher.wait_for_all_acked(ACKNOWLEDGED_WITHIN)
        self.get_logger().info(f'played {self._progress()}')

    async def _play_once(self) -> None:
        self._played = 0
        self._pace.jump(self._begin_ns, time.monotonic())
        for message in self._messages():
            await self._until(message.time_ns)
            await self._publish(self._topics[message.topic], message)
        await self._until(self._end_ns)

    async def _until(self, time_ns: int) -> None:
        """Wait for a place in the recording; meanwhile the clock goes on, and others."""
        while True:
            now_s = time.monotonic()
            self._tick(min(self._pace.time_ns(now_s), time_ns), now_s)
            seconds = self._pace.wait_s(time_ns, now_s)
            if seconds == 0 and now_s < self._rests_s:
                return
            longest_s = TELL_S if self._made_clock is None else CLOCK_PERIOD_S
            self._nap = after(self, min(seconds, longest_s))
            await Wait(self._nap)
            self._rests_s = time.monotonic() + BUSY_S

    def _tick(self, time_ns: int, now_s: float) -> None:
        if self._made_clock is not None and time_ns != self._now_ns:
            stamp = Time(sec=time_ns // 10**9, nanosec=time_ns % 10**9)
            self._made_clock.publish(Clock(clock=stamp))
        self._now_ns = time_ns
        if now_s >= self._told_s + TELL_S and not self._pace.paused:
            self._told_s = now_s
            self.get_logger().info(self._progress())

    async def _publish(self, publisher: Publisher, message: Due) -> None:
        """Publish a message; a subscriber that is slow, and must not lose any, holds all up."""
        waits = False
        while True:
            try:
                publisher.publish(message.data)
                self._played += 1
                return
            except rclpy_implementation.RCLError:
                if not waits:
                    self.get_logger().warning(
                        f'{message.topic}: waits for a subscriber that takes nothing more'
                    )
                waits = True
            await Wait(after(self, RETRY_S))

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._pace.pause(request.data, time.monotonic())
        response.success = True
        response.message = f'{"paused at" if request.data else "goes on from"} {self._progress()}'
        self.get_logger().info(response.message)
        if not self._nap.done():
            self._nap.set_result(None)
        return response

    def _on_end(self, _: Any, error: BaseException | None) -> None:
        if error is None:
            self.exit_code.set_result(0)
        elif not isinstance(error, Cancelled):
            self.get_logger().error(f'{type(error).__name__}: {error}')
            self.exit_code.set_result(1)

    def _progress(self) -> str:
        return (
            f'{self._s(self._now_ns):.1f} of {self._s(self._end_ns):.1f} s, '
            f'{self._played} messages'
        )

    def _s(self, time_ns: int) -> float:
        """Return a place in seconds from the first message."""
        seconds: float = (time_ns - self._first_ns) / 1e9
        return seconds


def _open(folder: Path, opening: ExitStack) -> Reader:
    try:
        reader = opening.enter_context(Reader(folder))
    except _DAMAGE as error:
        raise BadSetting(f'bag: {folder} is no rosbag2 recording: {error}') from None
    if not reader.message_count:
        raise BadSetting(f'bag: {folder} holds no message')
    return reader


def _qos(recorded: Qos) -> QoSProfile:
    """Return a profile as rclpy has it."""
    return QoSProfile(
        history=HistoryPolicy[recorded.history.name],
        depth=recorded.depth,
        reliability=ReliabilityPolicy[recorded.reliability.name],
        durability=DurabilityPolicy[recorded.durability.name],
        deadline=_duration(recorded.deadline),
        lifespan=_duration(recorded.lifespan),
        liveliness=LivelinessPolicy[recorded.liveliness.name],
        liveliness_lease_duration=_duration(recorded.liveliness_lease_duration),
        avoid_ros_namespace_conventions=recorded.avoid_ros_namespace_conventions,
    )


def _duration(span: QosTime) -> Duration:
    return Duration(seconds=span.sec, nanoseconds=span.nsec)


def main() -> int:
    """Run the node."""
    return run(BagPlayerNode)


if __name__ == '__main__':
    raise SystemExit(main())
