"""The layouts for Foxglove and RViz show what the graph publishes, and expect its types."""

import json
import re

import pytest
import yaml
from geometry_msgs.msg import Point

from alpha_chaos.graph import topics, views
from alpha_chaos.msg import (
    Placement,
    PlanFailure,
    PlanVerdict,
    SafetyEvent,
    StepState,
    WorldDescription,
)
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.markers import Picture, Target
from alpha_chaos.resources import config_folder

TYPES = {'/' + topic.name.lstrip('/'): topic.type for topic in (*topics(guard=True), *views())} | {
    '/rosout': 'rcl_interfaces/msg/Log'
}
LATCHED = {'/' + topic.name for topic in (*topics(), *views()) if topic.latched}
# What a panel or display is made for; a plot and a table of raw messages take any type.
EXPECTED = {
    'DiagnosticSummary': 'diagnostic_msgs/msg/DiagnosticArray',
    'RosOut': 'rcl_interfaces/msg/Log',
    'rviz_default_plugins/MarkerArray': 'visualization_msgs/msg/MarkerArray',
    'rviz_default_plugins/RobotModel': 'std_msgs/msg/String',
}
PART = re.compile(r'\.(\w+)|\[(?:\d+|:)\]|\{(\w+)==("[^"]*"|\d+)\}')


@pytest.fixture(scope='module')
def layout():
    return json.loads((config_folder() / 'foxglove/alpha_chaos.json').read_text())


@pytest.fixture(scope='module')
def rviz():
    return yaml.safe_load((config_folder() / 'rviz/alpha_chaos.rviz').read_text())


def leaf(path):
    """Return the type of the field that a path of Foxglove's leads to."""
    topic = max((name for name in TYPES if path.startswith(name)), key=len)
    rest, kind = path.removeprefix(topic), TYPES[topic]
    while rest:
        part = PART.match(rest)
        assert part, f'{path}: {rest}'
        if name := part.group(1) or part.group(2):
            fields = load(kind).get_fields_and_field_types()
            assert name in fields, f'{path}: {kind} has no {name}'
        if part.group(1):
            kind = re.sub(r'^sequence<(.*)>$', r'\1', fields[name])
            kind = kind.replace('/', '/msg/') if '/' in kind else kind
        rest = rest[part.end() :]
    return kind


def panels(layout, kind):
    return [
        config for name, config in layout['configById'].items() if name.partition('!')[0] == kind
    ]


# -- Foxglove


def test_every_panel_has_its_place_and_every_place_a_panel(layout):
    placed, open_ = [], [layout['layout']]
    while open_:
        place = open_.pop()
        if isinstance(place, str):
            placed.append(place)
        else:
            assert place['direction'] in ('row', 'column')
            open_ += [place['first'], place['second']]
    assert sorted(placed) == sorted(layout['configById'])


def test_everything_that_is_plotted_is_a_number_of_a_message(layout):
    paths = [path['value'] for config in panels(layout, 'Plot') for path in config['paths']]
    assert len(paths) > 20
    for path in paths:
        # Foxglove also plots a text that is a number, as the values of diagnostics are.
        assert leaf(path) in ('double', 'int64', 'int32', 'string'), path


def test_phases_are_shown_as_states(layout):
    (config,) = panels(layout, 'StateTransitions')
    assert [leaf(path['value']) for path in config['paths']] == ['string', 'int32']


def test_the_episode_is_seen_in_the_frame_of_its_messages(layout):
    (config,) = panels(layout, '3D')
    assert config['followTf'] == 'world'
    assert TYPES['/markers'] == 'visualization_msgs/msg/MarkerArray'
    assert list(config['topics']) == ['/markers']
    (robot,) = (one for one in config['layers'].values() if one['layerId'] == 'foxglove.Urdf')
    assert TYPES[robot['topic']] == 'std_msgs/msg/String'
    # So no transforms are needed to see it move.
    assert (robot['sourceType'], robot['controlMode']) == ('topic', 'jointStates')
    assert TYPES[robot['jointStatesTopic']] == 'sensor_msgs/msg/JointState'


@pytest.mark.parametrize('kind', ['DiagnosticSummary', 'RosOut'])
def test_a_panel_gets_the_type_it_is_made_for(layout, kind):
    for config in panels(layout, kind):
        assert TYPES[config['topicToRender']] == EXPECTED[kind]


def test_fault_and_safety_events_are_shown_raw(layout):
    shown = {config['topicPath'] for config in panels(layout, 'RawMessages')}
    assert shown == {'/fault_events', '/safety_events'}
    assert shown <= set(TYPES)


# -- RViz


def test_displays_get_the_type_they_are_made_for_as_it_is_published(rviz):
    found = {}
    for display in rviz['Visualization Manager']['Displays']:
        topic = display.get('Topic', display.get('Description Topic'))
        if topic is not None:
            found[display['Class']] = topic['Value']
            assert TYPES[topic['Value']] == EXPECTED[display['Class']]
            latched = topic['Value'] in LATCHED
            assert topic['Durability Policy'] == ('Transient Local' if latched else 'Volatile')
    assert set(found.values()) == {'/markers', '/robot_description'}


def test_the_fixed_frame_is_that_of_the_messages(rviz):
    assert rviz['Visualization Manager']['Global Options']['Fixed Frame'] == 'world'


def test_every_kind_of_marker_can_be_switched_off(rviz):
    picture = Picture(
        WorldDescription(object_names=['red'], object_size=[0.06] * 3, success_radius=0.05),
        StepState(
            object_pose=[0.5, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0],
            contact_link=[6],
            contact_object=[0],
            contact_normal_force=[1.0],
        ),
        targets={1: Target((0.5, 0.0, 0.8), (0.6, 0.0, 0.8))},
        violations=[(SafetyEvent(), (0.5, 0.0, 0.7))],
        verdict=PlanVerdict(
            path=[Point(), Point(x=1.0)],
            failures=[PlanFailure()],
            placements=[Placement(position=Point(x=0.6), radius=0.05)],
        ),
    )
    (display,) = (
        display
        for display in rviz['Visualization Manager']['Displays']
        if display['Class'].endswith('MarkerArray')
    )
    assert {marker.ns for marker in picture.markers()} == set(display['Namespaces'])
