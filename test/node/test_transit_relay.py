"""The relay for other people's graphs: any topic, found while it runs, and faults on it."""

import hashlib
import json
import math
import time

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

from alpha_chaos import catalogues
from alpha_chaos.msg import FaultEvent
from alpha_chaos.nodes.clock import to_nanoseconds, to_time
from alpha_chaos.nodes.fault_relay_node import FaultRelayNode, make_relay
from alpha_chaos.nodes.transit_relay_node import TransitRelayNode
from alpha_chaos.plugins import BadSetting
from alpha_chaos.srv import AddFault, ListFaults, RemoveFault, ResetFaults
from alpha_chaos.transit.config import MOST_FAULTS

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
FILE = """
seed: 7
allow: [/arm/joints, /words]
topics:
  /arm/joints:
  /words:
  /closed:
"""


def joints(number: int) -> JointState:
    message = JointState(name=['a', 'b'], position=[float(number), 0.5])
    message.header.stamp = to_time(100.0 + number)
    message.header.frame_id = 'base'
    return message


class Bench:
    """The relay on a stage, with sources before it and sinks behind it."""

    def __init__(self, stage, folder, file=FILE, **parameters):
        self.stage = stage
        self.file = folder / 'relay.yaml'
        self.file.write_text(file)
        self.sources, self.heard = {}, {}
        self.relay = stage.add(
            TransitRelayNode, **{'config': str(self.file), 'enable_injection': True, **parameters}
        )
        self.events = stage.hear('alpha_chaos/msg/FaultEvent', 'fault_relay/fault_events')
        stage.until(lambda: self.relay.count_subscribers('fault_relay/fault_events'))

    def connect(self, topic='/arm/joints', kind=JointState, qos=100):
        """Let a source appear, and a sink behind the relay."""
        source = self.stage.probe.create_publisher(kind, topic, qos)
        output = f'/relay{topic}'
        heard = self.heard.setdefault(topic, [])
        self.stage.probe.create_subscription(kind, output, heard.append, qos, raw=True)
        self.stage.until(lambda: source.get_subscription_count() == 1, f'the relay on {topic}')
        self.stage.until(lambda: self.relay.count_subscribers(output) == 1, f'a sink of {output}')
        self.sources[topic] = source
        return source

    def send(self, *numbers, topic='/arm/joints'):
        """Send joint states, and wait until the relay has had them; return what they were."""
        lane = self.relay.routes[topic].lanes['message']
        sent = [serialize_message(joints(number)) for number in numbers]
        expected = lane.sequence + len(sent)
        for data in sent:
            self.sources[topic].publish(data)
        self.stage.until(lambda: lane.sequence == expected, 'arrival at the relay')
        return sent

    def arrives(self, count, topic='/arm/joints'):
        self.stage.until(lambda: len(self.heard[topic]) >= count, f'message {count} on {topic}')
        return self.heard[topic]

    def add(self, **fault):
        return self.stage.ask(AddFault, 'fault_relay/add_fault', fault=json.dumps(fault))

    def decisions(self, count):
        self.stage.until(lambda: len(self.events) >= count, f'{count} events')
        return [deserialize_message(data, FaultEvent) for data in self.events]


@pytest.fixture
def bench(stage, tmp_path):
    return Bench(stage, tmp_path)


def test_the_executable_is_this_relay_if_it_is_given_a_file(stage, tmp_path):
    file = tmp_path / 'relay.yaml'
    file.write_text(FILE)
    assert type(stage.add(make_relay, config=str(file))) is TransitRelayNode
    assert type(stage.add(make_relay)) is FaultRelayNode
    with pytest.raises(BadSetting, match=r'config: .*valid string'):
        stage.add(make_relay, config=7)


def test_who_comes_later_knows_by_name_what_the_executable_publishes(stage, request):
    stage.add(make_relay)
    elsewhere = request.getfixturevalue('elsewhere')

    def publishers():
        return [one.node_name for one in elsewhere.get_publishers_info_by_topic('fault_events')]

    stage.until(lambda: publishers() == ['fault_relay'], 'its name')


