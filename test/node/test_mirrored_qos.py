"""What a relay asks of the publishers it finds, and what it offers in their place."""

from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
)

from alpha_chaos.nodes.mirrored_qos import DEPTH, incoming, outgoing
from alpha_chaos.transit.config import Qos

RELIABLE = QoSProfile(depth=10)
LOOSE = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
WATCHED = QoSProfile(
    depth=10,
    deadline=Duration(seconds=0.1),
    lifespan=Duration(seconds=2),
    liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
    liveliness_lease_duration=Duration(seconds=0.5),
)
AS_FOUND = Qos()


def test_whoever_publishes_is_heard():
    for found in (
        [RELIABLE],
        [LOOSE],
        [LATCHED],
        [WATCHED],
        [RELIABLE, LOOSE],
        [LATCHED, RELIABLE],
        [WATCHED, LOOSE],
    ):
        asked = incoming(found, AS_FOUND, len(found))
        for publisher in found:
            compatibility, why = qos_check_compatible(publisher, asked)
            assert compatibility != QoSCompatibility.ERROR, why


def test_what_one_publisher_offers_is_offered_again():
    offered = outgoing([WATCHED], AS_FOUND, 1)
    assert offered.deadline == Duration(seconds=0.1)
    assert offered.lifespan == Duration(seconds=2)
    assert offered.liveliness == LivelinessPolicy.MANUAL_BY_TOPIC
    assert offered.liveliness_lease_duration == Duration(seconds=0.5)
    assert offered.reliability == ReliabilityPolicy.RELIABLE


def test_of_several_publishers_what_all_of_them_offer_is_offered():
    slow = QoSProfile(depth=10, deadline=Duration(seconds=0.3))
    offered = outgoing([WATCHED, slow, LOOSE], AS_FOUND, 3)
    assert offered.reliability == ReliabilityPolicy.BEST_EFFORT
    assert offered.liveliness != LivelinessPolicy.MANUAL_BY_TOPIC
    assert outgoing([WATCHED, slow], AS_FOUND, 2).deadline == Duration(seconds=0.3)


def test_latched_topics_keep_one_a_publisher_and_streams_many():
    assert incoming([LATCHED, LATCHED], AS_FOUND, 2).depth == 2
    assert outgoing([LATCHED], AS_FOUND, 1).durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert incoming([RELIABLE], AS_FOUND, 1).depth == DEPTH == 1000


def test_the_file_has_the_last_word_about_the_output():
    wanted = Qos(
        reliability='best_effort',
        durability='transient_local',
        history='keep_all',
        depth=3,
        deadline_s=1.0,
    )
    asked, offered = incoming([RELIABLE], wanted, 1), outgoing([RELIABLE], wanted, 1)
    for profile in (asked, offered):
        assert profile.reliability == ReliabilityPolicy.BEST_EFFORT
        assert profile.history == HistoryPolicy.KEEP_ALL
        assert profile.depth == 3
    assert offered.durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert offered.deadline == Duration(seconds=1)
    assert asked.deadline != Duration(seconds=1)


def test_whoever_publishes_is_heard_whatever_the_file_wants_of_the_output():
    strict = Qos(reliability='reliable', durability='transient_local')
    lax = Qos(reliability='best_effort', durability='volatile')
    for wanted in (strict, lax):
        for publisher in (RELIABLE, LOOSE, LATCHED):
            asked = incoming([publisher], wanted, 1)
            compatibility, why = qos_check_compatible(publisher, asked)
            assert compatibility != QoSCompatibility.ERROR, why
    offered = outgoing([LOOSE], strict, 1)
    assert offered.reliability == ReliabilityPolicy.RELIABLE
    assert offered.durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert offered.depth == 1
    assert outgoing([LATCHED], lax, 1).durability == DurabilityPolicy.VOLATILE
