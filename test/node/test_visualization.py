"""What viewers are shown: blocks, targets, contacts, safety events and the robot."""

import importlib.util
from functools import partial

import pytest
from geometry_msgs.msg import Point, Pose, PoseStamped
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header, String
from visualization_msgs.msg import Marker, MarkerArray

from alpha_chaos.action import MoveTo
from alpha_chaos.bodies.description import robot_description
from alpha_chaos.catalogues import bodies
from alpha_chaos.graph import views
from alpha_chaos.kinematic_tree import KinematicTree
from alpha_chaos.msg import Exchange, SafetyEvent, StepState, WorldDescription
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.markers import KEPT
from alpha_chaos.nodes.visualization_node import VisualizationNode

ATTEMPT = 'unreachable_ik_low_000/oracle#1'
JOINTS = KinematicTree(robot_description(bodies()['kuka'].robot)).movable


def world(attempt=ATTEMPT, **changes):
    return WorldDescription(
        **{
            'header': Header(frame_id='world'),
            'episode_id': attempt,
            'body': 'kuka',
            'step_period': 1 / 240,
            'joint_names': JOINTS,
            'object_names': ['red', 'green'],
            'object_size': [0.06] * 6,
            'workspace_min': Point(x=0.15, y=-0.45, z=0.55),
            'workspace_max': Point(x=0.95, y=0.55, z=1.25),
            'zone': Point(x=0.6, y=0.3, z=0.65),
            'success_radius': 0.05,
            **changes,
        }
    )


def state(step=24, red_x=0.5, attempt=ATTEMPT, **changes):
    red, green = [red_x, -0.15, 0.68, 0, 0, 0, 1], [0.5, 0.0, 0.68, 0, 0, 0, 1]
    return StepState(
        **{
            'header': Header(stamp=to_time(step / 240), frame_id='world'),
            'episode_id': attempt,
            'step': step,
            'joint_position': [0.0] * 7,
            'joint_velocity': [0.0] * 7,
            'object_pose': [float(value) for value in red + green],
            'held_object': -1,
            **changes,
        }
    )


def goal(x, side, sequence=1, attempt=ATTEMPT, payload=None):
    target = PoseStamped(header=Header(frame_id='world'), pose=Pose(position=Point(x=x, z=0.8)))
    if payload is None:
        payload = serialize_message(MoveTo.Goal(target=target))
    return Exchange(
        episode_id=attempt,
        route='arm/move_to',
        sequence=sequence,
        stage='request',
        side=side,
        payload=payload,
    )


class Show:
    """The node on a stage, and a viewer."""

    def __init__(self, stage, **parameters):
        self.stage = stage
        self._state = None
        self.node = stage.add(VisualizationNode, rate=100.0, **parameters)
        self._heard = stage.hear('visualization_msgs/msg/MarkerArray', 'markers', latched=True)
        self.robots = stage.hear('std_msgs/msg/String', 'robot_description', latched=True)
        self._voices = {
            topic: stage.voice(f'alpha_chaos/msg/{kind}', topic, latched=topic == 'world')
            for topic, kind in (
                ('world', 'WorldDescription'),
                ('step_state', 'StepState'),
                ('exchanges', 'Exchange'),
                ('safety_events', 'SafetyEvent'),
            )
        }

    def tell(self, *messages):
        kinds = {WorldDescription: 'world', StepState: 'step_state', Exchange: 'exchanges'}
        for message in messages:
            self._voices[kinds.get(type(message), 'safety_events')].publish(message)
            if isinstance(message, StepState):
                self._state = message
            if isinstance(message, WorldDescription):  # the order over topics is nobody's promise
                self.stage.until(partial(self._shows, message.episode_id), 'the world')

    def _shows(self, attempt):
        return self.node.episode_id == attempt

    @property
    def array(self):
        return deserialize_message(self._heard[-1], MarkerArray) if self._heard else MarkerArray()

    def seen(self, namespace, array=None):
        """Return the markers of a namespace by their id."""
        return {
            marker.id: marker
            for marker in (array or self.array).markers
            if marker.ns == namespace and marker.action == Marker.ADD
        }

    def until(self, namespace, done=bool):
        def there():
            if self._state is not None:  # best effort: one that comes too early is lost
                self._voices['step_state'].publish(self._state)
            return done(self.seen(namespace))

        self.stage.until(there, namespace)
        return self.seen(namespace)


