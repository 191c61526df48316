"""The nodes as `ros2 run` and `ros2 launch` start them: executables with arguments."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from alpha_chaos import journal
from alpha_chaos.bag.reader import Recording
from alpha_chaos.graph import PLANNERS, episode_graph
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.live_graph import NOBODY
from alpha_chaos.run.processes import environment, node_class

GRAPH = episode_graph(PLANNERS)
EPISODE = {'experiment': 'smoke', 'run_id': 'control_000', 'arm': 'oracle'}
PATIENCE_S = 120.0


def shared_memory(domain):
    """Return the ports of a domain that a participant has left in shared memory.

    Without its lock it is nobody's: Fast DDS makes the file of a port anew if it sends there just
    when the owner goes (seen once in twelve runs).
    """
    ports = range(7400 + 250 * domain, 7400 + 250 * (domain + 1))
    names = [path.name for path in Path('/dev/shm').glob('fastrtps_port*_el')]
    return [name for name in names if int(re.findall(r'[0-9]+', name)[0]) in ports]


def running(process):
    """Tell whether a process is neither gone nor waiting for somebody to ask how it ended."""
    try:
        return '\nState:\tZ' not in (process / 'status').read_text()
    except OSError:
        return False


class Crew:
    """Processes of nodes on a domain of their own."""

    def __init__(self, domain, folder):
        self.domain, self.folder = domain, folder
        self.processes = {}

    def executable(self, name):
        places = (*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix)
        found = [Path(place) / 'lib/alpha_chaos' / name for place in places if place]
        return next(path for path in found if path.is_file())

    def start(self, name, *arguments, command=None):
        with (self.folder / f'{name}.out').open('w') as out:
            process = subprocess.Popen(
                [*(command or [self.executable(name)]), *arguments],
                cwd=self.folder,
                env={**os.environ, **environment(self.domain)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                # Or a test run in the background hands down that SIGINT is ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.processes[name] = process
        return process

    def start_graph(self, specs, /, **episode):
        for spec in specs:
            mine = episode if spec.name == 'supervisor' else {}
            spec = replace(spec, parameters={**spec.parameters, **mine})
            self.start(spec.executable, '--ros-args', *spec.ros_arguments())

    def said(self, name):
        return (self.folder / f'{name}.out').read_text()

    def end(self, name):
        try:
            return self.processes[name].wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            pytest.fail(f'{name} still runs; it said:\n{self.said(name)}')

    def stop(self, number=signal.SIGINT):
        """Signal those that still run, and return the exit code of each."""
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(number)
        return {name: self.end(name) for name in self.processes}

    def wait_until(self, done, what):
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            told = '\n'.join(map(self.said, self.processes))
            assert time.monotonic() < deadline, f'{what} did not come:\n{told}'
            time.sleep(0.05)

    def connected(self):
        """Tell whether all are on the network."""
        maps = [Path(f'/proc/{one.pid}/maps').read_text() for one in self.processes.values()]
        return all('/dev/shm/fastrtps_' in text for text in maps)


@pytest.fixture
def crew(tmp_path):
    domains = Domains()
    made = Crew(domains.claim(), tmp_path)
    yield made
    for process in made.processes.values():
        if process.poll() is None:
            process.kill()
            process.wait()
    domains.close()


@pytest.fixture
def ask(crew):
    """Return a function that runs a node's executable to its end: exit code, and what it said."""

    def run(name, *arguments):
        crew.start(name, *arguments)
        return crew.end(name), crew.said(name)

    return run


# -- what a node is told


@pytest.mark.parametrize('spec', [GRAPH.nodes[0], GRAPH.nodes[-1]], ids=lambda spec: spec.name)
def test_help_shows_every_parameter_with_its_meaning(ask, spec):
    code, said = ask(spec.executable, '--help')
    assert code == 0
    for name, field in node_class(spec).params_model.model_fields.items():
        assert f'  {name}\n      {field.description}' in said


