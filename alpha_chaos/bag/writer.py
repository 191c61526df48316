"""Write a rosbag2 folder: `metadata.yaml` (version 9) and one MCAP file, zstd with CRCs.

rosbags' own writer leaves out the CRCs of chunks and the sequence numbers of messages; the MCAP
project's writer does not. `metadata.yaml` is written last: a folder without it is torn.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from mcap.writer import CompressionType, Writer

from alpha_chaos.bag.definitions import definition

CHUNK_BYTES = 256 * 1024
METADATA = 'metadata.yaml'


class Summary(NamedTuple):
    """What a finished recording holds."""

    messages: int
    bytes: int
    counts: dict[str, int]  # per topic


class BagWriter:
    """One recording under way."""

    def __init__(self, folder: Path) -> None:
        """Make the folder.

        :raises FileExistsError: a recording is never overwritten
        """
        folder.mkdir(parents=True)
        self._folder = folder
        self._path = folder / f'{folder.name}.mcap'
        self._stream = self._path.open('xb')
        self._writer = Writer(
            self._stream,
            chunk_size=CHUNK_BYTES,
            compression=CompressionType.ZSTD,
            enable_crcs=True,
            enable_data_crcs=True,
        )
        self._writer.start('ros2', 'alpha_chaos')
        self._channels: dict[str, tuple[int, dict[str, Any]]] = {}
        self._schemas: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._first_ns, self._last_ns = 2**63 - 1, 0

    def add_topic(self, topic: str, msg_type: str, latched: bool = False) -> None:
        """Declare a topic; also one without messages is in the bag."""
        known = definition(msg_type)
        if msg_type not in self._schemas:
            self._schemas[msg_type] = self._writer.register_schema(
                msg_type, 'ros2msg', known.text.encode()
            )
        profiles = [_profile(latched)]
        channel = self._writer.register_channel(
            topic,
            'cdr',
            self._schemas[msg_type],
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

    def close(self, custom: Mapping[str, str]) -> Summary:
        """Finish the recording.

        :param custom: what else `metadata.yaml` shall say, by key
        """
        self._writer.finish()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        size = self._stream.tell()
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
            'relative_file_paths': [self._path.name],
            **span,
            'topics_with_message_count': [
                {'topic_metadata': about, 'message_count': self._counts[topic]}
                for topic, (_, about) in self._channels.items()
            ],
            'compression_format': '',  # of the file; its chunks are compressed by MCAP itself
            'compression_mode': '',
            'files': [{'path': self._path.name, **span}],
            'custom_data': dict(custom),
            'ros_distro': 'jazzy',
        }
        part = self._folder / f'{METADATA}.part'
        part.write_text(_yaml({'rosbag2_bagfile_information': information}), 'utf-8')
        part.replace(self._folder / METADATA)
        return Summary(total, size, dict(self._counts))

    def abandon(self) -> None:
        """Leave the recording torn; what was written stays for inspection."""
        self._stream.close()


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
