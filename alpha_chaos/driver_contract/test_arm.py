"""The arm: arm/move_to."""

import math

import pytest
from action_msgs.msg import GoalStatus

from alpha_chaos.driver_contract.probe import Ended, Probe, moved
from alpha_chaos.nodes.convert import vector

IN_PART = 'not every part of the action is served there; was one of them not remapped?'
OUTSIDE_M = 0.05  # by which the targets are that must be refused: a broken driver goes there


def require_refusal(refused: Ended, what: str) -> None:
    """Fail unless a goal was refused, with a reason where there is room for one."""
    assert not refused.accepted or refused.status == GoalStatus.STATUS_ABORTED, (
        f'{what}: {refused}'
    )
    if refused.accepted:
        assert not refused.result.reached, f'{what}: aborted, and yet reached'
        assert refused.result.message, f'{what}: aborted without a message'


def require_still(probe: Probe, before: dict[str, float] | None, what: str) -> None:
    """Fail if a joint is not where it was."""
    assert not (far := moved(before, probe.settled())), f'{what} was refused, and yet {far}'


def test_serves_arm(probe: Probe) -> None:
    """An action server for alpha_chaos/action/MoveTo."""
    found = probe.served(probe.options.arm)
    assert found, f'nobody serves {probe.options.arm}'
    assert found == ['alpha_chaos/action/MoveTo'], f'{probe.options.arm} is of type {found}'
    assert probe.reaches(probe.arm), f'{probe.options.arm}: {IN_PART}'


def test_carries_out_motions(probe: Probe) -> None:
    """A target inside the workspace is reached, and the joints move on the way."""
    probe.begin()
    for y in (-0.5, 0.5):
        before = probe.settled()
        ended = probe.move(probe.place(y))
        assert ended.reached, f'a motion to y = {probe.place(y)[1]:g}: {ended}'
        after = probe.settled()
        if before is not None and after is not None:
            assert moved(before, after), 'the motion succeeded, and no joint has moved'


def test_reports_motions_honestly(probe: Probe) -> None:
    """The result says where the end effector is, and how far that is from the target."""
    probe.begin()
    target = probe.place(0.5)
    ended = probe.move(target)
    assert ended.accepted, 'a good goal was rejected'
    result = ended.result
    reached = vector(result.reached_pose.pose.position)
    assert result.reached_pose.header.frame_id == probe.options.frame, (
        f'reached_pose is in frame {result.reached_pose.header.frame_id!r}'
    )
    assert all(map(math.isfinite, (*reached, result.error))), f'reached_pose is {reached}'
    far = math.dist(reached, target)
    assert abs(result.error - far) < 1e-3, f'error is {result.error} m, the distance is {far} m'
    succeeded = ended.status == GoalStatus.STATUS_SUCCEEDED
    assert result.reached == succeeded, f'status and reached do not agree: {ended}'
    if succeeded:
        most = probe.options.tolerance_m
        assert far <= most, (
            f'it calls itself done {far:.3f} m from the target; {most:g} m is allowed'
        )
    again = probe.move(probe.place(-0.5))
    assert again.accepted, 'a good goal was rejected'
    there = vector(again.result.reached_pose.pose.position)
    assert math.dist(reached, there) > 1e-3, 'two targets, and reached_pose is the same'


@pytest.mark.parametrize('axis', [0, 1, 2], ids='xyz')
def test_refuses_targets_that_are_not_finite(probe: Probe, axis: int) -> None:
    """A target with NaN or infinity is refused, and nothing moves."""
    probe.begin()
    before = probe.settled()
    for bad in (math.nan, math.inf, -math.inf):
        target = list(probe.place())
        target[axis] = bad
        x, y, z = target
        require_refusal(probe.move((x, y, z)), f'target ({x:g}, {y:g}, {z:g})')
    require_still(probe, before, 'a target that is not finite')


@pytest.mark.parametrize('side', ['low', 'high'])
@pytest.mark.parametrize('axis', [0, 1, 2], ids='xyz')
def test_refuses_targets_outside_the_workspace(probe: Probe, axis: int, side: str) -> None:
    """A target outside of the workspace is refused with a reason, and nothing moves."""
    probe.begin()
    before = probe.settled()
    box = probe.options.workspace
    target = list(probe.place())
    target[axis] = box.min[axis] - OUTSIDE_M if side == 'low' else box.max[axis] + OUTSIDE_M
    x, y, z = target
    require_refusal(probe.move((x, y, z)), f'target ({x:g}, {y:g}, {z:g})')
    require_still(probe, before, 'a target outside the workspace')


def test_refuses_targets_in_unknown_frames(probe: Probe) -> None:
    """A target in a frame that the driver does not know is refused, and nothing moves."""
    probe.begin()
    before = probe.settled()
    for frame in ('no_such_frame', ''):
        require_refusal(probe.move(probe.place(), frame=frame), f'frame {frame!r}')
    require_still(probe, before, 'a target in an unknown frame')


def test_refuses_stale_goals(probe: Probe) -> None:
    """A goal whose stamp is too old is refused, and nothing moves; one without a stamp is not."""
    probe.begin()
    age_s = probe.options.max_goal_age_s + 1
    probe.grow_old(age_s)
    before = probe.settled()
    stale = probe.move(probe.place(), stamp=probe.stamped_before(age_s))
    require_refusal(stale, f'a goal of {age_s:g} s ago')
    require_still(probe, before, 'a stale goal')
    unstamped = probe.move(probe.place(), stamp=type(probe.now())())
    assert unstamped.reached, f'a goal without a stamp, which means now: {unstamped}'


def test_goes_on_after_a_refusal(probe: Probe) -> None:
    """A refused goal does not keep the next one from being carried out."""
    probe.begin()
    x, y, _ = probe.place()
    probe.move((x, y, math.nan))
    after = probe.move(probe.place(0.5))
    assert after.reached, f'a good goal after a bad one: {after}'


def test_obeys_cancel(probe: Probe) -> None:
    """A cancelled motion stops the arm at once and ends as canceled."""
    cancel(probe)
    first = probe.settled()
    assert not (far := moved(first, probe.settled())), f'canceled, and yet {far} afterwards'


def test_goes_on_after_a_cancel(probe: Probe) -> None:
    """The next motion after a cancelled one is carried out."""
    cancel(probe)
    after = probe.move(probe.place(0.5))
    assert after.reached, f'a good goal after a cancel: {after}'


def cancel(probe: Probe) -> None:
    """Cancel a motion under way."""
    probe.begin(speed=2.0)
    start = probe.move(probe.place(-0.6))
    assert start.reached, f'a motion before the one to be cancelled: {start}'
    handle = probe.accepted(probe.send(probe.arm, probe.goal(probe.place(0.6))))
    assert handle.accepted, 'a good goal was rejected'
    probe.pause(0.1)
    answer = handle.cancel_goal_async()
    probe.until(answer.done, 'an answer to a cancel')
    ended = probe.ended(handle)
    assert ended.status == GoalStatus.STATUS_CANCELED, f'a cancelled motion: {ended}'
    assert not ended.result.reached, 'canceled, and yet reached'
    assert ended.result.message, 'canceled without a message'


def test_ends_every_goal(probe: Probe) -> None:
    """Goals on top of each other are rejected or come to an end, every one of them."""
    probe.begin(speed=2.0)
    goals = [probe.send(probe.arm, probe.goal(probe.place(y))) for y in (-0.5, 0.5, 0.0)]
    for future in goals:
        probe.ended(probe.accepted(future))
