"""The player: anybody's recording comes back as it was published, with a clock."""

import time

import numpy as np
import pytest
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.interfaces import (
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Int64, String
from std_srvs.srv import SetBool

from alpha_chaos.bag.writer import BagWriter
from alpha_chaos.nodes.bag_player_node import BagPlayerNode
from alpha_chaos.plugins import BadSetting

SENSOR = Qos(
    QosHistory.KEEP_LAST,
    5,
    QosReliability.BEST_EFFORT,
    QosDurability.VOLATILE,
    *[QosTime(9223372036, 854775807)] * 2,
    QosLiveliness.AUTOMATIC,
    QosTime(9223372036, 854775807),
    False,
)
LATCHED = SENSOR._replace(
    depth=1, reliability=QosReliability.RELIABLE, durability=QosDurability.TRANSIENT_LOCAL
)
RELIABLE = SENSOR._replace(reliability=QosReliability.RELIABLE)
MADE_AT_NS = 1_700_000_000_000_000_000


@pytest.fixture
def storage():
    return StoragePlugin.MCAP


@pytest.fixture
def bag(storage, tmp_path):
    """Return somebody's recording of 0.4 s: no clock, and a type that is not installed."""
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg('float64 charge', 'their_robot/msg/Battery'))
    text, joint = store.types['std_msgs/msg/String'], store.types['std_msgs/msg/Int64']
    battery = store.types['their_robot/msg/Battery']
    with Writer(tmp_path / 'bag', version=9, storage_plugin=storage) as writer:

        def connect(topic, kind, profile):
            return writer.add_connection(
                topic, kind, typestore=store, offered_qos_profiles=[profile]
            )

        def write(connection, at_s, message):
            data = store.serialize_cdr(message, connection.msgtype)
            writer.write(connection, MADE_AT_NS + round(at_s * 1e9), data)

        description = connect('/robot_description', 'std_msgs/msg/String', LATCHED)
        count = connect('/cell/count', 'std_msgs/msg/Int64', RELIABLE)
        scan = connect('/scan', 'std_msgs/msg/Int64', SENSOR)
        power = connect('/power', 'their_robot/msg/Battery', SENSOR)
        write(description, 0.0, text('<robot/>'))
        for number in range(41):
            write(count, number / 100, joint(number))
            write(scan, number / 100, joint(number))
        write(power, 0.4, battery(0.5))
    return tmp_path / 'bag'


@pytest.fixture
def hear(stage):
    """Return a function that subscribes, and what it subscribed to hears."""

    def subscribe(topic, kind='std_msgs/msg/Int64', **options):
        return stage.hear(kind, topic, **options)

    return subscribe


def numbers(heard):
    return [deserialize_message(data, Int64).data for data in heard]


def play(stage, bag, **parameters):
    return stage.add(BagPlayerNode, bag=str(bag), **{'delay': 0.3, **parameters})


def over(stage, player):
    stage.until(player.exit_code.done, 'the end of the recording')
    assert player.exit_code.result() == 0


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_every_message_comes_again_in_order_with_its_clock_and_at_its_rate(stage, hear, bag):
    count, clock = hear('cell/count'), []
    stage.probe.create_subscription(
        Clock, '/clock', lambda now: clock.append(now.clock.sec * 10**9 + now.clock.nanosec), 100
    )
    player = play(stage, bag, rate=0.5)
    stage.until(lambda: count, 'the first message')
    began = time.monotonic()
    over(stage, player)
    assert time.monotonic() - began >= 0.75  # 0.4 s at half the pace, less the wait for the first
    stage.until(lambda: len(count) == 41, 'the last message')
    assert numbers(count) == list(range(41))
    assert clock == sorted(set(clock))
    assert clock[0] > MADE_AT_NS
    assert clock[-1] == MADE_AT_NS + 400_000_000
    assert len(clock) >= 40


def test_a_topic_has_the_qos_that_it_was_recorded_with(stage, bag):
    play(stage, bag)

    def profile(topic):
        (info,) = stage.probe.get_publishers_info_by_topic(topic)
        return info.qos_profile.reliability, info.qos_profile.durability

    stage.until(lambda: stage.probe.count_publishers('/scan'), 'the player')
    assert profile('/scan') == (ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE)
    assert profile('/cell/count') == (ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)
    latched = ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL
    assert profile('/robot_description') == latched


