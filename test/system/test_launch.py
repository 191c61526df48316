"""The launch files under the real launch system, where there is one."""

import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from alpha_chaos import cli, journal
from alpha_chaos.bag.reader import Recording
from alpha_chaos.bodies.description import robot_description
from alpha_chaos.bodies.panda import Panda
from alpha_chaos.graph import episode_graph
from alpha_chaos.kinematic_tree import KinematicTree
from alpha_chaos.resources import config_folder
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.language_model import replies_folder

with warnings.catch_warnings():
    warnings.simplefilter('ignore')  # of packages that we only look at
    pytest.importorskip(
        'launch_ros', reason='launch_ros is not on PyPI; source a ROS installation to run this'
    )
    from launch.actions import DeclareLaunchArgument, OpaqueFunction

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path.name.removesuffix('.launch.py') for path in (ROOT / 'launch').glob('*.launch.py')
)
PATIENCE_S = 180.0
STOPS = (
    lambda pid: os.killpg(pid, signal.SIGINT),  # as a terminal; and launch sends another one
    lambda pid: os.kill(pid, signal.SIGTERM),
)
WATCHED = {'experiment': 'smoke', 'run_id': 'control_000', 'arm': 'oracle', 'out': 'run'}

# What `ros2 launch` does, and it tells which processes it starts.
LAUNCH = """
import json, sys
from launch import LaunchDescription, LaunchService
from launch.actions import GroupAction, IncludeLaunchDescription, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch_ros.actions import PushRosNamespace, SetParameter, SetRemap

def tell(event, context):
    print('STARTED', json.dumps([event.pid, event.cmd]), flush=True)

path, outer, *arguments = sys.argv[1:]
service = LaunchService(argv=arguments, noninteractive=True)
included = IncludeLaunchDescription(
    AnyLaunchDescriptionSource(path), launch_arguments=[one.split(':=', 1) for one in arguments]
)
around = [
    PushRosNamespace(outer),
    SetParameter('use_sim_time', True),
    SetRemap('joint_states', 'iiwa/joint_states'),
] if outer else []
service.include_launch_description(LaunchDescription([
    RegisterEventHandler(OnProcessStart(on_start=tell)), GroupAction([*around, included])
]))
sys.exit(service.run())
"""


class Launch:
    """A launch file under way."""

    def __init__(self, folder, domain, file, outer='', /, **arguments):
        prefixes = [os.environ.get('AMENT_PREFIX_PATH', ''), sys.prefix]
        self.log = folder / f'{file}.log'
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                [
                    *[sys.executable, '-W', 'ignore', '-c', LAUNCH],
                    *[ROOT / 'launch' / f'{file}.launch.py', outer],
                    *[f'{name}:={value}' for name, value in arguments.items()],
                ],
                cwd=folder,
                env={
                    **os.environ,
                    'AMENT_PREFIX_PATH': os.pathsep.join(filter(None, prefixes)),
                    'ROS_DOMAIN_ID': str(domain),
                    'ROS_LOG_DIR': str(folder / 'log'),
                    'PYTHONUNBUFFERED': '1',
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    @property
    def said(self):
        return self.log.read_text()

    @property
    def started(self):
        """Return process id and command line of each process so far, by name."""
        found = {}
        for line in re.findall(r'^STARTED (.*)$', self.said, re.MULTILINE):
            pid, command = json.loads(line)
            found[Path(command[0]).name] = SimpleNamespace(pid=pid, command=command)
        return found

    def wait_for(self, words):
        deadline = time.monotonic() + PATIENCE_S
        while words not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.05)

    def end(self):
        return self.process.wait(PATIENCE_S)


@pytest.fixture
def launch(tmp_path):
    """Return a function that starts a launch file; it ends with the test."""
    domains, made = Domains(), []

    def start(file, outer='', /, **arguments):
        made.append(Launch(tmp_path, domains.claim(), file, outer, **arguments))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()
    domains.close()


