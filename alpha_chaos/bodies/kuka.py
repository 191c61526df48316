"""The body of the paper: a KUKA iiwa at a table, holding blocks by a constraint.

Numbers without another source are from an earlier public state of the paper's repository.
"""

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from alpha_chaos.bodies.base import (
    NOTHING,
    BadCommand,
    Block,
    EndEffector,
    GripOutcome,
    RobotModel,
    Tabletop,
)
from alpha_chaos.bodies.bullet import BulletWorld, check_object, checked_grip, checked_vector
from alpha_chaos.plan import Waypoints

STEP_PERIOD_S = 1 / 240
GRAVITY_M_S2 = -9.8
ENGINE = {'numSolverIterations': 150, 'deterministicOverlappingPairs': 1, 'useSplitImpulse': 1}

URDF = 'kuka_iiwa/model.urdf'
TABLE_POSITION_M = (0.6, 0.0, 0.0)
ARM_POSITION_M = (0.0, 0.0, 0.0)
CUBE_EDGE_M = 0.05  # of cube_small.urdf
CUBE_SCALING = 1.2

END_EFFECTOR_LINK = 6
MOVE_STEPS = 240
IK_ITERATIONS = 200
IK_RESIDUAL = 1e-5
JOINT_FORCE_NM = 2000.0
POSITION_GAIN = 0.1
VELOCITY_GAIN = 1.0

WEAKEST_GRIP_N = 1.0  # of a weakened grip; only an effort of 0 lets go


class Kuka(Tabletop):
    """The paper's arm, table and three blocks.

    There is no gripper: a grip fixes the named block to the end effector wherever it is, and
    takes no time. A later command with less effort weakens that constraint.
    """

    block_edge_m: ClassVar[float] = CUBE_EDGE_M * CUBE_SCALING
    robot: ClassVar[RobotModel | None] = RobotModel(URDF, ARM_POSITION_M)

    kind: Literal['kuka'] = 'kuka'
    blocks: tuple[Block, ...] = Field(
        default=(
            Block(name='red', position_m=(0.5, -0.15, 0.68)),
            Block(name='green', position_m=(0.5, 0.0, 0.68)),
            Block(name='blue', position_m=(0.5, 0.15, 0.68)),
        ),
        min_length=1,
        description='loose blocks, in the order they are loaded',
    )

    @property
    def waypoints(self) -> Waypoints:
        """Return the paper's waypoints."""
        return Waypoints(
            hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06, zone_stack=0.12
        )

    def world(self) -> 'KukaWorld':
        """Build a new world from nothing."""
        return KukaWorld(self)


Kuka.example = Kuka()


class KukaWorld(BulletWorld):
    """The world of body `kuka`."""

    def __init__(self, body: Kuka) -> None:
        """Build it in the order that reproduces the paper's numbers."""
        super().__init__(STEP_PERIOD_S, GRAVITY_M_S2, ENGINE)
        self._call('loadURDF', 'plane.urdf')
        table = self._call('loadURDF', 'table/table.urdf', TABLE_POSITION_M)
        if body.table_friction is not None:
            self._call('changeDynamics', table, -1, lateralFriction=body.table_friction)
        self._load_arm(URDF, ARM_POSITION_M)
        # Before the blocks: applied after them the arm strikes them differently, and the
        # published results of the unreachable target do not come out.
        for link in range(-1, self._call('getNumJoints', self._arm)):
            self._call('setCollisionFilterPair', self._arm, table, link, -1, 0)
        self._load_blocks('cube_small.urdf', body.blocks, CUBE_EDGE_M, CUBE_SCALING)
        self._prepare_nudge(body.nudge)
        self._constraint = NOTHING
        self._weakened = False
        self._opening_m = 0.0
        self._effort_n = 0.0

    def start_move(self, position_m: Sequence[float], orientation: Sequence[float] | None) -> int:
        """Solve for the target once and set the motors; return the number of steps, 240."""
        target = checked_vector(position_m, 3, 'position')
        if orientation is not None:
            raise BadCommand('this body moves to positions only: leave the orientation free')
        joints = self._call(
            'calculateInverseKinematics',
            self._arm,
            END_EFFECTOR_LINK,
            target,
            maxNumIterations=IK_ITERATIONS,
            residualThreshold=IK_RESIDUAL,
        )
        if not all(map(math.isfinite, joints)):
            raise BadCommand(f'no joint angles for the position {list(target)}')
        self._drive(joints)
        return MOVE_STEPS

    def halt(self) -> None:
        """Set the motors to where the joints are now."""
        states = self._call('getJointStates', self._arm, self._joints)
        self._drive([state[0] for state in states])

    def _drive(self, angles_rad: Sequence[float]) -> None:
        for joint, angle in zip(self._joints, angles_rad, strict=True):
            self._call(
                'setJointMotorControl2',
                self._arm,
                joint,
                self._bullet.POSITION_CONTROL,
                targetPosition=angle,
                force=JOINT_FORCE_NM,
                positionGain=POSITION_GAIN,
                velocityGain=VELOCITY_GAIN,
            )

    def end_effector(self) -> EndEffector:
        """Return the centre of mass of the last link, which is what the paper's log gives."""
        link = self._call('getLinkState', self._arm, END_EFFECTOR_LINK)
        return EndEffector(link[0], link[1])

    def start_grip(self, opening_m: float, max_effort_n: float, object_name: str) -> int:
        """Fix the object to the end effector, weaken that, or let go; return 0, at once."""
        opening_m, max_effort_n = checked_grip(opening_m, max_effort_n)
        opens = opening_m > 0 or max_effort_n == 0
        check_object(object_name, self.object_names, not opens)
        if opens:
            self._let_go()
        else:
            self._hold(self.object_names.index(object_name), max_effort_n)
        self._opening_m = opening_m
        self._effort_n = 0.0 if opens else max_effort_n
        return 0

    def grip_outcome(self) -> GripOutcome:
        """Return the command as carried out; without fingers nothing can stop it."""
        holds = self._held != NOTHING
        width_m = self.object_sizes_m[self._held][0] if holds else self._opening_m
        return GripOutcome(True, '', width_m, self._effort_n, holds)

    def _let_go(self) -> None:
        if self._held != NOTHING:
            self._call('removeConstraint', self._constraint)
        self._held = self._constraint = NOTHING
        self._weakened = False

    def _hold(self, index: int, effort_n: float) -> None:
        if self._held == NOTHING:
            # No test of nearness and no limit on the force: so did the paper.
            self._constraint = self._call(
                'createConstraint',
                self._arm,
                END_EFFECTOR_LINK,
                self._objects[index],
                -1,
                self._bullet.JOINT_FIXED,
                (0, 0, 0),
                (0, 0, 0),
                (0, 0, 0),
            )
            self._held = index
        elif self._held != index:
            raise BadCommand(
                f'cannot hold {self.object_names[index]}: '
                f'{self.object_names[self._held]} is in the gripper'
            )
        elif effort_n < self._effort_n or self._weakened:
            self._call(
                'changeConstraint', self._constraint, maxForce=max(WEAKEST_GRIP_N, effort_n)
            )
            self._weakened = True
