"""A driver without physics: a hand that goes in straight lines, for tests of everything else."""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from alpha_chaos.bodies.base import (
    NOTHING,
    BadCommand,
    Body,
    BodyState,
    EndEffector,
    GripOutcome,
    Tabletop,
    Vector,
    World,
)
from alpha_chaos.bodies.bullet import (
    NUDGE_STEPS,
    check_object,
    checked_grip,
    checked_vector,
    minimum_jerk,
)
from alpha_chaos.drivers.base import Driver, Limits
from alpha_chaos.plugins import BadSetting
from alpha_chaos.workspace import WORKSPACE

STEP_PERIOD_S = 1 / 240  # as the bodies have it: tasks count in these steps
TABLE_TOP_M = 0.625  # of the table at which the bodies stand
SINK_M_S = 1.0  # of a block that nobody holds, down to the table
OPEN_M = 0.08  # widest opening
JOINTS = ('x', 'y', 'z', 'fingers')
HAND_DOWN = (1.0, 0.0, 0.0, 0.0)


class MockDriver(Driver):
    """A hand on three linear axes that knows neither forces nor contacts.

    Blocks stand where the body's settings have them, pass through one another, and sink to the
    table when nobody holds them. Fingers that close within reach of a block's centre hold it,
    until they open or are told to let go. Friction and mass mean nothing here.
    """

    kind: Literal['mock_driver'] = 'mock_driver'
    limits: Limits = Limits(workspace=WORKSPACE, max_goal_age_s=30.0)
    speed_m_s: float = Field(
        default=0.25, gt=0, le=10, description='of the hand; the reduced speed of ISO 10218-1'
    )
    finger_speed_m_s: float = Field(default=0.1, gt=0, le=10, description='of the opening')
    reach_m: float = Field(
        default=0.05, gt=0, description='largest distance at which closing fingers get a block'
    )
    home_m: Vector = Field(default=(0.5, 0.0, 1.0), description='of the hand at the reset')

    def world(self, body: Body) -> 'KinematicWorld':
        """Return a world with the body's blocks, and nothing else of it."""
        if not isinstance(body, Tabletop):
            raise BadSetting(
                f'{self.kind} plays bodies with a table and blocks, not {body.kind!r}'
            )
        return KinematicWorld(self, body)


MockDriver.example = MockDriver()


