"""What a body is: settings that build a world, which moves only when it is stepped.

Positions are in the world frame [m], orientations unit quaternions x y z w.
"""

import hashlib
import math
import struct
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from alpha_chaos.closing import Closing
from alpha_chaos.plan import Waypoints
from alpha_chaos.plugins import Plugin

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

NOTHING = -1  # in place of an object's index


class BadCommand(ValueError):
    """A motion or grip command that cannot be carried out; nothing has moved or changed."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """The world after one step. The arrays belong to the caller and never change.

    :param joint_position: per joint [rad, or m for a sliding joint]
    :param joint_velocity: per joint [rad/s or m/s]
    :param object_pose: (objects, 7): x y z [m], qx qy qz qw
    :param held: index of the object in the gripper, -1 for none
    :param contact_link: per contact with the arm: index of its link, -1 for the base
    :param contact_object: per contact: index of the object touched, -1 for anything else
    :param contact_force: per contact: normal force [N]
    """

    joint_position: NDArray[np.float64]
    joint_velocity: NDArray[np.float64]
    object_pose: NDArray[np.float64]
    held: int
    contact_link: NDArray[np.int32]
    contact_object: NDArray[np.int32]
    contact_force: NDArray[np.float64]


class StateDigest:
    """A sha256 over states in the order of their steps; equal for equal bits, on any machine."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, step: int, state: BodyState) -> None:
        """Add the state after `step`. Everything goes in as little-endian 8-byte values."""
        self._hash.update(
            struct.pack(
                '<5q',
                step,
                state.held,
                state.joint_position.size,
                len(state.object_pose),
                state.contact_force.size,
            )
        )
        for values in (state.joint_position, state.joint_velocity, state.object_pose):
            self._hash.update(values.astype('<f8', copy=False).tobytes())
        if state.contact_force.size:
            self._hash.update(state.contact_link.astype('<i8').tobytes())
            self._hash.update(state.contact_object.astype('<i8').tobytes())
            self._hash.update(state.contact_force.astype('<f8', copy=False).tobytes())

    def hexdigest(self) -> str:
        """Return the digest of everything so far."""
        return self._hash.hexdigest()


@dataclass(frozen=True, slots=True)
class EndEffector:
    """Where the point is that `start_move` moves."""

    position_m: Vector
    orientation: Quaternion


@dataclass(frozen=True, slots=True)
class GripOutcome:
    """What became of a grip command once its steps have run.

    :param message: for people, when not reached
    :param effort_n: largest grip force now allowed, 0 when open
    :param stalled: the fingers stopped on something, or an object is held
    """

    reached: bool
    message: str
    opening_m: float
    effort_n: float
    stalled: bool


class World(Closing):
    """A simulated world of its own: built from nothing on construction, gone with `close`.

    The order of use is: start a motion or a grip, `step` as often as it said, look.
    """

    joint_names: tuple[str, ...]
    object_names: tuple[str, ...]
    object_sizes_m: tuple[Vector, ...]  # full extents
    base_position_m: Vector
    step_period_s: float

    @abstractmethod
    def step(self) -> None:
        """Let one step period pass."""

    @abstractmethod
    def state(self) -> BodyState:
        """Return the state after the last step."""

    @abstractmethod
    def start_move(self, position_m: Sequence[float], orientation: Sequence[float] | None) -> int:
        """Set the end effector going; return the number of steps the motion takes.

        :param orientation: None to leave it free
        :raises BadCommand: for a target that is no pose, before anything has changed
        """

    @abstractmethod
    def halt(self) -> None:
        """Give up the motion under way: hold the arm where it is. The gripper is left as it is."""

    @abstractmethod
    def end_effector(self) -> EndEffector:
        """Return where the end effector is after the last step."""

    @abstractmethod
    def start_grip(self, opening_m: float, max_effort_n: float, object_name: str) -> int:
        """Set the gripper going; return the number of steps it takes, possibly 0.

        An opening of 0 closes; an effort of 0 lets go.

        :param object_name: what to hold; may be empty when opening
        :raises BadCommand: before anything has changed
        """

    @abstractmethod
    def grip_outcome(self) -> GripOutcome:
        """Return what became of the last grip command; valid once its steps have run."""

    @abstractmethod
    def close(self) -> None:
        """Free everything; closing twice is harmless."""


class Block(BaseModel):
    """A loose block of the scene."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    name: Annotated[str, Field(min_length=1, pattern=r'^[a-z][a-z0-9_]*$')]
    position_m: Vector = Field(description='centre at the reset, in the world frame [m]')
    yaw_rad: float = Field(default=0.0, description='rotation about z at the reset [rad]')
    mass_kg: float | None = Field(default=None, gt=0, description='None: as its model says')
    friction: float | None = Field(
        default=None, ge=0, description='lateral friction coefficient; None: as its model says'
    )


class Nudge(BaseModel):
    """A push that moves one block over the table, whatever the robot does meanwhile."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    block: str
    step: int = Field(ge=0, le=100_000, description='physics steps since the reset, before it [1]')
    displacement_m: tuple[float, float] = Field(
        description='along x and y of the world frame [m]; the block is pushed so far, and lies '
        'there once friction has stopped it'
    )

    @field_validator('displacement_m')
    @classmethod
    def _leads_somewhere(cls, displacement_m: tuple[float, float]) -> tuple[float, float]:
        if not 1e-3 <= math.hypot(*displacement_m) <= 0.5:
            raise ValueError('a nudge moves a block by 0.001 to 0.5 m')
        return displacement_m


@dataclass(frozen=True)
class RobotModel:
    """What a robot looks like, for viewers.

    :param urdf: file, or the name of one that comes with PyBullet
    :param base_position_m: in the world frame
    """

    urdf: str
    base_position_m: Vector


class Body(Plugin):
    """Settings of a robot and its scene."""

    robot: ClassVar[RobotModel | None] = None  # there is none to be seen

    @property
    @abstractmethod
    def objects(self) -> tuple[str, ...]:
        """Return the names of the loose objects in the scene."""

    @property
    @abstractmethod
    def waypoints(self) -> Waypoints:
        """Return how far above blocks and zone this body's waypoints lie."""

    @abstractmethod
    def world(self) -> World:
        """Build a new world from nothing."""


class Tabletop(Body):
    """Settings of a robot at a table with loose blocks on it."""

    block_edge_m: ClassVar[float]

    blocks: tuple[Block, ...] = Field(
        min_length=1, description='loose blocks, in the order they are loaded'
    )
    table_friction: float | None = Field(
        default=None, ge=0, description='lateral friction coefficient; None: as its model says'
    )
    nudge: Nudge | None = Field(default=None, description='a block that is moved by somebody else')

    @field_validator('blocks')
    @classmethod
    def _names_are_unique(cls, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        names = [block.name for block in blocks]
        if len(set(names)) < len(names):
            raise ValueError(f'two blocks have the same name: {", ".join(names)}')
        return blocks

    @model_validator(mode='after')
    def _nudges_what_is_there(self) -> 'Tabletop':
        if self.nudge is not None and self.nudge.block not in self.objects:
            raise ValueError(
                f'nudge: there is no block {self.nudge.block!r}; known: {", ".join(self.objects)}'
            )
        return self

    @property
    def objects(self) -> tuple[str, ...]:
        """Return the names of the blocks."""
        return tuple(block.name for block in self.blocks)
