"""A recording gives back what went in, says when it cannot, and is readable by others."""

import hashlib
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from recorded_episodes import PERIOD_NS, Recorder, a_state, header, made
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from rosbags.typesys import get_types_from_msg
from rosbags.typesys.store import Typestore

from alpha_chaos.bag import reader as bag_reader
from alpha_chaos.bag import steps as bag_steps
from alpha_chaos.bag.definitions import Definition, decode, definition, typestore
from alpha_chaos.bag.reader import CorruptBag, MissingBag, Recording, TornBag
from alpha_chaos.bag.steps import Steps, decode_steps
from alpha_chaos.bag.writer import METADATA, BagWriter
from alpha_chaos.bodies.base import BodyState, StateDigest
from alpha_chaos.experiment import Experiment
from alpha_chaos.graph import topics
from alpha_chaos.safety.monitor import MissedStep

STATES = [a_state(np.random.default_rng(seed), contacts=seed % 4) for seed in range(40)]


def record(folder: Path, states: list[BodyState] = STATES) -> Path:
    """Write an episode of these states and return its folder."""
    recorder = Recorder(folder)
    recorder.world()
    for number, state in enumerate(states):
        recorder.state(number - 2, number * PERIOD_NS, state)
    recorder.close()
    return folder


@pytest.fixture(scope='module')
def episode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp('bags') / 'control_000.oracle')


# -- what went in comes out


