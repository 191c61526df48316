"""Perception from somebody else's detector."""

import json
import math
from types import SimpleNamespace

import pytest
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from alpha_chaos.msg import SceneObservation
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.detections_perception_node import DetectionsPerceptionNode, best
from alpha_chaos.plugins import BadSetting

POSES = ['red=poses/red', 'green=poses/green']


class Camera:
    """A detector that publishes a pose per block."""

    def __init__(self, stage, **parameters):
        self.stage = stage
        self.node = stage.add(DetectionsPerceptionNode, poses=POSES, **parameters)
        self.scenes = stage.hear('alpha_chaos/msg/SceneObservation', 'scene')
        self.voices = {
            name: stage.voice('geometry_msgs/msg/PoseStamped', f'poses/{name}')
            for name in ('red', 'green')
        }
        stage.until(lambda: self.node.count_subscribers('scene') == 1, 'a subscriber')

    def see(self, name, seconds, x=0.5, frame='world', w=1.0):
        self.voices[name].publish(
            PoseStamped(
                header=Header(stamp=to_time(seconds), frame_id=frame),
                pose=Pose(position=Point(x=x), orientation=Quaternion(w=w)),
            )
        )
        # In order over all topics: what is sent after this comes after this.
        before = self.heard()
        self.stage.until(lambda: self.heard() > before, 'the pose to be heard')

    def heard(self):
        return sum(inlet.count for inlet in self.node._inlets.values())

    def observed(self, count):
        self.stage.until(lambda: len(self.scenes) >= count, f'{count} scenes')
        assert len(self.scenes) == count
        return [deserialize_message(data, SceneObservation) for data in self.scenes]


def test_poses_of_one_moment_are_one_scene_with_its_stamp(stage):
    camera = Camera(stage)
    camera.see('green', 1.5, x=0.2)
    camera.see('red', 1.5, x=0.1)
    (scene,) = camera.observed(1)
    assert [(block.name, block.pose.position.x) for block in scene.blocks] == [
        ('red', 0.1),
        ('green', 0.2),
    ]
    assert (scene.header.stamp.sec, scene.header.stamp.nanosec) == (1, 500_000_000)
    assert (scene.header.frame_id, scene.sequence, scene.episode_id) == ('world', 1, '')


def test_a_hidden_block_is_not_in_the_scene(stage):
    camera = Camera(stage)
    camera.see('red', 1.0)
    camera.see('red', 2.0)
    camera.see('green', 2.0)
    first, second = camera.observed(2)
    assert [block.name for block in first.blocks] == ['red']
    assert [block.name for block in second.blocks] == ['red', 'green']
    assert second.sequence == 2


@pytest.mark.parametrize('bad', [{'frame': 'camera'}, {'x': math.nan}, {'w': 0.0}])
def test_what_is_no_pose_in_the_world_is_dropped_and_reported(stage, control, bad):
    camera = Camera(stage)
    assert stage.reset('detections_perception', control, 'control_000/oracle#1').ready
    camera.see('red', 1.0, **bad)
    camera.see('red', 2.0)
    camera.see('green', 2.0)
    (scene,) = camera.observed(1)
    assert scene.header.stamp.sec == 2
    assert scene.episode_id == 'control_000/oracle#1'
    report = json.loads(stage.finish('detections_perception', 'control_000/oracle#1').report)
    assert (report['unusable'], report['late']) == (1, 0)


def detected(x, **scores):
    return SimpleNamespace(
        results=[
            SimpleNamespace(hypothesis=SimpleNamespace(class_id=label, score=score))
            for label, score in scores.items()
        ],
        bbox=SimpleNamespace(center=x),
    )


def test_the_surest_detection_of_each_block_counts():
    classes = {'cube_r': 'red', 'cube_g': 'green'}
    seen = [
        detected('a', cube_g=0.6, cube_r=0.55),
        detected('b', cube_r=0.9),
        detected('c', cube_g=0.4),
        detected('d', cat=1.0),
        detected('e', cube_r=math.nan),
    ]
    assert best(seen, classes, 0.5) == {'red': 'b', 'green': 'a'}
    assert list(best(seen, classes, 0.5)) == ['red', 'green']
    assert best(seen, classes, 0.95) == {}


@pytest.mark.parametrize(
    ('parameters', 'why'),
    [
        ({}, 'either `poses` or `detections`'),
        ({'poses': POSES, 'detections': 'found'}, 'either `poses` or `detections`'),
        ({'poses': ['red']}, 'expected "<block>=<topic>"'),
        ({'detections': 'found'}, 'Set `classes`'),
    ],
)
def test_bad_parameters_are_refused(stage, parameters, why):
    with pytest.raises(BadSetting, match=why):
        stage.add(DetectionsPerceptionNode, **parameters)


def test_detections_are_heard_where_vision_msgs_is_installed(stage):
    vision = pytest.importorskip(
        'vision_msgs.msg', reason='vision_msgs is not on PyPI; install it to test detections'
    )
    stage.add(DetectionsPerceptionNode, detections='found', classes=['cube_r=red'])
    scenes = stage.hear('alpha_chaos/msg/SceneObservation', 'scene')
    voice = stage.voice('vision_msgs/msg/Detection3DArray', 'found')
    result = vision.ObjectHypothesisWithPose()
    result.hypothesis.class_id, result.hypothesis.score = 'cube_r', 0.9
    detection = vision.Detection3D(results=[result])
    detection.bbox.center.position.x = 0.4
    header = Header(stamp=to_time(3.0), frame_id='world')
    voice.publish(vision.Detection3DArray(header=header, detections=[detection]))
    stage.until(lambda: scenes, 'a scene')
    scene = deserialize_message(scenes[0], SceneObservation)
    assert [(block.name, block.pose.position.x) for block in scene.blocks] == [('red', 0.4)]
    assert scene.header.stamp.sec == 3


def test_without_vision_msgs_detections_are_refused_with_a_word(stage):
    try:
        import vision_msgs  # noqa: F401
    except ImportError:
        with pytest.raises(BadSetting, match=r'vision_msgs/msg/Detection3DArray.* not installed'):
            stage.add(DetectionsPerceptionNode, detections='found', classes=['a=red'])