def test_what_is_latched_reaches_whoever_comes_late_also_one_who_begins_late(stage, hear, bag):
    player = play(stage, bag, begin=0.35, rate=0.01)
    count = hear('cell/count')
    stage.until(lambda: count, 'the first message')
    late = hear('robot_description', 'std_msgs/msg/String', latched=True)
    stage.until(lambda: late, 'what is latched')
    assert bytes(late[0])[8:16] == b'<robot/>'
    assert numbers(count)[0] == 35
    assert not player.exit_code.done()


def test_a_type_that_is_not_installed_is_left_out_by_name(stage, bag):
    told = []
    stage.probe.create_subscription(
        Log,
        '/rosout',
        lambda entry: told.append(entry.msg),
        QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL),
    )
    play(stage, bag)
    said = "/power is left out: interface 'their_robot/msg/Battery' is not installed"
    stage.until(lambda: said in told, 'a warning')


def test_it_begins_again_until_it_is_stopped(stage, hear, bag):
    count = hear('cell/count')
    player = play(stage, bag, loop=True, rate=20.0)
    stage.until(lambda: len(count) > 100, 'the third time')
    assert numbers(count)[:82] == [*range(41), *range(41)]
    assert not player.exit_code.done()


def test_it_waits_while_it_is_paused(stage, hear, bag):
    count = hear('cell/count')
    player = play(stage, bag, paused=True, begin=0.1, end=0.2, delay=0.0)
    stage.until(lambda: stage.probe.count_publishers('/cell/count'), 'the player')
    for _ in range(10):
        stage.turn()
    # The clock stands at the beginning, and what is due then has been published.
    assert len(count) <= 1
    answer = stage.ask(SetBool, 'bag_player/pause', data=False)
    assert answer.success
    assert answer.message.startswith('goes on from 0.1 of 0.2 s')
    over(stage, player)
    stage.until(lambda: numbers(count)[-1] == 20, 'the end')


def test_names_are_below_the_namespace_and_the_clock_is_not(stage, bag):
    stage.add(BagPlayerNode, cli=['-r', '__ns:=/lab'], bag=str(bag))
    stage.until(lambda: stage.probe.count_publishers('/lab/cell/count'), 'the player')
    assert stage.probe.count_publishers('/clock') == 1
    assert stage.probe.count_publishers('/lab/clock') == 0


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'bag': ''}, 'which recording. Set the parameter bag to its folder'),
        ({'bag': 'nowhere'}, 'nowhere is no rosbag2 recording'),
        ({'begin': 1.0}, 'from 1 s to 0.4 s there is nothing to play: .* is 0.4 s long'),
        ({'begin': 0.3, 'end': 0.2}, 'from 0.3 s to 0.2 s there is nothing'),
        ({'rate': 0.0}, 'rate: Input should be greater than 0'),
        ({'begin': 1e300}, 'begin: Input should be less than or equal to 9000000000'),
        ({'end': 1e300}, 'end: Input should be less than or equal to 9000000000'),
    ],
)
def test_what_cannot_be_played_is_refused(stage, tmp_path, bag, change, why):
    with pytest.raises(BadSetting, match=why):
        play(stage, **{'bag': bag, **change})


@pytest.mark.parametrize('cut', [b'', b'rosbag2_bagfile_information: {version: 4}', b'\xff\0'])
def test_a_recording_whose_metadata_is_none_is_refused(stage, tmp_path, cut):
    (tmp_path / 'metadata.yaml').write_bytes(cut)
    with pytest.raises(BadSetting, match='no rosbag2 recording'):
        play(stage, tmp_path)


def test_a_recording_that_is_damaged_in_the_middle_ends_the_player_with_1(stage, tmp_path):
    bag = BagWriter(tmp_path / 'bag')
    bag.add_topic('/picture', 'std_msgs/msg/String')
    noise = np.random.default_rng(0).bytes(100_000)  # which compression does not make smaller
    bag.write('/picture', 0, serialize_message(String(data=noise.hex())))
    bag.close({})
    file = tmp_path / 'bag' / 'bag.mcap'
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    player = play(stage, tmp_path / 'bag')
    stage.until(player.exit_code.done, 'the end')
    assert player.exit_code.result() == 1