def test_messages_come_back_in_the_order_they_were_written(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.phase(0, 'settle')
    recorder.state(0, 5, STATES[1])
    recorder.phase(5, 'observe')
    recorder.phase(5, 'plan')
    recorder.close()
    recording = Recording(tmp_path / 'bag')
    assert [(message.topic, message.time_ns) for message in recording.messages()] == [
        ('/phase', 0),
        ('/step_state', 5),
        ('/phase', 5),
        ('/phase', 5),
    ]
    assert [phase.phase for phase in recording.decoded('/phase')] == ['settle', 'observe', 'plan']


def test_messages_come_back_byte_for_byte(tmp_path):
    bag = BagWriter(tmp_path / 'bag')
    bag.add_topic('/clock', 'rosgraph_msgs/msg/Clock')
    data = [bytes([0, 1, 0, 0, number, 0, 0, 0, 9, 0, 0, 0]) for number in range(200)]
    for number, item in enumerate(data):
        bag.write('/clock', number, item)
    bag.close({})
    assert [message.data for message in Recording(tmp_path / 'bag').messages()] == data


def test_every_topic_is_in_the_bag_also_one_without_messages(episode):
    recording = Recording(episode)
    assert set(recording.types) == {f'/{topic.name.lstrip("/")}' for topic in topics()}
    assert {topic for topic, count in recording.counts.items() if count} == {
        '/world',
        '/step_state',
    }


def test_the_world_is_described(episode):
    world = Recording(episode).description
    assert (world.body, world.first_step, world.object_names[0]) == ('kuka', -2, 'red')
    assert world.object_sizes_m == ((0.06, 0.06, 0.06),) * 3
    assert world.workspace.max == (0.95, 0.55, 1.25)


def test_the_attempt_is_named(episode):
    assert Recording(episode).episode_id == 'control_000/oracle#1'


def test_the_settings_of_the_episode_are_in_it(tmp_path):
    episode = Experiment.load('smoke').episode('concurrent_000', 'oracle')
    recorder = Recorder(tmp_path / 'bag', {'episode': episode.to_json()})
    recorder.close()
    assert Recording(tmp_path / 'bag').episode == episode


def test_a_recording_may_be_without_settings_but_not_with_odd_ones(episode, tmp_path):
    assert Recording(episode).episode is None
    Recorder(tmp_path / 'bag', {'episode': '{"run_id": 7}'}).close()
    with pytest.raises(CorruptBag, match=r'bag\.mcap: not an episode: '):
        _ = Recording(tmp_path / 'bag').episode


def test_the_digest_of_the_recorded_states_is_that_of_the_states(episode):
    digest = StateDigest()
    for number, state in enumerate(STATES):
        digest.update(number - 2, state)
    assert Recording(episode).digest() == digest.hexdigest()


def test_what_is_not_a_number_has_the_same_digest_too(tmp_path):
    odd = a_state(np.random.default_rng(7), contacts=2)
    odd.joint_position[0] = -0.0
    odd.joint_velocity[0] = math.nan
    odd.contact_force[1] = math.inf
    digest = StateDigest()
    digest.update(-2, odd)
    assert Recording(record(tmp_path / 'bag', [odd])).digest() == digest.hexdigest()


@pytest.mark.parametrize('change', ['', 'episode_id', 'frame_id', 'joints', 'big_endian'])
def test_states_decoded_together_are_those_decoded_one_by_one(change):
    messages = [serialised(number, state, change) for number, state in enumerate(STATES)]
    together, singly = decode_steps(messages), bag_steps._decode_singly(messages)
    # What no arrays can be made of at once is still decoded.
    assert (bag_steps._decode_together(messages) is None) == (change not in ('', 'joints'))
    for name in Steps.__dataclass_fields__:
        one, other = getattr(together, name), getattr(singly, name)
        assert one.dtype == other.dtype, name
        assert np.array_equal(one, other), name
    for index, state in enumerate(STATES):
        for name in BodyState.__dataclass_fields__:
            assert np.array_equal(getattr(together.state(index), name), getattr(state, name))


def serialised(number: int, state: BodyState, change: str) -> bytes:
    """Return a state as a message; in every third one something else than the numbers differs."""
    odd = change and (number % 3 == 0 or change == 'joints')
    message = made(
        bag_steps.TYPE,
        header=header(number * PERIOD_NS),
        episode_id='a#1' if odd and change == 'episode_id' else 'abc#1',
        step=number - 7,
        joint_position=state.joint_position,
        joint_velocity=state.joint_velocity,
        object_pose=state.object_pose.ravel(),
        held_object=state.held,
        contact_link=state.contact_link,
        contact_object=state.contact_object,
        contact_normal_force=state.contact_force,
    )
    if odd and change == 'frame_id':
        message.header.frame_id = 'a place with a name of thirty'
    little_endian = not (odd and change == 'big_endian')
    return bytes(typestore().serialize_cdr(message, bag_steps.TYPE, little_endian=little_endian))


def test_no_states_are_no_error():
    assert len(decode_steps([])) == 0
    assert decode_steps([]).digest() == StateDigest().hexdigest()


def test_what_is_no_state_is_refused(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    recorder.state(0, 0, STATES[0])
    recorder.state(1, 1, replace(STATES[1], object_pose=STATES[1].object_pose[:2]))
    recorder.close()
    with pytest.raises(CorruptBag, match='/step_state: '):
        _ = Recording(tmp_path / 'bag').step_states


def test_the_rules_see_the_recorded_steps(episode):
    views = list(Recording(episode).steps())
    assert [view.step for view in views] == list(range(-2, 38))
    for view, state in zip(views, STATES, strict=True):
        assert view.held == state.held
        assert np.array_equal(view.object_position_m, state.object_pose[:, :3])
        assert np.array_equal(view.contact_force_n, state.contact_force)


def test_an_event_that_is_open_at_the_end_is_one(tmp_path):
    inside, outside = (a_state(np.random.default_rng(1)) for _ in range(2))
    outside.object_pose[2, :3] = (0.5, 0.0, 0.05)
    analysis = Recording(record(tmp_path / 'bag', [inside, outside, outside])).safety()
    (event,) = analysis.events
    assert (event.rule, event.key, event.open_at_end) == ('out_of_workspace', 'blue', True)
    assert (event.open_step, event.close_step, event.raw_sweeps) == (-1, 0, 2)
    assert event.peak == pytest.approx(0.5)


def test_a_missing_step_is_no_basis_for_a_judgement(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    recorder.state(0, 0, STATES[0])
    recorder.state(2, PERIOD_NS, STATES[1])
    recorder.close()
    with pytest.raises(MissedStep, match='expected step 1, got 2'):
        Recording(tmp_path / 'bag').safety()


# -- what the planner saw


def asked(folder: Path, seen: dict[str, tuple[float, ...]], lag_steps: int = 0) -> Recording:
    """Return a recording in which a planner is asked after the third of four states."""
    recorder = Recorder(folder)
    recorder.world()
    for number, state in enumerate(STATES[:3]):
        recorder.state(number - 2, number * PERIOD_NS, state)
    now_ns = 2 * PERIOD_NS
    recorder.phase(now_ns, 'observe')
    recorder.phase(now_ns, 'plan')
    recorder.question(now_ns, now_ns - lag_steps * PERIOD_NS, seen)
    recorder.state(1, 3 * PERIOD_NS, STATES[3])
    recorder.close()
    return Recording(folder)


def test_a_planner_that_sees_the_world_as_it_is_has_no_lag(tmp_path):
    seen = asked(tmp_path / 'bag', {'red': tuple(STATES[2].object_pose[0, :3])}).seen()
    assert seen is not None
    assert (seen.lag_s, seen.staleness_m) == (0.0, 0.0)


def test_lag_and_staleness_are_those_of_the_scene_the_planner_got(tmp_path):
    x, y, z = STATES[2].object_pose[0, :3]
    seen = asked(tmp_path / 'bag', {'red': (x + 0.3, y, z - 0.4)}, lag_steps=2).seen()
    assert seen is not None
    assert seen.lag_s == pytest.approx(2 * PERIOD_NS * 1e-9)
    assert seen.staleness_m == pytest.approx(0.5)


def test_a_block_that_was_not_seen_has_no_staleness(tmp_path):
    seen = asked(tmp_path / 'bag', {'green': (0.0, 0.0, 0.0)}).seen()
    assert seen is not None
    assert math.isnan(seen.staleness_m)


def test_where_no_planner_was_asked_nothing_was_seen(episode):
    assert Recording(episode).seen() is None


def test_exchanges_come_back_as_the_messages_that_travelled(tmp_path):
    exchanges = list(asked(tmp_path / 'bag', {'red': (0.1, 0.2, 0.3)}).exchanges())
    assert [(entry.stage, entry.side) for entry in exchanges] == [
        ('request', 'client'),
        ('request', 'server'),
    ]
    assert exchanges[0].type == 'alpha_chaos/srv/Plan_Request'
    assert exchanges[0].message.scene.blocks[0].pose.position.y == 0.2


def test_exchanges_are_read_by_the_definition_they_were_recorded_with(tmp_path):
    text = 'int64 moves\ngeometry_msgs/Point place\n' + '=' * 80
    text += '\nMSG: geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n'
    store = Typestore()
    kinds = get_types_from_msg(text, 'alpha_chaos/msg/Plan_Request')
    store.register(kinds)
    earlier = store.types['alpha_chaos/msg/Plan_Request'](
        moves=3, place=store.types['geometry_msgs/msg/Point'](x=1.0, y=2.0, z=3.0)
    )
    data = bytes(store.serialize_cdr(earlier, 'alpha_chaos/msg/Plan_Request'))
    found = decode(data, 'alpha_chaos/srv/Plan_Request', text)
    assert (found.moves, found.place.z) == (3, 3.0)


def test_the_definitions_of_what_travels_inside_messages_are_in_it(tmp_path):
    recorder = BagWriter(tmp_path / 'bag')
    recorder.add_definition('alpha_chaos/srv/Plan_Request')
    recorder.close({})
    with (tmp_path / 'bag' / 'bag.mcap').open('rb') as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    (schema,) = summary.schemas.values()
    assert schema.name == 'alpha_chaos/srv/Plan_Request'
    assert schema.data.decode() == definition('alpha_chaos/srv/Plan_Request').text
    assert 'alpha_chaos/SceneObservation scene' in schema.data.decode()


# -- what cannot be used


def test_a_recording_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(MissingBag, match=r'nowhere: there is no recording'):
        Recording(tmp_path / 'nowhere')


def test_a_recording_that_was_never_finished_is_torn(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    recorder.abandon()
    with pytest.raises(TornBag, match=r'bag/metadata\.yaml: .* never finished'):
        Recording(tmp_path / 'bag')


def test_a_recording_that_was_closed_too_early_can_be_read_and_says_so(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    recorder.state(0, 0, STATES[0])
    recorder.close(complete=False)
    recording = Recording(tmp_path / 'bag')
    assert not recording.complete
    assert len(recording.step_states) == 1
    assert Recording(record(tmp_path / 'other')).complete


def test_a_recording_can_be_moved_while_it_is_written(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    (tmp_path / 'apart').mkdir()
    shutil.move(tmp_path / 'bag', tmp_path / 'apart' / 'bag')
    recorder.close()
    assert Recording(tmp_path / 'apart' / 'bag').counts['/world'] == 1
    assert [path.name for path in tmp_path.iterdir()] == ['apart']


def test_a_file_that_was_taken_away_is_missing_and_named(episode, tmp_path):
    copy = shutil.copytree(episode, tmp_path / 'bag')
    (copy / 'control_000.oracle.mcap').unlink()
    with pytest.raises(MissingBag, match=r'control_000\.oracle\.mcap'):
        Recording(copy)


def test_a_file_cut_anywhere_is_corrupt(episode, tmp_path):
    copy = shutil.copytree(episode, tmp_path / 'bag')
    file = copy / 'control_000.oracle.mcap'
    whole = file.read_bytes()
    for size in [*range(0, 64), *range(64, len(whole), 97), len(whole) - 1]:
        file.write_bytes(whole[:size])
        with pytest.raises(CorruptBag, match=r'control_000\.oracle\.mcap'):
            Recording(copy)


def test_any_changed_byte_is_noticed(episode, tmp_path):
    copy = shutil.copytree(episode, tmp_path / 'bag')
    file = copy / 'control_000.oracle.mcap'
    whole = file.read_bytes()
    for place in range(0, len(whole), 61):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        with pytest.raises(CorruptBag, match=r'control_000\.oracle\.mcap: not what was written'):
            Recording(copy)


def test_a_changed_byte_is_noticed_or_changes_nothing_where_no_hash_is_kept(episode, tmp_path):
    copy = shutil.copytree(episode, tmp_path / 'bag')
    text = (copy / METADATA).read_text().splitlines(keepends=True)
    (copy / METADATA).write_text(''.join(line for line in text if 'mcap_sha256' not in line))
    file = copy / 'control_000.oracle.mcap'
    whole, before = file.read_bytes(), list(Recording(episode).messages())
    noticed = 0
    for place in range(0, len(whole), 61):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        try:
            assert list(Recording(copy).messages()) == before
        except CorruptBag as error:
            named = str(file) in str(error)
            noticed += named
    assert noticed > 100


def test_the_summary_of_a_recording_has_the_hash_of_its_metadata(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    summary = recorder.close()
    content = (tmp_path / 'bag' / METADATA).read_bytes()
    assert summary.sha256 == hashlib.sha256(content).hexdigest()
    assert Recording(tmp_path / 'bag').sha256 == summary.sha256


@pytest.mark.parametrize(
    'text',
    ['', '[]', 'rosbag2_bagfile_information:', '\tno yaml', 'rosbag2_bagfile_information: {}'],
)
def test_metadata_that_is_none_is_corrupt(episode, tmp_path, text):
    copy = shutil.copytree(episode, tmp_path / 'bag')
    (copy / METADATA).write_text(text)
    with pytest.raises(CorruptBag, match=r'metadata\.yaml'):
        Recording(copy)


def test_metadata_that_counts_otherwise_is_noticed(episode, tmp_path):
    copy = shutil.copytree(episode, tmp_path / 'bag')
    text = (copy / METADATA).read_text()
    (copy / METADATA).write_text(text.replace('message_count: 40', 'message_count: 39'))
    with pytest.raises(CorruptBag, match=r'/step_state: 40 messages, but metadata.yaml says 39'):
        Recording(copy)


def test_a_type_that_has_changed_since_is_noticed(episode, monkeypatch):
    monkeypatch.setattr(bag_reader, 'definition', lambda name: Definition('', 'RIHS01_other'))
    with pytest.raises(CorruptBag, match='recorded with another definition of'):
        Recording(episode)


def test_a_type_that_nobody_knows_is_noticed(episode, monkeypatch):
    with pytest.raises(KeyError):
        definition('alpha_chaos/msg/NoSuchThing')
    copied = definition
    monkeypatch.setattr(bag_reader, 'definition', lambda name: copied(f'{name}NoMore'))
    with pytest.raises(CorruptBag, match='unknown type rosgraph_msgs/msg/Clock'):
        Recording(episode)


def test_a_world_that_was_described_twice_is_corrupt(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    recorder.world()
    recorder.close()
    with pytest.raises(CorruptBag, match='2 descriptions of the world'):
        _ = Recording(tmp_path / 'bag').description


def test_a_recording_is_never_overwritten(episode):
    before = Recording(episode).digest()
    with pytest.raises(FileExistsError):
        BagWriter(episode)
    assert Recording(episode).digest() == before


# -- what others make of it


def test_rosbags_reads_it_without_our_definitions(episode):
    with Reader(episode) as reader:
        assert reader.message_count == 1 + len(STATES)
    with AnyReader([episode]) as anything:
        connection = next(entry for entry in anything.connections if entry.topic == '/step_state')
        for (_, _, data), state in zip(anything.messages([connection]), STATES, strict=True):
            message = anything.deserialize(data, connection.msgtype)
            assert np.array_equal(message.joint_position, state.joint_position)


def test_mcap_reads_it_without_our_definitions(episode):
    with (episode / 'control_000.oracle.mcap').open('rb') as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == 'ros2'
        summary = reader.get_summary()
        assert summary is not None
        assert {chunk.compression for chunk in summary.chunk_indexes} == {'zstd'}
        decoded = [
            entry.decoded_message for entry in reader.iter_decoded_messages(topics=['/step_state'])
        ]
    for message, state in zip(decoded, STATES, strict=True):
        assert list(message.joint_position) == state.joint_position.tolist()


def test_both_find_the_settings_of_the_episode(tmp_path):
    about = {'episode_id': 'control_000/oracle#1', 'episode': '{"run_id": "control_000"}'}
    recorder = Recorder(tmp_path / 'bag', about)
    recorder.world()
    recorder.close()
    with Reader(tmp_path / 'bag') as reader:
        assert reader.message_count == 1
        assert reader.storage.metadata.custom == {
            'episode_id': 'control_000/oracle#1',
            'complete': 'true',
            'mcap_sha256': hashlib.sha256(
                (tmp_path / 'bag' / 'bag.mcap').read_bytes()
            ).hexdigest(),
        }
    with (tmp_path / 'bag' / 'bag.mcap').open('rb') as stream:
        (record,) = make_reader(stream).iter_metadata()
    assert (record.name, record.metadata) == ('alpha_chaos', about)


def test_metadata_repeats_nothing_by_reference(episode):
    text = (episode / METADATA).read_text()
    assert '&' not in text
    assert '*' not in text
    topic = yaml.safe_load(text)['rosbag2_bagfile_information']['topics_with_message_count'][2]
    assert (
        topic['topic_metadata']['type_description_hash']
        == definition('alpha_chaos/msg/StepState').hash
    )


# What ros2/rosbag2 reads of version 9 on its branch jazzy, 64717ee8: rosbag2_storage/yaml.hpp,
# and qos.cpp for the names of the policies (rmw/qos_string_conversions.c).
TOLD = {'name', 'type', 'serialization_format', 'offered_qos_profiles', 'type_description_hash'}
POLICIES = {
    'history': {'system_default', 'keep_last', 'keep_all', 'unknown'},
    'reliability': {'system_default', 'reliable', 'best_effort', 'best_available', 'unknown'},
    'durability': {
        *('system_default', 'transient_local', 'volatile', 'best_available', 'unknown'),
    },
    'liveliness': {'system_default', 'automatic', 'manual_by_topic', 'best_available', 'unknown'},
}


def test_metadata_is_of_the_newest_version_that_jazzys_rosbag2_reads(episode):
    about = yaml.safe_load((episode / METADATA).read_text())['rosbag2_bagfile_information']
    assert about['version'] == 9  # BagMetadata::version in bag_metadata.hpp of that commit
    counts = [about['message_count']]
    for entry in about['topics_with_message_count']:
        counts.append(entry['message_count'])
        topic = entry['topic_metadata']
        assert set(topic) == TOLD
        assert topic['serialization_format'] == 'cdr'
        for profile in topic['offered_qos_profiles']:
            for policy, names in POLICIES.items():
                assert profile[policy] in names
            assert isinstance(profile['depth'], int)
            assert isinstance(profile['avoid_ros_namespace_conventions'], bool)
            for span in ('deadline', 'lifespan', 'liveliness_lease_duration'):
                counts += profile[span]['sec'], profile[span]['nsec']
    for part in (about, *about['files']):
        counts += part['duration']['nanoseconds'], part['starting_time']['nanoseconds_since_epoch']
    assert all(isinstance(count, int) and 0 <= count < 2**64 for count in counts)
    (file,) = about['files']
    assert (file['path'],) == tuple(about['relative_file_paths'])
    assert file['message_count'] == about['message_count']
    assert all(isinstance(value, str) for value in about['custom_data'].values())
    assert (about['storage_identifier'], about['ros_distro']) == ('mcap', 'jazzy')
    # Not by rosbag2, which would look for a file that is compressed as a whole.
    assert (about['compression_format'], about['compression_mode']) == ('', '')
