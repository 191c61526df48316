"""Faults in the fields of real messages, as they are serialised."""

import math

import pytest
from numpy.random import default_rng
from pydantic import ValidationError
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Image, Imu, JointState, LaserScan, PointCloud2, PointField
from std_msgs.msg import Int8MultiArray, UInt8, UInt64
from visualization_msgs.msg import Marker, MarkerArray

from alpha_chaos.faults.base import Codec
from alpha_chaos.nodes.message_fields import check_field
from alpha_chaos.plugins import BadSetting
from alpha_chaos.transit.base import Parcel, TransitFault
from alpha_chaos.transit.field_bias import FieldBias
from alpha_chaos.transit.field_freeze import FieldFreeze
from alpha_chaos.transit.field_nan import FieldNan
from alpha_chaos.transit.field_noise import FieldNoise
from alpha_chaos.transit.field_scale import FieldScale
from alpha_chaos.transit.frame_shift import FrameShift
from alpha_chaos.transit.stamp_shift import StampShift
from alpha_chaos.transit.truncate import Truncate


class Struck:
    """What a fault makes of messages, one after the other."""

    def __init__(self, fault: TransitFault) -> None:
        self._fault = fault
        self._injector = fault.injector(default_rng(1), default_rng(2), 0)
        self.triggered = None

    def __call__(self, message):
        kind = type(message)
        for path, need in self._fault.needs.items():
            check_field(kind, path, need)
        codec = Codec(lambda data: deserialize_message(data, kind), serialize_message)
        data = serialize_message(message)
        (passage,), decision = self._injector.on_parcel(Parcel(data, 0.0, 1, codec), 0)
        self.triggered = decision.triggered
        assert 'passed' not in decision.detail, decision.detail
        if not decision.triggered:
            assert passage.parcel.data == data
        return deserialize_message(passage.parcel.data, kind)


def test_arrays_of_free_and_of_fixed_length_are_written_in_place():
    scan = LaserScan(ranges=[1.0, 2.5, math.inf])
    moved = Struck(FieldBias(field='ranges[*]', bias=0.5))(scan)
    assert list(moved.ranges) == [1.5, 3.0, math.inf]
    imu = Imu(orientation_covariance=[1.0] * 9)
    moved = Struck(FieldScale(field='orientation_covariance[*]', factor=3.0))(imu)
    assert list(moved.orientation_covariance) == [3.0] * 9
    moved = Struck(FieldBias(field='orientation_covariance[4]', bias=1.0))(imu)
    assert list(moved.orientation_covariance) == [1.0] * 4 + [2.0] + [1.0] * 4


def test_what_an_integer_cannot_hold_is_not_written():
    bytes_ = Struck(FieldBias(field='data[*]', bias=10.0))(
        Image(data=bytes([0, 100, 245, 246, 255]))
    )
    assert bytes(bytes_.data) == bytes([10, 110, 255, 246, 255])
    signed = Struck(FieldScale(field='data[*]', factor=2.0))(
        Int8MultiArray(data=[-64, -65, 63, 64])
    )
    assert list(signed.data) == [-128, -65, 126, 64]
    one = Struck(FieldBias(field='data', bias=10.0))
    assert one(UInt8(data=250)) == UInt8(data=250)
    assert not one.triggered
    assert one(UInt8(data=245)) == UInt8(data=255)


def test_a_large_integer_that_is_left_alone_keeps_every_bit():
    large = UInt64(data=2**63 + 1)
    struck = Struck(FieldBias(field='data', bias=0.0))
    assert struck(large) == large
    assert not struck.triggered
    beyond = Struck(FieldBias(field='data', bias=1e300))
    assert beyond(large) == large


def test_fields_of_messages_in_arrays_are_reached():
    markers = MarkerArray(markers=[Marker(id=1), Marker(id=2)])
    moved = Struck(FieldBias(field='markers[*].pose.position.z', bias=0.25))(markers)
    assert [one.pose.position.z for one in moved.markers] == [0.25, 0.25]
    moved = Struck(FieldScale(field='markers[1].id', factor=5.0))(markers)
    assert [one.id for one in moved.markers] == [1, 10]


def test_numbers_become_none_where_there_can_be_none():
    joints = JointState(name=['a'], position=[1.0], velocity=[2.0])
    moved = Struck(FieldNan(field='velocity[*]'))(joints)
    assert math.isnan(moved.velocity[0])
    assert list(moved.position) == [1.0]
    with pytest.raises(BadSetting, match='expected a floating-point number, it is uint8'):
        check_field(Image, 'data[*]', 'float')


def test_noise_on_a_picture_is_bounded_by_its_type():
    struck = Struck(FieldNoise(field='data[*]', sigma=1e6))
    picture = Image(data=bytes(range(200)))
    assert len(struck(picture).data) == 200


def test_a_covariance_and_a_pose_can_be_frozen():
    frozen = Struck(FieldFreeze(field='orientation_covariance'))
    first = Imu(orientation_covariance=[1.0] * 9)
    assert frozen(first) == first
    assert not frozen.triggered
    moved = frozen(Imu(orientation_covariance=[2.0] * 9))
    assert list(moved.orientation_covariance) == [1.0] * 9
    assert frozen.triggered


def test_arrays_of_numbers_texts_and_messages_are_cut():
    cloud = PointCloud2(data=bytes(12), fields=[PointField(name='x'), PointField(name='y')])
    assert len(Struck(Truncate(field='data', keep=5))(cloud).data) == 5
    assert [one.name for one in Struck(Truncate(field='fields', keep=1))(cloud).fields] == ['x']
    joints = JointState(name=['a', 'b'])
    assert Struck(Truncate(field='name', keep=1))(joints).name == ['a']
    with pytest.raises(BadSetting, match='expected an array of free length'):
        check_field(Imu, 'orientation_covariance', 'array')


def test_frames_and_stamps_are_those_of_ros():
    scan = LaserScan()
    scan.header.stamp.sec, scan.header.frame_id = 2**31 - 1, 'laser'
    assert Struck(FrameShift(frame='odom'))(scan).header.frame_id == 'odom'
    late = Struck(StampShift(shift_s=100.0))(scan).header.stamp
    assert (late.sec, late.nanosec) == (2**31 - 1, 999_999_999)
    markers = MarkerArray(markers=[Marker(), Marker()])
    renamed = Struck(FrameShift(frame='odom', field='markers[*].header.frame_id'))(markers)
    assert [one.header.frame_id for one in renamed.markers] == ['odom', 'odom']
    for unsendable in ('a\0b', '\ud800'):
        with pytest.raises(ValidationError, match=r'printable|unicode'):
            FrameShift(frame=unsendable)


@pytest.mark.parametrize(
    ('path', 'words'),
    [
        ('rangs[*]', "unknown field 'rangs', did you mean 'ranges'?"),
        ('ranges', r'it is sequence<float>; write ranges\[\*\] for its elements'),
        ('range_min[*]', 'range_min is no array but float'),
        ('range_min.x', 'float has no fields'),
        ('header', 'expected a number, it is std_msgs/Header'),
        ('header..stamp', 'is no path of a field'),
        ('header.__class__', 'is no path of a field|unknown field'),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_with_what_would(path, words):
    with pytest.raises(BadSetting, match=words):
        check_field(LaserScan, path, 'number')
