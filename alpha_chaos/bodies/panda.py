"""A Franka Panda at a table; it holds blocks by the friction between its fingers.

`docs/design/body-panda.md` says where the numbers come from and what was measured with them.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from alpha_chaos.bodies.base import (
    NOTHING,
    BadCommand,
    Block,
    EndEffector,
    GripOutcome,
    Quaternion,
    RobotModel,
    Tabletop,
    Vector,
)
from alpha_chaos.bodies.bullet import (
    BulletWorld,
    check_object,
    checked_grip,
    checked_vector,
    minimum_jerk,
)
from alpha_chaos.bodies.ghost_arm import ArmModel, GhostArm
from alpha_chaos.plan import Waypoints

STEP_PERIOD_S = 1 / 240
GRAVITY_M_S2 = -9.81
# Without deterministicOverlappingPairs repeated episodes differ; 50 iterations and an erp of 0.2
# are the engine's own values, named because other ones move the block otherwise.
ENGINE = {'numSolverIterations': 50, 'deterministicOverlappingPairs': 1, 'erp': 0.2}

URDF = 'franka_panda/panda.urdf'
TABLE_POSITION_M = (0.5, 0.0, 0.0)
ARM_POSITION_M = (0.0, 0.0, 0.625)  # on the table, whose top is there
CUBE_EDGE_M = 0.05  # of cube_small.urdf

ARM_JOINTS = tuple(range(7))
HAND_LINK = 8
PADS = (9, 10)  # links of the fingers, and the joints that move them
END_EFFECTOR_LINK = 11  # panda_grasptarget, between the finger tips
# The hand is above the table and points down.
HOME_RAD: tuple[float, ...] = (0.0, -0.215, 0.0, -2.57, 0.0, 2.356, 0.785)
TOOL_DOWN: Quaternion = (1.0, 0.0, 0.0, 0.0)  # half a turn about x; the fingers close along y

MOVE_STEPS = 240
TRAVEL_STEPS = 180  # of a motion; the rest is for what still swings
TRAVEL = minimum_jerk(TRAVEL_STEPS)
JOINT_FORCE = 500.0  # [N m]; more than a motion needs, and with 87 the blocks end as near
POSITION_GAIN = 0.3
VELOCITY_GAIN = 1.0

GRIP_STEPS = 90
FINGER_OPEN_M = 0.04  # travel of each finger
FINGER_FORCE_N = 40.0  # of each finger; 100 N press a block up to 2 mm aside, 300 N 12 mm
# Each finger's motor pushes for itself. Without a gear between them both drift sideways, and the
# block with them, by 12 mm in an episode.
GEAR_ERP = 0.1
GEAR_FORCE_N = 50.0

CLOSED_M = 0.002  # an opening below this holds nothing
STOPPED_M_S = 0.01  # fingers that travel go at 0.1; jammed on top of a block they creep at 0.003
OPPOSITE = -0.7  # largest cosine between the pushes of two pads that oppose each other
STABLE_STEPS = 12  # 0.05 s
STABLE_M = 5e-4  # by which a held block may have moved in the hand since then
STABLE_RAD = 0.02


class Panda(Tabletop):
    """A Franka Panda, a table and three blocks.

    A motion whose orientation is left free keeps the hand pointing down. A grip closes the
    fingers with at most 40 N each, whatever it is told to hold; a later one with less effort
    weakens it at once. Whether a block is held is for contact to say.
    """

    block_edge_m: ClassVar[float] = CUBE_EDGE_M
    robot: ClassVar[RobotModel | None] = RobotModel(URDF, ARM_POSITION_M)
    arm_model: ClassVar[ArmModel] = ArmModel(
        URDF, ARM_POSITION_M, END_EFFECTOR_LINK, HOME_RAD, TOOL_DOWN
    )

    kind: Literal['panda'] = 'panda'
    blocks: tuple[Block, ...] = Field(
        default=(
            Block(name='red', position_m=(0.50, 0.00, 0.675)),
            Block(name='green', position_m=(0.45, -0.20, 0.675)),
            Block(name='blue', position_m=(0.35, 0.20, 0.675)),
        ),
        min_length=1,
        description='loose blocks, in the order they are loaded',
    )

    @property
    def waypoints(self) -> Waypoints:
        """Return this body's waypoints.

        At 3 cm above the zone no block is pressed into the table that lies, for a planner with a
        stale scene, up to 2.5 cm lower in the hand than meant.
        """
        return Waypoints(
            hover=0.15, grasp=0.0, lift=0.20, zone_hover=0.20, zone_place=0.03, zone_stack=0.08
        )

    def world(self) -> 'PandaWorld':
        """Build a new world from nothing."""
        return PandaWorld(self)


Panda.example = Panda()


class PandaWorld(BulletWorld):
    """The world of body `panda`."""

    def __init__(self, body: Panda) -> None:
        """Build it, always in the same order."""
        super().__init__(STEP_PERIOD_S, GRAVITY_M_S2, ENGINE)
        self._call('loadURDF', 'plane.urdf')
        table = self._call('loadURDF', 'table/table.urdf', TABLE_POSITION_M, useFixedBase=True)
        if body.table_friction is not None:
            self._call('changeDynamics', table, -1, lateralFriction=body.table_friction)
        self._load_arm(URDF, ARM_POSITION_M)
        self._load_blocks('cube_small.urdf', body.blocks, CUBE_EDGE_M, 1.0)
        self._prepare_nudge(body.nudge)
        self._ghost = GhostArm(URDF, ARM_POSITION_M, END_EFFECTOR_LINK)

        self._commanded: tuple[float, ...] = HOME_RAD
        self._start = self._goal = HOME_RAD
        self._travelled = TRAVEL_STEPS
        self._opening_m = 2 * FINGER_OPEN_M
        self._effort_n = 0.0
        self._closing = False
        # Where the pinched block was in the hand, oldest first.
        self._grasp: deque[tuple[Vector, Quaternion]] = deque(maxlen=STABLE_STEPS + 1)
        self._pinched = NOTHING

        for joint, angle in zip(ARM_JOINTS, HOME_RAD, strict=True):
            self._call('resetJointState', self._arm, joint, angle)
        for joint in PADS:
            self._call('resetJointState', self._arm, joint, FINGER_OPEN_M)
        gear = self._call(
            'createConstraint',
            self._arm,
            PADS[0],
            self._arm,
            PADS[1],
            self._bullet.JOINT_GEAR,
            (1, 0, 0),
            (0, 0, 0),
            (0, 0, 0),
        )
        self._call('changeConstraint', gear, gearRatio=-1, erp=GEAR_ERP, maxForce=GEAR_FORCE_N)
        self._drive_arm()
        self._drive_fingers(FINGER_OPEN_M, FINGER_FORCE_N)

    # -- motions

    def start_move(self, position_m: Sequence[float], orientation: Sequence[float] | None) -> int:
        """Solve for the target once and set off for it; return the number of steps, 240.

        A target beyond reach is approached as far as the arm goes.
        """
        x, y, z = checked_vector(position_m, 3, 'position')
        turn = TOOL_DOWN if orientation is None else _unit_quaternion(orientation)
        # From what is commanded, not from what is measured: a measured joint has what the motors
        # left over, and the same plan would then end elsewhere in a disturbed episode.
        fingers = (FINGER_OPEN_M, FINGER_OPEN_M)
        joints = self._ghost.solve(
            (x, y, z), turn, (*self._commanded, *fingers), (*HOME_RAD, *fingers)
        )
        if joints is None:
            raise BadCommand(f'no joint angles for the position {[x, y, z]}')
        self._start, self._goal = self._commanded, joints[: len(ARM_JOINTS)]
        self._travelled = 0
        return MOVE_STEPS

    def halt(self) -> None:
        """Command the joints to where they are now; the rest of the way is forgotten."""
        states = self._call('getJointStates', self._arm, ARM_JOINTS)
        self._commanded = tuple(state[0] for state in states)
        self._travelled = TRAVEL_STEPS
        self._drive_arm()

    def end_effector(self) -> EndEffector:
        """Return the pose of the point between the finger tips."""
        link = self._link(END_EFFECTOR_LINK)
        return EndEffector(link[4], link[5])

    def _link(self, link: int) -> Any:
        return self._call('getLinkState', self._arm, link, computeForwardKinematics=True)

    def step(self) -> None:
        """Move the joints' targets on along the motion under way, and let one period pass."""
        if self._travelled < TRAVEL_STEPS:
            share = TRAVEL[self._travelled]
            self._travelled += 1
            self._commanded = tuple(
                start + share * (goal - start)
                for start, goal in zip(self._start, self._goal, strict=True)
            )
            self._drive_arm()
        super().step()
        if self._closing:
            self._held = self._look_for_grasp()

    def _drive_arm(self) -> None:
        count = len(ARM_JOINTS)
        self._call(
            'setJointMotorControlArray',
            self._arm,
            ARM_JOINTS,
            self._bullet.POSITION_CONTROL,
            targetPositions=self._commanded,
            forces=(JOINT_FORCE,) * count,
            positionGains=(POSITION_GAIN,) * count,
            velocityGains=(VELOCITY_GAIN,) * count,
        )

    # -- grips

    def start_grip(self, opening_m: float, max_effort_n: float, object_name: str) -> int:
        """Open or close the fingers; return 90 steps, or 0 where nothing has to travel.

        Fingers that close already only get another force, and with an effort of 0 they go limp.
        Opening is the hand's own business and takes its full force. What is to be held must be
        known; closer the name is not looked at, for the fingers do not know it.
        """
        opening_m, max_effort_n = checked_grip(opening_m, max_effort_n, 2 * FINGER_OPEN_M)
        closes = opening_m == 0 and max_effort_n > 0
        check_object(object_name, self.object_names, closes)
        travels = opening_m > 0 or (closes and not self._closing)
        force_n = FINGER_FORCE_N if opening_m > 0 else min(max_effort_n, FINGER_FORCE_N)
        self._opening_m = opening_m
        self._effort_n = 0.0 if opening_m > 0 else force_n
        self._closing = closes
        if not closes:
            self._grasp.clear()
            self._held = self._pinched = NOTHING
        self._drive_fingers(opening_m / 2, force_n)
        return GRIP_STEPS if travels else 0

    def _drive_fingers(self, target_m: float, force_n: float) -> None:
        for joint in PADS:
            self._call(
                'setJointMotorControl2',
                self._arm,
                joint,
                self._bullet.POSITION_CONTROL,
                targetPosition=target_m,
                force=force_n,
            )

    def grip_outcome(self) -> GripOutcome:
        """Return where the fingers are; closing on nothing is no failure, but not stalled."""
        fingers = self._call('getJointStates', self._arm, PADS)
        opening_m = max(0.0, sum(finger[0] for finger in fingers))
        stopped = all(abs(finger[1]) <= STOPPED_M_S for finger in fingers)
        if self._closing:
            stalled = stopped and opening_m > CLOSED_M
            reached = stopped
        else:
            stalled = False
            limp = self._opening_m == 0
            reached = limp or abs(opening_m - self._opening_m) <= CLOSED_M
        message = '' if reached else f'the fingers are still moving, {opening_m:.4f} m apart'
        return GripOutcome(reached, message, opening_m, self._effort_n, stalled)

    def _look_for_grasp(self) -> int:
        """Return the object that is held, as physics has it.

        Pinched by both pads from opposite sides, carried by nothing else, and at rest in the hand.
        """
        pinched = self._between_the_pads()
        if pinched != self._pinched:
            self._grasp.clear()
            self._pinched = pinched
        if pinched == NOTHING:
            return NOTHING
        block = self._objects[pinched]
        hand = self._link(HAND_LINK)
        to_hand = self._bullet.invertTransform(hand[4], hand[5])
        place = self._call('getBasePositionAndOrientation', block)
        self._grasp.append(self._bullet.multiplyTransforms(*to_hand, *place))
        if len(self._grasp) <= STABLE_STEPS or not _same(self._grasp[0], self._grasp[-1]):
            return NOTHING
        contacts = self._call('getContactPoints', bodyA=block)
        carried = any(contact[2] != self._arm and contact[9] > 0 for contact in contacts)
        return NOTHING if carried else pinched

    def _between_the_pads(self) -> int:
        """Return the object that both pads push on, from opposite sides."""
        pushes: dict[tuple[int, int], list[float]] = {}
        for contact in self._contacts():
            body, link, normal, force_n = contact[2], contact[3], contact[7], contact[9]
            if link in PADS and body in self._index and force_n > 0:
                push = pushes.setdefault((link, self._index[body]), [0.0, 0.0, 0.0])
                for axis in range(3):
                    push[axis] += force_n * normal[axis]
        for (link, index), left in pushes.items():
            right = pushes.get((PADS[1], index))
            if link == PADS[0] and right is not None:
                both = sum(one * other for one, other in zip(left, right, strict=True))
                if both <= OPPOSITE * math.hypot(*left) * math.hypot(*right):
                    return index
        return NOTHING

    def close(self) -> None:
        """Disconnect the world and the ghost; closing twice is harmless."""
        super().close()
        self._ghost.close()


def _unit_quaternion(values: Sequence[float]) -> Quaternion:
    x, y, z, w = checked_vector(values, 4, 'orientation')
    length = math.hypot(x, y, z, w)
    if abs(length - 1) > 1e-3:
        raise BadCommand(f'an orientation is a unit quaternion, not {[x, y, z, w]}')
    return x / length, y / length, z / length, w / length


def _same(one: tuple[Vector, Quaternion], other: tuple[Vector, Quaternion]) -> bool:
    """Return whether two poses differ by less than a block may that is held."""
    alike = abs(sum(a * b for a, b in zip(one[1], other[1], strict=True)))
    return math.dist(one[0], other[0]) <= STABLE_M and alike >= 1 - STABLE_RAD**2 / 8
