"""The body: owns the world, moves the arm and the gripper, and streams every physics step.

A real robot's driver replaces exactly this node; `docs/drivers.md` says what it must keep to.
"""

import math
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, ClassVar

import numpy as np
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from numpy.typing import NDArray
from pydantic import Field
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.bodies.base import BadCommand, Body, StateDigest, World
from alpha_chaos.catalogues import bodies, drivers, tasks
from alpha_chaos.drivers.base import Driver
from alpha_chaos.experiment import Episode
from alpha_chaos.health import Condition
from alpha_chaos.msg import BlockState, ObjectStates, StepState, WorldDescription
from alpha_chaos.nodes import qos
from alpha_chaos.nodes.clock import to_nanoseconds, to_seconds, to_time
from alpha_chaos.nodes.convert import point
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.flow import Respond, deferred_service
from alpha_chaos.nodes.goals import KEEP_RESULT_S
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.srv import Advance, Reset
from alpha_chaos.tasks.base import Task
from alpha_chaos.workspace import WORKSPACE

FRAME = 'world'


class SimParams(EpisodeParams):
    """Parameters of the sim node."""

    objects_every_n_steps: int = Field(
        24, ge=1, description='physics steps between objects messages [1]; 24 is 10 Hz'
    )
    joints_every_n_steps: int = Field(
        8, ge=1, description='physics steps between joint_states and /clock messages [1]'
    )
    steps_per_turn: int = Field(
        24, ge=1, description='physics steps before other callbacks (cancel) get a turn [1]'
    )


class _Turn:
    """Await this to let the executor run other callbacks first."""

    def __await__(self) -> Generator[None, None, None]:
        yield


