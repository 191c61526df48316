"""A trial on real DDS: a talker, the relay, and whoever watches them."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from numpy.random import default_rng
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from alpha_chaos import jsonl
from alpha_chaos.msg import SafetyEvent
from alpha_chaos.nodes import steady_state_node
from alpha_chaos.nodes.steady_state_node import SteadyStateNode
from alpha_chaos.nodes.transit_relay_node import TransitRelayNode
from alpha_chaos.probes.config import SteadyState
from alpha_chaos.srv import AddFault, ListFaults

# 50 Hz are sent, and one message in half a second is enough: a machine may be busy.
FILE = """\
allow: [/number]
topics:
  /number:
steady_state:
  probes:
    rate: {kind: topic_rate, topic: /relay/number, min_hz: 4, window_s: 0.5}
    value: {kind: value_range, topic: /relay/number, field: data, min: 6, max: 8}
    talker: {kind: node_alive, node: /talker}
  method:
    - {route: /number, fault: {kind: drop}, for_s: 1.2}
  before_s: 0.6
  settle_s: 0.2
  after_s: 0.6
"""
# A fault that lets everything pass, and for long.
PATIENT = FILE.replace('{kind: drop}, for_s: 1.2', '{kind: drop, probability: 0}, for_s: 60')

SERVICE = """\
allow: [/ready]
services:
  /ready:
steady_state:
  probes:
    ready:
      kind: service_answers
      service: /relay/ready
      expects: {success: true}
      every_s: 0.05
      within_s: 0.8
  method:
    - {route: /ready, fault: {kind: lag, lag_s: 2, side: response}, for_s: 1.5}
  before_s: 0.9
  settle_s: 0
  after_s: 0.9
