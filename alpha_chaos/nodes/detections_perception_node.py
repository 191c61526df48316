"""Perception from somebody else's detector: a pose per block, or an array of detections.

An example of the perception boundary: what comes out is `scene`, one SceneObservation a picture.
It takes geometry_msgs/PoseStamped, and vision_msgs/Detection3DArray where that is installed.
"""

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from pydantic import Field
from std_msgs.msg import Header

from alpha_chaos.experiment import Episode
from alpha_chaos.msg import BlockState, SceneObservation
from alpha_chaos.nodes.clock import to_nanoseconds
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting
from alpha_chaos.sightings import Picture, Sightings
from alpha_chaos.srv import Reset


class DetectionsPerceptionParams(EpisodeParams):
    """Parameters of the node."""

    poses: list[str] = Field(
        [], description="where blocks are: '<block>=<topic>' of geometry_msgs/PoseStamped"
    )
    detections: str = Field(
        '', description='topic of vision_msgs/Detection3DArray, instead of `poses`'
    )
    classes: list[str] = Field(
        [], description="with `detections`: '<class_id>=<block>'; others are ignored"
    )
    min_score: float = Field(
        0.5, ge=0, le=1, description='with `detections`: the least that counts [1]'
    )
    frame: str = Field('world', description='of every pose; one in another frame is dropped')


class DetectionsPerceptionNode(EpisodeNode):
    """Gathers what is seen into observations, stamped with the time of the picture."""

    params_model = DetectionsPerceptionParams
    params: DetectionsPerceptionParams

    def __init__(self, **options: Any) -> None:
        super().__init__('detections_perception', **options)
        poses = _pairs('poses', '<block>=<topic>', self.params.poses)
        self._classes = _pairs('classes', '<class_id>=<block>', self.params.classes)
        if bool(poses) == bool(self.params.detections):
            raise BadSetting('where are blocks reported? Set either `poses` or `detections`')
        if self.params.detections and not self._classes:
            raise BadSetting('which class is which block? Set `classes`')
        self._names = tuple(poses)
        self._scene = self.outlet(SceneObservation, 'scene')
        self._forget()
        for name, topic in poses.items():
            self.listen(PoseStamped, topic, partial(self._on_pose, name))
        if self.params.detections:
            kind = load('vision_msgs/msg/Detection3DArray')
            self.listen(kind, self.params.detections, self._on_detections)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Forget what was seen before."""
        self._forget()

    def end(self) -> dict[str, Any]:
        """Report what could not be used."""
        return {'unusable': self._unusable, 'late': self._sightings.late}

    def _forget(self) -> None:
        self._sightings: Sightings[Any] = Sightings(self._names)
        self._unusable = 0

    def _on_pose(self, name: str, message: PoseStamped) -> None:
        if not self._usable(message.header, {name: message.pose}):
            return
        stamp_ns = to_nanoseconds(message.header.stamp)
        for picture in self._sightings.see(name, stamp_ns, message.pose):
            self._show(picture)

    def _on_detections(self, message: Any) -> None:
        seen = best(message.detections, self._classes, self.params.min_score)
        if self._usable(message.header, seen):
            self._show(Picture(to_nanoseconds(message.header.stamp), seen))

    def _usable(self, header: Header, poses: Mapping[str, Any]) -> bool:
        """Tell whether poses mean something here; say once if not."""
        why = ''
        if header.frame_id != self.params.frame:
            why = f'frame {header.frame_id!r}, and {self.params.frame!r} is needed'
        elif bad := [name for name, pose in poses.items() if not is_pose(pose)]:
            why = f'no pose of {", ".join(bad)}'
        if not why:
            return True
        self._unusable += 1
        if self._unusable == 1:
            self.get_logger().warning(f'dropped what was seen: {why}')
        return False

    def _show(self, picture: Picture[Any]) -> None:
        sec, nanosec = divmod(picture.stamp_ns, 10**9)
        self._scene.send(
            SceneObservation(
                header=Header(stamp=Time(sec=sec, nanosec=nanosec), frame_id=self.params.frame),
                episode_id=self.episode_id,
                sequence=self._scene.count + 1,
                blocks=[BlockState(name=name, pose=pose) for name, pose in picture.poses.items()],
            )
        )


def best(
    detections: Iterable[Any], classes: Mapping[str, str], min_score: float
) -> dict[str, Any]:
    """Return the pose of every block that was detected, the surest detection of each.

    :param detections: as vision_msgs/Detection3D has them; the centre of the box counts
    :param classes: block by class_id
    """
    found: dict[str, tuple[float, Any]] = {}
    for detection in detections:
        for result in detection.results:
            name = classes.get(result.hypothesis.class_id)
            score = result.hypothesis.score
            if name is None or not score >= min_score:
                continue
            if name not in found or score > found[name][0]:
                found[name] = score, detection.bbox.center
    return {name: found[name][1] for name in classes.values() if name in found}


def is_pose(pose: Any) -> bool:
    """Tell whether a pose is finite and its orientation a unit quaternion."""
    at, turn = pose.position, pose.orientation
    length = math.hypot(turn.x, turn.y, turn.z, turn.w)
    return all(map(math.isfinite, (at.x, at.y, at.z))) and abs(length - 1) < 1e-3


def _pairs(what: str, form: str, entries: Iterable[str]) -> dict[str, str]:
    pairs = {}
    for entry in entries:
        left, _, right = entry.partition('=')
        if not left or not right:
            raise BadSetting(f'{what} {entry!r}: expected "{form}"')
        pairs[left] = right
    return pairs


def main() -> int:
    """Run the node."""
    return run(DetectionsPerceptionNode)


if __name__ == '__main__':
    raise SystemExit(main())