@pytest.mark.parametrize(
    ('node', 'arguments', 'why'),
    [
        ('sim', ['-p', 'steps_per_turn:=0'], 'steps_per_turn: Input should be greater than or'),
        ('sim', ['-p', 'expect:=5'], 'expect: Input should be a valid list'),
        ('controller', ['-p', 'grip_effort:=strong'], 'grip_effort: Input should be a valid numb'),
        ('recorder', ['-p', 'topics:=["scene"]'], 'expected "<name> <type> [latched]"'),
        ('recorder', ['-p', 'topics:=["scene a/msg/B"]'], "'a/msg/B' is not installed"),
        ('fault_relay', ['-p', 'routes:=["topic a alpha_chaos/srv/Plan"]'], 'no type of a topic'),
        ('perception', ['-r', '__ns:=no space'], '__ns:=no space'),
        ('perception', ['--no-such-option'], 'unknown ROS arguments'),
        ('supervisor', [], 'which episode?'),
    ],
)
def test_a_bad_argument_is_refused_in_one_line(ask, node, arguments, why):
    code, said = ask(node, '--ros-args', *arguments)
    assert code == 2
    (line,) = (line for line in said.splitlines() if '[rcl]' not in line)
    assert line.startswith('error: ')
    assert why in line


def test_an_argument_that_is_not_for_ros_is_refused(ask):
    code, said = ask('perception', 'every_n_objects:=3')
    assert code == 2
    assert (
        said
        == "error: unknown argument 'every_n_objects:=3'; --help shows how parameters are given\n"
    )


@pytest.mark.parametrize(
    ('change', 'why'),
    [
        ({'experiment': 'smokey'}, "did you mean 'smoke'"),
        ({'run_id': 'control_007'}, "unknown run_id 'control_007'"),
        ({'arm': 'nobody'}, "unknown arm 'nobody'"),
        ({'llm': 'oracle', 'arm': 'llm'}, "'auto', 'ollama' or 'embedded'"),
        ({'speed': -1.0}, 'speed: Input should be greater than or equal to 0'),
    ],
)
def test_an_episode_that_there_is_not_is_refused_in_one_line(ask, crew, change, why):
    spec = replace(GRAPH.nodes[-1], parameters={**EPISODE, 'out': 'run', **change})
    code, said = ask('supervisor', '--ros-args', *spec.ros_arguments())
    assert code == 2
    (line,) = said.splitlines()
    assert line.startswith('error: ')
    assert why in line
    assert not (crew.folder / 'run').exists()


# -- how a node stops


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_a_signal_ends_every_node_in_order(crew, number):
    crew.start_graph(GRAPH.nodes, **EPISODE, nodes=['nobody'])
    crew.wait_until(crew.connected, 'the network')
    codes = crew.stop(number)
    assert codes == dict.fromkeys(GRAPH.names, 0)
    assert {name: crew.said(name) for name in codes} == dict.fromkeys(codes, '')
    assert shared_memory(crew.domain) == []


def test_a_signal_ends_a_node_that_is_still_starting(crew):
    for delay_s in (0.3, 0.6, 0.9):
        crew.start('perception')
        time.sleep(delay_s)
        assert crew.stop()['perception'] == 0
        assert crew.said('perception') == ''


def test_a_second_signal_changes_nothing(crew):
    crew.start('controller')
    crew.wait_until(crew.connected, 'the network')
    process = crew.processes['controller']
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.002)
    assert (process.returncode, crew.said('controller')) == (0, '')
    assert shared_memory(crew.domain) == []


@pytest.mark.parametrize('delay_s', [0.0, 0.3, 3.0])
def test_a_node_does_not_outlive_whoever_started_it(crew, delay_s):
    # The parent tells the process id of its child, and ends.
    start = (
        'import subprocess, sys, time; '
        'print(subprocess.Popen(sys.argv[2:]).pid, flush=True); time.sleep(float(sys.argv[1]))'
    )
    node = str(crew.executable('perception'))
    crew.start('parent', str(delay_s), node, command=[sys.executable, '-c', start])
    assert crew.end('parent') == 0
    child = Path('/proc') / crew.said('parent').split()[0]
    crew.wait_until(lambda: not running(child), 'the end of the node')
    assert len(crew.said('parent').split()) == 1


# -- the graph that runs


def test_the_graph_of_a_domain_is_drawn_and_an_empty_one_is_refused(crew):
    def draw(name, quiet_s):
        command = [sys.executable, '-m', 'alpha_chaos.cli', 'graph', '--quiet', quiet_s]
        crew.start(name, command=command)
        return crew.end(name), crew.said(name)

    crew.start('perception')
    crew.wait_until(crew.connected, 'the network')
    code, said = draw('picture', '5')
    assert code == 0
    assert said.startswith('listens until 5 s bring nothing new\ndigraph {')
    assert '  "/perception";' in said
    crew.stop()
    said = f'listens until 1 s bring nothing new\nerror: {NOBODY}\n'
    assert draw('nothing', '1') == (2, said)


# -- an episode


def outcome(row):
    return row.status, row.digest, row.steps, row.final_error_m, row.safety, row.recording.messages


