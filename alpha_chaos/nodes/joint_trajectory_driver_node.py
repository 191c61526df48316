"""A driver on top of ros2_control: FollowJointTrajectory for the arm, ParallelGripperCommand.

Needs control_msgs and trajectory_msgs, which no other node does. It takes part in no episodes: it
can neither build a world anew nor stop time.
"""

import math
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from pydantic import Field
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.bodies.base import BadCommand
from alpha_chaos.bodies.bullet import checked_grip, checked_vector
from alpha_chaos.bodies.ghost_arm import ArmModel, GhostArm
from alpha_chaos.catalogues import bodies
from alpha_chaos.drivers.base import Limits
from alpha_chaos.health import Condition, Level
from alpha_chaos.msg import BlockState, ObjectStates
from alpha_chaos.nodes.clock import to_nanoseconds
from alpha_chaos.nodes.convert import vector
from alpha_chaos.nodes.diagnostics import Diagnostics, WatchedParams
from alpha_chaos.nodes.flow import TimedOut, in_time
from alpha_chaos.nodes.goals import KEEP_RESULT_S, Done, PendingGoals
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.params import declare
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting, unknown
from alpha_chaos.printable import printable
from alpha_chaos.workspace import Box

ANSWER_S = 5.0  # for a controller to take a goal, or to obey a cancel
SLOWEST = 3.0  # of the time a motion was given, before it is given up
SHORTEST_S = 0.1  # of a motion
RELIABLE = QoSProfile(depth=10)


class JointTrajectoryDriverParams(WatchedParams):
    """Parameters of the driver."""

    arm_controller: str = Field(
        'arm_controller/follow_joint_trajectory', description='FollowJointTrajectory action'
    )
    gripper_controller: str = Field(
        'gripper_controller/gripper_cmd', description='ParallelGripperCommand action'
    )
    body: str = Field('panda', description="whose arm it is, if it is one of this package's")
    urdf: str = Field('', description='file that describes the arm, instead of `body`')
    end_effector: str = Field('', description='with `urdf`: link that targets are for')
    base: str = Field('0 0 0', description='with `urdf`: where its base is, x y z [m]')
    tool: str = Field(
        '1 0 0 0',
        description='with `urdf`: orientation of the end effector where a goal leaves it free, '
        'x y z w; by default its z axis points down',
    )
    joint_speed: float = Field(0.5, gt=0, description='of the fastest joint [rad/s]')
    frame: str = Field('world', description='of every target and pose')
    workspace: str = Field(
        '0.15 -0.45 0.55 0.95 0.55 1.25',
        description='where targets may lie, lower and upper corner [m]; empty: anywhere in reach',
    )
    max_goal_age: float = Field(
        10.0, ge=0, description='since the stamp of a goal [s]; 0: any; no stamp means now'
    )
    reach_tolerance: float = Field(
        0.002,
        gt=0,
        description='largest distance from a target that inverse kinematics may leave [m]',
    )
    arrival_tolerance: float = Field(
        0.02, gt=0, description='largest distance from a target at which a motion is done [m]'
    )
    gripper_joint: str = Field('panda_finger_joint1', description='joint the gripper is moved by')
    gripper_scale: float = Field(
        0.5, gt=0, description='position of that joint per metre between the fingers [1]'
    )
    gripper_open: float = Field(0.08, gt=0, description='widest opening [m]')
    poses: list[str] = Field(
        [], description="where objects are: '<name>=<topic>' of geometry_msgs/PoseStamped"
    )
    pose_timeout: float = Field(
        1.0, gt=0, description='an object not seen for so long is not reported [s]'
    )


