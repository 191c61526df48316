"""The links of a robot and where they are, from its URDF."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from xml.etree import ElementTree

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]  # x y z w

_TURNING, _SLIDING = ('revolute', 'continuous'), 'prismatic'
MOVABLE = (*_TURNING, _SLIDING)


@dataclass(frozen=True)
class Pose:
    """A position [m] and an orientation (unit quaternion)."""

    position_m: Vector = (0.0, 0.0, 0.0)
    orientation: Quaternion = (0.0, 0.0, 0.0, 1.0)

    def __matmul__(self, inner: 'Pose') -> 'Pose':
        """Return where something is that is at `inner` in this frame."""
        x, y, z = _turn(self.orientation, inner.position_m)
        ox, oy, oz = self.position_m
        return Pose((ox + x, oy + y, oz + z), _product(self.orientation, inner.orientation))


@dataclass(frozen=True)
class Joint:
    """What connects two links; `origin` is the pose of the child at joint position 0."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: Vector

    def pose(self, position: float) -> Pose:
        """Return the pose of the child in the parent's frame.

        :param position: of the joint [rad or m]; a fixed one has none
        """
        if self.kind in _TURNING:
            return self.origin @ Pose(orientation=_about(self.axis, position))
        if self.kind == _SLIDING:
            x, y, z = self.axis
            return self.origin @ Pose((x * position, y * position, z * position))
        return self.origin


class KinematicTree:
    """The joints of a robot, each after the one it hangs on, in the order of the file.

    PyBullet numbers links in the same order: link n is the child of joint n.
    """

    def __init__(self, urdf: str) -> None:
        """Read the tree.

        :raises ValueError: for a text that is no URDF of one robot
        """
        try:
            robot = ElementTree.fromstring(urdf)
        except ElementTree.ParseError as error:
            raise ValueError(f'not a URDF: {error}') from None
        found = [_joint(element) for element in robot.findall('joint')]
        children = {joint.child for joint in found}
        roots = [link.attrib['name'] for link in robot.findall('link')]
        roots = [name for name in roots if name not in children]
        if len(roots) != 1:
            raise ValueError(f'not a URDF of one robot: it has the roots {roots}')
        self.root = roots[0]
        by_parent: dict[str, list[Joint]] = {}
        for joint in found:
            by_parent.setdefault(joint.parent, []).append(joint)
        self.joints = tuple(_below(self.root, by_parent))
        self.movable = tuple(joint.name for joint in self.joints if joint.kind in MOVABLE)

    def steps(self, positions: Mapping[str, float]) -> Iterator[tuple[Joint, Pose]]:
        """Yield each joint with the pose of its child in its parent's frame.

        :param positions: of joints [rad or m]; one that is not named is at 0
        """
        for joint in self.joints:
            yield joint, joint.pose(positions.get(joint.name, 0.0))

    def links(self, positions: Mapping[str, float]) -> dict[str, Pose]:
        """Return the pose of every link in the frame of the root."""
        poses = {self.root: Pose()}
        for joint, pose in self.steps(positions):
            poses[joint.child] = poses[joint.parent] @ pose
        return poses


def _below(link: str, by_parent: Mapping[str, list[Joint]]) -> Iterator[Joint]:
    for joint in by_parent.get(link, ()):
        yield joint
        yield from _below(joint.child, by_parent)


def _joint(element: ElementTree.Element) -> Joint:
    def named(tag: str, attribute: str, default: str) -> str:
        part = element.find(tag)
        return default if part is None else part.get(attribute, default)

    return Joint(
        name=element.attrib['name'],
        kind=element.attrib['type'],
        parent=named('parent', 'link', ''),
        child=named('child', 'link', ''),
        origin=Pose(
            _vector(named('origin', 'xyz', '0 0 0')),
            _from_rpy(_vector(named('origin', 'rpy', '0 0 0'))),
        ),
        axis=_vector(named('axis', 'xyz', '1 0 0')),
    )


def _vector(text: str) -> Vector:
    x, y, z = map(float, text.split())
    return x, y, z


def _from_rpy(angles_rad: Vector) -> Quaternion:
    """Return roll about x, then pitch about y, then yaw about z, all of them fixed axes."""
    roll, pitch, yaw = angles_rad
    about_x, about_y = _about((1.0, 0.0, 0.0), roll), _about((0.0, 1.0, 0.0), pitch)
    return _product(_about((0.0, 0.0, 1.0), yaw), _product(about_y, about_x))


def _about(axis: Vector, angle_rad: float) -> Quaternion:
    length = math.hypot(*axis)
    share = math.sin(angle_rad / 2) / length
    return axis[0] * share, axis[1] * share, axis[2] * share, math.cos(angle_rad / 2)


def _product(left: Quaternion, right: Quaternion) -> Quaternion:
    ax, ay, az, aw = left
    bx, by, bz, bw = right
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _turn(orientation: Quaternion, vector: Vector) -> Vector:
    x, y, z, w = orientation
    turned = _product(_product(orientation, (*vector, 0.0)), (-x, -y, -z, w))
    return turned[0], turned[1], turned[2]
