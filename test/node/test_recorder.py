"""The recorder: everything that was declared, everything that came, and never over another bag."""

import errno
import json

import pytest
from mcap.reader import make_reader

from alpha_chaos.bag.reader import Recording
from alpha_chaos.bag.writer import BagWriter
from alpha_chaos.graph import episode_graph, topics
from alpha_chaos.msg import EpisodePhase, WorldDescription
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.recorder_node import RecorderNode
from alpha_chaos.plugins import BadSetting
from alpha_chaos.srv import AwaitCount

ATTEMPT = 'control_000/oracle#1'


def phase(seconds, name='settle', attempt=ATTEMPT):
    return EpisodePhase(stamp=to_time(seconds), episode_id=attempt, phase=name)


class Tape:
    """The recorder of the whole graph on a stage."""

    def __init__(self, stage, episode):
        self.stage, self.episode = stage, episode
        spec = next(node for node in episode_graph().nodes if node.name == 'recorder')
        self.node = stage.add(RecorderNode, **spec.parameters)
        self.phases = stage.voice('alpha_chaos/msg/EpisodePhase', 'phase')
        self.worlds = stage.voice('alpha_chaos/msg/WorldDescription', 'world', latched=True)

    def begin(self, bag, attempt=ATTEMPT):
        return self.stage.reset('recorder', self.episode, attempt, str(bag))

    def handled(self, topic, number):
        answer = self.stage.ask(
            AwaitCount,
            'recorder/await_count',
            episode_id=ATTEMPT,
            topic=topic,
            received=number,
        )
        assert answer.ok, answer.message

    def end(self):
        answer = self.stage.finish('recorder', ATTEMPT)
        assert answer.ok, answer.message
        return json.loads(answer.report)


@pytest.fixture
def tape(stage, control):
    return Tape(stage, control)


