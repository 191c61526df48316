"""What the nodes say on /diagnostics, in the form that REP 107 gives it."""

import math
import queue
import re
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.serialization import deserialize_message

from alpha_chaos.bag.reader import Recording
from alpha_chaos.graph import episode_graph
from alpha_chaos.graph_picture import dot
from alpha_chaos.health import Level
from alpha_chaos.nodes.perception_node import PerceptionNode
from alpha_chaos.resources import config_folder
from alpha_chaos.run.job import Job
from alpha_chaos.run.live_graph import nodes, wires
from alpha_chaos.run.processes import node_class
from alpha_chaos.srv import AwaitCount

ATTEMPT = 'control_000/oracle#1'
PERIOD_S = 0.05
ROOT = Path(__file__).parents[2]
LAYOUT = config_folder() / 'foxglove/alpha_chaos.json'
LAGGED = {'kind': 'sensor_lag', 'lag_s': 0.2}


class Board:
    """Everything that was said on /diagnostics, in order."""

    def __init__(self, stage):
        self._heard = stage.hear('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')

    def messages(self):
        return [deserialize_message(data, DiagnosticArray) for data in self._heard]

    def of(self, name):
        """Return what was said under a name: level, message, values."""
        return [
            (status.level, status.message, {pair.key: pair.value for pair in status.values})
            for message in self.messages()
            for status in message.status
            if status.name == name
        ]


def test_the_levels_are_those_of_the_message():
    for level in Level:
        assert bytes([level]) == getattr(DiagnosticStatus, level.name)


def test_a_node_tells_its_conditions_under_its_name(stage, control):
    board = Board(stage)
    stage.add(PerceptionNode, diagnostics_period=PERIOD_S)
    stage.until(lambda: board.of('perception: attempt'), 'a message')
    level, message, _ = board.of('perception: attempt')[-1]
    assert (level, message) == (DiagnosticStatus.STALE, 'none has begun')
    assert stage.reset('perception', control, ATTEMPT).ready

    def under_way():
        level, message, values = board.of('perception: attempt')[-1]
        return (level, message, values['episode_id']) == (b'\0', 'under way', ATTEMPT)

    stage.until(under_way, 'the attempt')
    last = board.messages()[-1]
    assert {status.hardware_id for status in last.status} == {'none'}
    # Wall time, by which viewers tell what is stale: this machine's, of this century.
    assert last.header.stamp.sec > 1_700_000_000
    values = board.of('perception: streams')[-1][2]
    assert (values['/objects received'], values['/scene sent']) == ('0', '0')


def test_a_namespace_is_part_of_the_name_and_the_topic_is_the_same(stage):
    board = Board(stage)
    stage.add(PerceptionNode, cli=['-r', '__ns:=/lab'], diagnostics_period=PERIOD_S)
    stage.until(lambda: board.of('lab/perception: streams'), 'a message')


def test_announced_messages_that_do_not_come_are_told(stage, control):
    board = Board(stage)
    stage.add(PerceptionNode, diagnostics_period=PERIOD_S)
    assert stage.reset('perception', control, ATTEMPT).ready
    stage.request(
        AwaitCount, 'perception/await_count', episode_id=ATTEMPT, topic='/objects', received=3
    )
    stage.until(lambda: board.of('perception: streams')[-1:] and 'missing' in _last(board), 'it')
    assert board.of('perception: streams')[-1][:2] == (
        DiagnosticStatus.WARN,
        '/objects: 3 of 3 messages are missing',
    )


def _last(board):
    return board.of('perception: streams')[-1][1]


def test_a_period_of_0_says_nothing(stage, control):
    node = stage.add(PerceptionNode, diagnostics_period=0.0)
    assert stage.reset('perception', control, ATTEMPT).ready
    assert not list(node.timers)
    assert stage.probe.count_publishers('/diagnostics') == 0


class Feed:
    """Hands out one job."""

    def __init__(self):
        self.jobs, self.rows = queue.SimpleQueue(), []

    def receive(self):
        return self.jobs.get()

    def tell(self, text):
        pass

    def answer(self, row, ledger):
        self.rows.append(row)


