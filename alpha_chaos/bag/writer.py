"""Write a rosbag2 folder: `metadata.yaml` (version 9) and one MCAP file, zstd with CRCs.

rosbags' own writer leaves out the CRCs of chunks and the sequence numbers of messages; the MCAP
project's writer does not. `metadata.yaml` is written last: a folder without it is torn.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from mcap.writer import CompressionType, Writer

from alpha_chaos.bag.definitions import definition

CHUNK_BYTES = 256 * 1024
METADATA = 'metadata.yaml'
ABOUT = 'alpha_chaos'  # name of the metadata record in the MCAP file that says what is recorded
# Keys of `custom_data` in `metadata.yaml`.
COMPLETE = 'complete'
MCAP_SHA256 = 'mcap_sha256'


class Summary(NamedTuple):
    """What a finished recording holds.

    :param sha256: of `metadata.yaml`, which has that of the other file in it
    """

    messages: int
    bytes: int
    counts: dict[str, int]  # per topic
    sha256: str


class BagWriter:
    """One recording under way. Its folder may be moved meanwhile."""

    def __init__(self, folder: Path, about: Mapping[str, str] | None = None) -> None:
        """Make the folder.

        :param about: what is recorded, for the metadata record `alpha_chaos` in the MCAP file
        :raises FileExistsError: a recording is never overwritten
        """
        folder.mkdir(parents=True)
        self._name = f'{folder.name}.mcap'
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._stream = (folder / self._name).open('x+b')
        self._writer = Writer(
            self._stream,
            chunk_size=CHUNK_BYTES,
            compression=CompressionType.ZSTD,
            enable_crcs=True,
            enable_data_crcs=True,
        )
        self._writer.start('ros2', 'alpha_chaos')
        if about:
            self._writer.add_metadata(ABOUT, dict(about))
        self._channels: dict[str, tuple[int, dict[str, Any]]] = {}
        self._schemas: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._first_ns, self._last_ns = 2**63 - 1, 0

    @property
    def messages(self) -> int:
        """Return how many have been written."""
        return sum(self._counts.values())

    def add_definition(self, msg_type: str) -> int:
        """Put the definition of a type in that messages hold serialised; return its number.

        :raises KeyError: for a type that is neither of ROS 2 Jazzy nor of this package
        """
        if msg_type not in self._schemas:
            self._schemas[msg_type] = self._writer.register_schema(
                msg_type, 'ros2msg', definition(msg_type).text.encode()
            )
        return self._schemas[msg_type]

    def add_topic(self, topic: str, msg_type: str, latched: bool = False) -> None:
        """Declare a topic; also one without messages is in the bag."""
        known = definition(msg_type)
        profiles = [_profile(latched)]
        channel = self._writer.register_channel(
            topic,
            'cdr',
            self.add_definition(msg_type),
            {
                'offered_qos_profiles': _yaml(profiles),
                'topic_type_hash': known.hash,
            },
        )
        self._channels[topic] = (
            channel,
            {
                'name': topic,
                'type': msg_type,
                'serialization_format': 'cdr',
                'offered_qos_profiles': profiles,
                'type_description_hash': known.hash,
            },
        )
        self._counts[topic] = 0

    def write(self, topic: str, time_ns: int, data: bytes) -> None:
        """Add one serialised message.

        :param time_ns: simulated time [ns]
        """
        self._counts[topic] += 1
        self._first_ns = min(self._first_ns, time_ns)
        self._last_ns = max(self._last_ns, time_ns)
        self._writer.add_message(
            self._channels[topic][0], time_ns, data, time_ns, self._counts[topic]
        )

    def close(self, custom: Mapping[str, str], complete: bool = True) -> Summary:
        """Finish the recording.

        :param custom: what else `metadata.yaml` shall say, by key
        :param complete: whether everything came that was to be recorded
        """
        self._writer.finish()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        size = self._stream.tell()
        content = hashlib.sha256()
        self._stream.seek(0)
        while block := self._stream.read(1 << 20):
            content.update(block)
        self._stream.close()
        total = sum(self._counts.values())
        first = min(self._first_ns, self._last_ns)
        span = {
            'duration': {'nanoseconds': self._last_ns - first},
            'starting_time': {'nanoseconds_since_epoch': first},
            'message_count': total,
        }
        information = {
            'version': 9,
            'storage_identifier': 'mcap',
            'relative_file_paths': [self._name],
            **span,
            'topics_with_message_count': [
                {'topic_metadata': about, 'message_count': self._counts[topic]}
                for topic, (_, about) in self._channels.items()
            ],
            'compression_format': '',  # of the file; its chunks are compressed by MCAP itself
            'compression_mode': '',
            'files': [{'path': self._name, **span}],
            'custom_data': {
                **custom,
                COMPLETE: 'true' if complete else 'false',
                MCAP_SHA256: content.hexdigest(),
            },
            'ros_distro': 'jazzy',
        }
        text = _yaml({'rosbag2_bagfile_information': information}).encode()
        self._put(METADATA, text)
        os.close(self._folder)
        return Summary(total, size, dict(self._counts), hashlib.sha256(text).hexdigest())

    def abandon(self) -> None:
        """Leave the recording torn; what was written stays for inspection."""
        self._stream.close()
        os.close(self._folder)

    def _put(self, name: str, content: bytes) -> None:
        """Write a file into the folder, wherever that is by now, wholly or not at all."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        part = f'{name}.part'
        with os.fdopen(os.open(part, flags, 0o644, dir_fd=self._folder), 'wb') as stream:
            stream.write(content)
        os.replace(part, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)


_Dumper: Any = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)  # ten times as fast, if built


class _Plain(_Dumper):  # type: ignore[misc]
    """Writes what occurs twice twice, as rosbag2 does, instead of referring to it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Plain, sort_keys=False)
    return text


def _profile(latched: bool) -> dict[str, Any]:
    endless = {'sec': 9223372036, 'nsec': 854775807}
    return {
        'history': 'keep_last' if latched else 'keep_all',
        'depth': 1 if latched else 0,
        'reliability': 'reliable',
        'durability': 'transient_local' if latched else 'volatile',
        'deadline': endless,
        'lifespan': endless,
        'liveliness': 'automatic',
        'liveliness_lease_duration': endless,
        'avoid_ros_namespace_conventions': False,
    }