def described(file):
    """Return the entities of a launch file."""
    place = {}
    exec(compile((ROOT / 'launch' / f'{file}.launch.py').read_text(), file, 'exec'), place)
    return place['generate_launch_description']().entities


def rules(command):
    """Return the parameters and the remappings of a command line."""
    parameters, remappings = {}, []
    for flag, rule in pairwise(command):
        left, _, right = rule.partition(':=')
        if flag == '-p':
            parameters[left] = yaml.safe_load(right)
        elif flag == '-r':
            remappings.append((left, right))
    return parameters, remappings


# -- arguments


@pytest.mark.parametrize(
    ('name', 'without'),
    [('episode', set()), ('matrix', set()), ('replay', {'ros', 'workers', 'limit'})],
)
def test_the_arguments_are_the_options_of_the_command_line(name, without):
    declared = {
        entity.name: entity
        for entity in described(name)
        if isinstance(entity, DeclareLaunchArgument)
    }
    options = inspect.signature(getattr(cli, name)).parameters
    assert set(options) - without == set(declared) - {'ns', 'log_level'}
    closed = {
        **{key: ['false', 'true'] for key in ('composition', 'loop', 'paused', 'report', 'view')},
        'llm': ['', 'auto', 'ollama', 'embedded'],
    }
    for key in closed.keys() & declared.keys():
        assert declared[key].choices == closed[key]


@pytest.mark.parametrize('name', FILES)
def test_every_argument_is_described_and_has_a_default_and_there_is_nothing_else(name):
    *declared, made = described(name)
    assert isinstance(made, OpaqueFunction)
    for argument in declared:
        assert isinstance(argument, DeclareLaunchArgument)
        assert argument.description.endswith('.') or argument.choices
        assert argument.default_value is not None


def test_a_launch_file_that_plays_one_recording_does_not_promise_every_one():
    told = {one.name: one.description for one in described('replay')[:-1]}
    for name in ('run_id', 'arm'):
        assert told[name].endswith('may be left out where there is only one.')


def test_there_are_the_launch_files_that_the_readme_names():
    assert FILES == ['episode', 'matrix', 'relay', 'replay', 'view']
    for name in FILES:
        assert f'{name}.launch.py' in (ROOT / 'README.md').read_text('utf-8')


# -- an episode


@pytest.fixture
def watched(launch):
    """Return an episode in the namespace and with the remapping of a launch file around it."""
    episode = launch('episode', 'site', ns='cell', log_level='warn', **WATCHED)
    assert episode.end() == 0, episode.said
    return episode


def test_what_is_launched_is_the_graph(watched, fresh):
    out = watched.log.parent / 'run'
    graph = episode_graph(['oracle_planner'], replies=replies_folder(out))
    started = watched.started
    assert list(started) == [spec.executable for spec in graph.nodes]
    episode = {**WATCHED, 'llm': '', 'model': '', 'speed': 0.0}
    for spec in graph.nodes:
        command = started[spec.executable].command
        assert Path(command[0]).parts[-3:] == ('lib', 'alpha_chaos', spec.executable)
        parameters, remappings = rules(command)
        own = episode if spec.name == 'supervisor' else {}
        assert parameters == {**spec.parameters, **own, 'use_sim_time': True}
        names = [('__node', spec.name), ('__ns', '/site/cell')]
        outer = [('joint_states', 'iiwa/joint_states')]
        assert sorted(remappings) == sorted([*names, *outer, *spec.remappings])
        assert command[command.index('--log-level') + 1] == 'warn'
    # And it is the same episode as without launch, under the names that were asked for.
    (row,) = journal.read(out).rows
    assert '/site/cell/iiwa/joint_states' in Recording(out / row.bag).counts
    assert row.digest == fresh.final['control_000/oracle'].digest
    assert (row.status, row.recording.lost) == ('done', 0)
    assert 'Traceback' not in watched.said


