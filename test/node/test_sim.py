"""The body as a node: what it refuses, what it reports, and that nothing moves unless told to."""

import math
import time

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.msg import StepState, WorldDescription
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.mock_driver_node import MockDriverNode
from alpha_chaos.nodes.sim_node import SimNode
from alpha_chaos.srv import Advance, Finish, Reset

ATTEMPT = 'control_000/oracle#1'
ABOVE_RED = (0.5, -0.15, 0.8)


class Body:
    """The sim on a stage, in an attempt that has begun."""

    def __init__(self, stage, episode, **parameters):
        self.stage = stage
        self.node = stage.add(SimNode, **parameters)
        self.steps = stage.hear('alpha_chaos/msg/StepState', 'step_state')
        self.worlds = stage.hear('alpha_chaos/msg/WorldDescription', 'world', latched=True)
        stage.until(lambda: self.node.count_subscribers('step_state') == 1, 'a subscriber')
        assert stage.reset('sim', episode, ATTEMPT).ready

    def advance(self, steps, attempt=ATTEMPT):
        return self.stage.ask(Advance, 'sim/advance', episode_id=attempt, steps=steps)

    def move(self, target=ABOVE_RED, **fields):
        return self.stage.drive(MoveTo, 'arm/move_to', move_goal(target, **fields))

    def grip(self, **fields):
        goal = GripperCommand.Goal(**{'episode_id': ATTEMPT, **fields})
        return self.stage.drive(GripperCommand, 'gripper/command', goal)

    def seen(self):
        """Return the steps that were sent, once all have come."""
        sent = next(count.count for count in self.node.published() if count.topic == '/step_state')
        self.stage.until(lambda: len(self.steps) == sent, f'{sent} steps')
        return [deserialize_message(data, StepState) for data in self.steps]


def move_goal(target, attempt=ATTEMPT, frame='world', position_only=True, at=0.0, **fields):
    x, y, z = target
    stamp = to_time(at)
    pose = Pose(position=Point(x=x, y=y, z=z), orientation=fields.get('turn', Quaternion()))
    return MoveTo.Goal(
        episode_id=attempt,
        target=PoseStamped(header=Header(frame_id=frame, stamp=stamp), pose=pose),
        position_only=position_only,
    )


@pytest.fixture
def body(stage, control):
    return Body(stage, control)


@pytest.fixture
def slow_body(stage, control):
    """Return a body whose motion takes half a second, and that listens all the while."""
    slow = control.model_copy(update={'real_time_factor': 2.0})
    return Body(stage, slow, steps_per_turn=2)


def test_it_begins_with_a_description_and_the_state_before_any_step(body):
    (first,) = body.seen()
    body.stage.until(lambda: body.worlds, 'the description')
    world = deserialize_message(body.worlds[0], WorldDescription)
    assert first.step == world.first_step == -120
    assert (first.header.stamp.sec, first.header.stamp.nanosec) == (0, 0)
    assert list(world.object_names) == ['red', 'green', 'blue']
    assert len(world.object_size) == 9
    assert world.step_period == 1 / 240
    assert world.success_radius == 0.05


def test_every_step_is_sent_once_in_order(body):
    assert body.advance(100).ok
    assert body.move().result.reached
    assert [state.step for state in body.seen()] == list(range(-120, 221))


def test_nothing_moves_by_itself(body):
    body.seen()
    for _ in range(20):
        body.stage.turn(0.01)
    assert len(body.seen()) == 1


def test_no_time_passes_in_an_advance_of_no_steps(body):
    before = body.advance(10)
    after = body.advance(0)
    assert after.ok
    assert after.digest == before.digest
    assert after.objects == before.objects
    assert len(body.seen()) == 11


def test_a_move_ends_where_it_was_to_end(body):
    body.advance(120)
    answer = body.move()
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.reached
    assert answer.result.step == 240
    reached = answer.result.reached_pose
    assert reached.header.frame_id == 'world'
    point = reached.pose.position
    assert answer.result.error == math.dist((point.x, point.y, point.z), ABOVE_RED)
    assert answer.result.error < 0.1


def test_the_same_commands_give_the_same_digest(body, control):
    digests = []
    for attempt in ('control_000/oracle#1', 'control_000/oracle#2'):
        assert body.stage.reset('sim', control, attempt).ready
        body.advance(60, attempt)
        body.move(attempt=attempt)
        digests.append(body.advance(5, attempt).digest)
    assert digests[0] == digests[1]


# -- refusals


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('axis', [0, 1, 2])
def test_a_target_that_is_not_finite_is_refused_and_nothing_moves(body, bad, axis):
    before = body.advance(0).digest
    target = list(ABOVE_RED)
    target[axis] = bad
    answer = body.move(target)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert not answer.result.reached
    assert 'finite' in answer.result.message
    assert body.advance(0).digest == before
    assert len(body.seen()) == 1
    assert body.move().result.reached