def test_every_topic_of_the_graph_is_declared_also_a_silent_one(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    tape.end()
    recording = Recording(tmp_path / 'bag')
    assert recording.types == {
        f'/{topic.name.lstrip("/")}': topic.type for topic in topics(relay=True)
    }
    assert sum(recording.counts.values()) == 0
    assert recording.episode_id == ATTEMPT


def test_what_is_sent_is_recorded_as_it_was_with_the_time_of_the_simulation(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    heard = tape.stage.hear('alpha_chaos/msg/EpisodePhase', 'phase')
    tape.stage.until(lambda: tape.phases.get_subscription_count() == 2, 'a second listener')
    for seconds, name in ((0.0, 'settle'), (0.5, 'observe'), (0.5, 'plan'), (5.75, 'done')):
        tape.phases.publish(phase(seconds, name))
    tape.handled('/phase', 4)
    tape.stage.until(lambda: len(heard) == 4, 'the other listener')
    report = tape.end()
    recording = Recording(tmp_path / 'bag')
    messages = list(recording.messages('/phase'))
    assert [message.data for message in messages] == [bytes(data) for data in heard]
    assert [message.time_ns for message in messages] == [0, 5 * 10**8, 5 * 10**8, 5750000000]
    assert report['messages'] == 4
    assert report['counts'] == recording.counts
    assert report['bytes'] == recording.path.stat().st_size


def test_time_never_goes_back_in_a_recording(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    for seconds in (1.0, 0.25, 2.0):
        tape.phases.publish(phase(seconds))
    tape.handled('/phase', 3)
    tape.end()
    times = [message.time_ns for message in Recording(tmp_path / 'bag').messages()]
    assert times == sorted(times)


def test_what_was_latched_is_recorded_once(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    tape.worlds.publish(WorldDescription(episode_id=ATTEMPT, body='kuka'))
    tape.handled('/world', 1)
    tape.end()
    assert Recording(tmp_path / 'bag').counts['/world'] == 1


def test_a_recording_is_never_overwritten(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    tape.phases.publish(phase(0.0))
    tape.handled('/phase', 1)
    tape.end()
    before = Recording(tmp_path / 'bag').path.read_bytes()
    answer = tape.begin(tmp_path / 'bag', 'control_000/oracle#2')
    assert answer.failed
    assert str(tmp_path / 'bag') in answer.message
    assert Recording(tmp_path / 'bag').path.read_bytes() == before
    assert tape.begin(tmp_path / 'other', 'control_000/oracle#3').ready


def test_a_full_disk_spoils_the_attempt_and_not_the_recorder(tape, tmp_path, monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, 'No space left on device')

    assert tape.begin(tmp_path / 'bag').ready
    monkeypatch.setattr(BagWriter, 'write', write)
    tape.phases.publish(phase(0))
    tape.handled('/phase', 1)
    answer = tape.stage.finish('recorder', ATTEMPT)
    assert not answer.ok
    assert 'a message on /phase failed: OSError: [Errno 28] No space left' in answer.message
    assert tape.begin(tmp_path / 'other', 'control_000/oracle#2').ready


def test_an_attempt_may_go_unrecorded(tape, tmp_path):
    assert tape.begin('').ready
    tape.phases.publish(phase(0.0))
    tape.handled('/phase', 1)
    report = tape.end()
    assert (report['messages'], report['counts']) == (0, {})
    assert list(tmp_path.iterdir()) == []


def test_the_settings_of_the_episode_are_in_it_from_the_beginning(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    tape.stage.remove(tape.node)
    recording = Recording(tmp_path / 'bag')
    assert recording.episode == tape.episode
    assert recording.about['episode_id'] == recording.episode_id == ATTEMPT


def test_it_says_how_to_read_what_travels_inside_exchanges(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    tape.end()
    with Recording(tmp_path / 'bag').path.open('rb') as stream:
        names = {schema.name for schema in make_reader(stream).get_summary().schemas.values()}
    assert names >= {
        'alpha_chaos/srv/Plan_Request',
        'alpha_chaos/srv/Plan_Response',
        'alpha_chaos/action/MoveTo_Goal',
        'alpha_chaos/action/MoveTo_Result',
        'alpha_chaos/action/GripperCommand_Goal',
        'alpha_chaos/action/GripperCommand_Result',
    }


def test_a_recording_that_another_attempt_overtakes_can_be_read_and_is_incomplete(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    tape.phases.publish(phase(0.0))
    tape.handled('/phase', 1)
    assert tape.begin(tmp_path / 'next', 'control_000/oracle#2').ready
    recording = Recording(tmp_path / 'bag')
    assert (recording.complete, recording.episode_id) == (False, ATTEMPT)
    assert recording.counts['/phase'] == 1


def test_a_recorder_that_leaves_closes_its_recording_and_does_not_pretend_to_be_done(
    tape, tmp_path
):
    assert tape.begin(tmp_path / 'bag').ready
    # Whoever gives the attempt up sets its recording apart while it is still open.
    (tmp_path / 'bag').rename(tmp_path / 'apart')
    tape.stage.remove(tape.node)
    recording = Recording(tmp_path / 'apart')
    assert not recording.complete
    assert [path.name for path in tmp_path.iterdir()] == ['apart']


def test_a_recording_that_ended_in_order_is_complete(tape, tmp_path):
    assert tape.begin(tmp_path / 'bag').ready
    report = tape.end()
    recording = Recording(tmp_path / 'bag')
    assert recording.complete
    assert report['sha256'] == recording.sha256


@pytest.mark.parametrize(
    ('entry', 'why'),
    [
        ('phase', 'expected "<name> <type>'),
        ('phase alpha_chaos/msg/EpisodePhase often', 'expected "<name> <type>'),
        ('phase alpha_chaos/msg/EpisodeFace', 'alpha_chaos/msg/EpisodeFace'),
        ('phase EpisodePhase', 'EpisodePhase'),
    ],
)
def test_a_topic_that_cannot_be_recorded_is_refused(stage, entry, why):
    with pytest.raises(BadSetting, match=why):
        stage.add(RecorderNode, topics=[entry])


def test_a_payload_of_no_type_is_refused(stage):
    with pytest.raises(BadSetting, match="payload 'a/srv/B_Request': there is no such type"):
        stage.add(RecorderNode, payloads=['a/srv/B_Request'])