def test_nine_processes_are_an_episode_like_any_other(crew, fresh, cli):
    nodes = episode_graph(['oracle_planner']).nodes
    crew.start_graph(nodes, **EPISODE, out='run')
    assert crew.end('supervisor') == 0, crew.said('supervisor')
    assert set(crew.stop().values()) == {0}
    (row,) = journal.read(crew.folder / 'run').rows
    assert outcome(row) == outcome(fresh.final['control_000/oracle'])
    assert row.recording.lost == 0
    assert Recording(crew.folder / 'run' / row.bag).episode_id == 'control_000/oracle#1'
    assert 'control_000/oracle: done' in crew.said('supervisor')
    assert not any('Traceback' in crew.said(name) for name in crew.processes)
    assert shared_memory(crew.domain) == []
    table = cli('table', 'run', folder=crew.folder)
    assert table.returncode == 0, table.stderr
    assert '1 of 4 episodes' in table.stdout


def test_the_same_nodes_in_one_process_are_the_same_episode(crew, fresh):
    nodes = episode_graph(['oracle_planner']).nodes
    supervisor = nodes[-1]
    mine = replace(supervisor, parameters={**supervisor.parameters, **EPISODE, 'out': 'run'})
    nodes = (*nodes[:-1], mine)
    crew.start(
        'graph',
        *[spec.executable for spec in nodes],
        '--ros-args',
        *[part for spec in nodes for part in spec.ros_arguments(shared=True)],
        *('-r', '__ns:=/cell'),
        command=[sys.executable, '-m', 'alpha_chaos.nodes'],
    )
    assert crew.end('graph') == 0, crew.said('graph')
    (row,) = journal.read(crew.folder / 'run').rows
    assert outcome(row) == outcome(fresh.final['control_000/oracle'])


def test_without_a_folder_the_result_is_printed_and_nothing_is_recorded(crew, fresh):
    crew.start_graph(episode_graph(['oracle_planner']).nodes, **EPISODE)
    assert crew.end('supervisor') == 0, crew.said('supervisor')
    assert set(crew.stop().values()) == {0}
    (line,) = (line for line in crew.said('supervisor').splitlines() if line.startswith('{'))
    row = journal.Row.model_validate_json(line)
    assert row.digest == fresh.final['control_000/oracle'].digest
    assert (row.bag, row.recording.messages) == ('', None)
    assert {path.suffix for path in crew.folder.iterdir()} == {'.out'}


def test_a_stopped_episode_is_no_result_and_can_be_run_again(crew):
    nodes = episode_graph(['oracle_planner']).nodes
    crew.start_graph(nodes, **EPISODE, out='run', speed=0.2)
    crew.wait_until(lambda: 'observed' in crew.said('supervisor'), 'the observation')
    assert set(crew.stop().values()) == {0}
    assert journal.read(crew.folder / 'run').rows == ()
    assert not any('Traceback' in crew.said(name) for name in crew.processes)
    crew.start_graph(nodes, **EPISODE, out='run')
    assert crew.end('supervisor') == 0, crew.said('supervisor')
    first, second = journal.read(crew.folder / 'run').rows
    assert (first.attempt, first.status, first.reason_type) == (1, 'aborted', 'interrupted')
    assert (second.attempt, second.status) == (2, 'done')


def test_an_episode_whose_nodes_are_not_there_is_aborted_with_3(crew):
    crew.start_graph(GRAPH.nodes[-1:], **EPISODE, out='run', ready_timeout=1.0)
    assert crew.end('supervisor') == 3
    (row,) = journal.read(crew.folder / 'run').rows
    assert (row.status, row.success, row.bag) == ('aborted', None, '')
    assert row.reason == 'not_ready: supervisor waits for /phase: 0 of 1 subscribers connected'
    assert row.reason in crew.said('supervisor')


def test_a_folder_in_use_is_refused(crew):
    nodes = episode_graph(['oracle_planner']).nodes
    crew.start_graph(nodes[-1:], **EPISODE, out='run')
    crew.wait_until((crew.folder / 'run' / 'ledger.lock').exists, 'the first one')
    second = replace(nodes[-1], parameters={**EPISODE, 'out': 'run'})
    crew.start(
        'second',
        '--ros-args',
        *second.ros_arguments(),
        command=[sys.executable, '-m', 'alpha_chaos.nodes', 'supervisor'],
    )
    assert crew.end('second') == 2
    (line,) = crew.said('second').splitlines()
    assert re.fullmatch(r'error: \S+ is in use by process [0-9]+ .*\(running an episode\)', line)
