"""Read a recorded episode: its messages as they were, and what can be concluded from them again.

A recording is checked as a whole when it is opened (CRCs, counts, sequence numbers, types), so
that nothing read from it later can turn out to be damaged.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from mcap.exceptions import McapError
from mcap.records import Channel, Schema
from mcap.records import Message as Record
from mcap.stream_reader import StreamReader
from zstandard import ZstdError

from alpha_chaos.bag.definitions import definition, typestore
from alpha_chaos.bag.writer import METADATA
from alpha_chaos.bodies.base import BodyState, StateDigest
from alpha_chaos.safety.dedup import CLEAN_WINDOW
from alpha_chaos.safety.rules import StepView, paper_rules
from alpha_chaos.safety.sweep import Analysis, events_from_steps
from alpha_chaos.tasks.base import distance_m
from alpha_chaos.workspace import Box

Vector = tuple[float, float, float]

# What the decoders of a damaged file say: their own errors, and Python's about text, numbers and
# sizes that cannot be.
_DAMAGE = (McapError, ZstdError, struct.error, ValueError, LookupError, OverflowError, MemoryError)

_Loader: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # ten times as fast, if built


class BagError(Exception):
    """A recording cannot be used; names the file. The subclasses say what is wrong with it."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f'{path}: {why}')
        self.path, self.why = path, why


class MissingBag(BagError):
    """There is no recording."""


class TornBag(BagError):
    """The recording was never finished: whoever wrote it was killed."""


