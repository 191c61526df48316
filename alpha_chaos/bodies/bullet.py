"""A world in a PyBullet client of its own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alpha_chaos.bodies.base import (
    NOTHING,
    BadCommand,
    Block,
    BodyState,
    Nudge,
    Vector,
    World,
)
from alpha_chaos.colours import COLOURS, colour_of

# Every state without contacts shares these; numpy refuses to write to them.
_NO_INDICES: NDArray[np.int32] = np.empty(0, np.int32)
_NO_FORCES: NDArray[np.float64] = np.empty(0, np.float64)
_NO_INDICES.flags.writeable = False
_NO_FORCES.flags.writeable = False

NUDGE_STEPS = 24  # 0.1 s: a hand's push, and not faster than the block can be pushed over

_SKY = (232, 236, 241)


@dataclass(frozen=True)
class View:
    """Where a picture is taken from; points in the world frame."""

    eye_m: Vector
    target_m: Vector
    field_of_view_deg: float


class BulletWorld(World):
    """The part of a PyBullet world that does not depend on the robot.

    Every call names its client: worlds in one process do not see each other.
    """

    def __init__(
        self, step_period_s: float, gravity_m_s2: float, engine: Mapping[str, float]
    ) -> None:
        """Connect and set the engine up; the subclass loads plane, table, arm and blocks.

        :param engine: arguments of setPhysicsEngineParameter
        """
        # Imported late: it prints a line, and whoever reads an experiment imports this module.
        import pybullet
        import pybullet_data

        self._bullet: Any = pybullet
        self._client: int = pybullet.connect(pybullet.DIRECT)
        if self._client < 0:
            raise RuntimeError('PyBullet has no free client: are worlds left open?')
        self.step_period_s = step_period_s
        # The engine's parameters come after the reset, which would undo them.
        self._call('resetSimulation')
        self._call('setAdditionalSearchPath', pybullet_data.getDataPath())
        self._call('setTimeStep', step_period_s)
        self._call('setGravity', 0, 0, gravity_m_s2)
        self._call('setPhysicsEngineParameter', **engine)
        self._arm = NOTHING
        self._joints: tuple[int, ...] = ()
        self._objects: tuple[int, ...] = ()
        self._index: dict[int, int] = {}
        self._held = NOTHING
        self._steps = 0  # since the reset
        self._touching: Any = None  # contacts of the arm, once somebody has asked for them
        self._nudge: Nudge | None = None
        self._nudge_path: tuple[tuple[float, float], ...] = ()  # of the block while it is pushed

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._bullet, name)(*args, physicsClientId=self._client, **kwargs)

    def _load_arm(self, urdf: str, base_position_m: Vector) -> None:
        """Load the arm on a fixed base; its movable joints make up the joint state."""
        self._arm = self._call('loadURDF', urdf, base_position_m, useFixedBase=True)
        self.base_position_m = base_position_m
        infos = [
            self._call('getJointInfo', self._arm, joint)
            for joint in range(self._call('getNumJoints', self._arm))
        ]
        movable = [info for info in infos if info[2] != self._bullet.JOINT_FIXED]
        self._joints = tuple(info[0] for info in movable)
        self.joint_names = tuple(info[1].decode() for info in movable)

    def _load_blocks(
        self, urdf: str, blocks: Sequence[Block], edge_m: float, scaling: float
    ) -> None:
        """Load the blocks, in this order, and apply what their settings change.

        :param edge_m: edge of the unscaled model
        """
        for block in blocks:
            half = block.yaw_rad / 2
            index = self._call(
                'loadURDF',
                urdf,
                block.position_m,
                (0.0, 0.0, math.sin(half), math.cos(half)),
                globalScaling=scaling,
            )
            if block.mass_kg is not None:
                mass_kg, _, inertia = self._call('getDynamicsInfo', index, -1)[:3]
                # Given a mass alone, the engine forgets the model's scaling of the inertia.
                self._call(
                    'changeDynamics',
                    index,
                    -1,
                    mass=block.mass_kg,
                    localInertiaDiagonal=[part * block.mass_kg / mass_kg for part in inertia],
                )
            if block.friction is not None:
                self._call('changeDynamics', index, -1, lateralFriction=block.friction)
            self._objects += (index,)
        edge_m *= scaling
        self.object_names = tuple(block.name for block in blocks)
        self.object_sizes_m = ((edge_m, edge_m, edge_m),) * len(blocks)
        self._index = {body: index for index, body in enumerate(self._objects)}

    def _prepare_nudge(self, nudge: Nudge | None) -> None:
        """Have a block pushed when its step comes."""
        self._nudge = nudge

    def step(self) -> None:
        """Let one step period pass."""
        nudge = self._nudge
        if nudge is not None and nudge.step <= self._steps < nudge.step + NUDGE_STEPS:
            self._push(nudge, self._steps - nudge.step)
        self._bullet.stepSimulation(self._client)
        self._steps += 1
        self._touching = None

    def _push(self, nudge: Nudge, step: int) -> None:
        """Give the block the velocity that brings it to the next point of its path.

        The path is straight and starts and ends at rest. The engine lets the block rub on the
        table, fall and strike others meanwhile; what is missing is made up for in the next step.
        """
        block = self._objects[self.object_names.index(nudge.block)]
        (x, y, _), _ = self._call('getBasePositionAndOrientation', block)
        (_, _, falling), _ = self._call('getBaseVelocity', block)
        if step == 0:
            self._nudge_path = tuple(
                (x + share * nudge.displacement_m[0], y + share * nudge.displacement_m[1])
                for share in minimum_jerk(NUDGE_STEPS)
            )
        to_x, to_y = self._nudge_path[step]
        velocity = ((to_x - x) / self.step_period_s, (to_y - y) / self.step_period_s, falling)
        self._call('resetBaseVelocity', block, velocity, (0.0, 0.0, 0.0))

    def _contacts(self) -> Any:
        """Return the contacts of the arm after the last step, as PyBullet has them."""
        if self._touching is None:
            # A filter on bodyA makes the arm the first of the two bodies in every contact.
            self._touching = self._call('getContactPoints', bodyA=self._arm)
        return self._touching

    def state(self) -> BodyState:
        """Return the state after the last step."""
        bullet, client = self._bullet, self._client
        joints = bullet.getJointStates(self._arm, self._joints, client)
        poses: list[float] = []
        for body in self._objects:
            position, orientation = bullet.getBasePositionAndOrientation(body, client)
            poses += position
            poses += orientation
        contacts = self._contacts()
        if contacts:
            find = self._index.get
            links = np.array([contact[3] for contact in contacts], np.int32)
            objects = np.array([find(contact[2], NOTHING) for contact in contacts], np.int32)
            forces = np.array([contact[9] for contact in contacts])
        else:
            links, objects, forces = _NO_INDICES, _NO_INDICES, _NO_FORCES
        return BodyState(
            np.array([joint[0] for joint in joints]),
            np.array([joint[1] for joint in joints]),
            np.array(poses).reshape(-1, 7),
            self._held,
            links,
            objects,
            forces,
        )

    def show(
        self, joint_position: Sequence[float], object_pose: Sequence[Sequence[float]]
    ) -> None:
        """Put the arm and the blocks where a recorded state has them, for `image`.

        :param joint_position: in the order of `joint_names`
        :param object_pose: as in `BodyState`, in the order of `object_names`
        """
        for joint, position in zip(self._joints, joint_position, strict=True):
            self._call('resetJointState', self._arm, joint, position)
        for block, pose in zip(self._objects, object_pose, strict=True):
            self._call('resetBasePositionAndOrientation', block, pose[:3], pose[3:])

    def paint(self, zone_m: Vector, radius_m: float) -> None:
        """Give the blocks the colours they are named after, and mark the zone as a disc.

        Only for a world that is shown, never for one that is stepped: the disc is a body.

        :param zone_m: where the centre of a block belongs
        """
        for name, block in zip(self.object_names, self._objects, strict=True):
            self._call(
                'changeVisualShape', block, -1, rgbaColor=colour_of(name), textureUniqueId=-1
            )
        disc = self._call(
            'createVisualShape',
            self._bullet.GEOM_CYLINDER,
            radius=radius_m,
            length=0.002,
            rgbaColor=COLOURS['yellow'],
        )
        x, y, _ = zone_m
        surface_m = self._call('rayTest', zone_m, (x, y, 0.0))[0][3][2]  # of what is below it
        self._call('createMultiBody', 0, -1, disc, (x, y, surface_m + 0.003))

    def image(self, view: View, width: int, height: int) -> NDArray[np.uint8]:
        """Return a picture (height, width, 3) in RGB, made by the processor alone."""
        picture = self._call(
            'getCameraImage',
            width,
            height,
            self._bullet.computeViewMatrix(view.eye_m, view.target_m, (0.0, 0.0, 1.0)),
            self._bullet.computeProjectionMatrixFOV(
                view.field_of_view_deg, width / height, 0.1, 6.0
            ),
            shadow=0,
            lightDirection=(1.0, 0.4, 3.0),
            renderer=self._bullet.ER_TINY_RENDERER,
            flags=self._bullet.ER_NO_SEGMENTATION_MASK,
        )[2]
        pixels = np.reshape(picture, (height, width, 4))[:, :, :3].astype(np.uint8)
        pixels[(pixels == 255).all(axis=2)] = _SKY
        return pixels

    def close(self) -> None:
        """Disconnect; closing twice is harmless."""
        if self._client >= 0:
            self._call('disconnect')
            # The next world may get this number: a closed one must not reach into it.
            self._client = NOTHING


def checked_vector(values: Sequence[float], size: int, what: str) -> tuple[float, ...]:
    """Return `size` finite numbers.

    :raises BadCommand: if they are fewer, more or not finite
    """
    vector = tuple(float(value) for value in values)
    if len(vector) != size or not all(map(math.isfinite, vector)):
        raise BadCommand(f'{what} must be {size} finite numbers, not {list(vector)}')
    return vector


def checked_grip(
    opening_m: float, max_effort_n: float, widest_m: float = math.inf
) -> tuple[float, float]:
    """Return opening [m] and effort [N] of a grip command.

    :raises BadCommand: for what no gripper can do
    """
    opening_m, max_effort_n = checked_vector((opening_m, max_effort_n), 2, 'opening and effort')
    if math.isinf(widest_m) and opening_m < 0:
        raise BadCommand(f'the opening must not be negative: {opening_m} m')
    if not 0 <= opening_m <= widest_m:
        raise BadCommand(f'the opening must be between 0 and {widest_m} m: {opening_m} m')
    if max_effort_n < 0:
        raise BadCommand(f'the effort must not be negative: {max_effort_n} N')
    return opening_m, max_effort_n


def check_object(name: str, known: Sequence[str], closes: bool) -> None:
    """Refuse an object that is not there; who only opens need not name one.

    :raises BadCommand: naming those that are
    """
    if name not in known and (closes or name):
        raise BadCommand(f'unknown object {name!r}; known: {", ".join(known)}')


def minimum_jerk(steps: int) -> tuple[float, ...]:
    """Return the share of a way from rest to rest that lies behind after each of its steps.

    Flash and Hogan (1985), 10 t^3 - 15 t^4 + 6 t^5. The last share is 1.
    """
    times = (step / steps for step in range(1, steps + 1))
    return tuple(time * time * time * (10 - time * (15 - 6 * time)) for time in times)
