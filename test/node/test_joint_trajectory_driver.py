"""joint_trajectory_driver without controllers: what it needs, and what it refuses."""

import importlib.util

import pytest

from alpha_chaos.nodes.joint_trajectory_driver_node import JointTrajectoryDriverNode
from alpha_chaos.plugins import BadSetting

HERE = importlib.util.find_spec('control_msgs') is not None


@pytest.mark.skipif(HERE, reason='control_msgs is installed')
def test_without_control_msgs_it_says_what_is_missing(stage):
    with pytest.raises(BadSetting, match=r'FollowJointTrajectory.*control-msgs'):
        stage.add(JointTrajectoryDriverNode)


@pytest.mark.parametrize(
    ('parameters', 'why'),
    [
        ({'body': 'pandas'}, "unknown arm 'pandas', did you mean 'panda'.*`urdf` takes any other"),
        ({'urdf': '/no/robot.urdf'}, 'Set `end_effector`'),
        ({'urdf': 'x', 'end_effector': 'hand', 'base': '0 0'}, "base '0 0': 3 numbers"),
        ({'workspace': '0 0 0 1 1'}, '6 numbers are expected'),
        ({'workspace': '1 1 1 0 0 0'}, 'the first corner must be the lower one'),
    ],
)
def test_bad_parameters_are_refused(stage, parameters, why):
    with pytest.raises(BadSetting, match=why):
        stage.add(JointTrajectoryDriverNode, **parameters)
