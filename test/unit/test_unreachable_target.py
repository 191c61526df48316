"""Where a target is pushed to."""

import math
from typing import Any

import pytest
from fault_traffic import Message, Record, Recorder, done, move
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.unreachable_target import UnreachableTarget

Point = tuple[float, float, float]
coordinates = st.floats(-2, 2)


def push(target: Point, **settings: Any) -> tuple[Point, Record]:
    fault = UnreachableTarget(**settings)
    recorder = Recorder(fault, fault.injector(default_rng(0)))
    sent = recorder.call('arm/move_to', move(*target), done()).request
    x, y, z = (sent.get(f'target.pose.position.{axis}') for axis in 'xyz')
    return (x, y, z), recorder.finish()


@given(coordinates, coordinates, coordinates, st.floats(0, 1))
def test_along_x_the_rest_stays_bit_for_bit(x: float, y: float, z: float, offset: float) -> None:
    sent, _ = push((x, y, z), offset_m=offset, direction=(1, 0, 0))
    assert sent[0] == x + offset
    assert [value.hex() for value in sent[1:]] == [y.hex(), z.hex()]


def test_a_negative_zero_is_not_made_positive() -> None:
    sent, _ = push((0.5, -0.0, 0.7), offset_m=0.1, direction=(1, 0, 0))
    assert math.copysign(1, sent[1]) == -1


def test_radially_it_moves_away_from_the_origin_at_the_same_height() -> None:
    sent, record = push((0.3, 0.4, 0.7), offset_m=0.5)
    assert sent == pytest.approx((0.6, 0.8, 0.7))
    assert sent[2] == 0.7
    (decision,) = record.decisions
    assert decision.triggered
    assert decision.detail == {
        'offset_m': 0.5,
        'direction': [0.6, 0.8, 0.0],
        'meant_m': [0.3, 0.4, 0.7],
        'sent_m': list(sent),
    }
    assert record.evidence.exercised


@given(coordinates, coordinates, coordinates, coordinates, coordinates, st.floats(0.01, 1))
def test_radially_the_distance_from_the_origin_grows_by_the_offset(
    x: float, y: float, z: float, base_x: float, base_y: float, offset: float
) -> None:
    before = math.hypot(x - base_x, y - base_y)
    if before < 1e-6:
        return
    sent, _ = push((x, y, z), offset_m=offset, origin=(base_x, base_y, 0.0))
    after = math.hypot(sent[0] - base_x, sent[1] - base_y)
    assert after == pytest.approx(before + offset)
    assert sent[2] == z


def test_a_direction_of_any_length_is_one_of_length_one() -> None:
    sent, _ = push((0.5, 0.0, 0.7), offset_m=0.1, direction=(0, 0, 25))
    assert sent == (0.5, 0.0, 0.7 + 0.1)


@pytest.mark.parametrize('length', [1.1e-6, 0.9e6])
def test_very_short_and_very_long_directions_are_directions(length: float) -> None:
    sent, _ = push((0.5, 0.0, 0.7), offset_m=0.1, direction=(length, 0, 0))
    assert sent == (0.6, 0.0, 0.7)


def test_every_motion_is_pushed_the_same_way() -> None:
    fault = UnreachableTarget(offset_m=0.1, direction=(1, 0, 0))
    recorder = Recorder(fault, fault.injector(default_rng(0)))
    for _ in range(5):
        call = recorder.call('arm/move_to', move(0.5, 0.0, 0.7), done())
        assert call.request.get('target.pose.position.x') == 0.6
    assert recorder.finish().evidence.detail == {'decided': 5, 'struck': 5}


def test_right_above_the_origin_there_is_no_outward() -> None:
    sent, record = push((0.0, 0.0, 1.2), offset_m=0.1)
    assert sent == (0.0, 0.0, 1.2)
    (decision,) = record.decisions
    assert not decision.triggered
    assert decision.detail['direction'] is None
    assert decision.detail['offset_m'] == 0.0


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('direction', ['radial', (1, 0, 0)])
def test_a_target_that_is_not_finite_is_left_for_the_arm_to_refuse(
    bad: float, direction: Any
) -> None:
    sent, record = push((0.5, bad, 0.7), offset_m=0.1, direction=direction)
    assert sent[0] == 0.5
    assert sent[1].hex() == bad.hex()
    (decision,) = record.decisions
    assert not decision.triggered
    assert decision.detail['meant_m'] == [0.5, None, 0.7]


def test_no_offset_changes_nothing() -> None:
    sent, record = push((0.3, -0.0, 0.7), offset_m=0.0)
    assert [value.hex() for value in sent] == [value.hex() for value in (0.3, -0.0, 0.7)]
    assert not record.decisions[0].triggered


def test_another_robot_s_motion_can_be_named() -> None:
    fault = UnreachableTarget(
        offset_m=0.1, direction=(0, 1, 0), route='left/reach', position='goal.point'
    )
    recorder = Recorder(fault, fault.injector(default_rng(0)))
    request = Message(goal=Message(point=Message(x=0.5, y=0.25, z=0.7)))
    sent = recorder.call('left/reach', request, done()).request
    assert sent.get('goal.point') == Message(x=0.5, y=0.35, z=0.7)


@pytest.mark.parametrize(
    'direction',
    [(0, 0, 0), (1e-6, 0, 0), (1e6, 0, 0), (math.nan, 0, 1), (math.inf, 0, 0), 'outward'],
)
def test_a_direction_that_points_nowhere_is_refused(direction: Any) -> None:
    with pytest.raises(ValidationError, match='direction'):
        UnreachableTarget(offset_m=0.1, direction=direction)


@pytest.mark.parametrize('offset_m', [-1e-9, 10.000001, math.nan])
def test_an_offset_out_of_range_is_refused(offset_m: float) -> None:
    with pytest.raises(ValidationError, match='offset_m'):
        UnreachableTarget(offset_m=offset_m)
