"""Read a recorded episode: its messages as they were, and what can be concluded from them again.

A recording is checked as a whole when it is opened (CRCs, counts, sequence numbers, types), so
that nothing read from it later can turn out to be damaged.
"""

import hashlib
import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from mcap.exceptions import McapError
from mcap.records import Channel, Metadata, Schema
from mcap.records import Message as Record
from mcap.stream_reader import StreamReader
from pydantic import ValidationError
from rosbags.serde import SerdeError
from zstandard import ZstdError

from alpha_chaos.bag.definitions import decode, definition, typestore
from alpha_chaos.bag.plain import from_json
from alpha_chaos.bag.steps import Steps, decode_steps
from alpha_chaos.bag.writer import ABOUT, COMPLETE, MCAP_SHA256, METADATA
from alpha_chaos.bodies.base import BodyState
from alpha_chaos.experiment import Episode
from alpha_chaos.plugins import explain
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

    :param time_ns: simulated time, as the relay knew it [ns]
    :param message: the request or response itself, with the fields of its type
    :param text: the same as JSON, as the relay wrote it
    """

    route: str
    sequence: int
    stage: str
    side: str
    origin: str
    type: str
    time_ns: int
    message: Any
    text: str = field(repr=False)


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
        content = _read_metadata(folder)
        self.sha256 = hashlib.sha256(content).hexdigest()  # of metadata.yaml, as Summary has it
        self._metadata = _metadata(folder / METADATA, content)
        self.path = folder / str(self._metadata['relative_file_paths'][0])
        self.types: dict[str, str] = {}  # by topic
        self.counts: dict[str, int] = {}  # messages by topic
        self.about: dict[str, str] = {}  # what the file itself says it shows
        self.definitions: dict[str, str] = {}  # by type
        self._by_topic: dict[str, list[Message]] = {}
        self._messages = self._load()
        self._compare_with_metadata()

    @property
    def episode_id(self) -> str:
        """Return the attempt that it shows, '<run_id>/<arm>#<attempt>'."""
        return self._custom('episode_id')

    @property
    def complete(self) -> bool:
        """Return whether the attempt was recorded to its end."""
        return self._custom(COMPLETE, 'true') == 'true'

    @cached_property
    def episode(self) -> Episode | None:
        """The settings of the episode; None in recordings that do not have them.

        :raises CorruptBag: if they are none
        """
        if 'episode' not in self.about:
            return None
        try:
            return Episode.from_json(self.about['episode'])
        except ValidationError as error:
            raise CorruptBag(self.path, f'not an episode: {explain(error)}') from None

    def _custom(self, key: str, default: str = '') -> str:
        return str((self._metadata.get('custom_data') or {}).get(key, default))

    # -- as recorded

    def messages(self, *topics: str) -> Iterator[Message]:
        """Return the messages of these topics, or all, in the order they were recorded."""
        if len(topics) == 1:
            return iter(self._by_topic.get(topics[0], ()))
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
                time_ns=entry.stamp.sec * 10**9 + entry.stamp.nanosec,
                message=self._unpack(entry),
                text=entry.text,
            )

    @cached_property
    def step_states(self) -> Steps:
        """Every step with the state after it, as arrays.

        :raises CorruptBag: if they are not of one robot
        """
        try:
            return decode_steps([message.data for message in self.messages('/step_state')])
        except (ValueError, LookupError) as error:
            raise CorruptBag(self.path, f'/step_state: {error}') from None

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
        numbers = self.step_states.step.tolist()
        return ((number, self.step_states.state(index)) for index, number in enumerate(numbers))

    def steps(self) -> Iterator[StepView]:
        """Return every step as the safety rules see it."""
        return self.step_states.views(self.description.object_names)

    def digest(self) -> str:
        """Return the digest over all states, as the body computed it."""
        return self.step_states.digest()

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
            times_s = self.step_states.time_ns // 10**9 + self.step_states.time_ns % 10**9 * 1e-9
            (past,) = np.nonzero(times_s <= now_s)
            if past.size:
                position = self.step_states.object_pose[past[-1], names.index(name), :3]
        return float(position[0]), float(position[1]), float(position[2])

    def _unpack(self, entry: Any) -> Any:
        """Return the message that an exchange carries."""
        known = self.definitions.get(entry.type, '')
        try:
            return decode(entry.payload.tobytes(), entry.type, known)
        except (KeyError, SerdeError) as error:
            if known:
                raise CorruptBag(self.path, f'{entry.type} cannot be decoded: {error}') from None
        try:
            # Recorded without its definition, and the type has changed since.
            return from_json(entry.text)
        except ValueError as error:
            raise CorruptBag(self.path, f'{entry.type} as text: {error}') from None

    # -- the file

    def _load(self) -> list[Message]:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            raise MissingBag(self.path, f'not there, though {METADATA} names it') from None
        self.size_bytes = len(content)
        said = self._custom(MCAP_SHA256)
        if said and said != hashlib.sha256(content).hexdigest():
            raise CorruptBag(self.path, f'not what was written: its SHA-256 is not {said}')
        try:
            return list(self._read(StreamReader(io.BytesIO(content), validate_crcs=True)))
        except _DAMAGE as error:
            raise CorruptBag(self.path, f'{type(error).__name__}: {error}') from None

    def _read(self, reader: StreamReader) -> Iterator[Message]:
        schemas: dict[int, str] = {}
        channels: dict[int, str] = {}
        for record in reader.records:
            if isinstance(record, Schema):
                schemas[record.id] = record.name
                self.definitions[record.name] = record.data.decode()
            elif isinstance(record, Metadata) and record.name == ABOUT:
                self.about = record.metadata
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
                message = Message(topic, self.types[topic], record.log_time, record.data)
                self._by_topic.setdefault(topic, []).append(message)
                yield message

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


def _read_metadata(folder: Path) -> bytes:
    if not folder.is_dir():
        raise MissingBag(folder, 'there is no recording')
    try:
        return (folder / METADATA).read_bytes()
    except FileNotFoundError:
        raise TornBag(
            folder / METADATA, 'not there, so the recording was never finished'
        ) from None


def _metadata(path: Path, content: bytes) -> dict[str, Any]:
    try:
        information: dict[str, Any] = yaml.load(content.decode(), _Loader)[
            'rosbag2_bagfile_information'
        ]
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
