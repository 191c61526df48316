"""The eyes and hands of a trial: hears what its probes look at, and gives faults to a relay."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future

from alpha_chaos.faults.base import Codec, Fields, Sample
from alpha_chaos.nodes.flow import Cancelled, Flow, TimedOut, Wait, after, in_time
from alpha_chaos.nodes.interfaces import load
from alpha_chaos.nodes.message_fields import check_values
from alpha_chaos.nodes.relay_clock import STEADY
from alpha_chaos.nodes.relay_legs import Ear
from alpha_chaos.plugins import BadSetting
from alpha_chaos.probes.base import ServiceSource, TopicSource, Watch
from alpha_chaos.probes.config import SteadyState
from alpha_chaos.probes.trial import (
    Armed,
    Look,
    Orphan,
    Outcome,
    Refused,
    RelayLost,
    Settings,
    Trial,
)
from alpha_chaos.srv import AddFault, ListFaults, RemoveFault
from alpha_chaos.transit.config import Qos
from alpha_chaos.transit.content import fill

MEET_S = 10.0  # in which a relay that is there is found; DDS takes 3 s now and then
ANSWER_S = 2.0  # in which it answers from then on
FIND_S = 0.1  # between two looks for a service that is not there


class SteadyStateNode(Node):
    """Runs one trial, beginning at once; `outcome` is a future.

    It stands in the relay's namespace, so that names mean the same to both.

    :param record: keeps a line of the journal
    :param relay: full name of the relay's node
    :param orphans: see `Trial`
    """

    def __init__(
        self,
        settings: SteadyState,
        record: Callable[[dict[str, Any]], None],
        relay: str = '/fault_relay',
        orphans: Sequence[Orphan] = (),
        **options: Any,
    ) -> None:
        namespace, _, name = relay.rpartition('/')
        super().__init__('steady_state', namespace=namespace or '/', **options)
        self.relay = f'{namespace}/{name}'
        self.node: Node = self
        self._relay_clients = {
            kind: self.create_client(kind, f'{self.relay}/{verb}')
            for kind, verb in (
                (AddFault, 'add_fault'),
                (RemoveFault, 'remove_fault'),
                (ListFaults, 'list_faults'),
            )
        }
        self._ears: dict[str, Ear] = {}  # by name of the probe
        self._callers: dict[str, _Caller] = {}  # likewise
        self._awaited: dict[str, str] = {}  # nodes, likewise
        self._met = False  # the relay has answered
        self._said: set[tuple[str, str]] = set()
        self.outcome = Future()
        self.trial = Trial(settings, self, record, orphans)
        for name, probe in settings.probes.items():
            source = probe.source
            if isinstance(source, TopicSource):
                topic = self.resolve_topic_name(source.topic)
                hear = partial(self._on_message, name)
                self._ears[name] = Ear(self, topic, source.type, Qos(), hear)
            elif isinstance(source, ServiceSource):
                self._callers[name] = _Caller(self, name, source)
            else:
                self._awaited[name] = source.awaited
        Flow(self.trial.run(), self._on_end)

    def problem(self, where: str, text: str) -> None:
        """Say what does not work, once."""
        if (where, text) not in self._said:
            self._said.add((where, text))
            self.get_logger().warning(f'{where}: {text}')

    def _on_end(self, outcome: Outcome | None, error: BaseException | None) -> None:
        for caller in self._callers.values():
            caller.end()
        if error is not None:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(outcome)

    def _on_message(self, name: str, data: bytes) -> None:
        kind = self._ears[name].kind
        codec = Codec(lambda data: deserialize_message(data, kind), serialize_message)
        sample = Sample(data, 0.0, 0, codec)
        now_s = self.now_s()
        self.trial.show(name, lambda watch: watch.on_message(now_s, sample.fields))

    # -- what a trial needs of the graph

    def now_s(self) -> float:
        """Return the time of the steady clock [s]."""
        return float(STEADY.now().nanoseconds) / 1e9

    def look(self) -> Look:
        """Return what is there, after opening what can be opened now."""
        for ear in self._ears.values():
            ear.look()
        nodes = frozenset(
            f'{space.rstrip("/")}/{name}' for name, space in self.get_node_names_and_namespaces()
        )
        senders = {name: ear.heard for name, ear in self._ears.items()}
        blind = {name for name, count in senders.items() if count == 0}
        for name, caller in self._callers.items():
            if not caller.look() and not caller.problem:
                blind.add(name)
        blind |= {name for name, node in self._awaited.items() if node not in nodes}
        return Look(nodes, senders, blind)

    def begin_phase(self) -> None:
        """Call every service anew."""
        for caller in self._callers.values():
            caller.begin()

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        await Wait(after(self, seconds))

    async def armed(self) -> dict[int, Armed]:
        """Return the relay's faults by handle."""
        give_up_s = self.now_s() + MEET_S
        while True:
            try:
                answer = await self._ask(ListFaults, ListFaults.Request())
                break
            except RelayLost:
                # At first a relay may not be there yet, or be seen before its answers get through.
                if self._met or self.trial.stopped or self.now_s() > give_up_s:
                    raise
        self._met = True
        rows = zip(answer.ids, answer.faults, answer.struck, strict=True)
        return {int(handle): Armed(json.loads(text), int(struck)) for handle, text, struck in rows}

    async def arm(self, fault: Settings) -> int:
        """Give the relay a fault."""
        answer = await self._ask(AddFault, AddFault.Request(fault=json.dumps(fault)))
        if not answer.ok:
            raise Refused(f'{self.relay} refuses {fault["kind"]}: {answer.message}')
        return int(answer.id)

    async def disarm(self, handle: int) -> None:
        """Take a fault from the relay."""
        await self._ask(RemoveFault, RemoveFault.Request(id=handle))

    async def _ask(self, kind: Any, request: Any) -> Any:
        client = self._relay_clients[kind]
        give_up_s = self.now_s() + ANSWER_S
        while not client.service_is_ready():
            if self.now_s() > give_up_s:
                raise RelayLost(f'there is no relay {self.relay}')
            await self.pause(FIND_S)
        future = client.call_async(request)
        try:
            return await in_time(self, future, ANSWER_S, self.relay)
        except TimedOut as error:
            client.remove_pending_request(future)
            raise RelayLost(str(error)) from None


