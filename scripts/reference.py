"""Write docs/reference/nodes.md: what every node publishes, hears, serves, calls and takes.

Every node is made, as its executable makes it, and asked. `make reference` calls this.
"""

import inspect
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import rclpy
from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile

from alpha_chaos.bag.writer import BagWriter
from alpha_chaos.graph import EXECUTABLES, PLANNERS, RELAY, NodeSpec, episode_graph
from alpha_chaos.nodes import joint_trajectory_driver_node, qos
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.participant import destroy_all
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.processes import environment, make_node

ROOT = Path(__file__).parents[1]
PAGE = ROOT / 'docs/reference/nodes.md'
PACKAGE = 'alpha_chaos'
# What every ROS 2 node has is said once.
NAMESPACE = '/reference'
COMMON_TOPICS = ('/rosout', '/parameter_events')
COMMON_SERVICES = ('parameter', 'get_type_description')
PROFILES = {'stream': qos.STREAM, 'latched': qos.LATCHED, 'view': qos.VIEW}
POLICIES = ('reliability', 'durability', 'history', 'depth')
TYPES = {bool: 'bool', int: 'integer', float: 'double', str: 'string', list[str]: 'string array'}
# Not on every machine, so the node is made with these in their place.
JOINTS = 'joint_trajectory_driver'
STAND_INS = {
    'control_msgs/action/FollowJointTrajectory': 'alpha_chaos/action/MoveTo',
    'control_msgs/action/ParallelGripperCommand': 'alpha_chaos/action/GripperCommand',
    'trajectory_msgs/msg/JointTrajectoryPoint': 'alpha_chaos/msg/StepState',
}
KINDS = ('msg', 'srv', 'action')
PREAMBLE = """\
# Nodes

Made from the code by `make reference`, and compared with it by a test.

Names are relative unless they begin with `/`, so namespaces and remappings apply to them; `~`
stands for the node's name. Every node has ROS 2's own `/rosout`, `/parameter_events`, parameter
services and `use_sim_time` besides.

Parameters are read-only: they are set when a node starts, with `--ros-args -p name:=value`, from a
parameter file or by a launch file. Those that tell a node its place in a graph (`expect`,
`routes`, `topics` and the like) come from `alpha_chaos/graph.py`, and the topics below are those
of that graph, before remapping.

QoS: *stream* is reliable, volatile, keep all, because every message counts; *latched* is reliable,
transient local, keep last 1; *view* is reliable, volatile, keep last 10. Parameters
`qos_overrides.<topic>.publisher|subscription.<policy>` change it where nothing would be lost.
"""


@dataclass(frozen=True)
class Subject:
    """A node to be described.

    :param node: file of the node without `_node`; the executable's name if not given
    :param parameters: without which it cannot be made, or would have nothing to show
    :param about: what the code of the node cannot tell
    """

    title: str
    node: str = ''
    parameters: Mapping[str, Any] = field(default_factory=dict)
    about: str = ''


