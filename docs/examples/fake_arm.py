"""A driver in one file: an arm of three linear axes and a gripper, in real time, without hardware.

It keeps the contract of docs/drivers.md, so `alpha-chaos check-driver` has nothing to say against
it. What a real driver does otherwise is in `Axes`; the rest is what every driver owes its clients.
"""

import math
import threading
import time
from contextlib import suppress
from functools import partial

import rclpy
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.time import Time
from sensor_msgs.msg import JointState

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.msg import ObjectStates

FRAME = 'world'
LOW_M, HIGH_M = (0.15, -0.45, 0.55), (0.95, 0.55, 1.25)  # where targets may lie
OLDEST_S = 10.0  # a goal older than this is not carried out
OPEN_M = 0.08  # widest opening
PERIOD_S = 0.02


class Axes:
    """What a real driver talks to: three motors and a gripper."""

    def __init__(self) -> None:
        self.position_m = [0.5, 0.0, 1.0]
        self.opening_m = OPEN_M
        self.speed_m_s = 0.5

    def approach(self, target_m: list[float]) -> float:
        """Move for one period; return the distance that is left [m]."""
        far_m = math.dist(target_m, self.position_m)
        share = 1.0 if far_m == 0 else min(1.0, self.speed_m_s * PERIOD_S / far_m)
        self.position_m = [
            here + share * (there - here)
            for here, there in zip(self.position_m, target_m, strict=True)
        ]
        return math.dist(target_m, self.position_m)


class FakeArm(Node):
    """Serves `arm/move_to` and `gripper/command`, publishes `joint_states` and `objects`."""

    def __init__(self) -> None:
        super().__init__('fake_arm')
        self._axes = Axes()
        self._free = threading.Lock()
        group = ReentrantCallbackGroup()
        for kind, name, why_not, carry_out in (
            (MoveTo, 'arm/move_to', self._wrong_motion, self._move),
            (GripperCommand, 'gripper/command', self._wrong_grip, self._grip),
        ):
            ActionServer(
                self,
                kind,
                name,
                partial(self._execute, carry_out),
                callback_group=group,
                goal_callback=partial(self._accept, name, why_not),
                cancel_callback=lambda _: CancelResponse.ACCEPT,
            )
        self._joints = self.create_publisher(JointState, 'joint_states', 10)
        self._objects = self.create_publisher(ObjectStates, 'objects', 10)
        self.create_timer(PERIOD_S, self._report)

    def _report(self) -> None:
        stamp = self.get_clock().now().to_msg()
        joints = JointState(name=['x', 'y', 'z', 'fingers'])
        joints.header.stamp = stamp
        joints.position = [*self._axes.position_m, self._axes.opening_m]
        self._joints.publish(joints)
        objects = ObjectStates()  # it knows of none
        objects.header.stamp, objects.header.frame_id = stamp, FRAME
        self._objects.publish(objects)

    # -- what is refused: before anything moves, and with a reason

    def _accept(self, name: str, why_not, goal) -> GoalResponse:
        problem = why_not(goal)
        if not problem and not self._free.acquire(blocking=False):
            problem = 'another goal is under way'
        if problem:
            self.get_logger().warning(f'{name}: refused: {problem}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _wrong_motion(self, goal: MoveTo.Goal) -> str:
        header, place = goal.target.header, goal.target.pose.position
        target_m = (place.x, place.y, place.z)
        age_s = (self.get_clock().now() - Time.from_msg(header.stamp)).nanoseconds / 1e9
        if not all(map(math.isfinite, target_m)):  # first: every comparison with NaN is false
            return f'target {target_m} is not finite'
        if header.frame_id != FRAME:
            return f'frame {header.frame_id!r}; right would be {FRAME!r}'
        if not all(
            low <= value <= high for low, value, high in zip(LOW_M, target_m, HIGH_M, strict=True)
        ):
            return f'target {target_m} m is not between {LOW_M} and {HIGH_M} m'
        if (header.stamp.sec or header.stamp.nanosec) and age_s > OLDEST_S:
            return f'the goal is {age_s:.1f} s old; {OLDEST_S:g} s are allowed'
        return ''

    def _wrong_grip(self, goal: GripperCommand.Goal) -> str:
        if not (0 <= goal.opening <= OPEN_M and 0 <= goal.max_effort < math.inf):
            return (
                f'opening {goal.opening} m with {goal.max_effort} N; 0 to {OPEN_M} m, 0 N or more'
            )
        return ''

    # -- what is carried out: every goal comes to an end, and says honestly which

    def _execute(self, carry_out, handle):
        try:
            return carry_out(handle)
        finally:
            self._free.release()

    def _move(self, handle) -> MoveTo.Result:
        place = handle.request.target.pose.position
        target_m = [place.x, place.y, place.z]
        while (far_m := self._axes.approach(target_m)) > 0 and not handle.is_cancel_requested:
            handle.publish_feedback(MoveTo.Feedback(remaining=far_m))
            time.sleep(PERIOD_S)
        result = MoveTo.Result(error=far_m, reached=far_m == 0)
        result.reached_pose.header.frame_id = FRAME
        result.reached_pose.header.stamp = self.get_clock().now().to_msg()
        at = result.reached_pose.pose.position
        at.x, at.y, at.z = self._axes.position_m
        if result.reached:
            handle.succeed()
        else:
            handle.canceled()
            result.message = f'cancelled {far_m:.3f} m before the target'
        return result

    def _grip(self, handle) -> GripperCommand.Result:
        goal = handle.request
        self._axes.opening_m = goal.opening
        handle.succeed()
        return GripperCommand.Result(reached=True, opening=goal.opening, effort=goal.max_effort)


if __name__ == '__main__':
    rclpy.init()
    executor = MultiThreadedExecutor()
    executor.add_node(FakeArm())
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()
