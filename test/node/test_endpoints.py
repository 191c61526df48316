"""QoS: what may be overridden and what not, and what is said when it goes wrong."""

from types import SimpleNamespace

import pytest
from rclpy.duration import Duration
from rclpy.event_handler import QoSSubscriptionEventType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from alpha_chaos.msg import ObjectStates
from alpha_chaos.nodes import endpoints, qos
from alpha_chaos.nodes.perception_node import PerceptionNode
from alpha_chaos.plugins import BadSetting

IN, OUT = 'qos_overrides./objects.subscription', 'qos_overrides./scene.publisher'
DIAGNOSTICS = 'qos_overrides./diagnostics.publisher'
LAX = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


@pytest.mark.parametrize(
    ('entry', 'why'),
    [
        (f'{IN}.reliability:=best_effort', "they are counted here; it stays 'reliable'"),
        (f'{OUT}.reliability:=best_effort', "they are counted here; it stays 'reliable'"),
        (f'{OUT}.history:=keep_last', "they are counted here; it stays 'keep_all'"),
        (f'{OUT}.durability:=transient_local', "they are counted here; it stays 'volatile'"),
        (f'{DIAGNOSTICS}.relibility:=x', "'relibility', did you mean 'reliability'?"),
        (f'{IN}.depth:=1', "unknown QoS policy 'depth'; known: deadline"),
        (f'{DIAGNOSTICS}.lifespan:=1', 'known: deadline, depth, durability, history, reliability'),
        (f'{DIAGNOSTICS}.reliability:=sometimes', '`sometimes`'),
        (f'{IN}.deadline:=soon', 'deadline'),
    ],
)
def test_an_override_that_would_lose_messages_or_is_none_is_refused(stage, entry, why):
    with pytest.raises(BadSetting, match='qos_overrides') as refused:
        stage.add(PerceptionNode, cli=['-p', entry])
    assert why in str(refused.value)
    assert entry.split('.')[1] in str(refused.value)  # the topic


def test_what_is_only_watched_may_be_delivered_in_any_way(stage):
    given = {'reliability': 'best_effort', 'history': 'keep_last', 'depth': 3}
    cli = [
        part for name, value in given.items() for part in ('-p', f'{DIAGNOSTICS}.{name}:={value}')
    ]
    stage.add(PerceptionNode, cli=cli)
    stage.until(lambda: stage.probe.count_publishers('/diagnostics') == 1, 'the publisher')
    (found,) = stage.probe.get_publishers_info_by_topic('/diagnostics')
    assert found.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    # And what the others get is what it was.
    assert qos.VIEW.reliability == ReliabilityPolicy.RELIABLE
    assert qos.VIEW.depth == 100


def test_what_can_be_overridden_is_listed_and_read_only(stage):
    node = stage.add(PerceptionNode)
    names = {name for name in node._parameters if name.startswith('qos_overrides')}
    loose = ('reliability', 'history', 'depth', 'durability', 'deadline')
    assert names == {
        f'{IN}.deadline',
        f'{OUT}.deadline',
        *(f'{DIAGNOSTICS}.{policy}' for policy in loose),
    }
    assert all(node.describe_parameter(name).read_only for name in names)
    assert node.get_parameter(f'{DIAGNOSTICS}.history').value == 'keep_last'


def test_an_override_that_says_what_is_there_already_is_none(stage):
    stage.add(PerceptionNode, cli=['-p', f'{IN}.reliability:=reliable'])


def test_an_override_for_a_topic_that_the_node_does_not_have_is_told(stage, capfd):
    cli = [part for end in (IN, OUT) for part in ('-p', f'{end}.deadline:=1000000000')]
    wrong = f'{IN}.deadline:=1000000000'.replace('objects', 'object')
    endpoints.warn_of_unused(stage.add(PerceptionNode, cli=[*cli, '-p', wrong]))
    (line,) = warnings(capfd.readouterr().err, 'qos_overrides')
    assert "'/object.subscription', did you mean '/objects.subscription'?" in line