# -- without faults


def test_a_topic_passes_byte_for_byte_once_its_source_appears(bench):
    assert bench.relay.routes['/arm/joints'].lanes['message'].kind is None
    bench.connect()
    sent = bench.send(*range(20))
    assert bench.arrives(20) == sent


def test_a_latched_topic_stays_latched(bench, stage):
    source = stage.probe.create_publisher(String, '/words', LATCHED)
    source.publish(String(data='map'))
    stage.until(lambda: stage.probe.count_publishers('/relay/words') == 1, 'the output')
    late = []
    stage.probe.create_subscription(String, '/relay/words', late.append, LATCHED)
    stage.until(lambda: late, 'the latched message')
    assert [message.data for message in late] == ['map']


def test_the_output_offers_what_the_source_does(bench, stage):
    bench.connect(qos=BEST_EFFORT)
    (offered,) = stage.probe.get_publishers_info_by_topic('/relay/arm/joints')
    assert offered.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    assert offered.qos_profile.durability == DurabilityPolicy.VOLATILE


def test_a_source_that_comes_back_with_another_qos_is_heard_again(bench, stage):
    bench.connect()
    bench.send(1)
    bench.arrives(1)
    stage.probe.destroy_publisher(bench.sources['/arm/joints'])
    source = stage.probe.create_publisher(JointState, '/arm/joints', BEST_EFFORT)
    heard = []
    stage.probe.create_subscription(JointState, '/relay/arm/joints', heard.append, BEST_EFFORT)

    def comes():
        source.publish(joints(2))
        stage.turn(0.05)
        return heard

    stage.until(comes, 'a message')
    assert heard[0] == joints(2)


def test_what_is_held_of_a_topic_goes_out_as_no_other_type(bench, stage, elsewhere):
    source = elsewhere.create_publisher(String, '/words', 10)
    stage.until(lambda: source.get_subscription_count() == 1, 'the relay')
    assert bench.add(route='/words', kind='lag', lag_s=60.0).ok
    lane = bench.relay.routes['/words'].lanes['message']
    source.publish(String(data='of before'))
    stage.until(lambda: lane.stack.held == 1, 'the message')
    elsewhere.destroy_publisher(source)
    elsewhere.create_publisher(Float64, '/words', 10)
    stage.until(lambda: lane.kind is Float64, 'the other type')
    assert lane.stack.held == 0
    said = 'the message is of another type now: its faults begin anew, held messages lost: 1'
    assert bench.relay._problems == {('/words', said)}


def test_a_topic_that_is_offered_with_two_types_is_complained_about_by_name(
    bench, stage, elsewhere
):
    for kind, node in ((String, elsewhere), (Float64, stage.probe)):
        node.create_publisher(kind, '/words', 10)
    said = 'is published as std_msgs/msg/Float64 and as std_msgs/msg/String; give its type'
    stage.until(lambda: any(said in why for _, why in bench.relay._problems), 'the complaint')


def test_a_topic_of_another_type_than_the_files_is_named_with_both(stage, tmp_path):
    file = FILE.replace('/words:', '/words: {type: std_msgs/msg/Float64}')
    bench = Bench(stage, tmp_path, file)
    stage.probe.create_publisher(String, '/words', 10)
    said = ('/words', 'is std_msgs/msg/String; the file says std_msgs/msg/Float64')
    stage.until(lambda: said in bench.relay._problems, 'the complaint')


def test_nothing_is_armed_unless_injection_is_enabled(stage, tmp_path):
    bench = Bench(stage, tmp_path, FILE + '    faults: [{kind: drop}]\n', enable_injection=False)
    bench.connect()
    refusal = bench.add(route='/arm/joints', kind='drop')
    assert not refusal.ok
    assert 'enable_injection:=true' in refusal.message
    sent = bench.send(1, 2, 3)
    assert bench.arrives(3) == sent
    assert stage.ask(ListFaults, 'fault_relay/list_faults').faults == []