"""


class Talker(Node):
    """Says a number 50 times a second, and that it is ready."""

    def __init__(self, **options):
        super().__init__('talker', **options)
        self.number = 7.0
        self.quick = True
        self._publisher = self.create_publisher(Float64, '/number', 10)
        self.create_timer(0.02, lambda: self._publisher.publish(Float64(data=self.number)))
        self.create_service(Trigger, '/ready', self._on_ready)

    def _on_ready(self, _, response):
        response.success = self.quick
        return response


class Scene:
    """A talker and a relay on a stage, and a file that says what is to be done with them."""

    def __init__(self, stage, tmp_path, text=FILE):
        self.stage = stage
        self.path = tmp_path / 'mine.yaml'
        self.path.write_text(textwrap.dedent(text))
        self.talker = stage.add(Talker)
        self.relay = stage.add(TransitRelayNode, config=str(self.path), enable_injection=True)
        self.lines = []

    def begin(self):
        settings = SteadyState.load(self.path)
        self.watcher = self.stage.add(SteadyStateNode, settings, self.lines.append)
        return self.watcher

    def outcome(self):
        return self.stage.answer(self.begin().outcome, 'the end of the trial')

    def events(self):
        return [line['event'] for line in self.lines]

    def armed(self):
        return list(self.stage.ask(ListFaults, '/fault_relay/list_faults').ids)

    def until_event(self, event):
        self.stage.until(lambda: event in self.events(), event)


@pytest.fixture
def scene(stage, tmp_path):
    return Scene(stage, tmp_path)


def verdicts(outcome, phase):
    return {name: each.verdict for (at, name), each in outcome.findings.items() if at == phase}


ALL_HELD = {'rate': 'held', 'value': 'held', 'talker': 'held'}


def test_a_rate_that_a_drop_brings_to_nothing_has_deviated_and_the_drop_is_taken_away(scene):
    outcome = scene.outcome()
    assert outcome.verdict == 'deviated'
    assert outcome.reason.startswith('during: rate: ')  # 0 Hz, or what came before it was armed
    assert outcome.reason.endswith(' Hz, below 4 Hz')
    assert verdicts(outcome, 'before') == ALL_HELD
    assert verdicts(outcome, 'during')['rate'] == 'deviated'
    assert verdicts(outcome, 'after') == ALL_HELD
    assert outcome.struck[0] > 0
    assert scene.armed() == []
    assert scene.events().index('undo_registered') < scene.events().index('fault_armed')
    assert scene.events().index('fault_undone') < len(scene.events()) - 1


def test_a_fault_that_nothing_minds_has_struck_and_everything_has_held(stage, tmp_path):
    bias = 'fault: {kind: field_bias, field: data, bias: 0.5}'
    scene = Scene(stage, tmp_path, FILE.replace('fault: {kind: drop}', bias))
    outcome = scene.outcome()
    assert (outcome.verdict, outcome.reason) == ('held', '')
    assert verdicts(outcome, 'during') == ALL_HELD
    assert outcome.findings['during', 'value'].measured['highest'] == 7.5
    assert outcome.struck[0] > 0


def test_a_value_that_leaves_its_range_deviates(stage, tmp_path):
    bias = 'fault: {kind: field_bias, field: data, bias: 5}'
    scene = Scene(stage, tmp_path, FILE.replace('fault: {kind: drop}', bias))
    outcome = scene.outcome()
    assert (outcome.verdict, outcome.reason) == (
        'deviated',
        'during: value: data was 12, not in 6 to 8',
    )
    assert outcome.findings['after', 'value'].verdict == 'held'


def test_a_service_whose_answers_come_late_deviates_until_the_lag_is_taken_away(stage, tmp_path):
    outcome = Scene(stage, tmp_path, SERVICE).outcome()
    assert (outcome.verdict, outcome.reason) == (
        'deviated',
        'during: ready: no answer from /relay/ready within 0.8 s',
    )
    assert outcome.findings['after', 'ready'].verdict == 'held'


def test_a_graph_that_is_not_steady_is_left_alone(stage, tmp_path):
    scene = Scene(stage, tmp_path, SERVICE)
    scene.talker.quick = False
    outcome = scene.outcome()
    assert outcome.verdict == 'unknown'
    assert 'before: ready: success is False, not True' in outcome.reason
    assert 'fault_armed' not in scene.events()


def test_a_request_that_does_not_fit_is_named(stage, tmp_path):
    text = SERVICE.replace('expects:', 'request: {flavour: vanilla}\n      expects:')
    outcome = Scene(stage, tmp_path, text).outcome()
    assert outcome.verdict == 'unknown'
    assert "unknown field 'flavour'" in outcome.reason


def test_a_node_that_goes_has_deviated(stage, tmp_path):
    scene = Scene(stage, tmp_path, PATIENT)
    watcher = scene.begin()
    scene.until_event('fault_armed')
    stage.remove(scene.talker)
    outcome = stage.answer(watcher.outcome, 'the end of the trial')
    assert outcome.verdict == 'deviated'
    assert outcome.findings['during', 'talker'].reason == '/talker was not there'
    assert scene.armed() == []


def test_a_trial_that_is_stopped_takes_its_fault_away(scene):
    watcher = scene.begin()
    scene.until_event('fault_armed')
    assert scene.armed() != []
    watcher.trial.stop()
    outcome = scene.stage.answer(watcher.outcome, 'the end of the trial')
    assert (outcome.stopped, outcome.left) == (True, ())
    assert scene.armed() == []


def test_a_relay_that_dies_makes_no_verdict_about_the_robot(scene, monkeypatch):
    monkeypatch.setattr(steady_state_node, 'ANSWER_S', 0.5)
    watcher = scene.begin()
    scene.until_event('fault_armed')
    scene.stage.remove(scene.relay)
    outcome = scene.stage.answer(watcher.outcome, 'the end of the trial')
    assert outcome.verdict == 'unknown'
    assert 'there is no relay /fault_relay' in outcome.reason
    assert len(outcome.left) == 1


def test_names_mean_the_same_to_the_watcher_and_to_a_relay_in_a_namespace(stage, tmp_path):
    text = FILE.replace('/relay/', 'relay/').replace(' /number', ' number').replace('[/', '[')
    path = tmp_path / 'mine.yaml'
    path.write_text(text)
    inside = ['-r', '__ns:=/robot']
    stage.add(Talker, cli=['-r', '/number:=/robot/number', '-r', '__node:=talker'])
    stage.add(TransitRelayNode, config=str(path), enable_injection=True, cli=inside)
    watcher = stage.add(
        SteadyStateNode, SteadyState.load(path), lambda line: None, '/robot/fault_relay'
    )
    outcome = stage.answer(watcher.outcome, 'the end of the trial')
    assert outcome.verdict == 'deviated', outcome
    assert verdicts(outcome, 'before') == verdicts(outcome, 'after') == ALL_HELD


REPORTS = """\
allow: [/number]
topics:
  /number:
