"""The nodes of an episode and their wiring, declared once; launch files and the runner read it.

Names decide whether a boundary is attacked. A route of the relay has an input name and an output
name, `relay/<input>`; consumers are remapped to the output. With `relay=False` nothing is remapped
and the same nodes talk to each other directly.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

PLANNERS = ('oracle_planner', 'llm_planner')
RELAY = 'fault_relay'
RECORDER = 'recorder'
GUARD = 'plan_guard'
VISUALIZATION = 'visualization'
DRIVER = 'sim'  # unless another one is asked for
# What `ros2 run alpha_chaos` starts; those after the supervisor are for graphs of other people's,
# for recordings, or in place of one of the others.
EXECUTABLES = (
    'recorder',
    'safety_monitor',
    'perception',
    'fault_relay',
    'oracle_planner',
    'llm_planner',
    'plan_guard',
    'controller',
    'sim',
    'supervisor',
    'bag_player',
    'detections_perception',
    'joint_trajectory_driver',
    'mock_driver',
    'visualization',
)

ACTION_PARTS = ('send_goal', 'cancel_goal', 'get_result', 'feedback', 'status')
MSG = 'alpha_chaos/msg/'


@dataclass(frozen=True)
class Topic:
    """A topic of the graph: who sends it and who hears it, by node name."""

    name: str
    type: str
    publisher: str
    subscribers: tuple[str, ...] = ()
    latched: bool = False


@dataclass(frozen=True)
class Route:
    """A boundary that passes the relay, by the name of its input."""

    name: str
    kind: Literal['topic', 'service', 'action']
    type: str
    consumer: str

    @property
    def output(self) -> str:
        """Return the name under which consumers find it."""
        return f'relay/{self.name}'

    @property
    def remappings(self) -> tuple[tuple[str, str], ...]:
        """Return what sends a consumer to the output.

        A rule for an action's name does nothing (ROS 2 Jazzy): what is looked up are the names of
        the services and topics that it is made of.
        """
        parts = [f'/_action/{part}' for part in ACTION_PARTS] if self.kind == 'action' else ['']
        return tuple((self.name + part, self.output + part) for part in parts)

    @property
    def halves(self) -> tuple[str, ...]:
        """Return the types of a request and of its response; a topic has neither."""
        if self.kind == 'topic':
            return ()
        ends = ('_Goal', '_Result') if self.kind == 'action' else ('_Request', '_Response')
        return tuple(self.type + end for end in ends)


@dataclass(frozen=True)
class NodeSpec:
    """One node: how it is started and wired."""

    name: str
    parameters: dict[str, bool | int | float | str | list[str]] = field(default_factory=dict)
    remappings: tuple[tuple[str, str], ...] = ()
    needed: bool = True  # without it there is no result

    @property
    def executable(self) -> str:
        """Return the name `ros2 run alpha_chaos` knows it by."""
        return self.name

    def ros_arguments(self, *, shared: bool = False) -> list[str]:
        """Return what follows `--ros-args` on the command line that starts it.

        :param shared: other nodes are in the same process, so that the rules must name this one
        """
        node = f'{self.name}:' if shared else ''
        rules = [('-p', name, json.dumps(value)) for name, value in self.parameters.items()]
        rules += [('-r', source, target) for source, target in self.remappings]
        return [part for flag, left, right in rules for part in (flag, f'{node}{left}:={right}')]


@dataclass(frozen=True)
class Graph:
    """All nodes of an episode, in the order in which an attempt begins on them.

    The recorder is first, so that it misses nothing, and the body last, because its first state
    goes out when it begins.
    """

    nodes: tuple[NodeSpec, ...]
    topics: tuple[Topic, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the node names."""
        return tuple(node.name for node in self.nodes)


