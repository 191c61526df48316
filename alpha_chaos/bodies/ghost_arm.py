"""Inverse kinematics on a copy of the arm in a client of its own, so that nothing real moves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alpha_chaos.bodies.base import NOTHING, BadCommand, EndEffector, Quaternion, Vector
from alpha_chaos.closing import Closing

# One call leaves 1.6 mm above the zone and 20 mm at the edge of the reach: it is repeated, each
# time from the answer before, until what is left is smaller than what the motors leave.
ROUNDS = 20
ITERATIONS = 100
RESIDUAL = 1e-5
CLOSE_ENOUGH_M = 5e-6
CLOSE_ENOUGH_RAD = 5e-5


@dataclass(frozen=True)
class ArmModel:
    """What inverse kinematics needs to know of an arm.

    :param urdf: file, or the name of one that comes with PyBullet
    :param end_effector: link, by number or by name
    :param home_rad: of the joints between base and end effector, a pose far from their limits;
        empty for the middle between the limits
    :param tool: orientation that the end effector keeps where the target leaves it free
    """

    urdf: str
    base_position_m: Vector
    end_effector: int | str
    home_rad: tuple[float, ...]
    tool: Quaternion


class GhostArm(Closing):
    """An arm without motors, which takes any pose at once.

    PyBullet's inverse kinematics starts from where the arm is. (Its argument `currentPositions`
    ignores the pose of the base, and answers wrongly.) So the ghost is put there first, and the
    answer depends on the arguments of `solve` alone.
    """

    def __init__(
        self,
        urdf: str,
        base_position_m: Vector,
        end_effector: int | str,
        *,
        joints_only: bool = False,
    ) -> None:
        """Load the arm on a fixed base, with nothing around it.

        :param end_effector: link, by number or by name
        :param joints_only: leave shapes out, whose files may not be here
        :raises BadCommand: for a file that is no robot, and for a link that there is not
        """
        import pybullet
        import pybullet_data

        self._bullet: Any = pybullet
        self._client: int = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise RuntimeError('PyBullet has no free client: are worlds left open?')
        self._call('setAdditionalSearchPath', pybullet_data.getDataPath())
        flags = 0
        if joints_only:
            flags = pybullet.URDF_IGNORE_VISUAL_SHAPES | pybullet.URDF_IGNORE_COLLISION_SHAPES
        try:
            self._arm = self._call(
                'loadURDF', urdf, base_position_m, useFixedBase=True, flags=flags
            )
        except pybullet.error as error:
            self.close()
            raise BadCommand(f'{urdf}: {error}') from None
        infos = [
            self._call('getJointInfo', self._arm, joint)
            for joint in range(self._call('getNumJoints', self._arm))
        ]
        try:
            self._end_effector = _link(infos, end_effector, urdf)
        except BadCommand:
            self.close()
            raise
        movable = [info for info in infos if info[2] != pybullet.JOINT_FIXED]
        self._joints = tuple(info[0] for info in movable)
        # A joint without limits has a lower one above the upper one.
        self._limits = tuple(
            (info[8], info[9]) if info[8] <= info[9] else (-math.inf, math.inf) for info in movable
        )
        way = {info[0] for info in _to_base(infos, self._end_effector)}
        self.joint_names = tuple(info[1].decode() for info in movable)
        # Indices of the movable joints between base and end effector.
        self.chain = tuple(index for index, joint in enumerate(self._joints) if joint in way)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._bullet, name)(*args, physicsClientId=self._client, **kwargs)

    def solve(
        self, position_m: Vector, orientation: Quaternion, *starts: Sequence[float]
    ) -> tuple[float, ...] | None:
        """Return joint positions that bring the end effector there, or as near as they come.

        :param starts: positions of all movable joints; the answer is near the first one, unless
            only another one leads there, or nearer
        :return: within the limits of the joints; None if the target is too far off to compute
        """
        best: tuple[float, ...] | None = None
        nearest_m = math.inf
        for start in starts:
            joints = self._approach(position_m, orientation, start)
            if joints is None:
                return None
            left_m, left_rad = self._left(position_m, orientation)
            if left_m <= CLOSE_ENOUGH_M and left_rad <= CLOSE_ENOUGH_RAD:
                return joints
            if left_m < nearest_m:
                best, nearest_m = joints, left_m
        return best

    def middle(self) -> tuple[float, ...]:
        """Return for every movable joint the middle between its limits."""
        return tuple(
            (low + high) / 2 if math.isfinite(high - low) else 0.0 for low, high in self._limits
        )

    def pose(self, joints: Sequence[float]) -> EndEffector:
        """Return where the end effector is with the movable joints at these positions."""
        self._take(joints)
        link = self._call(
            'getLinkState', self._arm, self._end_effector, computeForwardKinematics=True
        )
        return EndEffector(link[4], link[5])

    def _approach(
        self, position_m: Vector, orientation: Quaternion, start: Sequence[float]
    ) -> tuple[float, ...] | None:
        joints = tuple(start)
        for _ in range(ROUNDS):
            self._take(joints)
            left_m, left_rad = self._left(position_m, orientation)
            if left_m <= CLOSE_ENOUGH_M and left_rad <= CLOSE_ENOUGH_RAD:
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
        self._take(joints)
        return joints

    def _take(self, joints: Sequence[float]) -> None:
        for joint, value in zip(self._joints, joints, strict=True):
            self._call('resetJointState', self._arm, joint, value)

    def _left(self, position_m: Vector, orientation: Quaternion) -> tuple[float, float]:
        """Return how far the end effector is from a pose [m, rad]."""
        link = self._call(
            'getLinkState', self._arm, self._end_effector, computeForwardKinematics=True
        )
        # The vector part of the turn between the two; its length is the sine of half the angle.
        _, turn = self._bullet.multiplyTransforms(
            (0, 0, 0), orientation, *self._bullet.invertTransform((0, 0, 0), link[5])
        )
        return math.dist(link[4], position_m), 2 * math.hypot(*turn[:3])

    def close(self) -> None:
        """Disconnect; closing twice is harmless."""
        if self._client >= 0:
            self._call('disconnect')
            self._client = NOTHING


def _link(infos: Sequence[Any], wanted: int | str, urdf: str) -> int:
    """Return the number of a link."""
    if isinstance(wanted, int):
        return wanted
    links = {info[12].decode(): info[0] for info in infos}
    if wanted not in links:
        raise BadCommand(f'{urdf}: no link {wanted!r}; it has {", ".join(links)}')
    return int(links[wanted])


def _to_base(infos: Sequence[Any], link: int) -> list[Any]:
    """Return the joints on the way from a link to the base."""
    way = []
    while link != NOTHING:
        way.append(infos[link])
        link = infos[link][16]
    return way
