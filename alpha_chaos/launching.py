"""What the launch files are made of: arguments from the command line's, nodes from `graph`.

`ros2 launch` ends with 0 even when a node has died. Here a process that ends otherwise than it
should raises: launch then reports the reason, stops what is left, and ends with 1. SIGTERM kills
launch and leaves its nodes alone; here it ends a launch as Ctrl-C does.
"""

import inspect
import json
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, get_args, get_type_hints
from urllib.parse import urljoin
from xml.etree import ElementTree

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    LogInfo,
    Shutdown,
)
from launch.events import Shutdown as ShutdownEvent
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch.utilities import AsyncSafeSignalManager
from launch_ros.actions import Node, PushRosNamespace

from alpha_chaos import cli
from alpha_chaos.bodies.description import robot_description
from alpha_chaos.experiment import Experiment
from alpha_chaos.graph import RELAY, VISUALIZATION, NodeSpec, episode_graph, views
from alpha_chaos.plugins import BadSetting
from alpha_chaos.resources import config_folder
from alpha_chaos.run.language_model import replies_folder
from alpha_chaos.run.playback import find_recording, player
from alpha_chaos.run.processes import users_environment
from alpha_chaos.transit.config import RelayConfig, find_relay_file

PACKAGE = 'alpha_chaos'
SUPERVISOR = 'supervisor'
OVER = 'the episode is over'
# A runner that was interrupted ends its graphs in order first.
STOP_S = '30'

# What launch is told of a process that was gone when launch wanted to send it a signal.
SIGNALLED_LATE = 255

OnExit = Callable[[ProcessExited, LaunchContext], Any]


Make = Callable[[LaunchContext], list[Any]]


class Ended(RuntimeError):
    """A process ended that was still needed, or ended badly."""


def ends_on_sigterm(make: Make) -> Make:
    """Let SIGTERM end the launch that is made here in order."""

    @wraps(make)
    def made(context: LaunchContext) -> list[Any]:
        # launch 3.4 has a handler for it, which cancels everything, and never installs it.
        manager = getattr(AsyncSafeSignalManager, '_AsyncSafeSignalManager__current', None)
        if manager is not None and threading.current_thread() is threading.main_thread():
            manager.handle(
                signal.SIGTERM,
                lambda _: context.emit_event_sync(ShutdownEvent(reason='terminated (SIGTERM)')),
            )
            signal.signal(signal.SIGTERM, lambda *_: None)  # Python wakes the manager up
        return make(context)

    return made


def arguments(
    command: Callable[..., None],
    without: Collection[str] = (),
    told: Mapping[str, str] | None = None,
    **defaults: str,
) -> list[DeclareLaunchArgument]:
    """Return the options of a command of `alpha-chaos` as launch arguments.

    :param without: options that make no sense here
    :param told: descriptions of those that mean something else here
    :param defaults: for options that the command line insists on
    """
    hints = get_type_hints(command, include_extras=True)
    declared = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in without:
            continue
        kind, option = get_args(hints[name])
        default = '' if parameter.default in (None, inspect.Parameter.empty) else parameter.default
        if isinstance(default, bool | Enum):
            default = _choice(default)
        declared.append(
            DeclareLaunchArgument(
                name,
                default_value=defaults.get(name, str(default)),
                description=(told or {}).get(name, option.help),
                choices=_choices(kind, default),
            )
        )
    return declared


def everywhere() -> list[DeclareLaunchArgument]:
    """Return the arguments of every launch file that starts nodes."""
    return [
        DeclareLaunchArgument(
            'ns',
            default_value='',
            description='Namespace for every name but /clock and /diagnostics.',
        ),
        DeclareLaunchArgument(
            'log_level',
            default_value='info',
            description='Least severity that the nodes log.',
            choices=['debug', 'info', 'warn', 'error', 'fatal'],
        ),
    ]


def _choices(kind: Any, default: str) -> list[str] | None:
    kinds = get_args(kind) or (kind,)
    closed = [entry for entry in kinds if isinstance(entry, type) and issubclass(entry, Enum)]
    if closed:
        return [*([''] if default == '' else []), *map(_choice, closed[0])]
    return [_choice(False), _choice(True)] if bool in kinds else None