def test_all_nodes_in_one_process(launch, fresh):
    episode = launch('episode', composition='true', ns='cell', **WATCHED)
    assert episode.end() == 0, episode.said
    assert len(episode.started) == 1
    (row,) = journal.read(episode.log.parent / 'run').rows
    assert row.digest == fresh.final['control_000/oracle'].digest


def test_another_driver_takes_the_place_of_the_sim(launch):
    episode = launch('episode', driver='mock_driver', **WATCHED)
    assert episode.end() == 0, episode.said
    assert 'mock_driver' in episode.started
    assert 'sim' not in episode.started
    (row,) = journal.read(episode.log.parent / 'run').rows
    assert (row.status, row.recording.lost) == ('done', 0)


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'experiment': 'smokey'}, "did you mean 'smoke'"),
        ({'run_id': 'control_007'}, "unknown run_id 'control_007'"),
        ({'arm': 'nobody'}, "unknown arm 'nobody'"),
        ({'driver': 'joint_trajectory_driver'}, 'takes part in no episodes'),
        ({'speed': 'fast'}, "a number is expected, not 'fast'"),
        ({'composition': 'yes'}, "Valid options are: ['false', 'true']"),
    ],
)
def test_bad_input_starts_nothing_and_ends_with_1(launch, change, why):
    episode = launch('episode', **{**WATCHED, **change})
    assert episode.end() == 1
    assert why in episode.said
    assert episode.started == {}


def test_a_dead_node_ends_the_launch_with_1_and_is_named(launch):
    episode = launch('episode', speed=0.2, **WATCHED)
    episode.wait_for('observed')
    os.kill(episode.started['perception'].pid, signal.SIGKILL)
    assert episode.end() == 1
    assert 'perception was killed by signal 9' in episode.said
    assert not any(Path(f'/proc/{one.pid}').exists() for one in episode.started.values())


@pytest.mark.parametrize('stop', STOPS, ids=['ctrl_c', 'sigterm'])
def test_a_signal_ends_the_launch_in_order_with_0_and_the_bag_is_closed(launch, stop):
    episode = launch('episode', speed=0.2, **WATCHED)
    episode.wait_for('observed')
    stop(episode.process.pid)
    assert episode.end() == 0, episode.said
    assert 'Traceback' not in episode.said
    run = episode.log.parent / 'run'
    assert journal.read(run).rows == ()
    (bag,) = (run / 'bags').iterdir()
    assert not Recording(bag).complete


# -- the relay alone


def test_closed_arguments_of_the_relay_have_choices():
    declared = [one for one in described('relay') if isinstance(one, DeclareLaunchArgument)]
    choices = {one.name: one.choices for one in declared if one.choices}
    assert choices['enable_injection'] == choices['use_sim_time'] == ['false', 'true']


def test_the_relay_is_launched_with_its_file_in_its_namespace_and_ctrl_c_ends_it_with_0(launch):
    relay = launch(
        'relay', 'site', ns='cell', config='example', enable_injection='true', allow='/chatter'
    )
    relay.wait_for('relays /chatter; injection is on, faults armed: 4')
    parameters, remappings = rules(relay.started['fault_relay'].command)
    assert parameters == {
        'config': str(config_folder() / 'relay/example.yaml'),
        'enable_injection': True,
        'allow': ['/chatter'],
        'use_sim_time': True,  # of the launch file around it
    }
    assert ('__ns', '/site/cell') in remappings
    os.killpg(relay.process.pid, signal.SIGINT)
    assert relay.end() == 0, relay.said
    assert 'Traceback' not in relay.said


def test_a_mistake_in_the_relays_file_starts_nothing_and_ends_with_1(launch, tmp_path):
    file = tmp_path / 'break.yaml'
    file.write_text('topics:\n  /a:\n    fault: []\n')
    relay = launch('relay', config=str(file))
    assert relay.end() == 1
    assert "line 3: topics./a: unknown key 'fault', did you mean 'faults'?" in relay.said
    assert relay.started == {}


