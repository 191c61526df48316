"""joint_trajectory_driver with controllers; test_drivers.py has the whole contract."""

import math
from pathlib import Path

import pybullet_data
import pytest
from action_msgs.msg import GoalStatus
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.msg import ObjectStates
from alpha_chaos.nodes import joint_trajectory_driver_node as module
from alpha_chaos.nodes.convert import vector
from alpha_chaos.nodes.joint_trajectory_driver_node import JointTrajectoryDriverNode
from alpha_chaos.plugins import BadSetting

pytest.importorskip(
    'control_msgs', reason='control_msgs is not on PyPI; source a ROS installation that has it'
)

TARGET = (0.5, 0.1, 0.9)


@pytest.fixture
def robot(stage):
    """Return the controllers, once the driver is there, too."""
    from driver_doubles import Controllers

    return stage.add(Controllers)


def drive(stage, target=TARGET, turn=None, **parameters):
    node = stage.add(JointTrajectoryDriverNode, **{'joint_speed': 5.0, **parameters})
    stage.until(lambda: node._arm.server_is_ready() and node._positions, 'the controllers')
    x, y, z = target
    pose = Pose(position=Point(x=x, y=y, z=z), orientation=turn or Quaternion())
    goal = MoveTo.Goal(
        target=PoseStamped(header=Header(frame_id='world'), pose=pose), position_only=turn is None
    )
    return stage.drive(MoveTo, 'arm/move_to', goal)


def test_a_motion_ends_on_its_target_with_the_hand_down(stage, robot):
    answer = drive(stage)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.error < 1e-3
    assert vector(answer.result.reached_pose.pose.position) == pytest.approx(TARGET, abs=1e-3)
    assert abs(answer.result.reached_pose.pose.orientation.x) == pytest.approx(1, abs=1e-3)


def test_a_described_arm_does_the_same_as_the_one_that_is_known(stage, robot):
    urdf = Path(pybullet_data.getDataPath()) / 'franka_panda' / 'panda.urdf'
    arm = {'urdf': str(urdf), 'end_effector': 'panda_grasptarget', 'base': '0 0 0.625'}
    answer = drive(stage, **arm)
    assert answer.result.reached
    assert answer.result.error < 1e-3


def test_a_link_that_the_description_does_not_have_is_refused(stage):
    urdf = Path(pybullet_data.getDataPath()) / 'franka_panda' / 'panda.urdf'
    with pytest.raises(BadSetting, match="no link 'tip'; it has panda_link1"):
        stage.add(JointTrajectoryDriverNode, urdf=str(urdf), end_effector='tip')


def test_a_wanted_orientation_is_taken(stage, robot):
    half = math.sqrt(0.5)
    answer = drive(stage, turn=Quaternion(x=half, y=half, z=0.0, w=0.0))
    assert answer.result.reached
    turn = answer.result.reached_pose.pose.orientation
    assert abs(turn.x * half + turn.y * half) == pytest.approx(1, abs=1e-3)


def test_a_target_inside_the_workspace_and_out_of_reach_is_refused(stage, robot):
    before = dict(robot.positions)
    answer = drive(stage, (0.95, 0.55, 1.25))
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'out of reach: the arm ends' in answer.result.message
    assert robot.positions == before


def test_a_controller_that_does_not_move_is_no_success(stage, robot):
    robot.moves = False
    answer = drive(stage)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'the controller is done, and the arm' in answer.result.message


def test_an_error_of_the_controller_is_passed_on(stage, robot):
    robot.answer = robot.trajectory.Result(error_code=-4, error_string='joint 3 lags')
    answer = drive(stage)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.message == 'controller: error -4: joint 3 lags'


def test_a_controller_that_never_ends_is_given_up(stage, robot, monkeypatch):
    monkeypatch.setattr(module, 'ANSWER_S', 0.2)
    monkeypatch.setattr(module, 'SLOWEST', 0.0)
    robot.hears = False
    answer = drive(stage, joint_speed=0.2)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'no answer from arm_controller/follow_joint_trajectory within' in answer.result.message


def test_without_controllers_a_goal_ends_with_a_word(stage):
    stage.add(JointTrajectoryDriverNode)
    grip = stage.drive(GripperCommand, 'gripper/command', GripperCommand.Goal(opening=0.04))
    assert grip.status == GoalStatus.STATUS_ABORTED
    assert grip.result.message == 'there is no controller gripper_controller/gripper_cmd'


def test_without_joint_states_nothing_moves(stage):
    stage.add(JointTrajectoryDriverNode)
    pose = PoseStamped(header=Header(frame_id='world'))
    pose.pose.position = Point(x=0.5, y=0.1, z=0.9)
    goal = MoveTo.Goal(target=pose, position_only=True)
    answer = stage.drive(MoveTo, 'arm/move_to', goal)
    assert 'nobody has said on joint_states where panda_joint1' in answer.result.message
    assert math.isnan(answer.result.error)


def test_objects_are_where_somebody_sees_them(stage):
    node = stage.add(JointTrajectoryDriverNode, poses=['red=seen/red'], pose_timeout=1.0)
    voice = stage.voice('geometry_msgs/msg/PoseStamped', 'seen/red')
    heard = stage.hear('alpha_chaos/msg/ObjectStates', 'objects')
    pose = Pose(position=Point(x=0.4), orientation=Quaternion(w=1.0))
    now = node.get_clock().now().to_msg()
    voice.publish(PoseStamped(header=Header(stamp=now, frame_id='world'), pose=pose))

    def objects():
        return [entry.name for entry in deserialize_message(heard[-1], ObjectStates).objects]

    stage.until(lambda: heard and objects() == ['red'], 'the red block')
    stage.until(lambda: objects() == [], 'its disappearance')  # not seen for a second


def test_what_it_needs_and_does_not_have_is_told(stage, request):
    heard = stage.hear('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
    stage.add(JointTrajectoryDriverNode, diagnostics_period=0.05)

    def told(what):
        if not heard:
            return None
        array = deserialize_message(heard[-1], DiagnosticArray)
        return next(one for one in array.status if one.name == f'joint_trajectory_driver: {what}')

    stage.until(lambda: told('controllers'), 'a message')
    assert (told('controllers').level, told('controllers').hardware_id) == (b'\2', 'panda')
    assert 'arm_controller/follow_joint_trajectory' in told('controllers').message
    assert told('joint states').level == b'\3'
    request.getfixturevalue('robot')
    stage.until(lambda: told('controllers').level == b'\0', 'the controllers')
    stage.until(lambda: told('joint states').level == b'\0', 'the joints')