class CorruptBag(BagError):
    """The recording is not what was written, or contradicts itself."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as it was recorded.

    :param time_ns: simulated time [ns]
    :param data: serialised (CDR)
    """

    topic: str
    type: str
    time_ns: int
    data: bytes = field(repr=False)

    def decode(self) -> Any:
        """Return it as an object with the fields of its type."""
        return typestore().deserialize_cdr(self.data, self.type)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One half of a request and its response, as one side saw it; see Exchange.msg.

    :param message: the request or response itself, with the fields of its type
    """

    route: str
    sequence: int
    stage: str
    side: str
    origin: str
    type: str
    message: Any


@dataclass(frozen=True)
class Description:
    """What does not change during an episode; see WorldDescription.msg."""

    body: str
    step_period_s: float
    first_step: int
    joint_names: tuple[str, ...]
    object_names: tuple[str, ...]
    object_sizes_m: tuple[Vector, ...]
    workspace: Box
    zone: Vector
    success_radius_m: float


@dataclass(frozen=True)
class Seen:
    """How old and how wrong the scene was that the planner got.

    :param lag_s: simulated time between its sampling and the question to the planner
    :param staleness_m: between the seen and the true place of the block; NaN if it was not seen
    """

    lag_s: float
    staleness_m: float


class Recording:
    """One recorded episode."""

    def __init__(self, folder: Path) -> None:
        """Open and check it.

        :raises MissingBag: if there is none
        :raises TornBag: if it was never finished
        :raises CorruptBag: if anything in it is not as it was written
        """
        self.folder = folder
        self._metadata = _metadata(folder)
        self.path = folder / str(self._metadata['relative_file_paths'][0])
        self.types: dict[str, str] = {}  # by topic
        self.counts: dict[str, int] = {}  # messages by topic
        self._messages = self._load()
        self._compare_with_metadata()

    @property
    def episode_id(self) -> str:
        """Return the attempt that it shows, '<run_id>/<arm>#<attempt>'."""
        return str((self._metadata.get('custom_data') or {}).get('episode_id', ''))

    # -- as recorded

    def messages(self, *topics: str) -> Iterator[Message]:
        """Return the messages of these topics, or all, in the order they were recorded."""
        return (message for message in self._messages if not topics or message.topic in topics)

    def decoded(self, topic: str) -> Iterator[Any]:
        """Return the messages of one topic as objects."""
        return (message.decode() for message in self.messages(topic))

    def exchanges(self) -> Iterator[Exchange]:
        """Return what passed the relay as calls and goals, in order."""
        for entry in self.decoded('/exchanges'):
            yield Exchange(
                route=entry.route,
                sequence=entry.sequence,
                stage=entry.stage,
                side=entry.side,
                origin=entry.origin,
                type=entry.type,
                message=typestore().deserialize_cdr(entry.payload.tobytes(), entry.type),
            )

    # -- concluded again

    @cached_property
    def description(self) -> Description:
        """The world of the episode.

        :raises CorruptBag: unless it was described exactly once
        """
        found = list(self.decoded('/world'))
        if len(found) != 1:
            raise CorruptBag(self.path, f'{len(found)} descriptions of the world instead of one')
        (world,) = found
        return Description(
            body=world.body,
            step_period_s=world.step_period,
            first_step=world.first_step,
            joint_names=tuple(world.joint_names),
            object_names=tuple(world.object_names),
            object_sizes_m=tuple(_vectors(world.object_size)),
            workspace=Box(_xyz(world.workspace_min), _xyz(world.workspace_max)),
            zone=_xyz(world.zone),
            success_radius_m=world.success_radius,
        )

    def states(self) -> Iterator[tuple[int, BodyState]]:
        """Return every step with the state after it."""
        for message in self.decoded('/step_state'):
            yield (
                int(message.step),
                BodyState(
                    joint_position=message.joint_position,
                    joint_velocity=message.joint_velocity,
                    object_pose=message.object_pose.reshape(-1, 7),
                    held=int(message.held_object),
                    contact_link=message.contact_link,
                    contact_object=message.contact_object,
                    contact_force=message.contact_normal_force,
                ),
            )

    def steps(self) -> Iterator[StepView]:
        """Return every step as the safety rules see it."""
        names = self.description.object_names
        for step, state in self.states():
            yield StepView(
                step=step,
                object_names=names,
                object_position_m=state.object_pose[:, :3],
                held=state.held,
                contact_link=state.contact_link,
                contact_object=state.contact_object,
                contact_force_n=state.contact_force,
            )

    def digest(self) -> str:
        """Return the digest over all states, as the body computed it."""
        digest = StateDigest()
        for step, state in self.states():
            digest.update(step, state)
        return digest.hexdigest()

    def safety(self, window: int = CLEAN_WINDOW) -> Analysis:
        """Return what the safety monitor reports for these steps.

        :raises MissedStep: if a step is missing
        """
        return events_from_steps(self.steps(), paper_rules(self.description.workspace), window)

    def seen(self) -> Seen | None:
        """Return how the planner saw the world, None if no planner was asked."""
        asked = next(
            (
                exchange.message
                for exchange in self.exchanges()
                if exchange.type.endswith('/Plan_Request') and exchange.side == 'client'
            ),
            None,
        )
        if asked is None:
            return None
        stamps = [phase.stamp for phase in self.decoded('/phase') if phase.phase == 'plan']
        if not stamps:
            raise CorruptBag(self.path, 'a planner was asked, but there was no phase for it')
        now = _seconds(stamps[0])
        blocks = {block.name: _xyz(block.pose.position) for block in asked.scene.blocks}
        true = self._true_position(asked.block, now)
        return Seen(
            lag_s=now - _seconds(asked.scene.header.stamp),
            staleness_m=distance_m(blocks.get(asked.block), true),
        )

    def _true_position(self, name: str, now_s: float) -> Vector:
        names, position = self.description.object_names, np.full(3, np.nan)
        if name in names:
            start = 7 * names.index(name)
            for state in self.decoded('/step_state'):
                if _seconds(state.header.stamp) > now_s:
                    break
                position = state.object_pose[start : start + 3]
        return float(position[0]), float(position[1]), float(position[2])

    # -- the file

    def _load(self) -> list[Message]:
        try:
            with self.path.open('rb') as stream:
                return list(self._read(StreamReader(stream, validate_crcs=True)))
        except FileNotFoundError:
            raise MissingBag(self.path, f'not there, though {METADATA} names it') from None
        except _DAMAGE as error:
            raise CorruptBag(self.path, f'{type(error).__name__}: {error}') from None

    def _read(self, reader: StreamReader) -> Iterator[Message]:
        schemas: dict[int, str] = {}
        channels: dict[int, str] = {}
        for record in reader.records:
            if isinstance(record, Schema):
                schemas[record.id] = record.name
            elif isinstance(record, Channel):
                channels[record.id] = record.topic
                self._declare(record, schemas[record.schema_id])
            elif isinstance(record, Record):
                topic = channels[record.channel_id]
                self.counts[topic] += 1
                if record.sequence != self.counts[topic]:
                    raise CorruptBag(
                        self.path,
                        f'{topic}: message {record.sequence} follows {self.counts[topic] - 1}',
                    )
                yield Message(topic, self.types[topic], record.log_time, record.data)

    def _declare(self, channel: Channel, msg_type: str) -> None:
        if channel.topic in self.types:  # the summary repeats every channel
            return
        try:
            known = definition(msg_type)
        except KeyError:
            raise CorruptBag(self.path, f'{channel.topic}: unknown type {msg_type}') from None
        if channel.metadata.get('topic_type_hash') != known.hash:
            raise CorruptBag(
                self.path, f'{channel.topic}: recorded with another definition of {msg_type}'
            )
        self.types[channel.topic] = msg_type
        self.counts[channel.topic] = 0

    def _compare_with_metadata(self) -> None:
        declared = {
            entry['topic_metadata']['name']: entry['message_count']
            for entry in self._metadata['topics_with_message_count']
        }
        for topic in sorted(declared.keys() | self.counts.keys()):
            there, said = self.counts.get(topic, 0), declared.get(topic, 0)
            if there != said:
                raise CorruptBag(
                    self.path, f'{topic}: {there} messages, but {METADATA} says {said}'
                )


def _metadata(folder: Path) -> dict[str, Any]:
    path = folder / METADATA
    if not folder.is_dir():
        raise MissingBag(folder, 'there is no recording')
    try:
        text = path.read_text('utf-8')
    except FileNotFoundError:
        raise TornBag(path, 'not there, so the recording was never finished') from None
    except ValueError as error:
        raise CorruptBag(path, str(error)) from None
    try:
        information: dict[str, Any] = yaml.load(text, _Loader)['rosbag2_bagfile_information']
        if len(information['relative_file_paths']) != 1:
            raise CorruptBag(path, 'one file is expected')
        for entry in information['topics_with_message_count']:
            _ = entry['topic_metadata']['name'], int(entry['message_count'])
    except (yaml.YAMLError, LookupError, TypeError, ValueError) as error:
        raise CorruptBag(path, f'not the metadata of a rosbag2 recording: {error}') from None
    return information


def _seconds(stamp: Any) -> float:
    return float(stamp.sec) + float(stamp.nanosec) * 1e-9


def _xyz(point: Any) -> Vector:
    return float(point.x), float(point.y), float(point.z)


def _vectors(flat: Any) -> Iterator[Vector]:
    yield from ((x, y, z) for x, y, z in np.reshape(flat, (-1, 3)).tolist())