def test_a_relay_that_dies_ends_the_launch_with_1(launch):
    relay = launch('relay')
    relay.wait_for('injection is off')
    os.kill(relay.started['fault_relay'].pid, signal.SIGKILL)
    assert relay.end() == 1
    assert 'fault_relay was killed by signal 9' in relay.said


# -- a recording


def test_a_recording_is_played_with_the_parameters_of_the_command_line(launch, fresh):
    row = fresh.final['control_000/oracle']
    chosen = {'folder': fresh.folder, 'run_id': 'control_000', 'arm': 'oracle'}
    replay = launch('replay', ns='lab', rate='5', begin='0.5', **chosen)
    assert replay.end() == 0, replay.said
    parameters, remappings = rules(replay.started['bag_player'].command)
    assert parameters == {
        **{'bag': str(fresh.folder / row.bag), 'rate': 5.0, 'begin': 0.5},
        **{'loop': False, 'paused': False},
    }
    assert ('__ns', '/lab') in remappings
    assert 'played 5.8 of 5.8 s' in replay.said


@pytest.mark.parametrize('stop', STOPS, ids=['ctrl_c', 'sigterm'])
def test_a_signal_ends_a_recording_that_is_played_for_ever_with_0(launch, fresh, stop):
    bag = fresh.folder / fresh.final['control_000/oracle'].bag
    replay = launch('replay', folder=bag, loop='true')
    replay.wait_for('plays')
    stop(replay.process.pid)
    assert replay.end() == 0, replay.said
    assert 'Traceback' not in replay.said


def test_a_recording_that_there_is_not_starts_nothing_and_ends_with_1(launch, fresh):
    replay = launch('replay', folder=fresh.folder, run_id='contrl_000')
    assert replay.end() == 1
    assert "did you mean 'control_000'" in replay.said
    assert replay.started == {}