@pytest.mark.parametrize(
    ('command', 'why'),
    [
        ({'opening': math.nan, 'max_effort': 500.0, 'object': 'red'}, 'finite'),
        ({'opening': 0.0, 'max_effort': math.inf, 'object': 'red'}, 'finite'),
        ({'opening': 0.0, 'max_effort': -1.0, 'object': 'red'}, 'negative'),
        ({'opening': -0.1, 'max_effort': 500.0, 'object': 'red'}, 'negative'),
        ({'opening': 0.0, 'max_effort': 500.0, 'object': 'mauve'}, 'red, green, blue'),
        ({'opening': 0.0, 'max_effort': 500.0, 'object': ''}, 'red, green, blue'),
    ],
)
def test_a_grip_that_cannot_be_is_refused_and_says_why(body, command, why):
    answer = body.grip(**command)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert not answer.result.reached
    assert why in answer.result.message
    assert len(body.seen()) == 1
    assert body.grip(max_effort=500.0, object='red').result.reached
    assert body.advance(1).ok
    assert [state.held_object for state in body.seen()] == [-1, 0]


def test_a_target_in_another_frame_is_refused(body):
    answer = body.move(frame='base_link')
    assert not answer.result.reached
    assert answer.result.message == "target in frame 'base_link'; this body takes 'world'"
    assert len(body.seen()) == 1


def test_an_orientation_is_refused_by_a_body_that_has_none_to_offer(body):
    answer = body.move(position_only=False, turn=Quaternion(x=0.0, y=1.0, z=0.0, w=0.0))
    assert not answer.result.reached
    assert 'orientation' in answer.result.message


def test_a_goal_of_another_attempt_is_refused_and_reported(body):
    assert not body.move(attempt='control_000/oracle#2').accepted
    assert not body.grip(episode_id='', max_effort=500.0, object='red').accepted
    assert len(body.seen()) == 1
    report = body.stage.finish('sim', ATTEMPT)
    assert '"foreign_messages": 2' in report.report


def test_an_advance_of_another_attempt_is_refused(body):
    answer = body.advance(10, 'control_000/oracle#2')
    assert not answer.ok
    assert answer.message == "sim runs 'control_000/oracle#1', not 'control_000/oracle#2'"
    assert len(body.seen()) == 1


def test_before_any_attempt_everything_is_refused(stage):
    stage.add(SimNode)
    assert not stage.ask(Advance, 'sim/advance', episode_id='', steps=1).ok
    assert not stage.drive(MoveTo, 'arm/move_to', move_goal(ABOVE_RED, '')).accepted
    assert not stage.ask(Finish, 'sim/finish', episode_id='').ok


def test_while_a_motion_is_under_way_other_commands_are_refused(slow_body):
    body, stage = slow_body, slow_body.stage
    moving = stage.answer(stage.send(MoveTo, 'arm/move_to', move_goal(ABOVE_RED)))
    assert moving.accepted
    assert not stage.answer(stage.send(MoveTo, 'arm/move_to', move_goal(ABOVE_RED))).accepted
    grip = GripperCommand.Goal(episode_id=ATTEMPT, max_effort=500.0, object='red')
    assert not stage.answer(stage.send(GripperCommand, 'gripper/command', grip)).accepted
    assert body.advance(1).message == 'sim is busy with a command'
    assert stage.answer(moving.get_result_async()).result.reached
    assert len(body.seen()) == 241


# -- limits, where the episode sets some


@pytest.fixture
def limited_body(stage, control):
    """Return a body that refuses what is out of the workspace or older than a second."""
    limits = {
        'workspace': {'min': [0.15, -0.45, 0.55], 'max': [0.95, 0.55, 1.25]},
        'max_goal_age_s': 1.0,
    }
    driver = {'kind': 'sim', 'limits': limits}
    return Body(stage, control.model_copy(update={'driver': driver}))


@pytest.mark.parametrize('target', [(0.5, -0.15, 1.3), (0.1, -0.15, 0.8), (0.5, 0.6, 0.8)])
def test_a_target_outside_the_workspace_is_refused_and_nothing_moves(limited_body, target):
    answer = limited_body.move(target)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'is outside the workspace, (0.15, -0.45, 0.55) to' in answer.result.message
    assert len(limited_body.seen()) == 1
    assert limited_body.move().result.reached


