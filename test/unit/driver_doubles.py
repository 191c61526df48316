"""Drivers to be checked, good and bad, and the controllers of a robot: `python … NAME`."""

import math
import sys
from dataclasses import replace

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.bodies.base import BadCommand, EndEffector
from alpha_chaos.bodies.panda import ARM_JOINTS, HOME_RAD
from alpha_chaos.drivers.base import Limits
from alpha_chaos.msg import BlockState, ObjectStates, TopicCount
from alpha_chaos.nodes.clock import to_nanoseconds
from alpha_chaos.nodes.flow import Wait, after
from alpha_chaos.nodes.goals import Done, PendingGoals
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.mock_driver_node import MockDriverNode
from alpha_chaos.nodes.spin import run
from alpha_chaos.workspace import WORKSPACE

PERIOD_S = 0.02
SPEED_M_S = 1.5
RELIABLE = QoSProfile(depth=50)


class BareDriver(Node):
    """The least that keeps the contract: no episodes, no physics, in real time."""

    limits = Limits(workspace=WORKSPACE, max_goal_age_s=10.0)
    quality = RELIABLE

    def __init__(self, **options):
        super().__init__('bare_driver', **options)
        self.hand = [0.5, 0.0, 0.9]
        self.opening = 0.08
        self.joints = self.create_publisher(JointState, 'joint_states', self.quality)
        self.objects = self.create_publisher(ObjectStates, 'objects', RELIABLE)
        self.create_timer(PERIOD_S, self.publish)
        self.serve(MoveTo, 'arm/move_to', self.move)
        self.serve(GripperCommand, 'gripper/command', self.grip)

    def serve(self, kind, name, work):
        self.goals = goals = PendingGoals(self, work)
        ActionServer(
            self,
            kind,
            name,
            goals.result,
            goal_callback=lambda goal: self.accept(goal, goals),
            handle_accepted_callback=goals.start,
            cancel_callback=self.on_cancel,
        )

    def spoil(self, what, error):
        self.get_logger().error(f'{what}: {error!r}')
        return str(error)

    def accept(self, goal, goals):
        return GoalResponse.REJECT if goals.busy else GoalResponse.ACCEPT

    def on_cancel(self, handle):
        return CancelResponse.ACCEPT

    def header(self):
        return Header(stamp=self.get_clock().now().to_msg(), frame_id='world')

    def publish(self):
        self.joints.publish(
            JointState(
                header=self.header(),
                name=['x', 'y', 'z', 'fingers'],
                position=[*self.hand, self.opening],
            )
        )
        self.objects.publish(ObjectStates(header=self.header(), objects=self.seen()))

    def seen(self):
        return []

    def check(self, goal, target):
        stamp = to_nanoseconds(goal.target.header.stamp)
        age_s = (self.get_clock().now().nanoseconds - stamp) / 1e9 if stamp else None
        if goal.target.header.frame_id != 'world':
            raise BadCommand('unknown frame')
        if not all(map(math.isfinite, target)):
            raise BadCommand('not finite')
        self.limits.check(target, age_s)

    async def move(self, handle):
        goal, result = handle.request, MoveTo.Result()
        place = goal.target.pose.position
        target = [place.x, place.y, place.z]
        try:
            self.check(goal, target)
            result.reached = await self.go(handle, target)
            result.message = '' if result.reached else 'cancelled'
        except BadCommand as error:
            result.message = str(error)
        x, y, z = self.hand
        result.reached_pose = PoseStamped(
            header=self.header(),
            pose=Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=1.0)),
        )
        result.error = math.dist(self.hand, target)
        return Done(result, result.reached)

    async def go(self, handle, target):
        start = list(self.hand)
        steps = math.ceil(math.dist(start, target) / (SPEED_M_S * PERIOD_S))
        for step in range(1, steps + 1):
            await Wait(after(self, PERIOD_S))
            if handle.is_cancel_requested:
                return False
            share = step / steps
            self.hand = [a + share * (b - a) for a, b in zip(start, target, strict=True)]
        return True

    def check_grip(self, goal):
        if not 0 <= goal.opening <= 0.1 or not 0 <= goal.max_effort < math.inf:
            raise BadCommand('no such grip')

    async def grip(self, handle):
        goal, result = handle.request, GripperCommand.Result()
        try:
            self.check_grip(goal)
            self.opening = goal.opening
            result.reached = True
        except BadCommand as error:
            result.message = str(error)
        result.opening = self.opening
        return Done(result, result.reached)


class Reckless(BareDriver):
    """Tries everything."""

    def check(self, goal, target):
        if not all(map(math.isfinite, target)):
            target[:] = self.hand

    def check_grip(self, goal):
        goal.opening = 0.0


