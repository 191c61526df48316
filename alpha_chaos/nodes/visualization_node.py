"""What an episode looks like: `markers` and `robot_description` for RViz, Foxglove and the like.

It only watches: nothing in the graph hears it or waits for it, and the recorder does not write it
down. Steps are taken one at a time, the newest; who wants to see every one runs slower.
"""

from collections.abc import Iterator
from typing import Any

from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Vector3
from pydantic import Field
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header, String
from visualization_msgs.msg import Marker, MarkerArray

from alpha_chaos.action import MoveTo
from alpha_chaos.bodies.description import robot_description
from alpha_chaos.catalogues import bodies
from alpha_chaos.health import Condition, attempt_condition
from alpha_chaos.kinematic_tree import KinematicTree
from alpha_chaos.msg import Exchange, PlanVerdict, SafetyEvent, StepState, WorldDescription
from alpha_chaos.nodes import endpoints, qos
from alpha_chaos.nodes.attempt_logger import AttemptLogger
from alpha_chaos.nodes.convert import vector
from alpha_chaos.nodes.diagnostics import Diagnostics, WatchedParams
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.markers import Picture, complete
from alpha_chaos.nodes.params import declare
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting

ARM = 'arm/move_to'
BASE = -1  # number of the link that the arm stands on


class VisualizationParams(WatchedParams):
    """Parameters of the node."""

    rate: float = Field(20.0, gt=0, le=240, description='pictures, in wall time [Hz]')
    publish_tf: bool = Field(
        True,
        description='publish where the links of the robot are, on /tf; needs tf2_msgs. Off where '
        'a robot_state_publisher does it',
    )


