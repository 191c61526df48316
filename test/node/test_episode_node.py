"""What every node shares: attempts, counts, and deafness to other graphs. Perception is one."""

import json

import pytest
from geometry_msgs.msg import Pose
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from alpha_chaos.msg import BlockState, ObjectStates, SceneObservation
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.perception_node import PerceptionNode
from alpha_chaos.plugins import BadSetting
from alpha_chaos.srv import AwaitCount, Finish, Reset

ATTEMPT = 'control_000/oracle#1'


def objects(step, attempt=ATTEMPT):
    return ObjectStates(
        header=Header(stamp=to_time(step / 240), frame_id='world'),
        episode_id=attempt,
        step=step,
        objects=[BlockState(name='red', pose=Pose())],
    )


class Camera:
    """Perception on a stage, in an attempt that has begun."""

    def __init__(self, stage, episode, **parameters):
        self.stage = stage
        self.node = stage.add(PerceptionNode, **parameters)
        self.scenes = stage.hear('alpha_chaos/msg/SceneObservation', 'scene')
        self.truth = stage.voice('alpha_chaos/msg/ObjectStates', 'objects')
        stage.until(lambda: self.node.count_subscribers('scene') == 1, 'a subscriber')
        assert stage.reset('perception', episode, ATTEMPT).ready

    def handled(self, number, attempt=ATTEMPT):
        """Return the future of the answer that so many objects messages were handled."""
        return self.stage.request(
            AwaitCount,
            'perception/await_count',
            episode_id=attempt,
            topic='/objects',
            received=number,
        )

    def seen(self, number):
        self.stage.until(lambda: len(self.scenes) >= number, f'{number} scenes')
        return [deserialize_message(data, SceneObservation) for data in self.scenes]


@pytest.fixture
def camera(stage, control):
    return Camera(stage, control)


def test_what_is_there_is_seen_with_the_time_of_the_sample(camera):
    for step in (0, 8, 16):
        camera.truth.publish(objects(step))
    camera.stage.answer(camera.handled(3))
    scenes = camera.seen(3)
    assert [scene.sequence for scene in scenes] == [1, 2, 3]
    assert [scene.header for scene in scenes] == [objects(step).header for step in (0, 8, 16)]
    assert all(scene.episode_id == ATTEMPT for scene in scenes)
    assert scenes[0].blocks == objects(0).objects


def test_a_slow_camera_sees_the_first_of_every_so_many(stage, control):
    camera = Camera(stage, control, every_n_objects=3)
    for step in range(8):
        camera.truth.publish(objects(step))
    answer = stage.answer(camera.handled(8))
    assert [(count.topic, count.count) for count in answer.published] == [('/scene', 3)]
    stamps = [scene.header.stamp for scene in camera.seen(3)]
    assert stamps == [objects(step).header.stamp for step in (0, 3, 6)]


# -- counts


def test_an_answer_waits_until_that_many_messages_were_handled(camera):
    future = camera.handled(2)
    camera.truth.publish(objects(0))
    camera.seen(1)
    for _ in range(5):
        camera.stage.turn(0.01)
    assert not future.done()
    camera.truth.publish(objects(8))
    answer = camera.stage.answer(future)
    assert answer.ok
    assert answer.published[0].count == 2


def test_a_topic_that_nobody_listens_to_is_refused_at_once(camera):
    answer = camera.stage.ask(
        AwaitCount,
        'perception/await_count',
        episode_id=ATTEMPT,
        topic='/scene',
        received=1,
    )
    assert not answer.ok
    assert answer.message == "perception does not listen to '/scene'; it listens to /objects"


def test_a_count_for_another_attempt_is_refused_at_once(camera):
    answer = camera.stage.answer(camera.handled(1, 'control_000/oracle#7'))
    assert not answer.ok
    assert answer.message == f'perception runs {ATTEMPT!r}'


def test_a_reset_forgets_all_counts_and_whoever_waited_for_one(camera, control):
    camera.truth.publish(objects(0))
    camera.stage.answer(camera.handled(1))
    waiting = camera.handled(5)
    assert camera.stage.reset('perception', control, 'control_000/oracle#2').ready
    report = camera.stage.finish('perception', 'control_000/oracle#2')
    assert [count.count for count in report.published] == [0]
    assert not waiting.done()


# -- other graphs


def test_messages_of_another_attempt_are_dropped_and_reported(camera):
    camera.truth.publish(objects(0, 'control_000/oracle#2'))
    camera.truth.publish(objects(0, ''))
    camera.truth.publish(objects(8))
    camera.stage.answer(camera.handled(1))
    assert len(camera.seen(1)) == 1
    report = camera.stage.finish('perception', ATTEMPT)
    assert report.ok
    assert json.loads(report.report) == {'foreign_messages': 2}


def test_what_comes_before_the_first_attempt_belongs_to_none(stage):
    node = stage.add(PerceptionNode)
    truth = stage.voice('alpha_chaos/msg/ObjectStates', 'objects')
    truth.publish(objects(0, ''))
    stage.until(lambda: node.foreign == 1, 'the message to be dropped')


def test_an_attempt_that_is_not_under_way_cannot_be_finished(camera):
    answer = camera.stage.ask(Finish, 'perception/finish', episode_id='control_000/oracle#2')
    assert not answer.ok
    assert answer.message == f'perception runs {ATTEMPT!r}'


# -- beginning


def test_an_attempt_begins_when_everybody_listens(stage, control):
    stage.add(PerceptionNode, expect=['scene=1'])
    fields = {'episode_id': ATTEMPT, 'episode': control.to_json()}
    answer = stage.ask(Reset, 'perception/reset', **fields)
    assert not answer.ready
    assert not answer.failed
    assert answer.message == 'perception waits for /scene: 0 of 1 subscribers connected'
    stage.hear('alpha_chaos/msg/SceneObservation', 'scene')
    assert stage.reset('perception', control, ATTEMPT).ready


def test_asked_again_to_begin_a_node_goes_on(camera, control):
    # Its first answer is lost if it has not found the supervisor yet.
    camera.truth.publish(objects(0))
    camera.stage.answer(camera.handled(1))
    assert camera.stage.reset('perception', control, ATTEMPT).ready
    assert camera.stage.finish('perception', ATTEMPT).published[0].count == 1
    assert camera.stage.reset('perception', control, ATTEMPT).ready
    assert camera.stage.finish('perception', ATTEMPT).published[0].count == 0


def test_a_refused_beginning_leaves_the_attempt_under_way_alone(camera, control):
    camera.truth.publish(objects(0))
    camera.stage.answer(camera.handled(1))
    answer = camera.stage.ask(
        Reset, 'perception/reset', episode_id='control_000/oracle#2', episode='{"arm": 3}'
    )
    assert answer.failed
    assert 'perception: ValidationError' in answer.message
    camera.truth.publish(objects(8))
    assert camera.stage.answer(camera.handled(2)).published[0].count == 2


@pytest.mark.parametrize('entry', ['scene', 'scene=', '=1', 'scene=two', 'scene=-1'])
def test_an_expectation_that_is_none_is_refused(stage, entry):
    with pytest.raises(BadSetting, match='expected "<topic>=<subscribers>"'):
        stage.add(PerceptionNode, expect=[entry])
