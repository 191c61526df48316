"""What an episode looks like as visualization_msgs markers, in the frame of its messages."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from alpha_chaos.bodies.base import Vector
from alpha_chaos.colours import COLOURS, GREY, Colour, colour_of
from alpha_chaos.msg import PlanVerdict, SafetyEvent, StepState, WorldDescription
from alpha_chaos.nodes.convert import point, vector

TARGET_M = 0.02  # diameter
TEXT_M = 0.025  # height of a letter
LINE_M = 0.003
APART_M = 1e-6  # targets that are nearer are the same
CONTACT_M = (0.01, 0.05)  # diameter of the gentlest contact, and of one of the force below
STRONG_N = 3000.0  # what the paper calls violent
KEPT = 100  # targets, and safety events; of more the newest
# What `peak` of an event is measured in.
UNITS = {'violent_contact': 'N', 'out_of_workspace': 'm'}


@dataclass
class Target:
    """Where the arm was told to go: by the controller, and by what passed the relay."""

    requested: Vector | None = None
    delivered: Vector | None = None


@dataclass
class Picture:
    """Everything of an attempt that is shown.

    :param links: position of each link of the arm [m] by its number; empty where nobody knows
    :param targets: by the number of the motion
    :param violations: safety events, with the place of the block when it was told
    :param verdict: of the guard, on the newest plan
    """

    world: WorldDescription
    state: StepState | None = None
    links: Mapping[int, Vector] = field(default_factory=dict)
    targets: dict[int, Target] = field(default_factory=dict)
    violations: list[tuple[SafetyEvent, Vector]] = field(default_factory=list)
    verdict: PlanVerdict | None = None

    def target(self, number: int) -> Target:
        """Return the target of a motion."""
        found = self.targets.setdefault(number, Target())
        if len(self.targets) > KEPT:
            del self.targets[min(self.targets)]
        return found

    def violated(self, event: SafetyEvent) -> None:
        """Keep an event and where its block is now; without a block there is no place."""
        place = self.block(event.key)
        if place is not None:
            self.violations.append((event, place))
            del self.violations[:-KEPT]

    def block(self, name: str) -> Vector | None:
        """Return where a block is, None if nobody has said."""
        if self.state is None or name not in self.world.object_names:
            return None
        x, y, z = self._poses()[list(self.world.object_names).index(name), :3].tolist()
        return x, y, z

    def markers(self) -> Iterator[Marker]:
        """Yield all markers; namespace and id of one are the same every time."""
        yield from self._workspace()
        yield from self._zone()
        yield from self._plan()
        yield from self._blocks()
        for number, target in sorted(self.targets.items()):
            yield from _target(number, target)
        yield from self._contacts()
        for number, (event, place) in enumerate(self.violations):
            yield from _violation(number, event, place)

    def _poses(self) -> np.ndarray:
        assert self.state is not None
        return np.asarray(self.state.object_pose).reshape(-1, 7)

    def _workspace(self) -> Iterator[Marker]:
        low, high = vector(self.world.workspace_min), vector(self.world.workspace_max)
        corners = list(product(*zip(low, high, strict=True)))
        edges = [
            end
            for one, other in combinations(corners, 2)
            if sum(a != b for a, b in zip(one, other, strict=True)) == 1
            for end in (one, other)
        ]
        yield _marker('workspace', 0, Marker.LINE_LIST, GREY, (LINE_M, 0, 0), points=edges)

    def _zone(self) -> Iterator[Marker]:
        if self.world.success_radius > 0:
            size = (2 * self.world.success_radius,) * 3
            colour = (*COLOURS['yellow'][:3], 0.25)
            yield _marker('zone', 0, Marker.SPHERE, colour, size, vector(self.world.zone))

    def _plan(self) -> Iterator[Marker]:
        """Yield what the guard foresaw: the other zones, the way, and what fails on it."""
        if self.verdict is None:
            return
        colour = (*COLOURS['yellow'][:3], 0.25)
        for number, place in enumerate(self.verdict.placements):
            if not place.base and place.position != self.world.zone:
                size = (2 * place.radius,) * 3
                yield _marker('zones', number, Marker.SPHERE, colour, size, vector(place.position))
        way = [vector(tip) for tip in self.verdict.path]
        if len(way) > 1:
            colour = COLOURS['green' if self.verdict.clean else 'orange']
            yield _marker('plan', 0, Marker.LINE_STRIP, colour, (LINE_M, 0, 0), points=way)
        for number, failure in enumerate(self.verdict.failures):
            x, y, z = vector(failure.position)
            size = (2 * TARGET_M,) * 3
            yield _marker('plan failures', number, Marker.CUBE, COLOURS['orange'], size, (x, y, z))
            above = (x, y, z + 0.05 + number % 4 * 2 * TEXT_M)
            yield _text('plan failure texts', number, f'{failure.rule}: {failure.message}', above)

    def _blocks(self) -> Iterator[Marker]:
        if self.state is None:
            return
        sizes = np.asarray(self.world.object_size).reshape(-1, 3).tolist()
        for number, (name, size, pose) in enumerate(
            zip(self.world.object_names, sizes, self._poses().tolist(), strict=False)
        ):
            held = number == self.state.held_object
            yield _marker('blocks', number, Marker.CUBE, colour_of(name), size, pose[:3], pose[3:])
            x, y, z = pose[:3]
            above = (x, y, z + size[2] / 2 + TEXT_M)
            yield _text('block names', number, f'{name}, held' if held else name, above)

    def _contacts(self) -> Iterator[Marker]:
        state = self.state
        if state is None:
            return
        forces: dict[tuple[int, int], float] = {}
        for link, thing, force in zip(
            state.contact_link, state.contact_object, state.contact_normal_force, strict=False
        ):
            pair = int(link), int(thing)
            forces[pair] = forces.get(pair, 0.0) + float(force)
        names = self.world.object_names
        for number, ((link, thing), force) in enumerate(sorted(forces.items())):
            touched = names[thing] if 0 <= thing < len(names) else ''
            place = self.block(touched) if touched else self.links.get(link)
            if place is None or not math.isfinite(force):
                continue
            share = min(1.0, max(0.0, force) / STRONG_N)
            size = (CONTACT_M[0] + share * (CONTACT_M[1] - CONTACT_M[0]),) * 3
            yield _marker('contacts', number, Marker.SPHERE, COLOURS['orange'], size, place)
            x, y, z = place
            what = f'link {link}: {force:.3g} N'
            yield _text('contact forces', number, what, (x, y, z - 2 * TEXT_M))


def complete(
    markers: Iterable[Marker], header: Header, shown: set[tuple[str, int]]
) -> MarkerArray:
    """Return a message that shows these markers and takes away all others of `shown`.

    Each message says everything, so that a viewer that missed some shows the right thing again.

    :param shown: namespace and id of what an earlier message may have put there; is added to
    """
    array = MarkerArray(markers=list(markers))
    there = {(marker.ns, marker.id) for marker in array.markers}
    for namespace, number in sorted(shown - there):
        array.markers.append(Marker(ns=namespace, id=number, action=Marker.DELETE))
    shown |= there
    for marker in array.markers:
        marker.header = header
    return array


def _target(number: int, target: Target) -> Iterator[Marker]:
    size = (TARGET_M,) * 3
    if target.requested is not None:
        colour = COLOURS['white']
        yield _marker('targets requested', number, Marker.SPHERE, colour, size, target.requested)
    if target.delivered is not None:
        colour, bigger = (*COLOURS['blue'][:3], 0.5), (1.5 * TARGET_M,) * 3
        yield _marker('targets delivered', number, Marker.SPHERE, colour, bigger, target.delivered)
    if target.requested is None or target.delivered is None:
        return
    apart_m = math.dist(target.requested, target.delivered)
    if apart_m > APART_M:
        ends = (target.requested, target.delivered)
        shape = (0.3 * TARGET_M, 0.8 * TARGET_M, 0.0)  # diameters of shaft and head
        yield _marker('targets pushed', number, Marker.ARROW, COLOURS['red'], shape, points=ends)
        middle = tuple((a + b) / 2 for a, b in zip(*ends, strict=True))
        yield _text('target differences', number, f'{apart_m:.3f} m', middle)


def _violation(number: int, event: SafetyEvent, place: Vector) -> Iterator[Marker]:
    colour = (*COLOURS['red'][:3], 0.4)
    yield _marker('safety events', number, Marker.SPHERE, colour, (0.1,) * 3, place)
    x, y, z = place
    said = (
        f'{event.rule}: {event.key}, {event.peak:.3g} {UNITS.get(event.rule, "")}\n'
        f'steps {event.open_step} to {event.close_step}'
    )
    yield _text('safety texts', number, said, (x, y, z + 0.1 + number % 4 * 2 * TEXT_M))


def _marker(
    namespace: str,
    number: int,
    kind: int,
    colour: Colour | Sequence[float],
    size: Sequence[float],
    at: Sequence[float] = (0.0, 0.0, 0.0),
    turn: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
    *,
    points: Iterable[Sequence[float]] = (),
) -> Marker:
    red, green, blue, opacity = map(float, colour)
    x, y, z = map(float, size)
    qx, qy, qz, qw = map(float, turn)
    return Marker(
        ns=namespace,
        id=number,
        type=kind,
        action=Marker.ADD,
        pose=Pose(position=point(at), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw)),
        scale=Vector3(x=x, y=y, z=z),
        color=ColorRGBA(r=red, g=green, b=blue, a=opacity),
        points=[Point(x=float(a), y=float(b), z=float(c)) for a, b, c in points],
    )


def _text(namespace: str, number: int, said: str, at: Sequence[float]) -> Marker:
    made = _marker(
        namespace, number, Marker.TEXT_VIEW_FACING, COLOURS['white'], (0.0, 0.0, TEXT_M), at
    )
    made.text = said
    return made
