"""Real hardware behind ros2_control; the node is `nodes/joint_trajectory_driver_node.py`."""

from typing import ClassVar, Literal, NoReturn

from alpha_chaos.bodies.base import Body
from alpha_chaos.drivers.base import Driver
from alpha_chaos.plugins import BadSetting


class JointTrajectoryDriver(Driver):
    """A driver for a graph of your own: it cannot build a world anew, nor stop time.

    What it needs to know are parameters of its node.
    """

    takes_episodes: ClassVar[bool] = False

    kind: Literal['joint_trajectory_driver'] = 'joint_trajectory_driver'

    def world(self, body: Body) -> NoReturn:
        """Refuse: there is no world to build."""
        raise BadSetting(f'{self.kind} moves real hardware: there is no world to build')


JointTrajectoryDriver.example = JointTrajectoryDriver()