def test_namespace_and_remappings_apply_to_what_is_routed(stage, tmp_path):
    file = tmp_path / 'relay.yaml'
    file.write_text('topics: {words: , ~/own: }')
    node = stage.add(
        TransitRelayNode, config=str(file), cli=['-r', '__ns:=/lab'], remap={'words': 'spoken'}
    )
    assert [route.source for route in node.routes.values()] == [
        '/lab/spoken',
        '/lab/fault_relay/own',
    ]
    spoken = stage.probe.create_publisher(String, '/lab/spoken', 10)
    heard = []
    stage.probe.create_subscription(String, '/lab/relay/words', heard.append, 10)
    stage.until(lambda: spoken.get_subscription_count() == 1, 'the relay')
    stage.until(lambda: node.count_subscribers('/lab/relay/words') == 1, 'the sink')
    spoken.publish(String(data='hello'))
    stage.until(lambda: heard, 'the word')


def test_diagnostics_say_what_passes_and_what_is_missing(stage, tmp_path):
    bench = Bench(stage, tmp_path, diagnostics_period=0.05)
    reports = []
    stage.probe.create_subscription(DiagnosticArray, '/diagnostics', reports.append, 10)
    bench.connect()
    bench.send(1, 2, 3)
    assert bench.add(route='/arm/joints', kind='lag', lag_s=1000.0).ok
    bench.send(4)

    def values():
        return {entry.key: entry.value for one in reports[-1].status for entry in one.values}

    stage.until(lambda: reports and values()['/arm/joints passed'] == '4', 'the report')
    routes, latency, faults = reports[-1].status
    assert routes.name == 'fault_relay: routes'
    assert (routes.level, routes.message) == (b'\x01', 'nobody offers /words, /closed')
    assert latency.name == 'fault_relay: latency'
    assert faults.message == 'lag'
    assert values()['held back'] == '1'


# -- faults


def test_a_fault_is_added_listed_and_removed(bench, stage):
    bench.connect()
    added = bench.add(route='/arm/joints', kind='drop')
    assert added.ok, added.message
    bench.send(1, 2)
    listed = stage.ask(ListFaults, 'fault_relay/list_faults')
    assert list(listed.ids) == [added.id]
    assert json.loads(listed.faults[0])['route'] == '/arm/joints'
    assert stage.ask(RemoveFault, 'fault_relay/remove_fault', id=added.id).ok
    sent = bench.send(3)
    assert bench.arrives(1) == sent
    assert [event.sequence for event in bench.decisions(2)] == [1, 2]
    again = stage.ask(RemoveFault, 'fault_relay/remove_fault', id=added.id)
    assert not again.ok
    assert 'armed: none' in again.message


def test_a_route_that_is_not_allowed_is_refused_by_name(bench):
    refusal = bench.add(route='/closed', kind='drop')
    assert not refusal.ok
    assert 'may not touch /closed; allowed: /arm/joints, /words' in refusal.message


def test_a_message_passes_as_many_faults_as_a_route_takes_and_one_more_is_refused(bench):
    bench.connect()
    fault = {'kind': 'field_bias', 'field': 'position[0]', 'bias': 1.0}
    for _ in range(MOST_FAULTS):
        bench.relay._add_fault({'route': '/arm/joints', **fault})
    refusal = bench.add(route='/arm/joints', **fault)
    assert not refusal.ok
    assert refusal.message == '100 faults are armed on /arm/joints, no more than that; remove one'
    assert bench.add(route='/words', kind='drop').ok
    bench.send(0)
    message = deserialize_message(bench.arrives(1)[0], JointState)
    assert list(message.position) == [100.0, 0.5]


def test_the_parameter_allow_goes_before_the_files(stage, tmp_path):
    bench = Bench(stage, tmp_path, allow=['/closed'])
    assert bench.add(route='/closed', kind='drop').ok
    assert not bench.add(route='/words', kind='drop').ok
    with pytest.raises(BadSetting, match=r"allow: unknown route '/word', did you mean '/words'"):
        stage.add(TransitRelayNode, config=str(bench.file), allow=['/word'])