def _switch(name: str, description: str) -> DeclareLaunchArgument:
    """Return an argument that is off unless it is asked for."""
    return DeclareLaunchArgument(
        name,
        default_value=_choice(False),
        description=description,
        choices=[_choice(False), _choice(True)],
    )


def _choice(value: bool | Enum) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value).lower()


def _given(command: Callable[..., None], context: LaunchContext) -> dict[str, str]:
    names = inspect.signature(command).parameters
    known = context.launch_configurations
    return {name: known[name] for name in names if name in known}


# -- one episode


@ends_on_sigterm
def episode(context: LaunchContext) -> list[Any]:
    """Return the nodes of the episode that the arguments name.

    :raises BadSetting: for anything that the caller can put right
    """
    given = _given(cli.episode, context)
    composed, view = (given.pop(name) == _choice(True) for name in ('composition', 'view'))
    speed = _number('speed', given.pop('speed'))
    experiment = Experiment.load(given['experiment'])
    if given['driver']:
        experiment = experiment.with_driver(given['driver'])
    given['driver'] = experiment.driver.kind
    experiment.episode(given['run_id'], given['arm'])  # refuses what there is not
    (arm,) = (arm for arm in experiment.arms if arm.name == given['arm'])
    graph = episode_graph(
        [arm.planner.node],
        replies=replies_folder(Path(given['out'])),
        driver=experiment.driver.kind,
        guard=arm.guard != 'off',
        view=view,
    )
    nodes = [
        replace(spec, parameters={**spec.parameters, **given, 'speed': speed})
        if spec.name == SUPERVISOR
        else spec
        for spec in graph.nodes
    ]
    actions = (
        [_composition(nodes)]
        if composed
        else [_node(spec, OVER if spec.name == SUPERVISOR else '') for spec in nodes]
    )
    return [GroupAction([PushRosNamespace(LaunchConfiguration('ns')), *actions])]


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadSetting(f'{name}: a number is expected, not {text!r}') from None


def _node(spec: NodeSpec, over: str = '') -> Node:
    return Node(
        package=PACKAGE,
        executable=spec.executable,
        name=spec.name,
        ros_arguments=[*_log_level(), *spec.ros_arguments()],
        on_exit=_watch(spec.name, over) if spec.needed else None,
        **_process(),
    )


def _composition(nodes: list[NodeSpec]) -> Node:
    rules = [part for spec in nodes for part in spec.ros_arguments(shared=True)]
    return Node(
        executable=sys.executable,
        arguments=['-m', f'{PACKAGE}.nodes', *(spec.executable for spec in nodes)],
        ros_arguments=[*_log_level(), *rules],
        exec_name=PACKAGE,
        on_exit=_watch(SUPERVISOR, OVER),
        **_process(),
    )


def _log_level() -> list[Any]:
    return ['--log-level', LaunchConfiguration('log_level')]


def _process() -> dict[str, Any]:
    """Return what all processes have in common."""
    return {'output': 'both', 'additional_env': users_environment()}


def _watch(name: str, over: str) -> OnExit:
    """Return what to do when a node ends.

    :param over: what is over when it has done what it was there for; empty if it never has
    """

    def ended(event: ProcessExited, context: LaunchContext) -> Any:
        if context.is_shutdown and event.returncode in (0, SIGNALLED_LATE):
            return None
        if event.returncode == 0 and over:
            return Shutdown(reason=over)
        raise Ended(f'{name} {_how(event.returncode)}')

    return ended


def _how(code: int) -> str:
    return f'was killed by signal {-code}' if code < 0 else f'ended with exit code {code}'


# -- a recording


@ends_on_sigterm
def replay(context: LaunchContext) -> list[Any]:
    """Return the node that publishes the recording that the arguments name.

    :raises BadSetting: where there is no such recording
    """
    given = _given(cli.replay, context)
    bag = find_recording(Path(given['folder']), given['run_id'] or None, given['arm'] or None)
    flags = {name: given[name] == _choice(True) for name in ('loop', 'paused')}
    numbers = {
        name: _number(name, given[name]) for name in ('rate', 'begin', 'end') if given[name]
    }
    node = _node(player(bag, **flags, **numbers), over='the recording is over')
    return [GroupAction([PushRosNamespace(LaunchConfiguration('ns')), node])]