def main() -> int:
    """Write the page."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), 'utf-8')
    return 0


def page() -> str:
    """Return the page as the code has it."""
    domains = Domains()
    os.environ.update(environment(domains.claim()))
    rclpy.init(args=['--ros-args', '--log-level', 'fatal'])
    try:
        with tempfile.TemporaryDirectory() as folder:
            parts = [_section(subject) for subject in subjects(Path(folder))]
    finally:
        rclpy.shutdown()
        domains.close()
    links = ' · '.join(f'[`{name}`](#{name})' for name in sorted(EXECUTABLES))
    return '\n'.join([PREAMBLE, links, '', *parts, _interfaces()])


def subjects(folder: Path) -> Iterator[Subject]:
    """Return what makes each node.

    :param folder: an empty one, for the files that nodes are given
    """
    bag = BagWriter(folder / 'bag')
    bag.add_topic('/recorded', 'std_msgs/msg/String')
    bag.write('/recorded', 0, b'\0\1\0\0\1\0\0\0\0')
    bag.close({})
    relay = folder / 'relay.yaml'
    relay.write_text('topics: {recorded: }\n')
    placed = {spec.name: spec.parameters for spec in episode_graph(PLANNERS).nodes}
    needed: dict[str, dict[str, Any]] = {
        'bag_player': {'bag': str(folder / 'bag')},
        'detections_perception': {'poses': ['red=red_block/pose']},
        'supervisor': {'experiment': 'smoke', 'run_id': 'control_000', 'arm': 'oracle'},
    }
    about = {
        'bag_player': 'Topics: those of the recording, here one, and `/clock` if it has none.',
        'detections_perception': 'Hears what `poses` or `detections` name, here one pose.',
        JOINTS: 'Types of control_msgs are looked for when it starts.',
    }
    for name in sorted(EXECUTABLES):
        parameters = {**placed.get(name, {}), **needed.get(name, {})}
        yield Subject(name, name, parameters, about.get(name, ''))
        if name == RELAY:
            yield Subject(
                f'{RELAY} with `config`',
                'transit_relay',
                {'config': str(relay)},
                'Routes: those of the file, once somebody offers them.',
            )


def _section(subject: Subject) -> str:
    # In a namespace, so that it shows which names are relative.
    spec = NodeSpec(subject.node, dict(subject.parameters), (('__ns', NAMESPACE),))
    with patch.object(joint_trajectory_driver_node, 'load', lambda name: load(STAND_INS[name])):
        node = make_node(spec, None)
    try:
        about = inspect.getdoc(inspect.getmodule(type(node))) or ''
        lines = [f'## {subject.title}', '', about, '']
        if subject.about:
            lines += [subject.about, '']
        for title, rows in (
            ('publishes', _ends(node, node.publishers)),
            ('hears', _ends(node, node.subscriptions)),
        ):
            lines += _table((title, 'type', 'QoS'), rows)
        for title, ends, actions in (
            ('serves', node.services, get_action_server_names_and_types_by_node),
            ('calls', node.clients, get_action_client_names_and_types_by_node),
        ):
            lines += _table((title, 'type'), [*_services(node, ends), *_actions(node, actions)])
        lines += _table(('parameter', 'type', 'default', 'range', 'meaning'), _parameters(node))
        return '\n'.join(lines)
    finally:
        destroy_all([node])


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f'| {" | ".join(row)} |' for row in rows]
    return [f'| {" | ".join(columns)} |', '|---' * len(columns) + '|', *lines, ''] if lines else []


# -- topics, services, actions


def _ends(node: Node, ends: Iterable[Any]) -> list[tuple[str, str, str]]:
    return sorted(
        (_name(node, end.topic_name), _link(_type(end.msg_type)), _qos(end.qos_profile))
        for end in ends
        if end.topic_name not in COMMON_TOPICS
    )


def _services(node: Node, ends: Iterable[Any]) -> list[tuple[str, str]]:
    return sorted(
        (_name(node, end.service_name), _link(_type(end.srv_type)))
        for end in ends
        if not any(common in end.service_name for common in COMMON_SERVICES)
    )


def _actions(node: Node, find: Callable[..., Any]) -> list[tuple[str, str]]:
    found = find(node, node.get_name(), node.get_namespace())
    calls_controllers = (node.get_name(), find) == (
        JOINTS,
        get_action_client_names_and_types_by_node,
    )
    real = {mine: theirs for theirs, mine in STAND_INS.items()} if calls_controllers else {}
    return sorted((_name(node, name), _link(real.get(kind, kind))) for name, (kind,) in found)


def _name(node: Node, name: str) -> str:
    """Return a name as it is in the code, before namespace and node name were put before it."""
    if name.startswith(f'{NAMESPACE}/{node.get_name()}/'):
        name = name.replace(f'{NAMESPACE}/{node.get_name()}', '~', 1)
    return f'`{name.removeprefix(NAMESPACE + "/")}`'


def _qos(profile: QoSProfile) -> str:
    for name, known in PROFILES.items():
        if all(getattr(profile, policy) == getattr(known, policy) for policy in POLICIES):
            return name
    history = profile.history.name.lower().replace('_', ' ')
    depth = '' if profile.history == HistoryPolicy.KEEP_ALL else f' {profile.depth}'
    policies = profile.reliability, profile.durability
    return f'{", ".join(one.name.lower().replace("_", " ") for one in policies)}, {history}{depth}'


# -- parameters


def _parameters(node: Any) -> list[tuple[str, ...]]:
    rows = []
    for name, setting in node.params_model.model_fields.items():
        descriptor = node.describe_parameter(name)
        kind = TYPES[setting.annotation]
        bounds = descriptor.additional_constraints or 'any'
        default = f'`{json.dumps(setting.default)}`'
        meaning = descriptor.description.replace('|', '\\|')
        rows.append((f'`{name}`', kind, default, bounds, meaning))
    return rows


# -- interfaces


def _interfaces() -> str:
    lines = ['## Interfaces', '', 'Fields, with units and frames, are in the files.', '']
    for kind in KINDS:
        for path in sorted((ROOT / kind).iterdir()):
            about = _first_comment(path.read_text('utf-8'))
            lines.append(f'- {_link(f"{PACKAGE}/{kind}/{path.stem}")}: {about}')
    return '\n'.join([*lines, ''])


def _first_comment(text: str) -> str:
    lines = []
    for line in text.splitlines():
        if not line.startswith('#'):
            break
        lines.append(line.lstrip('# '))
    return ' '.join(lines)


def _type(interface: Any) -> str:
    package, folder, *_ = interface.__module__.split('.')
    return f'{package}/{folder}/{interface.__name__}'


def _link(kind: str) -> str:
    """Return the name of an interface; one of this package leads to its file."""
    package, folder, name = kind.split('/')
    return kind if package != PACKAGE else f'[{kind}](../../{folder}/{name}.{folder})'


if __name__ == '__main__':
    raise SystemExit(main())