class JointTrajectoryDriverNode(Node):
    """Turns targets into joint positions, and hands these to the controllers."""

    params_model = JointTrajectoryDriverParams

    def __init__(self, **options: Any) -> None:
        super().__init__('joint_trajectory_driver', **options)
        self.params = declare(self, self.params_model)
        self._limits = Limits(
            workspace=_box(self.params.workspace), max_goal_age_s=self.params.max_goal_age or None
        )
        self._model = _model(self.params)
        try:
            self._trajectory = load('control_msgs/action/FollowJointTrajectory')
            self._parallel = load('control_msgs/action/ParallelGripperCommand')
            self._point = load('trajectory_msgs/msg/JointTrajectoryPoint')
        except BadSetting as error:
            raise BadSetting(f'{error}; Debian package ros-<distribution>-control-msgs') from None
        try:
            self._ghost = GhostArm(
                self._model.urdf,
                self._model.base_position_m,
                self._model.end_effector,
                joints_only=True,
            )
        except BadCommand as error:
            raise BadSetting(str(error)) from None
        self._names = [self._ghost.joint_names[index] for index in self._ghost.chain]
        self._positions: dict[str, float] = {}
        self._heard_s = math.nan  # when the last of them came
        self._next_state = Future()
        self._running: dict[bytes, Any] = {}  # the controller's goal, by the client's
        self.create_subscription(JointState, 'joint_states', self._on_joints, RELIABLE)
        self._seen: dict[str, PoseStamped] = {}
        for entry in self.params.poses:
            name, _, topic = entry.partition('=')
            if not name or not topic:
                raise BadSetting(f'poses {entry!r}: expected "<name>=<topic>"')
            self.create_subscription(PoseStamped, topic, partial(self._on_pose, name), RELIABLE)
        self._objects = self.create_publisher(ObjectStates, 'objects', RELIABLE)
        self.create_timer(0.1, self._report_objects)
        self._arm = ActionClient(self, self._trajectory, self.params.arm_controller)
        self._gripper = ActionClient(self, self._parallel, self.params.gripper_controller)
        self._servers = [
            self._serve(MoveTo, 'arm/move_to', self._move_to),
            self._serve(GripperCommand, 'gripper/command', self._grip),
        ]
        arm = self.params.urdf or self.params.body
        Diagnostics(self, self._health, self.params.diagnostics_period, lambda: arm)

    def _serve(self, kind: Any, name: str, work: Any) -> ActionServer:
        goals = PendingGoals(self, work)

        def accept(_: Any) -> GoalResponse:
            if not goals.busy:
                return GoalResponse.ACCEPT
            self.get_logger().warning(f'refused a goal of {name}: another one is under way')
            return GoalResponse.REJECT

        return ActionServer(
            self,
            kind,
            name,
            goals.result,
            goal_callback=accept,
            handle_accepted_callback=goals.start,
            cancel_callback=self._on_cancel,
            result_timeout=KEEP_RESULT_S,
        )

    def spoil(self, what: str, error: BaseException) -> str:
        """Log an error of ours, and return it as text."""
        text = printable(f'{what} failed: {type(error).__name__}: {error}')
        self.get_logger().error(text)
        return text

    def _health(self, now_s: float) -> Iterator[Condition]:
        there = {
            name: client.server_is_ready()
            for name, client in (
                (self.params.arm_controller, self._arm),
                (self.params.gripper_controller, self._gripper),
            )
        }
        missing = ', '.join(name for name, ready in there.items() if not ready)
        yield Condition(
            'controllers',
            Level.ERROR if missing else Level.OK,
            f'there is no controller {missing}' if missing else '',
            {name: 'connected' if ready else 'missing' for name, ready in there.items()},
        )
        unknown = ', '.join(name for name in self._names if name not in self._positions)
        yield Condition(
            'joint states',
            Level.STALE if unknown else Level.OK,
            f'nobody has said where {unknown} are' if unknown else '',
            {'age of the last [s]': now_s - self._heard_s, 'goals under way': len(self._running)},
        )

    # -- what is heard

    def _on_joints(self, message: JointState) -> None:
        self._positions.update(zip(message.name, message.position, strict=False))
        self._heard_s = time.monotonic()
        done, self._next_state = self._next_state, Future()
        done.set_result(None)

    def _on_pose(self, name: str, message: PoseStamped) -> None:
        frame = message.header.frame_id
        if frame == self.params.frame:
            self._seen[name] = message
        else:
            self.get_logger().warning(
                f'{name} is reported in frame {frame!r}, and {self.params.frame!r} is needed',
                once=True,
            )

    def _report_objects(self) -> None:
        now = self.get_clock().now()
        limit_ns = self.params.pose_timeout * 1e9
        fresh = {
            name: seen.pose
            for name, seen in self._seen.items()
            if now.nanoseconds - to_nanoseconds(seen.header.stamp) <= limit_ns
        }
        self._objects.publish(
            ObjectStates(
                header=Header(stamp=now.to_msg(), frame_id=self.params.frame),
                objects=[BlockState(name=name, pose=pose) for name, pose in fresh.items()],
            )
        )

    # -- the arm

    def _on_cancel(self, handle: Any) -> CancelResponse:
        running = self._running.get(bytes(handle.goal_id.uuid))
        if running is not None:
            running.cancel_goal_async()
        return CancelResponse.ACCEPT

    async def _move_to(self, handle: Any) -> Done:
        result, wanted = MoveTo.Result(), vector(handle.request.target.pose.position)
        try:
            joints = self._solve(handle.request)
            answer, result.message = await self._follow(
                handle, self._arm, *self._trajectory_to(joints)
            )
            if answer is not None and answer.error_code:
                result.message = f'controller: error {answer.error_code}: {answer.error_string}'
            elif answer is not None and not result.message:
                result.reached = True
            await self._newer_state()
        except BadCommand as error:
            result.message = str(error)
        tip = self._tip()
        if tip is None:
            result.error = math.nan
        else:
            result.error = math.dist(vector(tip.pose.position), wanted)
            result.reached_pose = tip
        if result.reached and not result.error <= self.params.arrival_tolerance:
            result.reached = False
            result.message = f'the controller is done, and the arm {result.error:.3f} m away'
        return Done(result, result.reached)

    def _solve(self, goal: Any) -> tuple[float, ...]:
        """Return the positions of the arm's joints for a target.

        :raises BadCommand: for a target that is not to be tried, or out of reach
        """
        header = goal.target.header
        if header.frame_id != self.params.frame:
            raise BadCommand(
                f'target in frame {header.frame_id!r}; this driver takes {self.params.frame!r}'
            )
        x, y, z = checked_vector(vector(goal.target.pose.position), 3, 'position')
        stamped_ns = to_nanoseconds(header.stamp)
        age_ns = self.get_clock().now().nanoseconds - stamped_ns
        self._limits.check((x, y, z), age_ns / 1e9 if stamped_ns else None)
        tool = self._model.tool
        if not goal.position_only:
            turn = goal.target.pose.orientation
            qx, qy, qz, qw = checked_vector((turn.x, turn.y, turn.z, turn.w), 4, 'orientation')
            if abs(math.hypot(qx, qy, qz, qw) - 1) > 1e-3:
                raise BadCommand('an orientation is a unit quaternion')
            tool = qx, qy, qz, qw
        now = self._all_joints()
        if now is None:
            missing = ', '.join(name for name in self._names if name not in self._positions)
            raise BadCommand(f'nobody has said on joint_states where {missing} are')
        home = list(self._ghost.middle())
        for index, value in zip(self._ghost.chain, self._model.home_rad, strict=False):
            home[index] = value
        found = self._ghost.solve((x, y, z), tool, now, home)
        left_m = math.inf
        if found is not None:
            left_m = math.dist(self._ghost.pose(found).position_m, (x, y, z))
        if found is None or left_m > self.params.reach_tolerance:
            raise BadCommand(f'out of reach: the arm ends {left_m:.3f} m from the target')
        return tuple(found[index] for index in self._ghost.chain)

    def _trajectory_to(self, joints: Sequence[float]) -> tuple[Any, float]:
        """Return a goal for the controller, and how long the motion may take [s]."""
        far = max(
            abs(joint - self._positions[name])
            for name, joint in zip(self._names, joints, strict=True)
        )
        seconds = max(SHORTEST_S, far / self.params.joint_speed)
        point = self._point(positions=list(joints), velocities=[0.0] * len(joints))
        point.time_from_start.sec = int(seconds)
        point.time_from_start.nanosec = int(seconds % 1 * 1e9)
        goal = self._trajectory.Goal()
        goal.trajectory.joint_names = self._names
        goal.trajectory.points = [point]
        return goal, seconds

    async def _follow(
        self, handle: Any, client: ActionClient, goal: Any, seconds: float
    ) -> tuple[Any, str]:
        """Have a controller carry out a goal; return its result, and what went wrong if it did."""
        name, key = client._action_name, bytes(handle.goal_id.uuid)
        if not client.server_is_ready():
            return None, f'there is no controller {name}'
        try:
            accepted = await in_time(self, client.send_goal_async(goal), ANSWER_S, name)
            if not accepted.accepted:
                return None, f'refused by {name}'
            self._running[key] = accepted
            if handle.is_cancel_requested:  # before there was anything to cancel
                accepted.cancel_goal_async()
            limit_s = ANSWER_S + SLOWEST * seconds
            try:
                answer = await in_time(self, accepted.get_result_async(), limit_s, name)
            except TimedOut:
                accepted.cancel_goal_async()
                raise
        except TimedOut as error:
            return None, str(error)
        finally:
            self._running.pop(key, None)
        if answer.status == GoalStatus.STATUS_CANCELED:
            return answer.result, 'cancelled'
        succeeded = answer.status == GoalStatus.STATUS_SUCCEEDED
        return answer.result, '' if succeeded else f'aborted by {name}'

    async def _newer_state(self) -> None:
        """Wait until the joints' positions are of after now, or nobody tells."""
        try:
            await in_time(self, self._next_state, 1.0, 'joint_states')
        except TimedOut:
            return

    def _all_joints(self) -> tuple[float, ...] | None:
        if any(name not in self._positions for name in self._names):
            return None
        middle = self._ghost.middle()
        return tuple(
            self._positions.get(name, rest)
            for name, rest in zip(self._ghost.joint_names, middle, strict=True)
        )

    def _tip(self) -> PoseStamped | None:
        """Return where the end effector is, None if nobody says where the joints are."""
        joints = self._all_joints()
        if joints is None:
            return None
        tip = self._ghost.pose(joints)
        x, y, z = tip.position_m
        qx, qy, qz, qw = tip.orientation
        return PoseStamped(
            header=Header(stamp=self.get_clock().now().to_msg(), frame_id=self.params.frame),
            pose=Pose(
                position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw)
            ),
        )

    # -- the gripper

    async def _grip(self, handle: Any) -> Done:
        goal, result = handle.request, GripperCommand.Result()
        closes = goal.opening == 0 and goal.max_effort > 0
        try:
            command = self._grip_goal(goal)
            answer, result.message = await self._follow(handle, self._gripper, command, SHORTEST_S)
            if answer is not None:
                self._read_grip(answer, closes, result)
            if answer is not None and not result.message:
                result.reached = bool(answer.reached_goal or (closes and answer.stalled))
                if not result.reached:
                    result.message = f'the fingers stopped at {result.opening:.4f} m'
        except BadCommand as error:
            result.message = str(error)
        result.effort = goal.max_effort if result.reached and closes else 0.0
        return Done(result, result.reached)

    def _grip_goal(self, goal: Any) -> Any:
        """Return a goal for the controller.

        A gripper that shall let go opens: limp fingers are not to be had from a controller.

        :raises BadCommand: for numbers that cannot be
        """
        opening, effort = checked_grip(goal.opening, goal.max_effort, self.params.gripper_open)
        if opening == 0 and effort == 0:
            opening = self.params.gripper_open
        made = self._parallel.Goal()
        made.command.name = [self.params.gripper_joint]
        made.command.position = [opening * self.params.gripper_scale]
        made.command.effort = [effort] if effort > 0 else []
        return made

    def _read_grip(self, answer: Any, closes: bool, result: Any) -> None:
        state = answer.state
        at = dict(zip(state.name, state.position, strict=False))
        position = at.get(self.params.gripper_joint, state.position[0] if state.position else 0.0)
        result.opening = max(0.0, position / self.params.gripper_scale)
        result.stalled = bool(answer.stalled) and closes

    def destroy_node(self) -> None:
        """Let the model of the arm go, too."""
        self._ghost.close()
        super().destroy_node()