def test_the_kinds_of_delivery_are_what_they_say(stage):
    assert (qos.STREAM.history, qos.STREAM.durability) == (
        HistoryPolicy.KEEP_ALL,
        DurabilityPolicy.VOLATILE,
    )
    assert (qos.LATCHED.depth, qos.LATCHED.durability) == (1, DurabilityPolicy.TRANSIENT_LOCAL)


# -- events


def warnings(said, words):
    return [line for line in said.splitlines() if '[WARN]' in line and words in line]


def test_who_cannot_be_heard_is_named_once_with_what_would_be_right(stage, control, capfd):
    node = stage.add(PerceptionNode)
    assert stage.reset('perception', control, 'control_000/oracle#1').ready
    for name in ('lax_camera', 'lax_camera_too'):
        stage.add(Node, name).create_publisher(ObjectStates, 'objects', LAX)
    stage.until(lambda: node.count_publishers('objects') == 2, 'both publishers')
    said = ''
    for _ in range(20):
        stage.turn()
        said += capfd.readouterr().err
    (line,) = warnings(said, 'nothing passes')
    # With the attempt, as every line of a node.
    assert 'control_000/oracle#1: /objects: nothing passes between this subscription' in line
    assert '/lax_camera' in line
    assert line.endswith('right would be reliability reliable there, as it is here')


def test_who_asks_for_too_much_is_named_as_well(stage, capfd):
    node = stage.add(Node, 'talker')
    endpoints.publisher(node, String, 'chatter', LAX)
    picky = stage.add(Node, 'picky')
    picky.create_subscription(String, 'chatter', print, qos.STREAM)
    said = ''

    def told():
        nonlocal said
        said += capfd.readouterr().err
        return warnings(said, 'this publisher and /picky')

    stage.until(told, 'the warning')
    assert 'right would be reliability best_effort there' in told()[0]


def test_a_missed_deadline_is_told_once(stage, capfd):
    stage.add(PerceptionNode, cli=['-p', f'{IN}.deadline:=20000000'])
    profile = QoSProfile(
        history=HistoryPolicy.KEEP_ALL,
        reliability=ReliabilityPolicy.RELIABLE,
        deadline=Duration(nanoseconds=20_000_000),
    )
    publisher = stage.probe.create_publisher(ObjectStates, 'objects', profile)
    stage.until(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    publisher.publish(ObjectStates())
    said = ''
    for _ in range(15):
        stage.turn()
        said += capfd.readouterr().err
    (line,) = warnings(said, 'deadline')
    assert '/objects: no message for 0.02 s of wall time' in line


def test_what_the_middleware_has_lost_is_told_once_and_counted(stage, capfd):
    node = stage.add(PerceptionNode)
    (objects,) = (one for one in node.subscriptions if one.topic_name == '/objects')
    lost = QoSSubscriptionEventType.RCL_SUBSCRIPTION_MESSAGE_LOST
    (event,) = (one for one in objects.event_handlers if one.event_type == lost)
    for total, new in ((3, 3), (4, 1)):  # as the middleware counts, which here loses none
        event.callback(SimpleNamespace(total_count=total, total_count_change=new))
    (line,) = warnings(capfd.readouterr().err, 'lost')
    assert '/objects: the middleware has lost 3 messages; right would be reliability' in line
    assert node._inlets['/objects'].lost == 4


# -- logging


def test_a_line_carries_the_attempt_once_and_once_means_once(stage, control, capfd):
    node = stage.add(PerceptionNode)
    node.get_logger().info('no attempt yet')
    assert stage.reset('perception', control, 'control_000/oracle#1').ready
    for _ in range(2):
        node.get_logger().info('said once', once=True)
        node.get_logger().error('control_000/oracle#1: said twice')
    lines = [line.partition(']: ')[2] for line in capfd.readouterr().err.splitlines()]
    assert lines == [
        'no attempt yet',
        'control_000/oracle#1: said once',
        'control_000/oracle#1: said twice',
        'control_000/oracle#1: said twice',
    ]