def test_an_event_says_what_was_decided_about_which_bytes(bench):
    bench.connect()
    assert bench.add(
        route='/arm/joints', kind='field_bias', field='position[*]', bias=0.25, probability=0.75
    ).ok
    sent = bench.send(*range(8))
    came = bench.arrives(8)
    for number, event in enumerate(bench.decisions(8)):
        assert event.route == '/arm/joints'
        assert event.stage == 'message'
        assert event.sequence == number + 1
        assert event.probability == 0.75
        assert event.triggered == (event.draw < 0.75)
        assert event.digest_before == hashlib.sha256(sent[number]).hexdigest()
        assert event.digest_after == hashlib.sha256(came[number]).hexdigest()
        moved = deserialize_message(came[number], JointState)
        off = 0.25 if event.triggered else 0.0
        assert list(moved.position) == [number + off, 0.5 + off]
        assert moved.header.frame_id == 'base'
    assert {event.triggered for event in bench.decisions(8)} == {True, False}


def test_the_same_seed_and_traffic_give_the_same_decisions_again(bench, stage):
    bench.connect()
    draws = []
    for _ in range(2):
        assert bench.add(route='/arm/joints', kind='drop', probability=0.5).ok
        bench.events.clear()
        bench.send(*range(10))
        draws.append([event.draw for event in bench.decisions(10)])
        assert stage.ask(ResetFaults, 'fault_relay/reset_faults').ok
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 10


def test_a_field_that_the_type_does_not_have_is_refused_with_those_there_are(bench):
    bench.connect()
    refusal = bench.add(route='/arm/joints', kind='field_bias', field='positon[*]', bias=1.0)
    assert not refusal.ok
    assert "unknown field 'positon', did you mean 'position'?" in refusal.message


def test_a_fault_on_a_topic_that_turns_out_to_lack_the_field_is_taken_out(bench, stage):
    assert bench.add(route='/words', kind='field_bias', field='pose.x', bias=1.0).ok
    bench.connect('/words', String)
    assert stage.ask(ListFaults, 'fault_relay/list_faults').faults == []
    assert any("unknown field 'pose'" in text for _, text in bench.relay._problems)


def test_removing_a_fault_delivers_what_it_held_and_a_reset_loses_it(bench, stage):
    bench.connect()
    lag = {'route': '/arm/joints', 'kind': 'lag', 'lag_s': 1000.0}
    first = bench.add(**lag).id
    sent = bench.send(1, 2)
    assert stage.ask(RemoveFault, 'fault_relay/remove_fault', id=first).ok
    assert bench.arrives(2) == sent
    assert bench.add(**lag).ok
    bench.send(3, 4)
    assert stage.ask(ResetFaults, 'fault_relay/reset_faults').ok
    (last,) = bench.send(5)
    assert bench.arrives(3) == [*sent, last]
    assert bench.relay.clock._due_ns is None


def test_a_fault_can_wait_for_another_topics_field(bench, stage):
    bench.connect()
    assert bench.add(
        route='/arm/joints',
        kind='drop',
        schedule={'when': {'topic': '/effort', 'field': 'data', 'above': 5.0}},
    ).ok
    effort = stage.probe.create_publisher(Float64, '/effort', 10)
    stage.until(lambda: effort.get_subscription_count() == 1, 'the relay on /effort')
    (armed,) = bench.relay._armed
    gate = armed.lane.stack._stages[0].injector.gate

    def feel(value):
        effort.publish(Float64(data=value))
        stage.until(lambda: gate._holds == (value > 5.0), f'{value}')

    sent = bench.send(1)
    feel(7.5)
    bench.send(2)
    effort.publish(Float64(data=math.nan))
    feel(2.5)
    sent += bench.send(3)
    assert bench.arrives(2) == sent
    assert [event.sequence for event in bench.decisions(1)] == [2]


