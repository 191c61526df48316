"""What every node of the graph shares: it begins and ends attempts, and it counts its messages.

A count is how the supervisor knows that nothing is under way any more. Every node tells how many
messages it has sent and can be asked to answer once it has handled a given number; no clock and no
waiting period is involved.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from builtin_interfaces.msg import Time
from pydantic import Field
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile

from alpha_chaos.experiment import Episode
from alpha_chaos.health import Condition, Received, Sent, Streams, attempt_condition
from alpha_chaos.msg import TopicCount
from alpha_chaos.nodes import endpoints, qos
from alpha_chaos.nodes.attempt_logger import AttemptLogger
from alpha_chaos.nodes.diagnostics import NO_HARDWARE, Diagnostics, WatchedParams
from alpha_chaos.nodes.flow import Respond, deferred_service
from alpha_chaos.nodes.params import declare
from alpha_chaos.plugins import BadSetting
from alpha_chaos.printable import printable
from alpha_chaos.srv import AwaitCount, Finish, Reset

# A reliable publisher with a full history blocks for 0.1 s and then refuses the message
# (measured). A subscriber that takes none for this many tries is gone.
PUBLISH_TRIES = 100


class EpisodeParams(WatchedParams):
    """Parameters every node has."""

    expect: list[str] = Field(
        [],
        description="what must be connected before an attempt begins: 'topic=subscribers', as "
        'alpha_chaos.graph derives them',
    )


class NotReady(Exception):
    """Something this node needs is not connected yet."""


class Outlet:
    """A publisher that counts, and that retries while a slow subscriber catches up."""

    def __init__(self, node: Node, msg_type: Any, topic: str, profile: QoSProfile) -> None:
        self._publisher = endpoints.publisher(node, msg_type, topic, profile, counted=True)
        self.topic = self._publisher.topic_name
        self.count = 0

    def send(self, message: Any) -> None:
        """Publish a message, or its serialised bytes."""
        for attempt in range(PUBLISH_TRIES):
            try:
                self._publisher.publish(message)
                break
            except rclpy_implementation.RCLError:
                if attempt == PUBLISH_TRIES - 1:
                    raise
        self.count += 1

    def subscribers(self) -> int:
        """Return how many subscribers are matched now."""
        return int(self._publisher.get_subscription_count())


class EpisodeNode(Node):
    """Base of the graph's nodes.

    A subclass says what to do in `begin` and `end`, sends through `outlet` and hears through
    `listen`.
    """

    params_model: type[EpisodeParams] = EpisodeParams

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.episode_id = ''
        self._logger = AttemptLogger(self._logger.name, lambda: self.episode_id)
        self.params = declare(self, self.params_model)
        self.episode: Episode | None = None
        self.now = Time()
        self.foreign = 0
        self._running = False  # an attempt has begun and not ended
        self.trouble = ''  # first thing that went wrong here and is nobody's fault but ours
        self._outlets: dict[str, Outlet] = {}
        self._inlets: dict[str, Received] = {}
        self._waiting: list[tuple[AwaitCount.Request, AwaitCount.Response, Respond]] = []
        self._expect = self._expectations(self.params.expect)
        self._streams = Streams(time.monotonic())
        Diagnostics(self, self._health, self.params.diagnostics_period, self.hardware)
        self.create_service(Reset, '~/reset', self._on_reset)
        self.create_service(Finish, '~/finish', self._on_finish)
        deferred_service(self, AwaitCount, '~/await_count', self._on_await_count)

    # -- for subclasses

    def check(self) -> None:
        """Raise `NotReady` while no attempt can begin; must not change anything."""

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Prepare for an attempt."""

    def end(self) -> dict[str, Any]:
        """Finish the attempt and return what there is to report."""
        return {}

    def conditions(self) -> Iterator[Condition]:
        """Yield what people who watch may want to know of this node besides."""
        yield from ()

    def hardware(self) -> str:
        """Return the robot that this node is about, if it is about one."""
        return NO_HARDWARE

    def outlet(self, msg_type: Any, topic: str, profile: QoSProfile = qos.STREAM) -> Outlet:
        """Return a counting publisher."""
        made = Outlet(self, msg_type, topic, profile)
        self._outlets[made.topic] = made
        return made

    def listen(
        self,
        msg_type: Any,
        topic: str,
        handle: Callable[[Any], None],
        *,
        raw: bool = False,
        profile: QoSProfile = qos.STREAM,
    ) -> None:
        """Subscribe and count.

        A message of another attempt is dropped, counted and reported. One that `handle` fails on
        spoils the attempt, not the node.
        """
        name = self.resolve_topic_name(topic)
        inlet = self._inlets[name] = Received()
        checked = not raw and hasattr(msg_type, 'episode_id')

        def on_message(message: Any) -> None:
            if checked and not (message.episode_id and message.episode_id == self.episode_id):
                self._drop(name, message.episode_id)
                return
            try:
                handle(message)
            except rclpy_implementation.RCLError:  # who waits for what follows of it has gone
                raise
            except Exception as error:
                self.spoil(f'a message on {name}', error)
            inlet.count += 1
            if self._waiting:
                self._answer_waiting()

        def on_lost(number: int) -> None:
            inlet.lost += number

        endpoints.subscription(
            self, msg_type, topic, on_message, profile, counted=True, raw=raw, on_lost=on_lost
        )

    def require(self, ready: bool, what: str) -> None:
        """Raise `NotReady` unless `ready`."""
        if not ready:
            raise NotReady(what)

    def spoil(self, what: str, error: BaseException) -> str:
        """Note that the attempt must not count, because of an error of ours; return the text."""
        text = printable(f'{what} failed: {type(error).__name__}: {error}')
        if text != self.trouble:  # it may come with every message
            self.get_logger().error(text)
        self.trouble = self.trouble or text
        return text

    def is_mine(self, episode_id: str) -> bool:
        """Tell whether a request belongs to the attempt under way."""
        return bool(self.episode_id) and episode_id == self.episode_id

    def published(self) -> list[TopicCount]:
        """Return the counts of everything sent since the reset."""
        return [TopicCount(topic=out.topic, count=out.count) for out in self._outlets.values()]

    # -- services

    def _on_reset(self, request: Reset.Request, response: Reset.Response) -> Reset.Response:
        if self._running and self.is_mine(request.episode_id):
            response.ready = True  # asked again, because the first answer was lost
            return response
        try:
            for out in self._outlets.values():
                expected = self._expect.get(out.topic, 0)
                found = out.subscribers()
                self.require(
                    found >= expected, f'{out.topic}: {found} of {expected} subscribers connected'
                )
            self.check()
            episode = Episode.model_validate_json(request.episode)
            self.foreign, self.trouble = 0, ''
            self._waiting.clear()
            for out in self._outlets.values():
                out.count = 0
            for inlet in self._inlets.values():
                inlet.count = inlet.announced = 0
            self.now = Time()
            self._running = False
            self.episode_id = request.episode_id
            self.episode = episode
            self.begin(episode, request)
            self._running = response.ready = True
        except NotReady as missing:
            response.message = f'{self.get_name()} waits for {missing}'
        except Exception as error:  # the supervisor decides; a node must not die of a bad episode
            self.get_logger().error(f'cannot begin {request.episode_id}: {error}')
            if self.is_mine(request.episode_id):
                self.episode_id = ''  # half begun is not begun
            response.failed = True
            response.message = f'{self.get_name()}: {type(error).__name__}: {error}'
        return response

    def _on_finish(self, request: Finish.Request, response: Finish.Response) -> Finish.Response:
        if not self.is_mine(request.episode_id):
            response.message = f'{self.get_name()} runs {self.episode_id!r}'
            return response
        self._running = False
        try:
            if self.trouble:
                raise RuntimeError(self.trouble)
            report = {'foreign_messages': self.foreign, **self.end()}
            response.report = json.dumps(_finite(report), allow_nan=False)
            response.ok = True
        except Exception as error:  # reported to the supervisor, which aborts the attempt
            self.get_logger().error(f'cannot finish {request.episode_id}: {error}')
            response.message = f'{self.get_name()}: {type(error).__name__}: {error}'
        response.published = self.published()
        return response

    def _on_await_count(
        self, request: AwaitCount.Request, response: AwaitCount.Response, respond: Respond
    ) -> None:
        if not self.is_mine(request.episode_id):
            response.message = f'{self.get_name()} runs {self.episode_id!r}'
            respond(response)
        elif request.topic not in self._inlets:
            response.message = (
                f'{self.get_name()} does not listen to {request.topic!r}; '
                f'it listens to {", ".join(sorted(self._inlets))}'
            )
            respond(response)
        else:
            inlet = self._inlets[request.topic]
            inlet.announced = max(inlet.announced, request.received)
            self._waiting.append((request, response, respond))
            self._answer_waiting()

    def _answer_waiting(self) -> None:
        still = []
        for request, response, respond in self._waiting:
            if self._inlets[request.topic].count >= request.received:
                response.ok = True
                response.published = self.published()
                respond(response)
            else:
                still.append((request, response, respond))
        self._waiting = still

    def _drop(self, topic: str, episode_id: str) -> None:
        self.foreign += 1
        if self.foreign == 1:
            self.get_logger().warning(
                f'{topic}: dropped a message of {episode_id!r} while running {self.episode_id!r}; '
                'is another graph on this ROS_DOMAIN_ID?'
            )

    # -- health

    def _health(self, now_s: float) -> Iterator[Condition]:
        yield attempt_condition(
            self.episode_id, self._running, trouble=self.trouble, foreign=self.foreign
        )
        sent = {
            name: Sent(out.count, out.subscribers(), self._expect.get(name, 0))
            for name, out in self._outlets.items()
        }
        yield self._streams.look(self._inlets, sent, now_s)
        yield from self.conditions()

    def _expectations(self, entries: list[str]) -> dict[str, int]:
        expected = {}
        for entry in entries:
            topic, _, number = entry.rpartition('=')
            if not topic or not number.isdecimal():
                raise BadSetting(f'expect {entry!r}: expected "<topic>=<subscribers>"')
            expected[self.resolve_topic_name(topic)] = int(number)
        return expected


def _finite(value: Any) -> Any:
    """Return a report with None for every number that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