@pytest.fixture
def show(stage):
    return Show(stage)


def at(marker):
    place = marker.pose.position
    return place.x, place.y, place.z


def test_world_and_blocks_are_where_they_are_said_to_be(show):
    show.tell(world(), state())
    blocks = show.until('blocks')
    assert [at(blocks[0]), at(blocks[1])] == [(0.5, -0.15, 0.68), (0.5, 0.0, 0.68)]
    assert blocks[0].type == Marker.CUBE
    assert (blocks[0].scale.x, blocks[0].scale.y, blocks[0].scale.z) == (0.06, 0.06, 0.06)
    assert blocks[0].color.r > 0.8 > 0.2 > blocks[0].color.g
    assert blocks[1].color.g == max(blocks[1].color.r, blocks[1].color.g, blocks[1].color.b)
    (zone,) = show.seen('zone').values()
    assert (at(zone), zone.scale.x) == ((0.6, 0.3, 0.65), 0.1)
    (workspace,) = show.seen('workspace').values()
    # Twelve edges; every coordinate is one of a corner.
    assert (workspace.type, len(workspace.points)) == (Marker.LINE_LIST, 24)
    assert {corner.x for corner in workspace.points} == {0.15, 0.95}
    assert all(marker.header.frame_id == 'world' for marker in show.array.markers)
    assert {marker.header.stamp.nanosec for marker in show.array.markers} == {100_000_000}


def test_a_held_block_says_so(show):
    show.tell(world(), state(held_object=1))
    names = show.until('block names')
    assert [names[0].text, names[1].text] == ['red', 'green, held']


def test_where_the_arm_was_sent_is_shown_beside_where_it_should_go(show):
    show.tell(world(), goal(0.5, 'client'), goal(0.75, 'server'))
    show.until('targets pushed')
    assert at(show.seen('targets requested')[1])[0] == 0.5
    assert at(show.seen('targets delivered')[1])[0] == 0.75
    arrow = show.seen('targets pushed')[1]
    assert [end.x for end in arrow.points] == [0.5, 0.75]
    assert show.seen('target differences')[1].text == '0.250 m'


def test_a_target_that_arrives_as_it_was_sent_has_no_arrow(show):
    show.tell(world(), goal(0.5, 'client', 2), goal(0.5, 'server', 2))
    show.until('targets delivered')
    assert not show.seen('targets pushed')


def test_contacts_are_shown_at_what_is_touched_or_at_the_link_and_go_again(show):
    touching = {
        'contact_link': [6, 6, 3],
        'contact_object': [0, 0, -1],
        'contact_normal_force': [10.0, 20.0, 3000.0],
    }
    show.tell(world(), state(**touching))
    contacts = show.until('contacts', lambda found: len(found) == 2)
    on_link, on_block = contacts[0], contacts[1]
    assert at(on_block) == (0.5, -0.15, 0.68)
    # Upright, with every joint at 0, link 3 of the iiwa is 0.1575 + 0.2025 + 0.2045 + 0.2155 m up.
    assert at(on_link) == pytest.approx((0.0, 0.0, 0.78), abs=1e-6)
    assert on_link.scale.x == pytest.approx(0.05)
    assert 0.01 < on_block.scale.x < 0.011
    texts = show.seen('contact forces')
    assert [texts[0].text, texts[1].text] == ['link 3: 3e+03 N', 'link 6: 30 N']
    show.tell(state(25))
    show.until('contacts', lambda found: not found)
    gone = {(m.ns, m.id) for m in show.array.markers if m.action == Marker.DELETE}
    assert {('contacts', 0), ('contacts', 1), ('contact forces', 0)} <= gone


def test_a_safety_event_stays_where_its_block_was(show):
    event = SafetyEvent(
        episode_id=ATTEMPT,
        rule='violent_contact',
        key='red',
        open_step=10,
        close_step=24,
        peak=3456.0,
    )
    show.tell(world(), state())
    show.until('blocks')
    show.tell(event)
    show.until('safety events')
    show.tell(state(30, red_x=0.7))
    show.until('blocks', lambda found: at(found[0])[0] == 0.7)
    assert at(show.seen('safety events')[0]) == (0.5, -0.15, 0.68)
    said = show.seen('safety texts')[0].text
    assert said == 'violent_contact: red, 3.46e+03 N\nsteps 10 to 24'


