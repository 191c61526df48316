"""The client that tries a driver out: one node beside it, in a context of its own."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.action import ActionClient, get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from alpha_chaos.action import GripperCommand, MoveTo
from alpha_chaos.catalogues import drivers
from alpha_chaos.experiment import Episode, Experiment
from alpha_chaos.msg import ObjectStates, StepState, WorldDescription
from alpha_chaos.nodes import qos
from alpha_chaos.nodes.clock import to_nanoseconds, to_time
from alpha_chaos.nodes.participant import destroy_all
from alpha_chaos.plugins import BadSetting, unknown
from alpha_chaos.srv import Advance, AwaitCount, Finish, Reset
from alpha_chaos.workspace import WORKSPACE, Box

ARM, GRIPPER = 'arm/move_to', 'gripper/command'
FIND_S = 5.0  # for a node that runs to be seen
LOOK_S = 0.1  # between two looks whether something still moves
LOOK_STEPS = 24  # the same in an episode
STEP_PERIOD_S = 1 / 240
# What a joint may drift by while it holds still [rad or m].
STILL = 0.01
MOST_STEPS = 20_000  # in one advance


@dataclass(frozen=True)
class Options:
    """What is checked, and by which measures.

    :param node: name of the driver's node; empty for whoever serves the arm
    :param frame: of every position
    :param max_goal_age_s: a goal this old and a second more is to be refused
    :param patience_s: wall-clock time in which everything that was asked for must end
    :param tolerance_m: largest distance from its target at which a motion may call itself done
    :param experiment: whose body and task a driver for episodes gets
    """

    node: str = ''
    arm: str = ARM
    gripper: str = GRIPPER
    joint_states: str = 'joint_states'
    objects: str = 'objects'
    workspace: Box = WORKSPACE
    frame: str = 'world'
    max_goal_age_s: float = 10.0
    patience_s: float = 30.0
    tolerance_m: float = 0.1
    experiment: str = 'smoke'


@dataclass(frozen=True)
class Ended:
    """What became of a goal.

    :param status: of GoalStatus; STATUS_UNKNOWN for one that was rejected
    """

    accepted: bool
    status: int
    result: Any

    @property
    def reached(self) -> bool:
        """Return whether it was carried out, by status and by result."""
        return self.status == GoalStatus.STATUS_SUCCEEDED and bool(self.result.reached)

    def __str__(self) -> str:
        if not self.accepted:
            return 'rejected'
        names = {getattr(GoalStatus, name): name for name in dir(GoalStatus) if 'STATUS_' in name}
        status = names.get(self.status, str(self.status)).removeprefix('STATUS_').lower()
        return f'{status}, reached={self.result.reached}, message {self.result.message!r}'


class Probe:
    """Sends goals, hears what comes, and knows whether the driver takes part in episodes.

    :raises BadSetting: where there is no such node, or no such experiment
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self._example = Experiment.load(options.experiment).episodes()[0]
        self._attempts = count(1)
        self.episode_id = ''
        self.context = Context()
        rclpy.init(args=[], context=self.context, signal_handler_options=SignalHandlerOptions.NO)
        self.executor = EventsExecutor(context=self.context)
        self._finder = self._make('check_driver_finder', '/')
        try:
            self.namespace, self.name = self._find()
        except BadSetting:
            self.close()
            raise
        self.node = self._make('check_driver', self.namespace)
        self.heard: dict[str, list[Any]] = {}
        self.arm = ActionClient(self.node, MoveTo, options.arm)
        self.gripper = ActionClient(self.node, GripperCommand, options.gripper)
        self._clients: dict[str, Any] = {}
        self._there: set[ActionClient] = set()  # whose servers have been seen
        self._absent: set[ActionClient] = set()  # whose servers have been waited for in vain
        self._open: list[Any] = []  # goals that have not been seen to end
        self.hear(JointState, options.joint_states)
        self.hear(ObjectStates, options.objects)
        reset = self._client(Reset, 'reset')
        self.takes_episodes = self._within(FIND_S / 5, reset.service_is_ready)
        if self.takes_episodes:
            self.hear(StepState, 'step_state')
            self.hear(WorldDescription, 'world', qos.LATCHED)

    # -- who is there

    def _make(self, name: str, namespace: str) -> Node:
        node = Node(
            name,
            namespace=namespace,
            context=self.context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self.executor.add_node(node)
        return node

    def _find(self) -> tuple[str, str]:
        wanted = self.options.node
        full = wanted if wanted.startswith('/') else f'/{wanted}'
        self._within(FIND_S, lambda: full in self._names() if wanted else self._servers())
        names = self._names()
        if wanted:
            if full not in names:
                raise BadSetting(unknown('node', full, names) if names else 'no node is running')
            found = full
        else:
            servers = self._servers()
            if not servers:
                raise BadSetting(
                    f'no node serves {self.options.arm}; running: {", ".join(names) or "none"}; '
                    '--node names the one that should'
                )
            if len(servers) > 1:
                raise BadSetting(
                    f'several nodes serve {self.options.arm}: {", ".join(servers)}; choose '
                    'one with --node'
                )
            (found,) = servers
        namespace, _, name = found.rpartition('/')
        return namespace or '/', name

    def _names(self) -> list[str]:
        names = self._finder.get_node_names_and_namespaces()
        full = {f'{space.rstrip("/")}/{name}' for name, space in names}
        # Those that begin with an underscore are tools: the daemon of ros2cli for one.
        own = ('/check_driver', '/_')
        return sorted(one for one in full if not one.startswith(own))

    def _servers(self) -> list[str]:
        arm = self.options.arm
        found = []
        for full in self._names():
            namespace, _, name = full.rpartition('/')
            try:
                served = get_action_server_names_and_types_by_node(
                    self._finder, name, namespace or '/'
                )
            except Exception:  # it has gone meanwhile; rclpy names no narrower class
                continue
            # In its own namespace, where it is looked for later: a relay serves it elsewhere.
            wanted = arm if arm.startswith('/') else f'{namespace}/{arm}'
            if any(action == wanted for action, _ in served):
                found.append(full)
        return found

    def served(self, action: str) -> list[str]:
        """Return the types under which the driver's node serves an action."""
        full = self.node.resolve_service_name(action)

        def found() -> list[str]:
            served = get_action_server_names_and_types_by_node(
                self.node, self.name, self.namespace
            )
            return [kind for name, kinds in served if name == full for kind in kinds]

        self._within(1.0, found)
        return found()

    # -- waiting

    def turn(self, seconds: float = 0.02) -> None:
        """Hear what has come, for about so long."""
        self.executor.spin_once(timeout_sec=seconds)

    def pause(self, seconds: float) -> None:
        """Let wall-clock time pass."""
        self._within(seconds, lambda: False)

    def _within(self, seconds: float, done: Callable[[], Any]) -> bool:
        deadline = time.monotonic() + seconds
        while not done():
            if time.monotonic() > deadline:
                return False
            self.turn()
        return True

    def until(self, done: Callable[[], Any], what: str) -> None:
        """Wait for something that must happen."""
        limit_s = self.options.patience_s
        assert self._within(limit_s, done), f'{what} did not come within {limit_s:g} s'

    # -- topics

    def hear(self, kind: Any, topic: str, profile: QoSProfile = qos.STREAM) -> None:
        """Keep every message of a topic in `heard`."""
        kept: list[Any] = []
        self.heard[topic] = kept
        self.node.create_subscription(kind, topic, kept.append, profile)

    def senders(self, topic: str) -> Any:
        """Return who publishes a topic."""

        def found() -> Any:
            return self.node.get_publishers_info_by_topic(self.node.resolve_topic_name(topic))

        self._within(1.0, found)
        return found()

    def latest(self, topic: str) -> Any:
        """Return the last message of a topic, None if there was none."""
        return self.heard[topic][-1] if self.heard[topic] else None

    def now(self) -> Any:
        """Return the driver's time: the newest stamp it has sent, else this node's clock."""
        stamps = [
            message.header.stamp
            for topic in (self.options.joint_states, self.options.objects)
            if (message := self.latest(topic)) is not None
        ]
        newest = max(stamps, key=to_nanoseconds, default=None)
        if newest is not None and (self.takes_episodes or to_nanoseconds(newest)):
            return newest
        return self.node.get_clock().now().to_msg()

    def joints(self) -> dict[str, float] | None:
        """Return where the joints are, None if nobody says."""
        message = self.latest(self.options.joint_states)
        return None if message is None else dict(zip(message.name, message.position, strict=False))

    def settled(self) -> dict[str, float] | None:
        """Let a moment pass, in the driver's own time, and return where the joints are then."""
        if self.takes_episodes:
            self.advance(LOOK_STEPS)
        else:
            self.pause(LOOK_S)
        return self.joints()

    # -- the protocol of episodes

    def _client(self, kind: Any, verb: str) -> Any:
        if verb not in self._clients:
            name = f'{self.namespace.rstrip("/")}/{self.name}/{verb}'
            self._clients[verb] = self.node.create_client(kind, name)
        return self._clients[verb]

    def ask(self, kind: Any, verb: str, **fields: Any) -> Any:
        """Ask a service of the driver and return its answer."""
        client = self._client(kind, verb)
        self.until(client.service_is_ready, f'service ~/{verb}')
        future = client.call_async(kind.Request(**fields))
        self.until(future.done, f'an answer of ~/{verb}')
        return future.result()

    def begin(self, speed: float = 0.0) -> None:
        """Begin an attempt, if the driver takes part in episodes; else only look where it is.

        :param speed: real-time factor, 0 for as fast as possible
        """
        if not self.takes_episodes:
            self._within(LOOK_S, lambda: self.joints() is not None)
            return
        attempt = f'check_driver/{next(self._attempts)}#1'
        for heard in self.heard.values():
            heard.clear()
        self.episode_id = attempt
        said = ''
        deadline = time.monotonic() + self.options.patience_s
        while time.monotonic() < deadline:
            answer = self.ask(
                Reset, 'reset', episode_id=attempt, episode=self._episode(speed).to_json()
            )
            assert not answer.failed, f'~/reset failed: {answer.message}'
            if answer.ready:
                self.advance(LOOK_STEPS)
                return
            said = answer.message
            self.turn()
        raise AssertionError(f'~/reset is never ready: {said}')

    def _episode(self, speed: float) -> Episode:
        driver: dict[str, Any] = {'kind': self.name}
        if self.name in drivers():
            box = self.options.workspace
            driver['limits'] = {
                'workspace': {'min': list(box.min), 'max': list(box.max)},
                'max_goal_age_s': self.options.max_goal_age_s,
            }
        changes = {'driver': driver, 'real_time_factor': speed, 'faults': ()}
        return self._example.model_copy(update=changes)

    def advance(self, steps: int) -> Any:
        """Let simulated time pass, and wait until all of it was heard."""
        answer = None
        while steps > 0 or answer is None:
            some = min(steps, MOST_STEPS)
            answer = self.ask(Advance, 'advance', episode_id=self.episode_id, steps=some)
            assert answer.ok, f'~/advance refused: {answer.message}'
            steps -= some
        sent = {entry.topic: int(entry.count) for entry in answer.published}
        due = {topic: sent.get(self.node.resolve_topic_name(topic), 0) for topic in self.heard}
        self._within(1.0, lambda: all(len(self.heard[topic]) >= due[topic] for topic in due))
        return answer

    def grow_old(self, seconds: float) -> None:
        """Let the driver's clock reach a time at which a goal can be that old."""
        if not self.takes_episodes:
            return
        world = self.latest('world')
        period_s = STEP_PERIOD_S if world is None else world.step_period
        self.advance(math.ceil(seconds / period_s) + LOOK_STEPS)

    def await_count(self, topic: str, received: int) -> Any:
        """Ask the driver whether it has handled so many messages of a topic."""
        return self.ask(
            AwaitCount, 'await_count', episode_id=self.episode_id, topic=topic, received=received
        )

    def finish(self, episode_id: str) -> Any:
        """End an attempt."""
        return self.ask(Finish, 'finish', episode_id=episode_id)

    # -- goals

    def place(self, y: float = 0.0) -> tuple[float, float, float]:
        """Return a target well inside the workspace, on the near and the low side of its centre.

        :param y: share of the way from the centre to the side, -1 to 1
        """
        low, high = self.options.workspace.min, self.options.workspace.max
        centre = [(one + other) / 2 for one, other in zip(low, high, strict=True)]
        half = [(other - one) / 2 for one, other in zip(low, high, strict=True)]
        return (
            round(centre[0] - 0.3 * half[0], 3),
            round(centre[1] + y * half[1], 3),
            round(centre[2] - 0.3 * half[2], 3),
        )

    def goal(
        self,
        target: tuple[float, float, float],
        *,
        frame: str | None = None,
        stamp: Any = None,
        episode_id: str | None = None,
    ) -> Any:
        """Return a goal for the arm, stamped now."""
        x, y, z = target
        header = Header(
            frame_id=self.options.frame if frame is None else frame,
            stamp=self.now() if stamp is None else stamp,
        )
        pose = Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(w=1.0))
        return MoveTo.Goal(
            episode_id=self.episode_id if episode_id is None else episode_id,
            target=PoseStamped(header=header, pose=pose),
            position_only=True,
        )

    def stamped_before(self, seconds: float) -> Any:
        """Return the stamp that is so long ago in the driver's time."""
        return to_time(to_nanoseconds(self.now()) / 1e9 - seconds)

    def reaches(self, client: Any, seconds: float = FIND_S) -> bool:
        """Return whether every part of an action is served: it is listed with one of them."""
        if client not in self._there and self._within(seconds, client.server_is_ready):
            self._there.add(client)
        return client in self._there

    def send(self, client: Any, goal: Any) -> Any:
        """Send a goal and return the future of its handle."""
        if not self.reaches(client, 0.0 if client in self._absent else 1.0):
            self._absent.add(client)
            pytest.skip(f'nobody serves {client._action_name}')
        return client.send_goal_async(goal)

    def accepted(self, future: Any) -> Any:
        """Wait for the handle of a goal."""
        self.until(future.done, 'an answer to a goal')
        handle = future.result()
        if handle.accepted:
            self._open.append(handle)
        return handle

    def ended(self, handle: Any) -> Ended:
        """Wait for the end of a goal."""
        if not handle.accepted:
            return Ended(False, GoalStatus.STATUS_UNKNOWN, None)
        future = handle.get_result_async()
        self.until(future.done, 'the end of a goal')
        self._open.remove(handle)
        answer = future.result()
        return Ended(True, answer.status, answer.result)

    def drive(self, client: Any, goal: Any) -> Ended:
        """Send a goal and wait for its end."""
        return self.ended(self.accepted(self.send(client, goal)))

    def move(self, target: tuple[float, float, float], **fields: Any) -> Ended:
        """Move the arm and wait for the end of it."""
        return self.drive(self.arm, self.goal(target, **fields))

    def grip(self, opening: float, max_effort: float) -> Ended:
        """Move the gripper; what it should hold is the first object that there is."""
        return self.drive(self.gripper, self.grip_goal(opening, max_effort))

    def grip_goal(self, opening: float, max_effort: float) -> Any:
        """Return a goal for the gripper."""
        objects = self.latest(self.options.objects)
        names = [entry.name for entry in objects.objects] if objects is not None else []
        return GripperCommand.Goal(
            episode_id=self.episode_id,
            opening=opening,
            max_effort=max_effort,
            object=names[0] if names else '',
        )

    def leave(self) -> None:
        """Cancel what a broken clause has left under way."""
        for handle in self._open:
            self._within(1.0, handle.cancel_goal_async().done)
            self._within(1.0, handle.get_result_async().done)
        self._open.clear()

    def close(self) -> None:
        """Leave nothing behind."""
        nodes = [node for node in (getattr(self, 'node', None), self._finder) if node is not None]
        for node in nodes:
            self.executor.remove_node(node)
        destroy_all(nodes)
        rclpy.shutdown(context=self.context)


def moved(
    before: dict[str, float] | None, after: dict[str, float] | None, by: float = STILL
) -> str:
    """Return which joint moved furthest, if any moved by more than `by`; else nothing."""
    if not before or not after:
        return ''
    far = {name: abs(after[name] - before[name]) for name in before.keys() & after.keys()}
    if not far or not max(far.values()) > by:
        return ''
    name = max(far, key=far.__getitem__)
    return f'joint {name} moved by {far[name]:.3f}'
