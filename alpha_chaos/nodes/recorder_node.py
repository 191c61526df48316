"""The recorder: every topic of the graph, raw, into one rosbag2 folder an attempt."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from alpha_chaos.bag.definitions import definition
from alpha_chaos.bag.writer import BagWriter
from alpha_chaos.experiment import Episode
from alpha_chaos.health import Condition
from alpha_chaos.nodes import qos
from alpha_chaos.nodes.clock import peek_nanoseconds
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.interfaces import begins_with_stamp, load
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting
from alpha_chaos.srv import Reset


class RecorderParams(EpisodeParams):
    """Parameters of the recorder."""

    topics: list[str] = Field([], description="what to record: 'name type [latched]'")
    payloads: list[str] = Field(
        [], description='types that messages hold serialised; their definitions go in as well'
    )


class RecorderNode(EpisodeNode):
    """Writes what it hears. Log times are simulated: a replay has the episode's own pace."""

    params_model = RecorderParams
    params: RecorderParams

    def __init__(self, **options: Any) -> None:
        super().__init__('recorder', **options)
        self._bag: BagWriter | None = None
        self._bag_of = ''  # the attempt it shows
        self._time_ns = 0
        self._topics: list[tuple[str, str, bool]] = []
        for entry in self.params.topics:
            parts = entry.split()
            if not 2 <= len(parts) <= 3 or parts[2:] not in ([], ['latched']):
                raise BadSetting(f'topic {entry!r}: expected "<name> <type> [latched]"')
            self._subscribe(*parts[:2], latched=len(parts) == 3)
        for msg_type in self.params.payloads:
            try:
                definition(msg_type)
            except KeyError:
                raise BadSetting(f'payload {msg_type!r}: there is no such type') from None

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Open a new bag, with the settings of the episode in it."""
        self._leave()
        self._time_ns = 0
        if request.bag:
            about = {'episode_id': request.episode_id, 'episode': request.episode}
            self._bag = BagWriter(Path(request.bag), about)
            self._bag_of = request.episode_id
            for topic, msg_type, latched in self._topics:
                self._bag.add_topic(topic, msg_type, latched)
            for msg_type in self.params.payloads:
                self._bag.add_definition(msg_type)

    def end(self) -> dict[str, Any]:
        """Close the bag and report what is in it."""
        if self._bag is None:
            return {'messages': 0, 'bytes': 0, 'counts': {}}
        bag, self._bag = self._bag, None
        summary = bag.close({'episode_id': self._bag_of})
        return summary._asdict()

    def conditions(self) -> Iterator[Condition]:
        """Yield what is being written."""
        if self._bag is None:
            yield Condition('recording', message='no recording is open')
            return
        yield Condition(
            'recording',
            message='open',
            values={'of': self._bag_of, 'messages': self._bag.messages},
        )

    def destroy_node(self) -> None:
        """Close an unfinished bag."""
        self._leave()
        super().destroy_node()

    def _leave(self) -> None:
        """Close the bag of an attempt that never came to its end; what is in it can be read."""
        if self._bag is None:
            return
        bag, self._bag = self._bag, None
        try:
            bag.close({'episode_id': self._bag_of}, complete=False)
        except OSError as error:  # a full disk; then it stays torn
            self.get_logger().error(f'the recording of {self._bag_of} stays torn: {error}')

    def _subscribe(self, topic: str, msg_type: str, *, latched: bool) -> None:
        kind = load(msg_type)
        name = self.resolve_topic_name(topic)
        stamped = begins_with_stamp(kind)

        def write(data: bytes) -> None:
            if stamped:
                self._time_ns = max(self._time_ns, peek_nanoseconds(data) or 0)
            if self._bag is not None:
                self._bag.write(name, self._time_ns, data)

        self._topics.append((name, msg_type, latched))
        self.listen(kind, topic, write, raw=True, profile=qos.LATCHED if latched else qos.STREAM)


def main() -> int:
    """Run the node."""
    return run(RecorderNode)


if __name__ == '__main__':
    raise SystemExit(main())
