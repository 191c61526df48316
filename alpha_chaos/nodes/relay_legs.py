"""What a relay's routes are made of: a topic leg passes messages, a call leg requests and answers.

A topic is one topic leg, a service one call leg. An action is three services and two topics, and
passes as these: goal numbers, refusals and states reach the client as the server gave them.
"""

import time
from collections.abc import Callable
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.impl.implementation_singleton import rclpy_implementation

from alpha_chaos.nodes.interfaces import load_part
from alpha_chaos.nodes.mirrored_qos import incoming, outgoing
from alpha_chaos.nodes.relay_calls import CallLeg, Graph
from alpha_chaos.nodes.relay_lane import Host, Lane, Relay
from alpha_chaos.plugins import BadSetting
from alpha_chaos.transit.base import SIDES_OF
from alpha_chaos.transit.config import Qos, Route

_RCLError = rclpy_implementation.RCLError


class Ear:
    """A subscription to serialised messages, made when a publisher is there, with its QoS.

    :param type: name of the type, empty to take the publisher's
    :param hear: called with each message
    """

    def __init__(
        self, relay: Host, topic: str, type: str, qos: Qos, hear: Callable[[bytes], None]
    ) -> None:
        self.topic = topic
        self._relay = relay
        self._type = type
        self._qos = qos
        self._hear = hear
        self._subscription: Any = None
        self.kind: Any = None  # type of the messages, once known
        self.lost = 0  # messages that the middleware says it has lost
        self._most = 0  # publishers at a time
        self._made: Any = None  # what it was made for: type, QoS

    def look(self) -> None:
        """Look who publishes; open, or open anew if type or QoS are others than before."""
        everybody = self._relay.node.get_publishers_info_by_topic(self.topic)
        found = [one for one in everybody if self._type in ('', one.topic_type)]
        if not found:  # what is open stays so, for whoever comes back
            for other in everybody:
                self._relay.problem(
                    self.topic, f'is {other.topic_type}; the file says {self._type}'
                )
            return
        types = sorted({one.topic_type for one in found})
        if len(types) > 1:
            self._relay.problem(
                self.topic, f'is published as {" and as ".join(types)}; give its type in the file'
            )
            return
        # One that has gone is still counted: opening anew would forget what is latched.
        self._most = max(self._most, len(found))
        offered = [one.qos_profile for one in found]
        wanted = (
            types[0],
            incoming(offered, self._qos, self._most),
            outgoing(offered, self._qos, self._most),
        )
        if wanted == self._made:
            return
        if self._made is not None and self._made[0] != wanted[0]:
            self.close()  # and opens at the next look: until then DDS keeps the name's old type
            return
        try:
            kind = load_part(types[0])
            self.close()
            self._open(kind, *wanted[1:])
        except (BadSetting, _RCLError) as error:  # and looks again: who is in the way may go
            self._relay.problem(self.topic, str(error))
            return
        self._made = wanted

    @property
    def heard(self) -> int:
        """Number of publishers that are heard now."""
        return 0 if self._subscription is None else int(self._subscription.get_publisher_count())

    def _open(self, kind: Any, in_qos: Any, out_qos: Any) -> None:
        self.kind = kind
        self._subscription = self._relay.node.create_subscription(
            kind,
            self.topic,
            self._hear,
            in_qos,
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(message_lost=self._on_lost),
        )

    def _on_lost(self, event: Any) -> None:
        self.lost += event.total_count_change
        self._relay.problem(self.topic, 'messages were lost on their way to the relay')

    def close(self) -> None:
        """Hear no more."""
        self._made = None
        if self._subscription is not None:
            self._relay.node.destroy_subscription(self._subscription)
            self._subscription = None


class TopicLeg(Ear):
    """Passes a topic on under another name."""

    def __init__(self, relay: Relay, lane: Lane, topic: str, output: str, type: str) -> None:
        super().__init__(relay, topic, type, lane.route.qos, self._on_message)
        self._lane = lane
        self._output = output
        self._handling = relay.handling
        self._publisher: Any = None

    def _open(self, kind: Any, in_qos: Any, out_qos: Any) -> None:
        self._publisher = self._relay.node.create_publisher(kind, self._output, out_qos)
        self._lane.open(kind, lambda passage: self._publish(passage.parcel.data))
        super()._open(kind, in_qos, out_qos)
        self._relay.node.get_logger().info(f'{self.topic} goes on as {self._output}')

    def close(self) -> None:
        """Hear and say no more."""
        super().close()
        if self._publisher is not None:
            self._relay.node.destroy_publisher(self._publisher)
            self._publisher = self._lane.send = None

    def _on_message(self, data: bytes) -> None:
        began_s = time.perf_counter()
        lane = self._lane
        lane.sequence += 1
        if lane.stack.idle:
            self._publish(data)
        else:
            lane.take(data)
        self._handling.add(time.perf_counter() - began_s)

    def _publish(self, data: bytes) -> None:
        try:
            self._publisher.publish(data)
        except _RCLError as error:  # of a full history that keeps all, after 0.1 s
            self._relay.problem(self._output, f'a message is lost: {error}')


class OpenRoute:
    """A route at work: its lanes, by side, and the legs that feed them.

    :param source: full name of what is routed; likewise `output`
    """

    def __init__(self, relay: Relay, route: Route, source: str, output: str) -> None:
        self.route = route
        self.source = source
        self.lanes = {side: Lane(relay, route, side) for side in SIDES_OF[route.kind]}
        lanes = self.lanes
        self._topics: list[TopicLeg] = []
        self.calls: list[CallLeg] = []

        def topic(lane: Lane, part: str, type: str) -> None:
            self._topics.append(TopicLeg(relay, lane, source + part, output + part, type))

        def call(requests: Lane, responses: Lane, part: str, type: str) -> None:
            leg = CallLeg(relay, requests, responses, source + part, output + part, type)
            self.calls.append(leg)

        if route.kind == 'topic':
            topic(lanes['message'], '', route.type)
        elif route.kind == 'service':
            call(lanes['request'], lanes['response'], '', route.type)
        else:

            def part(suffix: str) -> str:
                return route.type and route.type + suffix

            call(lanes['goal'], lanes['goal_response'], '/_action/send_goal', part('_SendGoal'))
            call(
                lanes['cancel'],
                lanes['cancel_response'],
                '/_action/cancel_goal',
                'action_msgs/srv/CancelGoal',
            )
            call(
                lanes['result_request'],
                lanes['result'],
                '/_action/get_result',
                part('_GetResult'),
            )
            topic(lanes['feedback'], '/_action/feedback', part('_FeedbackMessage'))
            topic(lanes['status'], '/_action/status', 'action_msgs/msg/GoalStatusArray')

    @property
    def waits(self) -> bool:
        """Whether some of it has not been found yet."""
        return any(lane.kind is None for lane in self.lanes.values())

    @property
    def passed(self) -> int:
        """Number of messages that came, on all sides."""
        return sum(lane.sequence for lane in self.lanes.values())

    @property
    def lost(self) -> int:
        """Number of messages that the middleware has lost before they came."""
        return sum(topic.lost for topic in self._topics)

    def look(self, graph: Graph) -> None:
        """Open what can be opened now.

        :param graph: the services there are
        """
        for topic in self._topics:
            topic.look()
        for call in self.calls:
            call.look(graph)