class SimNode(EpisodeNode):
    """Thin glue around the `World` of a driver."""

    params_model = SimParams
    params: SimParams
    driver_kind: ClassVar[str] = 'sim'

    def __init__(self, **options: Any) -> None:
        super().__init__(self.driver_kind, **options)
        self._world: World | None = None
        self._hardware = self.driver_kind
        self._step = 0
        self._busy = False
        self._steps = self.outlet(StepState, 'step_state')
        self._objects = self.outlet(ObjectStates, 'objects')
        self._joints = self.outlet(JointState, 'joint_states')
        self._time_out = self.outlet(Clock, '/clock')
        self._description = self.outlet(WorldDescription, 'world', qos.LATCHED)
        deferred_service(self, Advance, '~/advance', self._on_advance)
        self._servers = [
            ActionServer(
                self,
                kind,
                name,
                execute,
                goal_callback=accept,
                cancel_callback=self._on_cancel,
                result_timeout=KEEP_RESULT_S,
            )
            for kind, name, execute, accept in (
                (MoveTo, 'arm/move_to', self._move_to, self._accept),
                (GripperCommand, 'gripper/command', self._grip, self._accept),
            )
        ]

    def check(self) -> None:
        """Wait for a command that is still being carried out."""
        self.require(not self._busy, 'the motion under way')

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Build the world from nothing and send its first state."""
        driver: Driver = parse(drivers(), episode.driver, 'driver')
        if driver.kind != self.driver_kind:
            raise BadSetting(f'the episode is for {driver.kind!r}, this is {self.driver_kind!r}')
        body: Body = parse(bodies(), episode.body, 'body')
        task: Task = parse(tasks(), episode.task, 'task')
        if self._world is not None:
            self._world.close()
        self._limits = driver.limits
        self._world = driver.world(body)
        self._hardware = f'{driver.kind}/{body.kind}'
        self._period = self._world.step_period_s
        self._first_step = self._step = task.first_step
        self._rate = episode.real_time_factor
        self._digest = StateDigest()
        self._description.send(self._describe(body, task))
        self._publish()

    def end(self) -> dict[str, Any]:
        """Report the digest over all steps."""
        return {'digest': self._digest.hexdigest(), 'step': self._step}

    def conditions(self) -> Iterator[Condition]:
        """Yield how far the world has come."""
        if self._world is None:
            return
        yield Condition(
            'steps',
            message='moving' if self._busy else 'standing still until it is asked to move',
            values={'last step': self._step, 'simulated time [s]': to_seconds(self.now)},
        )

    def hardware(self) -> str:
        """Return whose place it takes."""
        return self._hardware

    # -- time

    async def _run(self, steps: int, stopped: Callable[[], bool] = lambda: False) -> int:
        """Let `steps` physics steps pass and return how many did."""
        # Who watches shall see each step when it is due: best-effort viewers lose bursts.
        per_turn = 1 if self._rate > 0 else self.params.steps_per_turn
        started = time.monotonic()
        for done in range(steps):
            self._world.step()  # type: ignore[union-attr]
            self._step += 1
            self._publish()
            if (done + 1) % per_turn == 0 and done + 1 < steps:
                if self._rate > 0:
                    due = started + (done + 1) * self._period / self._rate
                    time.sleep(max(0.0, due - time.monotonic()))
                await _Turn()
                if stopped():
                    return done + 1
        return steps

    def _publish(self) -> None:
        state = self._world.state()  # type: ignore[union-attr]
        self.now = to_time((self._step - self._first_step) * self._period)
        header = Header(stamp=self.now, frame_id=FRAME)
        self._digest.update(self._step, state)
        message = StepState()
        message.header = header
        message.episode_id = self.episode_id
        message.step = self._step
        message.joint_position = state.joint_position
        message.joint_velocity = state.joint_velocity
        message.object_pose = state.object_pose.ravel()
        message.held_object = state.held
        message.contact_link = state.contact_link
        message.contact_object = state.contact_object
        message.contact_normal_force = state.contact_force
        self._steps.send(message)
        done = self._step - self._first_step
        if done % self.params.joints_every_n_steps == 0:
            self._time_out.send(Clock(clock=self.now))
            self._joints.send(
                JointState(
                    header=header,
                    name=self._world.joint_names,  # type: ignore[union-attr]
                    position=state.joint_position,
                    velocity=state.joint_velocity,
                )
            )
        if done % self.params.objects_every_n_steps == 0:
            self._objects.send(self._object_states(state.object_pose))

    def _object_states(self, poses: NDArray[np.float64]) -> ObjectStates:
        world = self._world
        assert world is not None
        return ObjectStates(
            header=Header(stamp=self.now, frame_id=FRAME),
            episode_id=self.episode_id,
            step=self._step,
            objects=[
                BlockState(name=name, pose=_pose(pose[:3], pose[3:]))
                for name, pose in zip(world.object_names, poses.tolist(), strict=True)
            ],
        )

    def _describe(self, body: Body, task: Task) -> WorldDescription:
        world = self._world
        assert world is not None
        low, high = WORKSPACE.min, WORKSPACE.max
        return WorldDescription(
            header=Header(stamp=self.now, frame_id=FRAME),
            episode_id=self.episode_id,
            body=body.kind,
            step_period=self._period,
            first_step=self._first_step,
            joint_names=world.joint_names,
            object_names=world.object_names,
            object_size=[float(side) for size in world.object_sizes_m for side in size],
            workspace_min=Point(x=low[0], y=low[1], z=low[2]),
            workspace_max=Point(x=high[0], y=high[1], z=high[2]),
            **_goal(task),
        )

    # -- commands

    def _on_advance(
        self, request: Advance.Request, response: Advance.Response, respond: Respond
    ) -> None:
        if not self.is_mine(request.episode_id):
            response.message = (
                f'{self.get_name()} runs {self.episode_id!r}, not {request.episode_id!r}'
            )
        elif self._busy:
            response.message = f'{self.get_name()} is busy with a command'
        else:
            self._busy = True

            async def advance() -> None:
                try:
                    done = await self._run(request.steps, lambda: not self._running)
                    response.ok = done == request.steps
                    if not response.ok:
                        response.message = (
                            f'the attempt ended after {done} of {request.steps} steps'
                        )
                    poses = self._world.state().object_pose  # type: ignore[union-attr]
                    response.objects = self._object_states(poses)
                    response.digest = self._digest.hexdigest()
                    response.published = self.published()
                except Exception as error:
                    response.message = f'{type(error).__name__}: {error}'
                    self.get_logger().error(f'advance failed: {response.message}')
                finally:
                    self._busy = False
                respond(response)

            assert self.executor is not None
            self.executor.create_task(advance)
            return
        respond(response)

    def _accept(self, goal: Any) -> GoalResponse:
        if not self.is_mine(goal.episode_id):
            self._drop('goal', goal.episode_id)
            return GoalResponse.REJECT
        if self._busy:
            self.get_logger().warning('refused a goal: another command is under way')
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    def _on_cancel(self, _: Any) -> CancelResponse:
        return CancelResponse.ACCEPT

    async def _move_to(self, handle: Any) -> MoveTo.Result:
        world, goal, result = self._world, handle.request, MoveTo.Result()
        assert world is not None
        target = goal.target.pose.position
        wanted = (target.x, target.y, target.z)
        turn = goal.target.pose.orientation
        try:
            frame = goal.target.header.frame_id
            if frame != FRAME:
                raise BadCommand(f'target in frame {frame!r}; this body takes {FRAME!r}')
            self._limits.check(wanted, self._age_s(goal.target.header.stamp))
            orientation = None if goal.position_only else (turn.x, turn.y, turn.z, turn.w)
            steps = world.start_move(wanted, orientation)
            done = await self._run(steps, lambda: bool(handle.is_cancel_requested))
            result.reached = done == steps
            if not result.reached:
                world.halt()
                result.message = f'cancelled after {done} of {steps} steps'
        except BadCommand as error:
            result.message = str(error)
        except Exception as error:
            result.message = self.spoil('motion', error)
        finally:
            self._busy = False
        tip = world.end_effector()
        result.reached_pose = PoseStamped(
            header=Header(stamp=self.now, frame_id=FRAME),
            pose=_pose(tip.position_m, tip.orientation),
        )
        result.error = math.dist(tip.position_m, wanted)
        result.step = self._step
        _settle(handle, result.reached)
        return result

    def _age_s(self, stamp: Any) -> float | None:
        """Return how long ago a goal was stamped, in simulated time; None for no stamp."""
        stamped_ns = to_nanoseconds(stamp)
        return (to_nanoseconds(self.now) - stamped_ns) / 1e9 if stamped_ns else None

    async def _grip(self, handle: Any) -> GripperCommand.Result:
        world, goal, result = self._world, handle.request, GripperCommand.Result()
        assert world is not None
        try:
            steps = world.start_grip(goal.opening, goal.max_effort, goal.object)
            done = await self._run(steps, lambda: bool(handle.is_cancel_requested))
            outcome = world.grip_outcome()
            result.reached = done == steps and outcome.reached
            result.message = outcome.message
            result.opening, result.effort = outcome.opening_m, outcome.effort_n
            result.stalled = outcome.stalled
        except BadCommand as error:
            result.message = str(error)
        except Exception as error:
            result.message = self.spoil('grip', error)
        finally:
            self._busy = False
        result.step = self._step
        _settle(handle, result.reached)
        return result


def _goal(task: Task) -> dict[str, Any]:
    """Return what a task aims at, where it has a place zone."""
    if not task.placements:
        return {}
    first = task.placements[0]
    return {'zone': point(first.position_m), 'success_radius': first.radius_m}


def _settle(handle: Any, reached: bool) -> None:
    """Say how a goal ended."""
    if handle.is_cancel_requested and not reached:
        handle.canceled()
    elif reached:
        handle.succeed()
    else:
        handle.abort()


def _pose(position: Any, orientation: Any) -> Pose:
    x, y, z = (float(value) for value in position)
    qx, qy, qz, qw = (float(value) for value in orientation)
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def main() -> int:
    """Run the node."""
    return run(SimNode)


if __name__ == '__main__':
    raise SystemExit(main())