def topics(relay: bool = True, driver: str = DRIVER, guard: bool = False) -> tuple[Topic, ...]:
    """Return every topic of the graph; the recorder hears all of them.

    :param driver: node that takes the robot's place
    :param guard: whether plans are checked before they are carried out
    """
    seen = 'supervisor' if not relay else RELAY
    found = [
        Topic('/clock', 'rosgraph_msgs/msg/Clock', driver),
        Topic('world', MSG + 'WorldDescription', driver, ('safety_monitor',), latched=True),
        Topic('step_state', MSG + 'StepState', driver, ('safety_monitor',)),
        Topic('objects', MSG + 'ObjectStates', driver, ('perception',)),
        Topic('joint_states', 'sensor_msgs/msg/JointState', driver),
        Topic('scene', MSG + 'SceneObservation', 'perception', (seen,)),
        Topic('safety_events', MSG + 'SafetyEvent', 'safety_monitor'),
        Topic('phase', MSG + 'EpisodePhase', 'supervisor'),
        Topic('result', MSG + 'EpisodeResult', 'supervisor'),
    ]
    if relay:
        found += [
            Topic('relay/scene', MSG + 'SceneObservation', RELAY, ('supervisor',)),
            Topic('fault_events', MSG + 'FaultEvent', RELAY),
            Topic('exchanges', MSG + 'Exchange', RELAY),
        ]
    if guard:
        found.append(Topic('plan_verdicts', MSG + 'PlanVerdict', GUARD))
    return tuple(found)


def views() -> tuple[Topic, ...]:
    """Return what is there to be looked at; it is neither counted nor recorded."""
    return (
        Topic('/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', 'every node'),
        Topic('/tf', 'tf2_msgs/msg/TFMessage', VISUALIZATION),
        Topic('markers', 'visualization_msgs/msg/MarkerArray', VISUALIZATION, latched=True),
        Topic('robot_description', 'std_msgs/msg/String', VISUALIZATION, latched=True),
    )


def routes(planners: Iterable[str] = PLANNERS) -> tuple[Route, ...]:
    """Return the boundaries that can be attacked."""
    return (
        Route('scene', 'topic', MSG + 'SceneObservation', 'supervisor'),
        *(
            Route(f'{planner}/plan', 'service', 'alpha_chaos/srv/Plan', 'supervisor')
            for planner in planners
        ),
        Route('arm/move_to', 'action', 'alpha_chaos/action/MoveTo', 'controller'),
        Route('gripper/command', 'action', 'alpha_chaos/action/GripperCommand', 'controller'),
    )


def episode_graph(
    planners: Sequence[str] = PLANNERS,
    relay: bool = True,
    replies: str = '',
    driver: str = DRIVER,
    guard: bool = False,
    view: bool = False,
) -> Graph:
    """Return the nodes that run an episode with one of `planners`.

    :param driver: a driver plug-in that takes part in episodes; its node has the same name
    :param guard: with the node that checks plans before they are carried out
    :param replies: folder of recorded replies of language models, empty for the user's
    :param view: with the node that shows the episode to viewers
    """
    if unknown := sorted(set(planners) - set(PLANNERS)):
        raise ValueError(f'unknown planner nodes {unknown}; known: {", ".join(PLANNERS)}')
    heard = topics(relay, driver, guard)
    attacked = routes(planners) if relay else ()

    def expect(node: str) -> list[str]:
        return [
            f'{topic.name}={len(topic.subscribers) + 1}'
            for topic in heard
            if topic.publisher == node
        ]

    def remap(node: str) -> tuple[tuple[str, str], ...]:
        return tuple(
            rule for route in attacked if route.consumer == node for rule in route.remappings
        )

    names = [RECORDER, 'safety_monitor', 'perception']
    names += [RELAY] if relay else []
    names += [*planners, *([GUARD] if guard else []), 'controller', driver]
    nodes = []
    for name in names:
        parameters: dict[str, bool | int | float | str | list[str]] = {'expect': expect(name)}
        if name == RECORDER:
            parameters['topics'] = [
                f'{topic.name} {topic.type}{" latched" if topic.latched else ""}'
                for topic in heard
            ]
            parameters['payloads'] = sorted({kind for route in attacked for kind in route.halves})
        if name == RELAY:
            parameters['routes'] = [
                f'{route.kind} {route.name} {route.type}' for route in attacked
            ]
            # This graph's body is a simulator; for a live robot the relay's default is off.
            parameters['enable_injection'] = True
            parameters['allow'] = [route.name for route in attacked]
        if name == 'llm_planner':
            parameters['replies'] = replies
        nodes.append(NodeSpec(name, parameters, remap(name)))
    if view:
        nodes.append(NodeSpec(VISUALIZATION, needed=False))
    supervisor = NodeSpec(
        'supervisor',
        {
            'expect': expect('supervisor'),
            'nodes': names,
            'driver': driver,
            'planners': list(planners),
            'recorded': [f'{topic.publisher} {topic.name}' for topic in heard],
            'scene_chain': ['perception', *([RELAY] if relay else [])],
        },
        remap('supervisor'),
    )
    return Graph((*nodes, supervisor), heard)