def test_a_condition_on_a_field_that_the_topic_does_not_have_is_refused(bench, stage):
    bench.connect()
    effort = stage.probe.create_publisher(Float64, '/effort', 10)
    stage.until(lambda: bench.relay.count_publishers('/effort') == 1, 'the effort')
    drop = {'route': '/arm/joints', 'kind': 'drop'}
    when = {'topic': '/effort', 'field': 'dta', 'above': 5.0}
    answer = bench.add(**drop, schedule={'when': when})
    assert not answer.ok
    assert answer.message == (
        "std_msgs/Float64, 'dta': unknown field 'dta', did you mean 'data'? known: data"
    )
    assert bench.relay._ears == {}
    assert bench.add(**drop, schedule={'when': {**when, 'field': 'data'}}).ok
    stage.until(lambda: effort.get_subscription_count() == 1, 'the relay on /effort')


def test_a_condition_whose_topic_turns_out_to_lack_the_field_takes_its_fault_out(bench, stage):
    bench.connect()
    for field in ('dta', 'data'):
        when = {'topic': '/effort', 'field': field, 'above': 5.0}
        assert bench.add(route='/arm/joints', kind='drop', schedule={'when': when}).ok
    effort = stage.probe.create_publisher(Float64, '/effort', 10)
    stage.until(lambda: effort.get_subscription_count() == 1, 'the relay on /effort')
    (left,) = stage.ask(ListFaults, 'fault_relay/list_faults').faults
    assert json.loads(left)['schedule']['when']['field'] == 'data'
    said = "std_msgs/Float64, 'dta': unknown field 'dta', did you mean 'data'? known: data"
    assert ('/arm/joints', f'fault drop is taken out: {said}') in bench.relay._problems


# -- time


class Time:
    """Publishes /clock and sees to it that the relay has had it."""

    def __init__(self, bench):
        self._bench = bench
        self._clock = bench.stage.probe.create_publisher(Clock, '/clock', 10)
        bench.stage.until(lambda: self._clock.get_subscription_count() == 1, 'the clock')

    def show(self, now_s):
        tick = to_time(now_s)
        self._clock.publish(Clock(clock=tick))
        self._bench.stage.until(
            lambda: self._bench.relay.clock.now_ns == to_nanoseconds(tick), 'the tick'
        )


@pytest.mark.parametrize('lag_steps', [1, 24])
def test_in_simulated_time_a_lag_is_exact_to_the_step(stage, tmp_path, lag_steps):
    bench = Bench(stage, tmp_path, use_sim_time=True)
    bench.connect()
    clock = Time(bench)
    clock.show(100 / 240)
    assert bench.add(route='/arm/joints', kind='lag', lag_s=lag_steps / 240).ok
    came = []
    for step in range(101, 201):
        clock.show(step / 240)
        if step <= 150:
            bench.send(step)
        for _ in range(3):  # what leaves at this tick arrives before the next
            stage.turn(0.002)
        new = bench.heard['/arm/joints'][len(came) :]
        came += [step] * len(new)
    numbers = [
        int(deserialize_message(data, JointState).position[0])
        for data in bench.heard['/arm/joints']
    ]
    assert numbers == list(range(101, 151))
    assert came == [number + lag_steps for number in numbers]


def _held(bench):
    return range(bench.relay.routes['/arm/joints'].lanes['message'].stack.held)


def test_a_schedule_of_the_file_begins_with_the_first_tick(stage, tmp_path):
    file = FILE.replace(
        '/arm/joints:\n', '/arm/joints: {faults: [{kind: drop, schedule: {for_s: 1}}]}\n'
    )
    bench = Bench(stage, tmp_path, file, use_sim_time=True)
    bench.connect()
    clock = Time(bench)
    clock.show(1000.0)
    clock.show(1000.5)
    bench.send(1)
    clock.show(1001.5)
    sent = bench.send(2)
    assert bench.arrives(1) == sent