# -- the relay for a graph of somebody else


def relay_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of the relay."""
    return [
        DeclareLaunchArgument(
            'config',
            default_value='example',
            description='Relay file: a name from config/relay, or the path of a .yaml file.',
        ),
        _switch(
            'enable_injection', 'Faults may be armed. Without it everything passes as it came.'
        ),
        DeclareLaunchArgument(
            'allow',
            default_value='',
            description="Routes that faults may touch, with commas between; empty: the file's.",
        ),
        _switch('use_sim_time', 'Delays and schedules go by /clock.'),
    ]


@ends_on_sigterm
def relay(context: LaunchContext) -> list[Any]:
    """Return the relay of a file.

    :raises BadSetting: for a mistake in the file, with its line
    """
    given = context.launch_configurations
    config = find_relay_file(given['config'])
    RelayConfig.load(config)
    parameters: dict[str, bool | int | float | str | list[str]] = {'config': str(config)}
    parameters['enable_injection'] = given['enable_injection'] == _choice(True)
    if allow := [name.strip() for name in given['allow'].split(',') if name.strip()]:
        parameters['allow'] = allow
    if given['use_sim_time'] == _choice(True):  # else it is what an outer launch file says
        parameters['use_sim_time'] = True
    node = _node(NodeSpec(RELAY, parameters))
    return [GroupAction([PushRosNamespace(LaunchConfiguration('ns')), node])]


# -- viewers

AUTO = 'auto'
# Programs of other packages, by the argument that asks for them; each has its package's name.
PROGRAMS = {
    'rviz': 'rviz2',
    'foxglove': 'foxglove_bridge',
    'robot_state_publisher': 'robot_state_publisher',
}
MISSING = {
    'rviz': 'there is no window; markers are published all the same',
    'foxglove': 'Foxglove cannot connect; it can open recordings',
    'robot_state_publisher': 'nothing tells where the links are but the visualization node',
}
# As the bridge has it by default; of files it serves none.
_PACKAGE_FILES = r'^package://(?:[-\w%]+/)*[-\w%.]+\.(?:dae|obj|mtl|stl|png|jpe?g|urdf)$'


def view_arguments() -> list[DeclareLaunchArgument]:
    """Return the arguments of the viewers."""
    choices = [AUTO, _choice(True), _choice(False)]
    asked = {
        'rviz': 'Start RViz; auto: if it is installed.',
        'foxglove': 'Start the bridge that Foxglove connects to; auto: if it is installed.',
        'robot_state_publisher': "Publish where the robot's links are; auto: if it is installed.",
    }
    flags = {
        'visualization': 'Publish markers and the robot; not for an episode that has view:=true.',
        'use_sim_time': 'Viewers go by /clock, which begins anew with each episode.',
    }
    return [
        DeclareLaunchArgument(
            'experiment',
            default_value='paper',
            description='Name of a shipped experiment, or a .yaml file: what robot is watched.',
        ),
        *(
            DeclareLaunchArgument(name, default_value=AUTO, description=text, choices=choices)
            for name, text in asked.items()
        ),
        *(
            DeclareLaunchArgument(
                name, default_value=_choice(True), description=text, choices=choices[1:]
            )
            for name, text in flags.items()
        ),
        DeclareLaunchArgument(
            'rviz_config',
            default_value=str(config_folder() / 'rviz/alpha_chaos.rviz'),
            description='Layout of RViz.',
        ),
        DeclareLaunchArgument(
            'foxglove_port', default_value='8765', description='Port of the bridge.'
        ),
        DeclareLaunchArgument(
            'foxglove_address',
            default_value='127.0.0.1',
            description='Where the bridge listens; 0.0.0.0 lets other machines in.',
        ),
    ]


@ends_on_sigterm
def view(context: LaunchContext) -> list[Any]:
    """Return the viewers that are asked for and installed, and say what is missing.

    :raises BadSetting: for a viewer that is insisted on and not installed
    """
    given = context.launch_configurations
    body = Experiment.load(given['experiment']).body
    urdf = '' if body.robot is None else robot_description(body.robot)
    port = given['foxglove_port']
    if not port.isdecimal() or not 0 < int(port) < 2**16:
        raise BadSetting(f'foxglove_port: a number from 1 to 65535 is expected, not {port!r}')
    said, started = [], []
    for name, package in PROGRAMS.items():
        if given[name] == _choice(False):
            continue
        why = _not_installed(package)
        if name == 'robot_state_publisher' and not urdf:
            why = f'nobody knows what body {body.kind!r} looks like'
        if not why:
            started.append(name)
        elif given[name] == _choice(True):
            raise BadSetting(f'{name}: {why}')
        else:
            said.append(LogInfo(msg=f'{why}: {MISSING[name]}'))
    clock = {'use_sim_time': given['use_sim_time'] == _choice(True)}
    nodes = {
        'rviz': lambda: _program(
            'rviz2',
            clock,
            # What the layout names absolutely is in the namespace of the graph.
            {f'/{one.name}': one.name for one in views() if not one.name.startswith('/')},
            ['-d', given['rviz_config']],
            over='RViz was closed',
        ),
        'foxglove': lambda: _program(
            'foxglove_bridge',
            {
                **clock,
                'port': int(port),
                'address': given['foxglove_address'],
                'asset_uri_allowlist': [_PACKAGE_FILES, *_shapes(urdf)],
            },
        ),
        'robot_state_publisher': lambda: _program(
            'robot_state_publisher',
            {**clock, 'robot_description': urdf},
            # One node is enough to say it, and the other one goes by the episode.
            {'robot_description': '~/robot_description'},
        ),
    }
    actions = [nodes[name]() for name in started]
    if given[VISUALIZATION] == _choice(True):
        transforms = 'robot_state_publisher' not in started
        actions.append(_node(NodeSpec(VISUALIZATION, {'publish_tf': transforms})))
    return [*said, GroupAction([PushRosNamespace(LaunchConfiguration('ns')), *actions])]


def _not_installed(package: str) -> str:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        debian = f'ros-<distribution>-{package.replace("_", "-")}'
        return f'{package} is not installed (Debian package {debian})'
    return ''


def _shapes(urdf: str) -> list[str]:
    """Return what matches the files in the folders of a robot's shapes."""
    if not urdf:
        return []
    meshes = [mesh.get('filename', '') for mesh in ElementTree.fromstring(urdf).iter('mesh')]
    folders = {urljoin(name, '.') for name in meshes if name.startswith('file://')}
    return [f'^{re.escape(folder)}[^/]+$' for folder in sorted(folders)]