class KinematicWorld(World):
    """The world of `mock_driver`."""

    joint_names = JOINTS
    base_position_m = (0.0, 0.0, 0.0)
    step_period_s = STEP_PERIOD_S

    def __init__(self, driver: MockDriver, body: Tabletop) -> None:
        """Put hand and blocks where they begin."""
        self._driver = driver
        edge = body.block_edge_m
        self.object_names = body.objects
        self.object_sizes_m = ((edge, edge, edge),) * len(body.blocks)
        self._rest_m = TABLE_TOP_M + edge / 2
        self._poses = np.array(
            [(*block.position_m, 0.0, 0.0, *_turn_about_z(block.yaw_rad)) for block in body.blocks]
        )
        self._nudge = body.nudge
        self._steps = 0  # since the reset

        self._hand = np.array(driver.home_m)
        self._velocity = np.zeros(3)
        self._start = self._target = self._hand
        self._done = self._wanted = 0  # steps of the motion under way
        self._opening_m = self._goal_m = OPEN_M
        self._finger_velocity = 0.0
        self._effort_n = 0.0
        self._closing = False
        self._held = NOTHING

    # -- time

    def step(self) -> None:
        """Move hand, fingers and what they hold, and let the other blocks sink."""
        before, opening_m = self._hand, self._opening_m
        if self._done < self._wanted:
            self._done += 1
            way = self._target - self._start
            self._hand = self._start + way * (self._done / self._wanted)
        self._move_fingers()
        if self._closing and self._held == NOTHING:
            self._take_hold(opening_m)
        self._velocity = (self._hand - before) / STEP_PERIOD_S
        self._finger_velocity = (self._opening_m - opening_m) / STEP_PERIOD_S
        self._push()
        if self._held != NOTHING:
            self._poses[self._held, :3] += self._hand - before
        for index, pose in enumerate(self._poses):
            if index != self._held and pose[2] > self._rest_m:
                pose[2] = max(self._rest_m, pose[2] - SINK_M_S * STEP_PERIOD_S)
        self._steps += 1

    def _move_fingers(self) -> None:
        goal_m = self._goal_m
        if self._held != NOTHING:
            goal_m = max(goal_m, self.object_sizes_m[self._held][0])
        most = self._driver.finger_speed_m_s * STEP_PERIOD_S
        way_m = goal_m - self._opening_m
        if abs(way_m) <= most * (1 + 1e-9):
            self._opening_m = goal_m  # a sum of steps would miss it by a rounding
        else:
            self._opening_m += math.copysign(most, way_m)

    def _take_hold(self, opening_m: float) -> None:
        """Hold the nearest block within reach, when the fingers get as near as it is wide.

        :param opening_m: before this step; fingers that were nearer have nothing between them
        """
        far = np.linalg.norm(self._poses[:, :3] - self._hand, axis=1)
        nearest = int(np.argmin(far))
        width_m = self.object_sizes_m[nearest][0]
        near = far[nearest] <= self._driver.reach_m
        if near and opening_m >= width_m >= self._opening_m:
            self._held = nearest
            self._opening_m = width_m

    def _push(self) -> None:
        nudge = self._nudge
        if nudge is None or not 0 <= self._steps - nudge.step < NUDGE_STEPS:
            return
        index = self.object_names.index(nudge.block)
        if index != self._held:
            shares = (0.0, *minimum_jerk(NUDGE_STEPS))
            at = self._steps - nudge.step
            share = shares[at + 1] - shares[at]
            self._poses[index, :2] += share * np.array(nudge.displacement_m)

    def state(self) -> BodyState:
        """Return the state after the last step; there are never any contacts."""
        return BodyState(
            np.array([*self._hand, self._opening_m]),
            np.array([*self._velocity, self._finger_velocity]),
            self._poses.copy(),
            self._held,
            np.empty(0, np.int32),
            np.empty(0, np.int32),
            np.empty(0, np.float64),
        )

    # -- motions

    def start_move(self, position_m: Sequence[float], orientation: Sequence[float] | None) -> int:
        """Set off in a straight line; return the number of steps at the hand's speed."""
        target = checked_vector(position_m, 3, 'position')
        if orientation is not None:
            raise BadCommand('this driver moves to positions only: leave the orientation free')
        self._start, self._target = self._hand, np.array(target)
        self._done = 0
        self._wanted = self._steps_for(math.dist(target, self._hand), self._driver.speed_m_s)
        return self._wanted

    @staticmethod
    def _steps_for(way_m: float, speed_m_s: float) -> int:
        # A way of whole steps shall not take one more for a rounding.
        return math.ceil(way_m / (speed_m_s * STEP_PERIOD_S) - 1e-9)

    def halt(self) -> None:
        """Stop the hand where it is."""
        self._wanted = self._done = 0

    def end_effector(self) -> EndEffector:
        """Return where the hand is; it always points down."""
        x, y, z = self._hand.tolist()
        return EndEffector((x, y, z), HAND_DOWN)

    # -- grips

    def start_grip(self, opening_m: float, max_effort_n: float, object_name: str) -> int:
        """Open or close the fingers; return the number of steps they take."""
        opening_m, max_effort_n = checked_grip(opening_m, max_effort_n, OPEN_M)
        closes = opening_m == 0 and max_effort_n > 0
        check_object(object_name, self.object_names, closes)
        self._closing = closes
        self._effort_n = 0.0 if opening_m > 0 else max_effort_n
        # Without any force the fingers stay where they are, and hold nothing.
        self._goal_m = opening_m if closes or opening_m > 0 else self._opening_m
        if not closes:
            self._held = NOTHING
        way_m = abs(self._goal_m - self._opening_m) if self._held == NOTHING else 0.0
        return self._steps_for(way_m, self._driver.finger_speed_m_s)

    def grip_outcome(self) -> GripOutcome:
        """Return where the fingers are; closing on nothing is no failure, but not stalled."""
        holds = self._held != NOTHING
        return GripOutcome(True, '', self._opening_m, self._effort_n, holds)

    def close(self) -> None:
        """Do nothing: there is nothing to free."""


def _turn_about_z(angle_rad: float) -> tuple[float, float]:
    return math.sin(angle_rad / 2), math.cos(angle_rad / 2)
