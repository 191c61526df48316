"""A wrong extrinsic calibration: where blocks seem to be."""

import math

import pytest
from fault_traffic import AlwaysDraw, Message, sample, scene
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.base import Injector, Sample
from alpha_chaos.faults.wrong_frame import WrongFrame


def seen(injector: Injector, *at: float) -> Message:
    """Return the pose in which a block at a place is seen."""
    (passed,) = injector.on_message(sample(0.5, scene({'red': at})))  # type: ignore[dict-item]
    pose: Message = passed.fields().message.blocks[0].pose
    return pose


def wrong(**settings: object) -> Injector:
    return WrongFrame(**settings).injector(default_rng(0))


def xyz(pose: Message) -> list[float]:
    return [pose.position.x, pose.position.y, pose.position.z]


def test_a_quarter_turn_takes_x_to_y() -> None:
    pose = seen(wrong(angle_rad=math.pi / 2), 0.5, 0.0, 0.65)
    assert xyz(pose) == pytest.approx([0.0, 0.5, 0.65], abs=1e-15)
    assert pose.position.z == 0.65
    # A quarter turn about the vertical, as a quaternion: sin and cos of 45 degrees.
    half = math.sqrt(0.5)
    turned = pose.orientation
    assert [turned.x, turned.y, turned.z, turned.w] == pytest.approx([0.0, 0.0, half, half])


def test_what_is_turned_about_stays_and_everything_else_goes_around_it() -> None:
    injector = wrong(angle_rad=math.pi / 2, origin=(0.5, 0.25, 9.0))
    assert xyz(seen(injector, 0.5, 0.25, 0.65)) == [0.5, 0.25, 0.65]
    assert xyz(seen(injector, 0.75, 0.25, 0.65)) == pytest.approx([0.5, 0.5, 0.65], abs=1e-15)


def test_two_degrees_put_a_block_half_a_metre_away_17_mm_aside() -> None:
    injector = wrong(angle_rad=math.radians(2))
    pose = seen(injector, 0.5, 0.0, 0.65)
    # The chord of an angle a on a radius r is 2 r sin(a/2).
    chord_m = 2 * 0.5 * math.sin(math.radians(1))
    assert math.dist(xyz(pose), (0.5, 0.0, 0.65)) == pytest.approx(chord_m)
    assert chord_m == pytest.approx(0.01745, abs=1e-5)
    assert injector.evidence().detail['largest_m'] == pytest.approx(chord_m)


def test_the_shift_comes_after_the_turn() -> None:
    injector = wrong(angle_rad=math.pi / 2, offset_m=(0.1, 0.0, -0.05))
    assert xyz(seen(injector, 0.5, 0.0, 0.65)) == pytest.approx([0.1, 0.5, 0.6])


def test_a_shift_alone_leaves_the_other_axes_and_the_orientation_bit_for_bit() -> None:
    pose = seen(wrong(offset_m=(0.25, 0.0, 0.0)), 0.5, -0.0, 0.65)
    assert (pose.position.x, pose.position.z) == (0.75, 0.65)
    assert math.copysign(1.0, pose.position.y) == -1.0
    assert pose.orientation == Message(x=0.0, y=0.0, z=0.0, w=1.0)


def test_an_orientation_is_turned_from_the_left() -> None:
    # A block that lies on its side (half a turn about x), seen after half a turn about z, has
    # made half a turn about y: k i = j.
    came = scene({'red': (0.0, 0.0, 0.0)})
    came.blocks[0].pose.orientation = Message(x=1.0, y=0.0, z=0.0, w=0.0)
    (passed,) = wrong(angle_rad=math.pi).on_message(sample(0.5, came))
    turned = passed.fields().message.blocks[0].pose.orientation
    assert [turned.x, turned.y, turned.z, turned.w] == pytest.approx([0, 1, 0, 0], abs=1e-15)


def test_a_right_calibration_changes_nothing_and_says_nothing_about_the_fault() -> None:
    injector = wrong()
    came = sample(0.5)
    passed: list[Sample] = list(injector.on_message(came))
    assert passed == [came]
    (decision,) = injector.decisions()
    assert not decision.triggered
    assert not injector.evidence().exercised


def test_it_is_wrong_for_the_whole_episode_or_not_at_all() -> None:
    fault = WrongFrame(offset_m=(0.25, 0.0, 0.0), probability=0.5)
    for draw, x in ((0.5, 0.5), (0.5 - 1e-9, 0.75)):
        injector = fault.injector(AlwaysDraw(draw))
        assert [seen(injector, 0.5, 0.0, 0.0).position.x for _ in range(3)] == [x] * 3
        assert {decision.draw for decision in injector.decisions()} == {draw}
        assert injector.evidence().exercised  # also when it lost the draw


@pytest.mark.parametrize('angle_rad', [-3.15, 3.15, float('nan')])
def test_more_than_half_a_turn_is_refused(angle_rad: float) -> None:
    with pytest.raises(ValidationError, match='angle_rad'):
        WrongFrame(angle_rad=angle_rad)
