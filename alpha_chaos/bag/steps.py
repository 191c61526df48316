"""All step states of a recording at once, as arrays.

A recording has a thousand and more of them, which differ in nothing but their numbers and in how
many contacts there are. Those with equally many are decoded together.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alpha_chaos.bag.definitions import typestore
from alpha_chaos.bodies.base import BodyState
from alpha_chaos.safety.rules import StepView

TYPE = 'alpha_chaos/msg/StepState'
_LITTLE_ENDIAN = 0x0100  # the encapsulation's first two bytes, 00 01, as one number
_START = 4  # of the fields: alignment counts from behind the encapsulation
_SIZE = struct.Struct('<I')


@dataclass(frozen=True, eq=False)
class Steps:
    """States of consecutive messages; what StepState.msg says of one is here along axis 0.

    :param time_ns: simulated time [ns]
    :param object_pose: (steps, objects, 7)
    :param contact_from: (steps + 1): the contacts of step i are those from `contact_from[i]` up to
        `contact_from[i + 1]` in the three arrays after it
    """

    step: NDArray[np.int64]
    time_ns: NDArray[np.int64]
    joint_position: NDArray[np.float64]
    joint_velocity: NDArray[np.float64]
    object_pose: NDArray[np.float64]
    held: NDArray[np.int32]
    contact_from: NDArray[np.int64]
    contact_link: NDArray[np.int32]
    contact_object: NDArray[np.int32]
    contact_force: NDArray[np.float64]

    @classmethod
    def of(
        cls, states: Sequence[BodyState], step: NDArray[np.int64], time_ns: NDArray[np.int64]
    ) -> 'Steps':
        """Return states that were not recorded, one or more of them, in the same form.

        :param step, time_ns: of each; what is more of them is left out
        """
        counts = [state.contact_force.size for state in states]
        return cls(
            step=step[: len(states)],
            time_ns=time_ns[: len(states)],
            joint_position=np.stack([state.joint_position for state in states]),
            joint_velocity=np.stack([state.joint_velocity for state in states]),
            object_pose=np.stack([state.object_pose for state in states]),
            held=np.array([state.held for state in states], np.int32),
            contact_from=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            contact_link=np.concatenate([state.contact_link for state in states]),
            contact_object=np.concatenate([state.contact_object for state in states]),
            contact_force=np.concatenate([state.contact_force for state in states]),
        )

    def __len__(self) -> int:
        return len(self.step)

    def state(self, index: int) -> BodyState:
        """Return one state."""
        contacts = slice(self.contact_from[index], self.contact_from[index + 1])
        return BodyState(
            joint_position=self.joint_position[index],
            joint_velocity=self.joint_velocity[index],
            object_pose=self.object_pose[index],
            held=int(self.held[index]),
            contact_link=self.contact_link[contacts],
            contact_object=self.contact_object[contacts],
            contact_force=self.contact_force[contacts],
        )

    def views(self, object_names: tuple[str, ...]) -> Iterator[StepView]:
        """Return every step as the safety rules see it."""
        positions = self.object_pose[:, :, :3]
        bounds = self.contact_from.tolist()
        for index, (step, held) in enumerate(
            zip(self.step.tolist(), self.held.tolist(), strict=True)
        ):
            contacts = slice(bounds[index], bounds[index + 1])
            yield StepView(
                step=step,
                object_names=object_names,
                object_position_m=positions[index],
                held=held,
                contact_link=self.contact_link[contacts],
                contact_object=self.contact_object[contacts],
                contact_force_n=self.contact_force[contacts],
            )

    def digest(self) -> str:
        """Return what `bodies.base.StateDigest` says of these states, all at once."""
        rows: list[bytes] = [b''] * len(self)
        counts = np.diff(self.contact_from)
        for count in np.unique(counts).tolist():
            (chosen,) = np.nonzero(counts == count)
            where = self.contact_from[chosen, None] + np.arange(count)
            head = np.empty((len(chosen), 5), '<i8')
            head[:, 0], head[:, 1] = self.step[chosen], self.held[chosen]
            head[:, 2:] = self.joint_position.shape[1], self.object_pose.shape[1], count
            parts = [
                head,
                self.joint_position[chosen].astype('<f8', copy=False),
                self.joint_velocity[chosen].astype('<f8', copy=False),
                self.object_pose[chosen].reshape(len(chosen), -1).astype('<f8', copy=False),
            ]
            if count:
                parts += [
                    self.contact_link[where].astype('<i8'),
                    self.contact_object[where].astype('<i8'),
                    self.contact_force[where].astype('<f8', copy=False),
                ]
            table = np.concatenate([part.view(np.uint8) for part in parts], axis=1)
            width, data = table.shape[1], table.tobytes()
            for place, index in enumerate(chosen.tolist()):
                rows[index] = data[place * width : (place + 1) * width]
        return hashlib.sha256(b''.join(rows)).hexdigest()


class _Layout(NamedTuple):
    """Where the fields of a serialised state lie: equal for all messages of equal layout."""

    sizes: tuple[tuple[int, int], ...]  # place and value of every count before the contacts
    step: int
    joint_position: int
    joint_velocity: int
    object_pose: int
    held: int
    joints: int
    velocities: int
    poses: int


def decode_steps(messages: Sequence[bytes]) -> Steps:
    """Return the states of serialised messages of type StepState, in their order.

    :raises ValueError: if they are none, or of different robots
    """
    together = _decode_together(messages)
    return _decode_singly(messages) if together is None else together


def _decode_together(messages: Sequence[bytes]) -> Steps | None:
    """Decode by arrays; None if the messages do not allow it."""
    layout = _layout(messages[0]) if messages else None
    if layout is None:
        return None
    total = len(messages)
    lengths = np.array([len(message) for message in messages])
    groups: list[tuple[NDArray[np.int64], Any, int]] = []
    counts = np.zeros(total, np.int64)
    for length in np.unique(lengths).tolist():
        (chosen,) = np.nonzero(lengths == length)
        joined = b''.join([messages[index] for index in chosen.tolist()])
        at = layout.held + 4
        if length < at + 4:
            return None
        (count,) = _SIZE.unpack_from(joined, at)
        kind = _record_type(layout, count, length)
        if kind is None:
            return None
        table = np.frombuffer(joined, kind)
        alike = all(
            (table[f'size_{number}'] == value).all()
            for number, (_, value) in enumerate(layout.sizes)
        )
        same_count = all((table[f'count_{part}'] == count).all() for part in range(3))
        if not alike or not same_count or not (table['encoding'] == _LITTLE_ENDIAN).all():
            return None
        counts[chosen] = count
        groups.append((chosen, table, count))
    contact_from = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    made = Steps(
        step=np.empty(total, np.int64),
        time_ns=np.empty(total, np.int64),
        joint_position=np.empty((total, layout.joints)),
        joint_velocity=np.empty((total, layout.velocities)),
        object_pose=np.empty((total, layout.poses // 7, 7)),
        held=np.empty(total, np.int32),
        contact_from=contact_from,
        contact_link=np.empty(contact_from[-1], np.int32),
        contact_object=np.empty(contact_from[-1], np.int32),
        contact_force=np.empty(contact_from[-1]),
    )
    for chosen, table, count in groups:
        made.time_ns[chosen] = table['sec'].astype(np.int64) * 10**9 + table['nanosec']
        for name in ('step', 'joint_position', 'joint_velocity', 'held'):
            getattr(made, name)[chosen] = table[name]
        made.object_pose[chosen] = table['object_pose'].reshape(len(chosen), -1, 7)
        if count:
            where = contact_from[chosen, None] + np.arange(count)
            for name in ('contact_link', 'contact_object', 'contact_force'):
                getattr(made, name)[where] = table[name]
    return made


def _layout(message: bytes) -> _Layout | None:
    """Return the layout of a message; None if it is not as messages of this package are."""
    sizes: list[tuple[int, int]] = []

    def count(place: int) -> tuple[int, int]:
        place += -(place - _START) % 4
        (size,) = _SIZE.unpack_from(message, place)
        sizes.append((place, size))
        return place + 4, size

    def doubles(place: int) -> tuple[int, int, int]:
        place, size = count(place)
        begin = place + -(place - _START) % 8
        return begin, size, begin + 8 * size

    try:
        place = _START + 8  # behind the stamp
        for _ in ('frame_id', 'episode_id'):
            place, size = count(place)
            place += size
        step = place + -(place - _START) % 8
        position, joints, place = doubles(step + 8)
        velocity, velocities, place = doubles(place)
        pose, poses, held = doubles(place)
    except struct.error:
        return None
    if not joints or not velocities or not poses or poses % 7:
        return None
    return _Layout(tuple(sizes), step, position, velocity, pose, held, joints, velocities, poses)


def _record_type(layout: _Layout, count: int, length: int) -> np.dtype[Any] | None:
    """Return the type of a message with `count` contacts; None if it is not `length` long."""
    links = layout.held + 4
    objects = links + 4 + 4 * count
    forces = objects + 4 + 4 * count
    begin = forces + 4
    begin += -(begin - _START) % 8 if count else 0
    fields: list[tuple[str, Any, int]] = [
        ('encoding', '<u2', 0),
        ('sec', '<i4', _START),
        ('nanosec', '<u4', _START + 4),
        ('step', '<i8', layout.step),
        ('joint_position', ('<f8', (layout.joints,)), layout.joint_position),
        ('joint_velocity', ('<f8', (layout.velocities,)), layout.joint_velocity),
        ('object_pose', ('<f8', (layout.poses,)), layout.object_pose),
        ('held', '<i4', layout.held),
        ('count_0', '<u4', links),
        ('count_1', '<u4', objects),
        ('count_2', '<u4', forces),
        *((f'size_{number}', '<u4', at) for number, (at, _) in enumerate(layout.sizes)),
    ]
    if count:
        fields += [
            ('contact_link', ('<i4', (count,)), links + 4),
            ('contact_object', ('<i4', (count,)), objects + 4),
            ('contact_force', ('<f8', (count,)), begin),
        ]
    # The serialised form may be filled up to a multiple of four bytes.
    if not 0 <= length - (begin + 8 * count) < 4:
        return None
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype({'names': names, 'formats': formats, 'offsets': offsets, 'itemsize': length})


def _decode_singly(messages: Sequence[bytes]) -> Steps:
    decoded: list[Any] = [typestore().deserialize_cdr(message, TYPE) for message in messages]
    counts = [len(state.contact_normal_force) for state in decoded]
    for state, number in zip(decoded, counts, strict=True):
        if not len(state.contact_link) == len(state.contact_object) == number:
            raise ValueError(f'step {state.step}: contacts of different number')
    joints = len(decoded[0].joint_position) if decoded else 0

    def flat(name: str, kind: Any) -> Any:
        return np.concatenate([[], *(getattr(state, name) for state in decoded)]).astype(kind)

    def stacked(name: str, *shape: int) -> Any:
        return np.array([getattr(state, name) for state in decoded], float).reshape(
            len(decoded), *shape
        )

    stamps = [state.header.stamp for state in decoded]
    return Steps(
        step=np.array([state.step for state in decoded], np.int64),
        time_ns=np.array([stamp.sec * 10**9 + stamp.nanosec for stamp in stamps], np.int64),
        joint_position=stacked('joint_position', joints),
        joint_velocity=stacked('joint_velocity', -1 if decoded else 0),
        object_pose=stacked('object_pose', -1 if decoded else 0, 7),
        held=np.array([state.held_object for state in decoded], np.int32),
        contact_from=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        contact_link=flat('contact_link', np.int32),
        contact_object=flat('contact_object', np.int32),
        contact_force=flat('contact_normal_force', np.float64),
    )