def test_when_time_jumps_back_what_was_held_is_lost_and_schedules_begin_anew(stage, tmp_path):
    bench = Bench(stage, tmp_path, use_sim_time=True)
    bench.connect()
    clock = Time(bench)
    clock.show(1000.0)
    assert bench.add(route='/arm/joints', kind='lag', lag_s=50.0).ok
    assert bench.add(route='/arm/joints', kind='drop', schedule={'for_s': 1.0}).ok
    bench.send(1)
    assert len(_held(bench)) == 1
    clock.show(1.0)
    assert len(_held(bench)) == 0
    assert bench.relay.routes['/arm/joints'].lanes['message'].stack.due_ns is None


def test_in_real_time_a_lag_is_never_too_short(bench):
    bench.connect()
    assert bench.add(route='/arm/joints', kind='lag', lag_s=0.05).ok
    began_s = time.monotonic()
    sent = bench.send(1)
    assert bench.arrives(1) == sent
    assert time.monotonic() - began_s >= 0.05


# -- whatever comes


def test_random_bytes_on_every_topic_and_random_calls_never_kill_it(bench, stage):
    for kind in sorted(catalogues.transit_faults()):
        fault = catalogues.transit_faults()[kind].example
        if 'message' in fault.sides:
            bench.add(route='/words', **fault.model_dump(mode='json'))
    bench.add(
        route='/arm/joints',
        kind='field_noise',
        field='position[*]',
        sigma=1.0,
        schedule={'when': {'topic': '/effort', 'field': 'data', 'above': 0.0}},
    )
    bench.connect()
    effort = stage.probe.create_publisher(Float64, '/effort', 10)
    stage.until(lambda: effort.get_subscription_count() == 1, 'the relay on /effort')
    random = default_rng(3)
    lane = bench.relay.routes['/arm/joints'].lanes['message']
    for number in range(60):
        junk = random.bytes(int(random.integers(4, 200)))
        bench.sources['/arm/joints'].publish(b'\0\1\0\0' + junk)
        effort.publish(b'\0\1\0\0' + junk[: number % 8])
    stage.until(lambda: lane.sequence == 60, 'the junk')
    assert len(bench.arrives(60)) == 60

    @settings(max_examples=40)
    @given(st.one_of(st.text(), st.recursive(st.none() | st.integers() | st.text(), _json)))
    def call(value):
        text = value if isinstance(value, str) else json.dumps(value)
        text = text.replace('\0', '').encode('utf-8', 'ignore').decode()
        assert not stage.ask(AddFault, 'fault_relay/add_fault', fault=text).ok

    call()
    for text in (
        '{"route": "/words", "kind": "lag", "lag_s": NaN}',
        '{"route": "/words", "kind": "lag", "lag_s": 1e999}',
        '{"route": "/words", "kind": "lag", "lag_s": 1, "side": "request"}',
        '[' * 100_000,
        '{"route": "' + 'x' * 1_000_000 + '"}',
        '{"route": "/words", "kind": "drop", "schedule": {"when": {"topic": "x y", "field": '
        '"data", "above": 0}}}',
    ):
        assert not stage.ask(AddFault, 'fault_relay/add_fault', fault=text).ok
    assert not stage.ask(RemoveFault, 'fault_relay/remove_fault', id=4_000_000_000).ok
    assert stage.ask(ResetFaults, 'fault_relay/reset_faults').ok
    sent = bench.send(1)
    assert bench.arrives(61)[60:] == sent


def _json(inner):
    return st.lists(inner) | st.dictionaries(st.sampled_from(['route', 'kind', 'x']), inner)


@pytest.mark.parametrize(
    ('file', 'words'),
    [
        ('topics: {/a: {output: /a}}', 'line 1: topics./a.output: the output of /a is the route'),
        ('topics: {/a: {output: /b}, /b: }', 'make a chain'),
        ('topics: {a: , /a: }', 'with remappings and namespace, /a is routed twice'),
        ('topics: {~/fault_events: }', '/fault_relay/fault_events tells what faults do here'),
    ],
)
def test_routes_that_would_feed_themselves_are_refused(stage, tmp_path, file, words):
    path = tmp_path / 'relay.yaml'
    path.write_text(file)
    with pytest.raises(BadSetting, match=words):
        stage.add(TransitRelayNode, config=str(path))
