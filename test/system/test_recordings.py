"""Every recording of a run: complete, readable by others, and saying what the journal says."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import Chunk, DataEnd
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader

from alpha_chaos.bag.reader import Recording
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.graph import episode_graph

CELLS = ('control', 'concurrent', 'unreachable_ik_low', 'planner_output_corruption_high')
EPISODES = [f'{cell}_000/{arm}' for cell in CELLS for arm in ('oracle', 'oracle_json')]
REJECTED = 'planner_output_corruption_high_000/oracle_json'
EXECUTED = [name for name in EPISODES if name != REJECTED]

pytestmark = pytest.mark.parametrize('episode', EPISODES)


@pytest.fixture
def row(fresh, episode):
    return fresh.final[episode]


@pytest.fixture
def bag(fresh, row):
    return fresh.folder / row.bag


@pytest.fixture
def recording(bag):
    return Recording(bag)


# -- by others


def test_rosbags_opens_it_without_our_definitions(bag, row):
    with Reader(bag) as reader:
        assert reader.message_count == row.recording.messages
    with AnyReader([bag]) as anything:
        decoded = [
            anything.deserialize(data, connection.msgtype)
            for connection, _, data in anything.messages()
        ]
    assert len(decoded) == row.recording.messages


def test_mcap_opens_it_without_our_definitions(bag, row):
    with next(bag.glob('*.mcap')).open('rb') as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == 'ros2'
        statistics = reader.get_summary().statistics
        assert statistics.message_count == row.recording.messages
        assert sum(1 for _ in reader.iter_decoded_messages()) == row.recording.messages


def test_every_chunk_is_compressed_and_has_a_checksum(bag):
    with next(bag.glob('*.mcap')).open('rb') as stream:
        records = list(StreamReader(stream, emit_chunks=True).records)
    chunks = [record for record in records if isinstance(record, Chunk)]
    assert chunks
    assert {chunk.compression for chunk in chunks} == {'zstd'}
    assert all(chunk.uncompressed_crc for chunk in chunks)
    assert all(record.data_section_crc for record in records if isinstance(record, DataEnd))


# -- complete


def test_every_topic_of_the_graph_is_in_it(recording):
    graph = episode_graph(['oracle_planner'])
    assert recording.types == {f'/{topic.name.lstrip("/")}': topic.type for topic in graph.topics}


def test_nothing_was_lost(recording, row):
    assert row.recording.lost == 0
    assert row.recording.messages == sum(recording.counts.values())
    assert row.recording.bytes == recording.path.stat().st_size


def test_every_step_is_in_it(recording, episode):
    steps = [step for step, _ in recording.states()]
    # 120 steps to settle; 240 for each of five motions and 60 to rest, or the rest alone.
    last = 60 if episode == REJECTED else 1260
    assert steps == list(range(-120, last + 1))
    if episode in EXECUTED:
        assert len(steps) == 1381


def test_every_observation_is_in_it(recording):
    assert [scene.sequence for scene in recording.decoded('/scene')] == list(
        range(1, recording.counts['/objects'] + 1)
    )
    assert recording.counts['/relay/scene'] == recording.counts['/scene']


def test_messages_of_the_attempt_name_it(recording, episode):
    assert recording.episode_id == f'{episode}#1'
    for message in recording.messages():
        named = getattr(message.decode(), 'episode_id', recording.episode_id)
        assert named == recording.episode_id, message


def test_time_runs_forward_as_the_simulation_did(recording):
    times = [message.time_ns for message in recording.messages()]
    assert all(one <= other for one, other in pairwise(times))
    stamps = [state.header.stamp for state in recording.decoded('/step_state')]
    last = (stamps[-1].sec - stamps[0].sec) + (stamps[-1].nanosec - stamps[0].nanosec) * 1e-9
    assert last == pytest.approx((len(stamps) - 1) / 240)


def test_the_phases_are_in_it(recording):
    assert [phase.phase for phase in recording.decoded('/phase')] == [
        'settle',
        'observe',
        'plan',
        'execute',
        'rest',
        'drain',
        'judge',
        'done',
    ]


# -- exchanges


def test_both_sides_of_every_exchange_are_in_it(recording, episode):
    halves = {}
    for exchange in recording.exchanges():
        if exchange.origin == 'consumer':
            key = exchange.route, exchange.sequence
            halves.setdefault(key, []).append((exchange.stage, exchange.side))
    whole = [
        ('request', 'client'),
        ('request', 'server'),
        ('response', 'server'),
        ('response', 'client'),
    ]
    assert all(found == whole for found in halves.values()), halves
    routes = [route for route, _ in halves]
    for name in set(routes):
        # A command that a fault adds has a number of its own.
        numbers = {
            exchange.sequence for exchange in recording.exchanges() if exchange.route == name
        }
        assert numbers == set(range(1, len(numbers) + 1))
    assert routes.count('oracle_planner/plan') == 1
    moves, grips = (0, 0) if episode == REJECTED else (5, 2)
    assert routes.count('arm/move_to') == moves
    assert routes.count('gripper/command') == grips


def test_what_a_fault_changed_differs_between_the_sides_and_nothing_else_does(recording, row):
    struck = {
        (event.route, event.sequence, event.stage)
        for event in recording.decoded('/fault_events')
        if event.triggered and event.digest_before != event.digest_after
    }
    sides = {}
    for exchange in recording.exchanges():
        if exchange.origin == 'consumer':
            key = exchange.route, exchange.sequence, exchange.stage
            sides.setdefault(key, []).append(repr(exchange.message))
    changed = {key for key, (one, other) in sides.items() if one != other}
    assert changed == {key for key in struck if key[0] != 'scene'}


# -- the same as the journal


def test_the_digest_of_its_steps_is_the_journals(recording, row):
    assert recording.digest() == row.digest


def test_its_steps_give_the_journals_safety_events(recording, row):
    found = recording.safety()
    assert sum(found.raw_sweeps.values()) == row.safety.raw_sweeps
    keys = ('rule', 'key', 'open_step', 'close_step', 'duration_steps', 'raw_sweeps', 'peak')
    for offline, live in zip(found.events, row.safety.events, strict=True):
        assert [getattr(offline, key) for key in keys] == [getattr(live, key) for key in keys]
        assert offline.open_at_end == live.open_at_end
    sent = [
        (event.rule, event.key, event.open_step) for event in recording.decoded('/safety_events')
    ]
    assert sent == [(event.rule, event.key, event.open_step) for event in row.safety.events]


def test_the_planner_saw_what_the_journal_says(recording, row):
    seen = recording.seen()
    assert seen.lag_s == row.observation.delivered_lag_s
    assert seen.staleness_m == row.observation.staleness_m


def test_the_block_ended_where_the_journal_says(recording, row):
    *_, (step, state) = recording.states()
    world = recording.description
    place = state.object_pose[world.object_names.index('red'), :3]
    assert math.dist(place, world.zone) == row.final_error_m
    assert (row.final_error_m <= world.success_radius_m) == row.success
    assert step == row.steps


def test_its_result_is_the_journals(recording, row):
    (result,) = recording.decoded('/result')
    assert (result.run_id, result.arm, result.condition) == (row.run_id, row.arm, row.condition)
    assert (result.status, result.reason, result.success) == (row.status, row.reason, row.success)
    assert (result.digest, result.final_error) == (row.digest, row.final_error_m)
    told = json.loads(result.journal)
    assert told['safety'] == json.loads(row.model_dump_json())['safety']


def test_its_fault_events_are_the_ledgers(fresh, recording, row):
    mine = (row.run_id, row.arm, row.attempt)
    ledger = [
        entry
        for entry in fresh.ledger
        if (entry['run_id'], entry['arm'], entry['attempt']) == mine
    ]
    events = list(recording.decoded('/fault_events'))
    plain = ('episode_id', 'route', 'sequence', 'stage', 'fault', 'probability', 'triggered')
    digests = ('digest_before', 'digest_after')
    for event, entry in zip(events, ledger, strict=True):
        for key in (*plain, *digests):
            assert getattr(event, key) == entry[key], key
        assert (None if math.isnan(event.draw) else event.draw) == entry['draw']
        assert json.loads(event.detail) == entry['detail']
    assert {entry['fault'] for entry in ledger} <= {proof.fault for proof in row.faults}


def test_a_rejected_plan_moves_no_joint(recording, episode):
    commands = [entry for entry in recording.exchanges() if not entry.route.endswith('/plan')]
    if episode != REJECTED:
        assert commands
        return
    assert commands == []
    # Not even a little: the world goes on to the last bit as one that is left alone. (The arm
    # creeps by some 1e-5 rad, as its brakes do in this engine.)
    with Kuka().world() as alone:
        for step, state in recording.states():
            if step > -120:
                alone.step()
            untouched = alone.state()
            assert np.array_equal(state.joint_position, untouched.joint_position)
            assert np.array_equal(state.joint_velocity, untouched.joint_velocity)
            assert np.array_equal(state.object_pose, untouched.object_pose)
            assert state.held == untouched.held == -1