def test_a_stale_goal_is_refused_and_one_without_a_stamp_is_not(limited_body):
    limited_body.advance(480)  # 2 s
    answer = limited_body.move(at=0.999)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.message.startswith('stale goal: stamped 1.001 s ago')
    assert len(limited_body.seen()) == 481
    assert limited_body.move(at=1.0).result.reached
    assert limited_body.move().result.reached


def test_by_default_every_target_is_tried_whatever_its_age(body):
    body.advance(240)
    assert body.move((0.9, 0.3, 1.5), at=1e-9).result.reached


def test_an_episode_for_another_driver_is_refused(stage, control):
    stage.add(MockDriverNode)
    answer = stage.reset('mock_driver', control, ATTEMPT)
    assert answer.failed
    assert "the episode is for 'sim', this is 'mock_driver'" in answer.message


# -- cancelling, and beginning anew


def test_a_motion_can_be_cancelled_and_the_next_one_runs(slow_body):
    body, stage = slow_body, slow_body.stage
    moving = stage.answer(stage.send(MoveTo, 'arm/move_to', move_goal(ABOVE_RED)))
    stage.until(lambda: len(body.steps) > 10, 'the motion to begin')
    stage.answer(moving.cancel_goal_async())
    answer = stage.answer(moving.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert not answer.result.reached
    stopped = len(body.seen())
    assert answer.result.message == f'cancelled after {stopped - 1} of 240 steps'
    assert stopped < 241
    # The arm has stopped: nothing moves any more once it has braked.
    assert body.advance(24).ok
    braked = body.seen()[-1].joint_position
    assert body.advance(240).ok
    assert body.seen()[-1].joint_position == pytest.approx(braked, abs=1e-3)
    stopped = len(body.seen())
    assert body.move().result.reached
    assert len(body.seen()) == stopped + 240


def test_an_attempt_cannot_begin_while_a_motion_is_under_way(slow_body, control):
    body, stage = slow_body, slow_body.stage
    moving = stage.answer(stage.send(MoveTo, 'arm/move_to', move_goal(ABOVE_RED)))
    stage.until(lambda: len(body.steps) > 1, 'the motion to begin')
    early = stage.ask(
        Reset, 'sim/reset', episode_id='control_000/oracle#2', episode=control.to_json()
    )
    assert not early.ready
    assert not early.failed
    assert early.message == 'sim waits for the motion under way'
    assert stage.answer(moving.get_result_async()).result.reached
    assert {state.episode_id for state in body.seen()} == {ATTEMPT}
    assert stage.reset('sim', control, 'control_000/oracle#2').ready


def test_the_end_of_an_attempt_is_the_end_of_an_advance(body, control):
    stage = body.stage
    steps = 2**32 - 1
    advance = stage.request(Advance, 'sim/advance', episode_id=ATTEMPT, steps=steps)
    stage.until(lambda: len(body.steps) > 1, 'the motion to begin')
    stage.finish('sim', ATTEMPT)
    answer = stage.answer(advance)
    assert not answer.ok
    assert answer.message == f'the attempt ended after {len(body.seen()) - 1} of {steps} steps'
    assert stage.reset('sim', control, 'control_000/oracle#2').ready


def test_a_new_attempt_counts_from_zero(body, control):
    body.advance(30)
    assert body.stage.reset('sim', control, 'control_000/oracle#2').ready
    answer = body.advance(1, 'control_000/oracle#2')
    counts = {count.topic: count.count for count in answer.published}
    assert counts['/step_state'] == 2
    assert counts['/world'] == 1


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'body': {'kind': 'kua'}}, "did you mean 'kuka'"),
        ({'task': {'kind': 'pick_place', 'blok': 'red'}}, 'blok'),
    ],
)
def test_an_episode_that_cannot_be_is_refused_and_the_node_lives_on(body, control, change, why):
    bad = control.model_copy(update=change)
    answer = body.stage.reset('sim', bad, 'control_000/oracle#2')
    assert answer.failed
    assert why in answer.message
    assert body.stage.reset('sim', control, 'control_000/oracle#3').ready


def test_a_world_that_breaks_spoils_the_attempt_and_not_the_task(body, monkeypatch):
    def crash():
        raise RuntimeError('the physics server is gone')

    monkeypatch.setattr(body.node._world, 'step', crash)
    answer = body.move()
    assert not answer.result.reached
    assert answer.result.message == 'motion failed: RuntimeError: the physics server is gone'
    monkeypatch.undo()
    report = body.stage.ask(Finish, 'sim/finish', episode_id=ATTEMPT)
    assert not report.ok
    assert 'the physics server is gone' in report.message


def test_simulated_time_can_be_held_to_the_wall_clock(slow_body):
    started = time.monotonic()
    assert slow_body.advance(240).ok
    assert time.monotonic() - started > 0.4
