"""Publishers and subscriptions whose QoS a user may override, and that say when QoS goes wrong.

Overrides are ROS's own parameters, `qos_overrides.<topic>.publisher|subscription.<policy>`. On a
stream that is counted only the deadline can be another one: a lost message aborts the attempt.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import (
    QoSCompatibility,
    QoSPolicyKind,
    QoSProfile,
    qos_check_compatible,
    qos_policy_name_from_kind,
)
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription

from alpha_chaos.plugins import BadSetting, unknown

_OVERRIDES = 'qos_overrides.'
_KEPT = ('reliability', 'history', 'durability')  # on a stream that is counted
_COUNTED = (QoSPolicyKind.DEADLINE,)
_LOOSE = (
    QoSPolicyKind.RELIABILITY,
    QoSPolicyKind.HISTORY,
    QoSPolicyKind.DEPTH,
    QoSPolicyKind.DURABILITY,
    QoSPolicyKind.DEADLINE,
)


def publisher(
    node: Node, msg_type: Any, topic: str, profile: QoSProfile, *, counted: bool = False
) -> Publisher:
    """Return a publisher.

    :param counted: somebody waits for every message, so that nothing may be lost
    :raises BadSetting: for an override that is none, or that would lose messages
    """
    end = _End(node, topic, 'publisher', profile, counted)
    events = PublisherEventCallbacks(
        incompatible_qos=end.on_incompatible, deadline=end.on_deadline
    )
    with end.overrides() as options:
        return node.create_publisher(
            msg_type,
            topic,
            end.profile,
            qos_overriding_options=options,
            event_callbacks=events,
        )


def subscription(
    node: Node,
    msg_type: Any,
    topic: str,
    on_message: Callable[[Any], None],
    profile: QoSProfile,
    *,
    counted: bool = False,
    raw: bool = False,
    on_lost: Callable[[int], None] = lambda number: None,
) -> Subscription:
    """Return a subscription.

    :param counted: see `publisher`
    :param on_lost: is told when the middleware has lost messages, and how many
    :raises BadSetting: for an override that is none, or that would lose messages
    """
    end = _End(node, topic, 'subscription', profile, counted)

    def lost(event: Any) -> None:
        end.on_lost(event)
        on_lost(event.total_count_change)

    events = SubscriptionEventCallbacks(
        incompatible_qos=end.on_incompatible, message_lost=lost, deadline=end.on_deadline
    )
    with end.overrides() as options:
        return node.create_subscription(
            msg_type,
            topic,
            on_message,
            end.profile,
            qos_overriding_options=options,
            event_callbacks=events,
            raw=raw,
        )


def warn_of_unused(node: Node) -> None:
    """Say which overrides are for topics that a node, once it is made, does not have."""
    declared = node.get_parameters_by_prefix(_OVERRIDES.rstrip('.'))
    known = {name.rpartition('.')[0] for name in declared}
    for name in node._parameter_overrides:
        end = name.removeprefix(_OVERRIDES).rpartition('.')[0]
        if name.startswith(_OVERRIDES) and end not in known:
            node.get_logger().warning(unknown('end in qos_overrides', end, known))


@dataclass
class _End:
    """One end of a topic: its overrides, and what is said when QoS goes wrong, each thing once."""

    node: Node
    topic: str
    kind: str  # 'publisher' or 'subscription'
    profile: QoSProfile
    counted: bool

    def __post_init__(self) -> None:
        self.topic = self.node.resolve_topic_name(self.topic)
        self.profile = copy(self.profile)  # rclpy writes overrides into it
        self._said: set[str] = set()

    @contextmanager
    def overrides(self) -> Iterator[QoSOverridingOptions]:
        """Check what is overridden; what rclpy finds wrong with it becomes a BadSetting."""
        prefix = f'{_OVERRIDES}{self.topic}.{self.kind}.'
        policies = _COUNTED if self.counted else _LOOSE
        known = [policy.name.lower() for policy in policies]
        for name, given in self.node._parameter_overrides.items():
            policy = name.removeprefix(prefix)
            if policy == name or policy in known:
                continue
            if not (self.counted and policy in _KEPT):
                raise BadSetting(f'{name}: {unknown("QoS policy", policy, known)}')
            if given.value != (kept := _value(self.profile, policy)):
                raise BadSetting(
                    f'{name}: {given.value!r} could lose messages, and they are counted here; '
                    f'it stays {kept!r}'
                )
        try:
            yield QoSOverridingOptions(policies)
        except (InvalidParameterTypeException, RuntimeError) as error:
            raise BadSetting(f'{prefix[:-1]}: {error}') from None

    def on_incompatible(self, event: Any) -> None:
        policy = qos_policy_name_from_kind(event.last_policy_kind).lower()
        right = f'right would be {policy} {_value(self.profile, policy)} there, as it is here'
        self._say(
            'incompatible',
            f'{self.topic}: nothing passes between this {self.kind} and {self._others()}: '
            f'their {policy} does not fit; {right}',
        )

    def on_deadline(self, event: Any) -> None:
        due_s = self.profile.deadline.nanoseconds / 1e9
        self._say(
            'deadline',
            f'{self.topic}: no message for {due_s:g} s of wall time, the deadline of this '
            f'{self.kind}; it is right only for a graph that runs at its own pace',
        )

    def on_lost(self, event: Any) -> None:
        self._say(
            'lost',
            f'{self.topic}: the middleware has lost {event.total_count} messages; right would be '
            'reliability reliable and history keep_all on both ends',
        )

    def _others(self) -> str:
        """Return who is at the other end with settings that do not fit."""
        if self.kind == 'subscription':
            found = self.node.get_publishers_info_by_topic(self.topic)
            pairs = [(other, other.qos_profile, self.profile) for other in found]
        else:
            found = self.node.get_subscriptions_info_by_topic(self.topic)
            pairs = [(other, self.profile, other.qos_profile) for other in found]
        names = [
            f'{other.node_namespace.rstrip("/")}/{other.node_name}'
            for other, offered, asked in pairs
            if qos_check_compatible(offered, asked)[0] == QoSCompatibility.ERROR
        ]
        return ', '.join(names) or 'somebody'

    def _say(self, what: str, text: str) -> None:
        if what not in self._said:
            self._said.add(what)
            self.node.get_logger().warning(text)


def _value(profile: QoSProfile, policy: str) -> str:
    value = getattr(profile, policy)
    return value.name.lower() if hasattr(value, 'name') else f'{value.nanoseconds} ns'
