"""Inverse kinematics on a copy of the arm in a client of its own, so that nothing real moves."""

import math
from collections.abc import Sequence
from typing import Any

from alpha_chaos.bodies.base import NOTHING, Quaternion, Vector
from alpha_chaos.closing import Closing

# One call leaves millimetres, near the edge of the reach centimetres: it is repeated, each time
# from the answer before, until what is left is smaller than what the motors leave.
ROUNDS = 20
ITERATIONS = 100
RESIDUAL = 1e-5
CLOSE_ENOUGH_M = 5e-6
CLOSE_ENOUGH_RAD = 5e-5


class GhostArm(Closing):
    """An arm without motors, which takes any pose at once.

    PyBullet's inverse kinematics starts from where the arm is. (Its argument `currentPositions`
    ignores the pose of the base, and answers wrongly.) So the ghost is put there first, and the
    answer depends on the arguments of `solve` alone.
    """

    def __init__(self, urdf: str, base_position_m: Vector, end_effector: int) -> None:
        """Load the arm on a fixed base, with nothing around it."""
        import pybullet
        import pybullet_data

        self._bullet: Any = pybullet
        self._client: int = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise RuntimeError('PyBullet has no free client: are worlds left open?')
        self._call('setAdditionalSearchPath', pybullet_data.getDataPath())
        self._arm = self._call('loadURDF', urdf, base_position_m, useFixedBase=True)
        self._end_effector = end_effector
        infos = [
            self._call('getJointInfo', self._arm, joint)
            for joint in range(self._call('getNumJoints', self._arm))
        ]
        movable = [info for info in infos if info[2] != pybullet.JOINT_FIXED]
        self._joints = tuple(info[0] for info in movable)
        self._limits = tuple((info[8], info[9]) for info in movable)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._bullet, name)(*args, physicsClientId=self._client, **kwargs)

    def solve(
        self, position_m: Vector, orientation: Quaternion, start: Sequence[float]
    ) -> tuple[float, ...] | None:
        """Return joint positions that bring the end effector there, or as near as they come.

        :param start: of all movable joints; the answer is near it
        :return: within the limits of the joints; None if the target is too far off to compute
        """
        joints = tuple(start)
        for _ in range(ROUNDS):
            self._take(joints)
            if self._arrived(position_m, orientation):
                break
            found = self._call(
                'calculateInverseKinematics',
                self._arm,
                self._end_effector,
                position_m,
                orientation,
                solver=self._bullet.IK_DLS,
                maxNumIterations=ITERATIONS,
                residualThreshold=RESIDUAL,
            )
            if not all(map(math.isfinite, found)):
                return None
            joints = tuple(
                min(max(value, low), high)
                for value, (low, high) in zip(found, self._limits, strict=True)
            )
        return joints

    def _take(self, joints: Sequence[float]) -> None:
        for joint, value in zip(self._joints, joints, strict=True):
            self._call('resetJointState', self._arm, joint, value)

    def _arrived(self, position_m: Vector, orientation: Quaternion) -> bool:
        link = self._call(
            'getLinkState', self._arm, self._end_effector, computeForwardKinematics=True
        )
        # Of two unit quaternions: the cosine of half the angle between them, of either sign.
        alike = abs(sum(one * other for one, other in zip(link[5], orientation, strict=True)))
        return (
            math.dist(link[4], position_m) <= CLOSE_ENOUGH_M
            and alike >= 1 - CLOSE_ENOUGH_RAD**2 / 8
        )

    def close(self) -> None:
        """Disconnect; closing twice is harmless."""
        if self._client >= 0:
            self._call('disconnect')
            self._client = NOTHING