def test_the_next_attempt_begins_with_a_clean_picture(show):
    show.tell(world(), state(), goal(0.5, 'client'), goal(0.75, 'server'))
    show.until('targets pushed')
    show.tell(world('next#1'))
    show.until('targets pushed', lambda found: not found)
    # What belongs to the last attempt, as the state of it that still comes, is no news.
    show.tell(goal(0.5, 'client'), goal(0.6, 'client', 9, 'next#1'))
    show.until('targets requested')
    assert list(show.seen('targets requested')) == [9]
    assert not show.seen('blocks')
    assert show.array.markers[0].action != Marker.DELETEALL


def test_the_first_picture_takes_away_what_an_earlier_node_left(show):
    show.tell(world())
    show.until('zone')
    first = deserialize_message(show._heard[0], MarkerArray)
    assert first.markers[0].action == Marker.DELETEALL


@pytest.mark.parametrize('body', ['kuka', 'panda'])
def test_the_robot_of_the_body_is_described(show, body):
    with bodies()[body].example.world() as made:
        names = made.joint_names
    show.tell(world(body=body, joint_names=names))
    show.stage.until(lambda: show.robots, 'a robot')
    tree = KinematicTree(deserialize_message(show.robots[-1], String).data)
    assert (tree.root, tree.movable) == ('world', names)


def test_joints_of_another_robot_are_not_shown_as_this_one(show, capfd):
    show.tell(world(joint_names=['x', 'y', 'z', 'fingers']))
    show.until('zone')
    assert not show.robots
    assert 'moves x, y, z, fingers, which are not the joints of' in capfd.readouterr().err


def test_messages_that_contradict_themselves_cost_a_picture_and_not_the_node(show):
    show.tell(world(object_size=[0.06]), state(), goal(0.5, 'client', payload=b'\x01\x02'))
    for number, wrong in enumerate(({'joint_position': [0.0]}, {'object_pose': [1.0]})):
        show.tell(world(f'{number}'), state(26, attempt=f'{number}', **wrong))
        for _ in range(5):
            show.stage.turn()
    show.tell(world('next#1'), state(27, attempt='next#1'))
    show.until('blocks')


def test_a_flood_of_goals_is_not_kept(show):
    show.tell(world(), *(goal(0.5, 'client', number) for number in range(1, KEPT + 21)))
    show.until('targets requested', lambda found: KEPT + 20 in found)
    assert len(show.seen('targets requested')) <= KEPT


def test_what_is_published_is_what_the_graph_says(show):
    expected = {
        show.node.resolve_topic_name(topic.name): [topic.type]
        for topic in views()
        if topic.name != '/tf'  # tested below, where there is its type
    }

    def published():
        name, namespace = show.node.get_name(), show.node.get_namespace()
        return dict(show.stage.probe.get_publisher_names_and_types_by_node(name, namespace))

    show.stage.until(lambda: expected.items() <= published().items(), 'the topics')


@pytest.mark.skipif(
    importlib.util.find_spec('tf2_msgs') is not None, reason='tf2_msgs is installed here'
)
def test_without_tf2_msgs_the_node_says_what_is_missing(stage, capfd):
    stage.add(VisualizationNode)
    said = capfd.readouterr().err
    assert 'tf2_msgs is not installed (Debian package ros-<distribution>-tf2-msgs)' in said
    stage.add(VisualizationNode, publish_tf=False)
    assert 'tf2_msgs' not in capfd.readouterr().err


@pytest.mark.skipif(
    importlib.util.find_spec('tf2_msgs') is None,
    reason='tf2_msgs is not on PyPI; install it to test the transforms',
)
def test_transforms_lead_from_the_world_to_the_last_link(show):
    from tf2_msgs.msg import TFMessage

    heard = show.stage.hear('tf2_msgs/msg/TFMessage', '/tf')
    show.stage.until(lambda: show.node.count_subscribers('/tf') == 1, 'the listener')
    show.tell(world(), state())
    show.stage.until(lambda: heard, 'transforms')
    transforms = deserialize_message(heard[-1], TFMessage).transforms
    assert transforms[0].header.frame_id == 'world'
    assert transforms[-1].child_frame_id == 'lbr_iiwa_link_7'
    assert len(transforms) == 8
    assert transforms[-1].transform.translation.y == pytest.approx(0.081)