steady_state:
  probes:
    health: {kind: diagnostics_level, worst: {'lidar: *': warn}}
    safety: {kind: safety_events, at_most: 1}
  method:
    - {route: /number, fault: {kind: drop}, for_s: 60}
  before_s: 0.5
  settle_s: 0
  after_s: 0.1
"""


class Reporter(Node):
    """Tells 50 times a second how its lidar is, and of violations when it is told to."""

    def __init__(self, **options):
        super().__init__('reporter', **options)
        self.level = DiagnosticStatus.WARN
        self._health = self.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self.safety = self.create_publisher(SafetyEvent, 'safety_events', 10)
        self.create_timer(0.02, self._report)

    def _report(self):
        status = DiagnosticStatus(name='lidar: motor', level=self.level, message='hot')
        self._health.publish(DiagnosticArray(status=[status]))


def violate(reporter):
    for rule in ('violent_contact', 'out_of_workspace'):
        reporter.safety.publish(SafetyEvent(rule=rule, key='red'))


def break_down(reporter):
    reporter.level = DiagnosticStatus.ERROR


@pytest.mark.parametrize(
    ('happens', 'reason'),
    [
        (break_down, "during: health: lidar: motor is at error, 'hot', worse than warn"),
        (violate, 'during: safety: 2 events, the last one out_of_workspace red'),
    ],
)
def test_what_a_robot_says_about_itself_is_watched(stage, tmp_path, happens, reason):
    scene = Scene(stage, tmp_path, REPORTS)
    reporter = stage.add(Reporter)
    watcher = scene.begin()
    scene.until_event('fault_armed')
    happens(reporter)
    outcome = stage.answer(watcher.outcome, 'the end of the trial')
    assert (outcome.verdict, outcome.reason) == ('deviated', reason)
    assert verdicts(outcome, 'before') == {'health': 'held', 'safety': 'held'}


def test_random_bytes_on_what_is_watched_harm_nobody(stage, tmp_path):
    scene = Scene(stage, tmp_path, PATIENT)
    publisher = stage.probe.create_publisher(Float64, '/relay/number', 10)
    watcher = scene.begin()
    scene.until_event('fault_armed')
    draws = default_rng(3)
    for size in range(13):  # DDS takes no more bytes than a Float64 can have
        publisher.publish(draws.bytes(size))
        stage.turn()
    publisher.publish(serialize_message(Float64(data=7.5)))
    watcher.trial.stop()
    outcome = stage.answer(watcher.outcome, 'the end of the trial')
    assert outcome.findings['during', 'value'].verdict in ('deviated', 'unknown')
    assert scene.armed() == []


def test_a_fault_of_somebody_else_stays(scene):
    fault = json.dumps({'route': '/number', 'kind': 'drop', 'probability': 0.0})
    theirs = scene.stage.ask(AddFault, '/fault_relay/add_fault', fault=fault)
    assert theirs.ok, theirs.message
    assert scene.outcome().verdict == 'deviated'
    assert scene.armed() == [theirs.id]


def test_a_relay_that_takes_no_faults_is_told_from_a_graph_that_deviates(stage, tmp_path):
    scene = Scene(stage, tmp_path, FILE.replace('allow: [/number]', 'allow: []'))
    outcome = scene.outcome()
    assert outcome.verdict == 'unknown'
    assert '/fault_relay refuses drop: faults may not touch /number' in outcome.reason


# -- the command


class Command:
    """`alpha-chaos steady-state` beside a stage."""

    def __init__(self, scene, *arguments):
        self.scene = scene
        self.journal = scene.path.parent / 'found.jsonl'
        command = [sys.executable, '-m', 'alpha_chaos.cli', 'steady-state', str(scene.path)]
        self.process = subprocess.Popen(
            [*command, '-o', str(self.journal), *arguments],
            env={**os.environ, 'COLUMNS': '200'},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self):
        self.scene.stage.until(lambda: self.process.poll() is not None, 'the end of the command')
        self.out, self.err = self.process.communicate()
        return self.process.returncode

    def has_armed(self):
        return self.journal.exists() and '"fault_armed"' in self.journal.read_text()

    def lines(self):
        return jsonl.read(self.journal).objects


def test_the_command_tells_what_it_found_and_its_exit_code_says_deviated(scene):
    command = Command(scene)
    assert command.end() == 4, command.out + command.err
    assert 'deviated (during: rate: ' in command.out
    assert [line for line in command.out.splitlines() if line.startswith('talker ')]
    assert command.err == ''
    lines = command.lines()
    assert {line['run'] for line in lines} == {1}
    assert lines[0]['settings']['probes']['rate']['min_hz'] == 4
    assert (lines[-1]['event'], lines[-1]['verdict']) == ('ended', 'deviated')
    assert all(jsonl.scan(command.journal).lines[number].intact for number in range(len(lines)))
    assert scene.armed() == []


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_takes_the_fault_away_before_the_command_ends(stage, tmp_path, number):
    scene = Scene(stage, tmp_path, PATIENT)
    command = Command(scene)
    stage.until(lambda: command.has_armed() or command.process.poll() is not None, 'the fault')
    assert command.has_armed(), f'{command.end()} {command.out} {command.err}'
    assert scene.armed() != []
    command.process.send_signal(number)
    assert command.end() == 130, command.out + command.err
    assert 'Traceback' not in command.err
    assert scene.armed() == []
    events = [line['event'] for line in command.lines()]
    assert events[-2:] == ['fault_undone', 'ended']


def test_a_reader_that_goes_away_leaves_no_fault_armed(stage, tmp_path):
    step = '- {route: /number, fault: {kind: drop, probability: 0}, for_s: 60'
    second = f'{step}, start_s: 0.5}}'
    scene = Scene(stage, tmp_path, PATIENT.replace(f'{step}}}', f'{step}}}\n    {second}'))
    command = Command(scene)
    stage.until(lambda: command.has_armed() or command.process.poll() is not None, 'the fault')
    command.process.stdout.close()
    stage.until(lambda: command.process.poll() is not None, 'the end of the command')
    assert scene.armed() == []
    events = [line['event'] for line in command.lines()]
    # The first line that nobody reads is about the one or the other.
    assert 1 <= events.count('fault_armed') == events.count('fault_undone')
    assert 'nobody reads any more' in command.lines()[-1]['reason']
    with command.process.stderr as said:
        assert 'Traceback' not in said.read()


def test_a_file_of_something_else_is_no_journal(scene):
    other = scene.path.parent / 'found.jsonl'
    other.write_bytes(jsonl.seal({'run_id': 'control_000', 'status': 'done'}) + b'\n')
    before = other.read_bytes()
    command = Command(scene)
    assert command.end() == 2
    assert 'holds something else' in command.err
    assert other.read_bytes() == before


def test_what_a_killed_command_has_left_is_taken_away_by_the_next_one(stage, tmp_path):
    scene = Scene(stage, tmp_path, PATIENT)
    command = Command(scene)
    stage.until(lambda: command.has_armed() or command.process.poll() is not None, 'the fault')
    command.process.kill()
    command.end()
    assert len(scene.armed()) == 1
    scene.path.write_text(FILE)
    second = Command(scene)
    assert second.end() == 4, second.out + second.err
    assert 'drop on /number, of a killed run, taken away' in second.out
    assert scene.armed() == []
    assert {line['run'] for line in second.lines()} == {1, 2}