class VisualizationNode(Node):
    """Keeps a `Picture` of the attempt under way, and publishes it when it has changed."""

    params_model = VisualizationParams

    def __init__(self, **options: Any) -> None:
        super().__init__('visualization', **options)
        self._picture: Picture | None = None
        self._logger = AttemptLogger(self._logger.name, lambda: self.episode_id)
        self.params = declare(self, VisualizationParams)
        self._tree: KinematicTree | None = None
        self._step = b''  # the newest, serialised
        self._changed = False
        self._shown: set[tuple[str, int]] = set()
        self._pictures = 0
        self._markers = endpoints.publisher(self, MarkerArray, 'markers', qos.LATCHED)
        self._description = endpoints.publisher(self, String, 'robot_description', qos.LATCHED)
        self._transforms = self._open_transforms() if self.params.publish_tf else None
        for kind, topic, hear, profile in (
            (WorldDescription, 'world', self._on_world, qos.LATCHED),
            (SafetyEvent, 'safety_events', self._on_violation, qos.VIEW),
            (PlanVerdict, 'plan_verdicts', self._on_verdict, qos.VIEW),
            (Exchange, 'exchanges', self._on_exchange, qos.VIEW),
        ):
            endpoints.subscription(self, kind, topic, hear, profile)
        endpoints.subscription(self, StepState, 'step_state', self._on_step, qos.GLANCE, raw=True)
        self.create_timer(
            1 / self.params.rate, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        Diagnostics(self, self._health, self.params.diagnostics_period)

    @property
    def episode_id(self) -> str:
        """Return the attempt that is shown."""
        return '' if self._picture is None else str(self._picture.world.episode_id)

    # -- what is heard

    def _on_world(self, world: WorldDescription) -> None:
        self._picture, self._changed = Picture(world), True
        self._tree = self._describe(world)

    def _on_step(self, data: bytes) -> None:
        self._step, self._changed = data, True

    def _on_violation(self, event: SafetyEvent) -> None:
        if self._picture is None or event.episode_id != self.episode_id:
            return
        self._take_step()
        self._picture.violated(event)
        self._changed = True

    def _on_verdict(self, verdict: PlanVerdict) -> None:
        if self._picture is not None and verdict.episode_id == self.episode_id:
            self._picture.verdict, self._changed = verdict, True

    def _on_exchange(self, exchange: Exchange) -> None:
        picture = self._picture
        if picture is None or exchange.episode_id != self.episode_id:
            return
        if (exchange.route, exchange.stage) != (ARM, 'request'):
            return
        try:
            goal = deserialize_message(bytes(exchange.payload), MoveTo.Goal)
        except Exception as error:  # whatever its decoder makes of bytes that are no goal
            self.get_logger().warning(f'a goal cannot be read: {error}', once=True)
            return
        target = picture.target(int(exchange.sequence))
        place = vector(goal.target.pose.position)
        if exchange.side == 'client':
            target.requested = place
        else:
            target.delivered = place
        self._changed = True

    # -- what is shown

    def _look(self) -> None:
        picture = self._picture
        if picture is None or not self._changed:
            return
        self._changed = False
        try:
            self._take_step()
            self._show(picture)
        except Exception as error:  # a message that contradicts itself; the next may be right
            self.get_logger().warning(f'no picture: {type(error).__name__}: {error}', once=True)

    def _take_step(self) -> None:
        """Take the newest step into the picture."""
        picture = self._picture
        if picture is None or not self._step:
            return
        state, self._step = deserialize_message(self._step, StepState), b''
        if state.episode_id == self.episode_id:
            picture.state = state

    def _show(self, picture: Picture) -> None:
        world, state = picture.world, picture.state
        header = Header(stamp=world.header.stamp, frame_id=world.header.frame_id)
        if state is not None:
            header.stamp = state.header.stamp
            joints = dict(zip(world.joint_names, state.joint_position, strict=True))
            if self._tree is not None:
                self._place_links(picture, self._tree, joints, header)
        array = complete(picture.markers(), header, self._shown)
        if self._pictures == 0:  # what an earlier node of this kind has left in a viewer
            array.markers.insert(0, Marker(header=header, action=Marker.DELETEALL))
        self._markers.publish(array)
        self._pictures += 1

    def _place_links(
        self, picture: Picture, tree: KinematicTree, joints: dict[str, float], header: Header
    ) -> None:
        poses = tree.links(joints)
        picture.links = {
            number: poses[joint.child].position_m
            for number, joint in enumerate(tree.joints, start=BASE)
        }
        if self._transforms is None:
            return
        message = self._transforms.msg_type()
        for joint, pose in tree.steps(joints):
            (x, y, z), (qx, qy, qz, qw) = pose.position_m, pose.orientation
            message.transforms.append(
                TransformStamped(
                    header=Header(stamp=header.stamp, frame_id=joint.parent),
                    child_frame_id=joint.child,
                    transform=Transform(
                        translation=Vector3(x=x, y=y, z=z),
                        rotation=Quaternion(x=qx, y=qy, z=qz, w=qw),
                    ),
                )
            )
        self._transforms.publish(message)

    def _describe(self, world: WorldDescription) -> KinematicTree | None:
        """Publish what the robot looks like; return its links, None where nobody knows them."""
        body = bodies().get(world.body)
        robot = None if body is None else body.robot
        if robot is None:
            self.get_logger().info(f'nobody knows what body {world.body!r} looks like')
            return None
        text = robot_description(robot)
        tree = KinematicTree(text)
        if set(tree.movable) != set(world.joint_names):
            self.get_logger().info(
                f'this driver moves {", ".join(world.joint_names)}, which are not the joints of '
                f'{world.body!r}: there is no robot to show'
            )
            return None
        self._description.publish(String(data=text))
        return tree

    def _open_transforms(self) -> Any:
        try:
            kind = load('tf2_msgs/msg/TFMessage')
        except BadSetting:
            self.get_logger().info(
                'tf2_msgs is not installed (Debian package ros-<distribution>-tf2-msgs): nothing '
                'is published on /tf, and a robot is shown only beside a robot_state_publisher; '
                'markers need neither'
            )
            return None
        return endpoints.publisher(self, kind, '/tf', qos.VIEW)

    def _health(self, now_s: float) -> Iterator[Condition]:
        yield attempt_condition(self.episode_id, True)
        yield Condition(
            'pictures',
            values={
                'published': self._pictures,
                'viewers': self._markers.get_subscription_count(),
                'robot': 'shown' if self._tree is not None else 'unknown',
                'tf': 'published' if self._transforms is not None else 'not published',
            },
        )


def main() -> int:
    """Run the node."""
    return run(VisualizationNode)


if __name__ == '__main__':
    raise SystemExit(main())