def _box(text: str) -> Box | None:
    if not text.strip():
        return None
    numbers = _numbers('workspace', text, 6)
    low, high = numbers[:3], numbers[3:]
    if not all(one < other for one, other in zip(low, high, strict=True)):
        raise BadSetting(f'workspace {text!r}: the first corner must be the lower one')
    return Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))


def _model(params: JointTrajectoryDriverParams) -> ArmModel:
    if params.urdf:
        if not params.end_effector:
            raise BadSetting('which link is the end effector of `urdf`? Set `end_effector`')
        x, y, z = _numbers('base', params.base, 3)
        qx, qy, qz, qw = _numbers('tool', params.tool, 4)
        return ArmModel(params.urdf, (x, y, z), params.end_effector, (), (qx, qy, qz, qw))
    models = {kind: getattr(body, 'arm_model', None) for kind, body in bodies().items()}
    known = {kind: model for kind, model in models.items() if model is not None}
    if params.body not in known:
        raise BadSetting(unknown('arm', params.body, known) + '; `urdf` takes any other')
    found: ArmModel = known[params.body]
    return found


def _numbers(what: str, text: str, count: int) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split())
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise BadSetting(f'{what} {text!r}: {count} numbers are expected')
    return numbers


def main() -> int:
    """Run the node."""
    return run(JointTrajectoryDriverNode)


if __name__ == '__main__':
    raise SystemExit(main())