@pytest.fixture(scope='module')
def episode(shared_stage, control, tmp_path_factory):
    """Return an episode that has run, all its nodes on one executor, and what was said."""
    stage, tmp_path = shared_stage, tmp_path_factory.mktemp('episode')
    board, feed = Board(stage), Feed()
    for spec in episode_graph(['oracle_planner'], view=True).nodes:
        supervises = spec.name == 'supervisor'
        node = stage.add(
            node_class(spec),
            remap=dict(spec.remappings),
            feed=feed if supervises else None,
            diagnostics_period=PERIOD_S,
            **spec.parameters,
        )
    lagged = control.model_copy(update={'faults': (LAGGED,)})
    job = Job(lagged, 1, str(tmp_path / 'bag'), 'bag')
    feed.jobs.put(job)
    stage.until(lambda: feed.rows, 'the row', 120)
    told = len(board.messages())
    # Twice the period of all: the last word of everybody was said after the row.
    stage.until(lambda: len(board.messages()) > told + 2 * 9, 'a last word of everybody')
    yield board, feed.rows[0], Recording(tmp_path / 'bag')
    feed.jobs.put(None)
    stage.until(node.exit_code.done, 'the end of the supervisor')


def test_a_whole_episode_can_be_followed_and_is_not_recorded(episode, control):
    board, row, recording = episode
    assert (row.recording.lost, row.steps) == (0, 1260)
    names = {status.name for message in board.messages() for status in message.status}
    graph = episode_graph(['oracle_planner']).names
    assert {f'{node}: {what}' for node in graph for what in ('attempt', 'streams')} <= names
    phases = [message for _, message, _ in board.of('supervisor: episode')]
    assert phases[-1] == 'done'
    assert 'execute' in phases
    level, _, values = board.of('supervisor: recording')[-1]
    assert (level, values['lost']) == (b'\0', '0')
    assert int(values['messages']) == row.recording.messages
    # Of 1260 steps of the task and 120 in which the scene comes to rest, and the first state.
    steps = board.of('safety_monitor: steps')[-1][2]['last step']
    assert steps == board.of('sim: steps')[-1][2]['last step'] == '1260'
    assert board.of('sim: streams')[-1][2]['/step_state sent'] == str(1260 + 120 + 1)
    hardware = {
        status.hardware_id
        for message in board.messages()[-9:]
        for status in message.status
        if status.name.startswith('sim: ')
    }
    assert hardware == {'sim/kuka'}
    assert '/diagnostics' not in {message.topic for message in recording.messages()}


def test_the_picture_in_the_documentation_is_the_graph_that_runs(episode, shared_stage):
    own = {f'/{name}' for name in episode_graph(['oracle_planner'], view=True).names}
    observer = shared_stage.probe
    names = sorted(own & set(nodes(observer)))
    picture = dot(names, wires(observer, names), without=['/recorder'])
    assert picture == (ROOT / 'docs/graph.dot').read_text()


def test_the_relay_tells_what_it_costs_and_how_old_it_makes_a_scene(episode):
    board, _, _ = episode
    told = [values for _, _, values in board.of('fault_relay: latency')]
    busy = [values for values in told if int(values['passed since the last look'])]
    assert busy
    for values in busy:
        assert 0 < float(values['mean [ms]']) <= float(values['longest [ms]'])
    assert sum(int(values['passed since the last look']) for values in told) > 20
    assert float(told[-1]['scene age [s]']) == pytest.approx(0.2)
    assert board.of('fault_relay: faults')[-1][1] == 'sensor_lag'
    # What the layout for Foxglove plots of it.
    plotted = re.findall(r'{name==\\"(.*?)\\"}.*?{key==\\"(.*?)\\"}', LAYOUT.read_text())
    assert len(plotted) == 5
    for name, key in plotted:
        assert math.isfinite(float(board.of(name)[-1][2][key]))