class Deaf(BareDriver):
    """Hears no cancel, sulks after a refusal, and lets goals pile up; its topics are poor."""

    quality = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
    sulks = False

    def accept(self, goal, goals):
        if self.sulks:
            self.sulks = False
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def on_cancel(self, handle):
        return CancelResponse.REJECT

    async def move(self, handle):
        if self.busy:
            await Wait(after(self, 3600.0))
        self.busy = True
        try:
            done = await super().move(handle)
        finally:
            self.busy = False
        self.sulks = not done.succeeded
        return done

    busy = False

    def seen(self):
        return [BlockState(name='red', pose=Pose(orientation=Quaternion(w=0.0)))]

    async def grip(self, handle):
        done = await super().grip(handle)
        done.result.opening = 0.5
        return replace(done, result=done.result)


class Liar(MockDriverNode):
    """Takes part in episodes, and nothing that it says is so."""

    def __init__(self, **options):
        super().__init__(**options)
        self.create_timer(0.05, self.wander)
        send = self._steps.send
        self._steps.send = lambda message: message.step % 7 and send(message)

    def wander(self):
        if self._world is not None and not self._busy:
            self._world.step()
            self._step += 1
            self._publish()

    def _accept(self, goal):
        goal.episode_id = self.episode_id
        return super()._accept(goal)

    def _on_advance(self, request, response, respond):
        request.episode_id = self.episode_id
        super()._on_advance(request, response, respond)

    def published(self):
        return [TopicCount(topic=one.topic, count=one.count // 2) for one in super().published()]

    def _describe(self, body, task):
        world = super()._describe(body, task)
        world.first_step += 1
        return world

    def begin(self, episode, request):
        super().begin(episode, request)
        world = self._world
        place = [0.0, 0.0, 0.0]

        def start(position_m, orientation):
            place[:] = position_m
            return 0

        world.start_move = start
        world.end_effector = lambda: EndEffector((1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0))


class Controllers(Node):
    """What ros2_control would be: two controllers and a broadcaster, for a Panda."""

    moves = hears = True
    answer = None  # what the arm's controller says instead of carrying out a goal

    def __init__(self, **options):
        super().__init__('controllers', **options)
        self.names = [f'panda_joint{joint + 1}' for joint in ARM_JOINTS] + ['panda_finger_joint1']
        self.positions = dict(zip(self.names, (*HOME_RAD, 0.04), strict=True))
        self.joints = self.create_publisher(JointState, 'joint_states', RELIABLE)
        self.create_timer(PERIOD_S, self.publish)
        self.trajectory = load('control_msgs/action/FollowJointTrajectory')
        self.parallel = load('control_msgs/action/ParallelGripperCommand')
        arm = 'arm_controller/follow_joint_trajectory'
        self.serve(self.trajectory, arm, self.follow)
        self.serve(self.parallel, 'gripper_controller/gripper_cmd', self.grip)

    serve = BareDriver.serve
    accept = BareDriver.accept
    spoil = BareDriver.spoil
    header = BareDriver.header

    def on_cancel(self, handle):
        return CancelResponse.ACCEPT if self.hears else CancelResponse.REJECT

    def publish(self):
        self.joints.publish(
            JointState(
                header=self.header(), name=self.names, position=list(self.positions.values())
            )
        )

    async def follow(self, handle):
        if self.answer is not None:
            return Done(self.answer, False)
        trajectory = handle.request.trajectory
        (point,) = trajectory.points
        seconds = point.time_from_start.sec + point.time_from_start.nanosec / 1e9
        done = await self.go(handle, trajectory.joint_names, point.positions, seconds)
        return Done(self.trajectory.Result(), done)

    async def go(self, handle, names, goal, seconds):
        if not self.moves:
            return True
        start = dict(self.positions)
        steps = max(1, round(seconds / PERIOD_S))
        for step in range(1, steps + 1):
            await Wait(after(self, PERIOD_S))
            if handle.is_cancel_requested:
                return False
            for name, to in zip(names, goal, strict=True):
                self.positions[name] = start[name] + step / steps * (to - start[name])
        return True

    async def grip(self, handle):
        command = handle.request.command
        done = await self.go(handle, command.name, command.position, 0.1)
        result = self.parallel.Result(reached_goal=done)
        result.state = JointState(
            name=list(command.name), position=[self.positions[command.name[0]]]
        )
        return Done(result, done)


DOUBLES = {one.__name__.lower(): one for one in (BareDriver, Reckless, Deaf, Liar, Controllers)}

if __name__ == '__main__':
    raise SystemExit(run(DOUBLES[sys.argv.pop(1)]))