class _Caller:
    """Calls the service of one probe, again and again."""

    def __init__(self, node: SteadyStateNode, name: str, source: ServiceSource) -> None:
        self._node = node
        self._name = name
        self._source = source
        self._client: Any = None
        self._request: Any = None
        self.problem = ''  # why it cannot be called at all
        self._flow: Flow | None = None

    def look(self) -> bool:
        """Return whether somebody serves it now, after making a client once its type is known."""
        if self._client is None:
            try:
                self._open()
            except BadSetting as error:
                self.problem = str(error)
        return self._client is not None and bool(self._client.service_is_ready())

    def _open(self) -> None:
        node, source = self._node, self._source
        name = node.resolve_service_name(source.service)
        types = dict(node.get_service_names_and_types()).get(name, [])
        kind = source.type or (types[0] if types else '')
        if not kind:
            return
        loaded = load(kind)
        request = loaded.Request()
        check_values(loaded.Request, source.request, blank=True)
        fill(Fields(request), source.request)
        self._request = request
        self._client = node.create_client(loaded, name)

    def begin(self) -> None:
        """Call from now on; a call that is under way is forgotten."""
        self.end()
        self._flow = Flow(self._call_on(), self._on_end)

    def end(self) -> None:
        """Call no more."""
        if self._flow is not None:
            self._flow.cancel(Cancelled())

    async def _call_on(self) -> None:
        while True:
            seen = await self._call()
            self._node.trial.show(self._name, seen)
            await self._node.pause(self._source.every_s)

    async def _call(self) -> Callable[[Watch], None]:
        """Call once; return what there was to see."""
        if not self.look():
            return self._why_not
        node, source = self._node, self._source
        begun_s = node.now_s()
        future = self._client.call_async(self._request)
        try:
            answer = await in_time(node, future, source.within_s, source.service)
        except TimedOut as error:
            reason = str(error)
            return lambda watch: watch.on_silence(reason)
        finally:
            self._client.remove_pending_request(future)
        took_s = node.now_s() - begun_s
        return lambda watch: watch.on_answer(took_s, Fields(answer))

    def _why_not(self, watch: Watch) -> None:
        if self.problem:
            raise BadSetting(self.problem)
        watch.on_silence('nobody serves it')

    def _on_end(self, _: Any, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, Cancelled):
            self._node.problem(self._name, f'{type(error).__name__}: {error}')