def _program(
    package: str,
    parameters: dict[str, Any],
    remappings: dict[str, str] | None = None,
    arguments: Collection[str] = (),
    over: str = '',
) -> Node:
    """Return a node of another package."""
    rules = [('-p', name, json.dumps(value)) for name, value in parameters.items()]
    rules += [('-r', source, target) for source, target in (remappings or {}).items()]
    return Node(
        package=package,
        executable=package,
        arguments=[*arguments],
        ros_arguments=[
            *_log_level(),
            *(part for flag, left, right in rules for part in (flag, f'{left}:={right}')),
        ],
        on_exit=_watch(package, over),
        **_process(),
    )


# -- a matrix


@ends_on_sigterm
def matrix(context: LaunchContext) -> list[Any]:
    """Return the matrix runner, as a child process.

    Its graphs are no launch actions: every episode has processes and a ROS domain of its own, and
    the runner must outlive each of them to start it, judge its end and go on.
    """
    defaults = inspect.signature(cli.matrix).parameters
    options = []
    for name, value in _given(cli.matrix, context).items():
        if value == _choice(True):
            options.append(f'--{name}')
        elif value != _choice(False):
            options += [f'--{name}={value}'] if value else []
        elif defaults[name].default:
            options.append(f'--no-{name}')
    return [
        ExecuteProcess(
            cmd=[sys.executable, '-m', f'{PACKAGE}.run.child', 'matrix', *options],
            name='matrix',
            output='both',
            output_format='{line}',
            additional_env={'COLUMNS': str(shutil.get_terminal_size().columns)},
            sigterm_timeout=STOP_S,
            on_exit=_matrix_ended,
        )
    ]


def _matrix_ended(event: ProcessExited, _: LaunchContext) -> None:
    if event.returncode != 0:
        raise Ended(f'alpha-chaos matrix {_how(event.returncode)}')