# -- viewers


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs programs in place of the real ones, which need a screen.

    Each says what it was started with, and ends when it is told to; RViz when it is closed.
    """

    def install(*packages):
        prefix = tmp_path / 'prefix'
        for package in packages:
            index = prefix / 'share/ament_index/resource_index/packages'
            program = prefix / 'lib' / package / package
            for folder in (index, program.parent):
                folder.mkdir(parents=True, exist_ok=True)
            (index / package).touch()
            program.write_text('#!/bin/sh\necho "$0 is here"\ntrap "exit 0" INT TERM\n')
            with program.open('a') as script:
                script.write(f'while [ ! -e {package}.closed ]; do sleep 0.1; done\n')
            program.chmod(0o755)
        monkeypatch.setenv('AMENT_PREFIX_PATH', str(prefix))

    return install


def connected(node):
    """Tell whether a process is on the network: its interpreter would die of a signal before."""
    return '/dev/shm/fastrtps_' in Path(f'/proc/{node.pid}/maps').read_text()


VIEWERS = ('rviz2', 'foxglove_bridge', 'robot_state_publisher')


def test_viewers_are_started_with_what_they_need_and_end_with_rviz(launch, installed, wait):
    installed(*VIEWERS)
    view = launch('view', ns='lab', experiment='randomized', foxglove_port='9000')
    for name in VIEWERS:
        view.wait_for(f'{name} is here')
    assert set(view.started) == {*VIEWERS, 'visualization'}
    parameters, remappings = rules(view.started['rviz2'].command)
    assert parameters == {'use_sim_time': True}
    names = {'/markers': 'markers', '/robot_description': 'robot_description'}
    assert names.items() <= dict(remappings).items()
    assert dict(remappings)['__ns'] == '/lab'
    command = view.started['rviz2'].command
    assert Path(command[command.index('-d') + 1]).name == 'alpha_chaos.rviz'
    parameters, remappings = rules(view.started['robot_state_publisher'].command)
    tree = KinematicTree(parameters['robot_description'])
    assert (tree.root, tree.movable[0]) == ('world', 'panda_joint1')
    assert ('robot_description', '~/robot_description') in remappings
    assert rules(view.started['visualization'].command)[0] == {'publish_tf': False}
    parameters, _ = rules(view.started['foxglove_bridge'].command)
    assert (parameters['port'], parameters['address']) == (9000, '127.0.0.1')
    shapes = re.findall('filename="(file://.*?)"', robot_description(Panda.robot))
    allowed = parameters['asset_uri_allowlist']
    assert all(any(re.match(one, shape) for one in allowed) for shape in shapes)
    assert not any(re.match(one, 'file:///etc/passwd') for one in allowed)
    wait(lambda: connected(view.started['visualization']), 'the node')
    (view.log.parent / 'rviz2.closed').touch()
    assert view.end() == 0
    assert 'process[rviz2-1] was required' in view.said


@pytest.mark.skipif(
    shutil.which('rviz2') is not None, reason='RViz is installed, and would be started'
)
def test_what_is_not_installed_is_named_and_the_rest_is_started(launch, installed, wait):
    installed('foxglove_bridge')
    view = launch('view')
    view.wait_for('foxglove_bridge is here')
    assert 'rviz2 is not installed (Debian package ros-<distribution>-rviz2)' in view.said
    assert 'Debian package ros-<distribution>-robot-state-publisher' in view.said
    assert rules(view.started['visualization'].command)[0] == {'publish_tf': True}
    wait(lambda: connected(view.started['visualization']), 'the node')
    os.killpg(view.process.pid, signal.SIGINT)
    assert view.end() == 0, view.said


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'experiment': 'smokey'}, "did you mean 'smoke'"),
        ({'foxglove_port': '99999'}, "from 1 to 65535 is expected, not '99999'"),
        pytest.param(
            {'rviz': 'true'},
            'rviz: rviz2 is not installed',
            marks=pytest.mark.skipif(shutil.which('rviz2') is not None, reason='it is here'),
        ),
    ],
)
def test_viewers_that_cannot_be_had_start_nothing_and_end_with_1(launch, change, why):
    view = launch('view', **change)
    assert view.end() == 1
    assert why in view.said
    assert view.started == {}


# -- a matrix


def test_a_matrix_is_what_the_command_line_runs(launch, fresh):
    matrix = launch('matrix', experiment='smoke', arms='oracle', out='run', isolation='worker')
    assert matrix.end() == 0, matrix.said
    rows = {f'{row.run_id}/{row.arm}': row for row in journal.read(matrix.log.parent / 'run').rows}
    assert {name: row.digest for name, row in rows.items()} == {
        name: row.digest for name, row in fresh.final.items() if name.endswith('/oracle')
    }
    assert '\noracle 2/4\n' in matrix.said


def test_the_exit_code_of_the_runner_is_seen(launch):
    matrix = launch('matrix', experiment='smokey')
    assert matrix.end() == 1
    assert "did you mean 'smoke'" in matrix.said
    assert 'alpha-chaos matrix ended with exit code 2' in matrix.said


@pytest.mark.parametrize('stop', STOPS, ids=['ctrl_c', 'sigterm'])
def test_a_signal_ends_a_matrix_in_order_with_0(launch, wait, stop):
    matrix = launch('matrix', experiment='paper', arms='oracle', out='run')
    wait((matrix.log.parent / 'run' / 'nodes.log').exists, 'the first node')
    stop(matrix.process.pid)
    assert matrix.end() == 0, matrix.said
    assert 'the same command goes on where this one ended' in matrix.said
    assert 'process has finished cleanly' in matrix.said
    assert 'process has died' not in matrix.said
    assert 'Traceback' not in matrix.said
