"""The relay: every boundary of the graph passes here, and faults strike messages in transit.

With no fault armed it passes on what it got, byte for byte.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from pydantic import Field
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

from alpha_chaos.catalogues import faults
from alpha_chaos.experiment import Episode
from alpha_chaos.faults.base import (
    Call,
    Codec,
    Command,
    Decision,
    Fault,
    Fields,
    Injector,
    Sample,
)
from alpha_chaos.faults.draws import generator
from alpha_chaos.graph import Route
from alpha_chaos.health import Condition, Delays
from alpha_chaos.ledger import entry_of
from alpha_chaos.msg import Exchange, FaultEvent
from alpha_chaos.nodes.clock import latest_stamp, peek_nanoseconds, to_seconds, to_time
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams, Outlet
from alpha_chaos.nodes.fault_control import FaultControl, Listed
from alpha_chaos.nodes.flow import Flow, Respond, Wait, deferred_service
from alpha_chaos.nodes.goals import KEEP_RESULT_S, Done, PendingGoals, refusal
from alpha_chaos.nodes.interfaces import as_json, begins_with_stamp, full_name, load
from alpha_chaos.nodes.spin import run
from alpha_chaos.nodes.transit_relay_node import TransitRelayNode
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.srv import Reset

CONSUMER = 'consumer'
_FOLDERS = {'topic': 'msg', 'service': 'srv', 'action': 'action'}  # of interfaces, by route kind


class RelayParams(EpisodeParams):
    """Parameters of the relay."""

    config: str = Field(
        '',
        description='relay file for any graph, by path or name (docs/relay.md); there are then no '
        'episodes, and of these parameters only `enable_injection`, `allow` and '
        '`diagnostics_period`',
    )
    routes: list[str] = Field([], description="boundaries: 'topic|service|action name type'")
    enable_injection: bool = Field(
        False,
        description='faults may be armed; off, so that nobody breaks a live robot by accident',
    )
    allow: list[str] = Field(
        [], description='input names of the routes that faults may touch; none by default'
    )


@dataclass
class Armed:
    """A fault at work, or one that was removed: what it did stays."""

    id: int
    fault: Fault
    injector: Injector
    active: bool = True


@dataclass
class Traffic:
    """One route's state in an attempt."""

    route: Route
    kind: Any  # its type
    sequence: int = 0
    last: Any = None  # last request that succeeded, as the provider got it
    client: Any = None
    outlet: Outlet | None = None
    codec: Codec | None = None  # of a topic
    stamped: bool = False  # messages of this topic say first when they were made
    newest_ns: int = 0  # stamp of the last message of such a topic
    passed_on: bytes = b''  # what went out last
    goals: dict[bytes, Any] = field(default_factory=dict)

    def blank(self) -> Fields:
        """Return an empty response."""
        kind = self.kind.Result if self.route.kind == 'action' else self.kind.Response
        return Fields(kind())


@dataclass(frozen=True)
class Blow:
    """What one fault made of a request or a response.

    :param before: the message as JSON; likewise `after`, empty if it does not travel on
    :param commands: what the fault wants done besides
    """

    armed: Armed
    before: str
    after: str
    commands: list[Command]


class FaultRelayNode(EpisodeNode):
    """Routes topics, services and actions through the armed faults."""

    params_model = RelayParams
    params: RelayParams

    def __init__(self, **options: Any) -> None:
        super().__init__('fault_relay', **options)
        self._events = self.outlet(FaultEvent, 'fault_events')
        self._exchanges = self.outlet(Exchange, 'exchanges')
        self._armed: list[Armed] = []  # by id; also what was removed
        self._kinds: dict[str, int] = {}  # armed since the reset, by kind
        self._ledger: list[dict[str, Any]] = []
        self._traffic: dict[str, Traffic] = {}
        self._servers: list[Any] = []
        self._handling = Delays()  # of whatever passes: what the relay itself costs
        for entry in self.params.routes:
            self._open(_parse_route(entry))
        if not self.params.routes:
            self.get_logger().warning(
                'nothing is relayed: for a graph of your own, name a file with '
                '-p config:=FILE (docs/relay.md, config:=example)'
            )
        FaultControl(self, self._add_fault, self._remove_fault, self._listed, self._remove_all)

    def check(self) -> None:
        """Wait for whoever serves what is routed."""
        for name, traffic in self._traffic.items():
            if traffic.route.kind == 'service':
                self.require(traffic.client.service_is_ready(), name)
            elif traffic.route.kind == 'action':
                self.require(traffic.client.server_is_ready(), name)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Arm the episode's faults, afresh."""
        for traffic in self._traffic.values():
            traffic.sequence, traffic.last, traffic.passed_on = 0, None, b''
            traffic.goals.clear()
        self._armed, self._kinds, self._ledger = [], {}, []
        for settings in episode.faults:
            self._arm(parse(faults(), settings, 'fault'))

    def end(self) -> dict[str, Any]:
        """Report what every fault did, and whether it manifested."""
        proofs = []
        for armed in self._armed:
            evidence = armed.injector.evidence()
            proofs.append(
                {
                    'fault': armed.fault.kind,
                    'settings': armed.fault.model_dump(mode='json'),
                    'exercised': evidence.exercised,
                    'evidence': evidence.detail,
                }
            )
        return {'faults': proofs, 'ledger': self._ledger}

    def conditions(self) -> Iterator[Condition]:
        """Yield what passing the relay costs, and what is armed."""
        handling = self._handling.take()
        values: dict[str, str | int | float] = {
            'passed since the last look': handling.count,
            'mean [ms]': 1e3 * handling.mean_s,
            'longest [ms]': 1e3 * handling.longest_s,
        }
        for name, traffic in self._traffic.items():
            values[f'{name} passed'] = traffic.sequence
            passed_on_ns = peek_nanoseconds(traffic.passed_on)
            if traffic.stamped and passed_on_ns is not None:
                values[f'{name} age [s]'] = (traffic.newest_ns - passed_on_ns) * 1e-9
        yield Condition('latency', values=values)
        active = self._active()
        yield Condition(
            'faults',
            message=', '.join(armed.fault.kind for armed in active) or 'none is armed',
            values={f'fault {armed.id}': armed.fault.model_dump_json() for armed in active},
        )

    # -- routes

    def _open(self, route: Route) -> None:
        kind = load(route.type)
        traffic = self._traffic[route.name] = Traffic(route, kind)
        if route.kind == 'topic':
            traffic.outlet = self.outlet(kind, route.output)
            traffic.stamped = begins_with_stamp(kind)
            traffic.codec = Codec(lambda data: deserialize_message(data, kind), serialize_message)
            self.listen(kind, route.name, lambda data: self._pass_message(traffic, data), raw=True)
        elif route.kind == 'service':
            traffic.client = self.create_client(kind, route.name)
            self._servers.append(
                deferred_service(
                    self,
                    kind,
                    route.output,
                    lambda request, _, respond: self._pass_request(traffic, request, respond),
                )
            )
        else:
            traffic.client = ActionClient(self, kind, route.name)
            goals = PendingGoals(self, lambda handle: self._pass_goal(traffic, handle))
            self._servers.append(
                ActionServer(
                    self,
                    kind,
                    route.output,
                    goals.result,
                    handle_accepted_callback=goals.start,
                    cancel_callback=lambda handle: self._pass_cancel(traffic, handle),
                    result_timeout=KEEP_RESULT_S,
                )
            )

    def _pass_message(self, traffic: Traffic, data: bytes) -> None:
        began_s = time.perf_counter()
        traffic.sequence += 1
        stamp = self.now
        if traffic.stamped and (made_ns := peek_nanoseconds(data)) is not None:
            traffic.newest_ns = made_ns
            stamp = to_time(made_ns * 1e-9)
        samples = [Sample(data, to_seconds(stamp), traffic.sequence, traffic.codec)]
        for armed in self._on(traffic.route.name):
            out: list[Sample] = []
            for sample in samples:
                try:
                    passed = list(armed.injector.on_message(sample))
                except Exception as error:  # the attempt is lost, the node is not
                    self.spoil(f'fault {armed.fault.kind}', error)
                    passed = [sample]
                if decisions := armed.injector.decisions():
                    before = _text(traffic.kind, sample.data)
                    after = ''.join(_text(traffic.kind, one.data) for one in passed)
                    self._log(
                        decisions, traffic, 'message', traffic.sequence, before, after, stamp
                    )
                out += passed
            samples = out
        for sample in samples:
            traffic.outlet.send(sample.data)  # type: ignore[union-attr]
            traffic.passed_on = sample.data
        self._handling.add(time.perf_counter() - began_s)

    def _pass_request(self, traffic: Traffic, request: Any, respond: Respond) -> None:
        async def exchange() -> Any:
            call = await self._before(traffic, request)
            if call.answer is None:
                response: Any = await Wait(traffic.client.call_async(call.request.message))
                self._provided(traffic, call, response, not getattr(response, 'error', ''))
            return await self._after(traffic, call)

        def ended(response: Any, error: BaseException | None) -> None:
            if error is not None:
                self.get_logger().error(f'{traffic.route.name}: {type(error).__name__}: {error}')
                response = refusal(traffic.client.srv_type.Response, str(error))
            respond(response)

        Flow(exchange(), ended)

    async def _pass_goal(self, traffic: Traffic, handle: Any) -> Done:
        key = bytes(handle.goal_id.uuid)
        call = await self._before(traffic, handle.request)

        def feedback(message: Any) -> None:
            if handle.is_active:
                handle.publish_feedback(message.feedback)

        succeeded = True
        if call.answer is None:
            try:
                done = await self._drive(
                    traffic,
                    call.request.message,
                    key,
                    feedback,
                    lambda: bool(handle.is_cancel_requested),
                )
            finally:
                traffic.goals.pop(key, None)
            succeeded = done.succeeded
            self._provided(traffic, call, done.result, succeeded)
        result = await self._after(traffic, call)
        # A fault may have had its way with what the provider said.
        return Done(result, bool(getattr(result, 'reached', succeeded)))

    async def _drive(
        self,
        traffic: Traffic,
        goal: Any,
        key: bytes,
        feedback: Callable[[Any], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Done:
        accepted: Any = await Wait(
            traffic.client.send_goal_async(goal, feedback_callback=feedback)
        )
        if not accepted.accepted:
            return Done(refusal(traffic.kind.Result, 'refused by the driver'), False)
        traffic.goals[key] = accepted
        if cancelled():  # before there was anything to cancel
            accepted.cancel_goal_async()
        answer: Any = await Wait(accepted.get_result_async())
        return Done(answer.result, answer.status == GoalStatus.STATUS_SUCCEEDED)

    def _pass_cancel(self, traffic: Traffic, handle: Any) -> CancelResponse:
        inner = traffic.goals.get(bytes(handle.goal_id.uuid))
        if inner is not None:
            inner.cancel_goal_async()
        return CancelResponse.ACCEPT

    async def _before(self, traffic: Traffic, original: Any) -> Call:
        """Let the faults see a request; return it as the provider gets it, or with an answer."""
        began_s = time.perf_counter()
        traffic.sequence += 1
        # What calls say themselves, and not what a topic said last: how far that has come when a
        # call passes depends on the load of the machine.
        self.now = latest_stamp(original, self.now)
        data = serialize_message(original)
        # The consumer's record stays as it was.
        request = deserialize_message(data, type(original))
        call = Call(traffic.route.name, traffic.sequence, Fields(request), blank=traffic.blank)
        self._record(traffic, call.sequence, 'request', 'client', original, data)
        await self._strike(traffic, call, 'request', lambda injector: injector.on_request(call))
        if call.answer is None:
            self._record(traffic, call.sequence, 'request', 'server', request)
        self._handled(call, began_s)
        return call

    def _handled(self, call: Call, began_s: float) -> None:
        """Note what passing on took, unless a fault had the driver do something meanwhile."""
        if not call.commands:
            self._handling.add(time.perf_counter() - began_s)

    def _provided(self, traffic: Traffic, call: Call, original: Any, succeeded: bool) -> None:
        """Take what a provider has answered."""
        self.now = latest_stamp(original, self.now)
        data = serialize_message(original)
        call.response = Fields(deserialize_message(data, type(original)))
        if succeeded:
            traffic.last = call.request.message
        self._record(traffic, call.sequence, 'response', 'server', original, data)

    async def _after(self, traffic: Traffic, call: Call) -> Any:
        """Let the faults see a response; return what the consumer gets."""
        began_s = time.perf_counter()
        if call.response is None:
            call.response = call.answer
        assert call.response is not None
        await self._strike(traffic, call, 'response', lambda injector: injector.on_response(call))
        response = call.response.message
        self._record(traffic, call.sequence, 'response', 'client', response)
        self._handled(call, began_s)
        return response

    async def _add(self, fault: str, command: Command) -> tuple[bool, str]:
        """Send a provider what no consumer asked for, but a fault; return how it ended."""
        traffic = self._traffic.get(command.route)
        if traffic is None or traffic.route.kind != 'action':
            return False, f'this relay has no action {command.route}'
        if command.route not in self.params.allow:
            return False, f"the relay's parameter allow does not name {command.route}"
        asked = traffic.last if command.request is None else command.request.message
        if asked is None:
            self.get_logger().warning(f'{command.route}: nothing to repeat with other settings')
            return False, 'nothing to repeat'
        traffic.sequence += 1
        sequence = traffic.sequence
        goal = deserialize_message(serialize_message(asked), type(asked))
        for path, value in command.changes.items():
            Fields(goal).set(path, value)
        self._record(traffic, sequence, 'request', 'server', goal, origin=fault)
        done = await self._drive(traffic, goal, b'fault')
        traffic.goals.pop(b'fault', None)
        if done.succeeded and command.request is not None:
            traffic.last = goal
        self._record(traffic, sequence, 'response', 'server', done.result, origin=fault)
        return done.succeeded, str(getattr(done.result, 'message', ''))

    # -- faults

    def _arm(self, fault: Fault) -> Armed:
        if not self.params.enable_injection:
            raise BadSetting('injection is off; start the relay with enable_injection:=true')
        known = set(self._traffic)
        if not known.intersection(fault.routes):
            raise BadSetting(
                f'fault {fault.kind!r} needs one of the routes {", ".join(fault.routes)}; '
                f'this relay has {", ".join(sorted(known))}'
            )
        allowed = known.intersection(self.params.allow)
        if forbidden := known.intersection(fault.routes) - allowed:
            raise BadSetting(
                f"fault {fault.kind!r} touches {', '.join(sorted(forbidden))}; the relay's "
                f'parameter allow names {", ".join(sorted(allowed)) or "no route"}'
            )
        if self.episode is None:
            raise BadSetting('no attempt has begun: call ~/reset first')
        same = self._kinds.get(fault.kind, 0)
        draws = generator(self.episode.draws, self.episode.seed, fault.kind, same)
        armed = Armed(len(self._armed), fault, fault.injector(draws))
        self._kinds[fault.kind] = same + 1
        self._armed.append(armed)
        return armed

    def _on(self, route: str) -> Iterator[Armed]:
        return (one for one in tuple(self._armed) if one.active and route in one.fault.routes)

    async def _strike(
        self, traffic: Traffic, call: Call, stage: str, hook: Callable[[Injector], None]
    ) -> None:
        """Let the faults at a request or response, and carry out what they want done besides."""
        message = call.request if stage == 'request' else call.response
        assert message is not None
        blows = []
        for armed in self._on(traffic.route.name):
            known, answer = len(call.commands), call.answer
            before = as_json(message.message)
            hook(armed.injector)
            after = as_json(message.message) if call.answer is answer else ''
            blows.append(Blow(armed, before, after, call.commands[known:]))
        for blow in blows:
            for command in blow.commands:
                succeeded, said = await self._add(blow.armed.fault.kind, command)
                blow.armed.injector.on_command(command, succeeded, said)
        for blow in blows:
            decisions = blow.armed.injector.decisions()
            self._log(decisions, traffic, stage, call.sequence, blow.before, blow.after)

    def _log(
        self,
        decisions: Iterable[Decision],
        traffic: Traffic,
        stage: str,
        sequence: int,
        before: str,
        after: str,
        stamp: Time | None = None,
    ) -> None:
        stamp = stamp or self.now
        for decision in decisions:
            event = self._event(decision, traffic, stage, sequence, before, after, stamp)
            self._events.send(event)
            self._ledger.append(entry_of(event))

    def _event(
        self,
        decision: Decision,
        traffic: Traffic,
        stage: str,
        sequence: int,
        before: str,
        after: str,
        stamp: Time,
    ) -> FaultEvent:
        return FaultEvent(
            stamp=stamp,
            episode_id=self.episode_id,
            route=traffic.route.name,
            sequence=sequence,
            stage=stage,
            fault=decision.fault,
            probability=float(decision.probability),
            draw=math.nan if decision.draw is None else float(decision.draw),
            triggered=decision.triggered,
            detail=json.dumps(decision.detail),
            digest_before=hashlib.sha256(before.encode()).hexdigest(),
            digest_after=hashlib.sha256(after.encode()).hexdigest(),
        )

    def _record(
        self,
        traffic: Traffic,
        sequence: int,
        stage: str,
        side: str,
        message: Any,
        data: bytes | None = None,
        origin: str = CONSUMER,
    ) -> None:
        self._exchanges.send(
            Exchange(
                stamp=self.now,
                episode_id=self.episode_id,
                route=traffic.route.name,
                sequence=sequence,
                stage=stage,
                side=side,
                origin=origin,
                type=full_name(message),
                payload=serialize_message(message) if data is None else data,
                text=as_json(message),
            )
        )

    # -- fault control while running

    def _active(self) -> list[Armed]:
        return [armed for armed in self._armed if armed.active]

    def _add_fault(self, settings: dict[str, Any]) -> int:
        return self._arm(parse(faults(), settings, 'fault')).id

    def _remove_fault(self, handle: int) -> None:
        self._armed[handle].active = False

    def _listed(self) -> list[Listed]:
        return [
            Listed(
                armed.id,
                armed.fault.model_dump_json(),
                armed.injector.decided,
                armed.injector.struck,
            )
            for armed in self._active()
        ]

    def _remove_all(self) -> None:
        for armed in self._armed:
            armed.active = False


def _parse_route(entry: str) -> Route:
    parts = entry.split()
    if len(parts) != 3 or parts[0] not in _FOLDERS:
        raise BadSetting(f'route {entry!r}: expected "topic|service|action <name> <type>"')
    if f'/{_FOLDERS[parts[0]]}/' not in parts[2]:
        raise BadSetting(f'route {entry!r}: {parts[2]} is no type of a {parts[0]}')
    return Route(parts[1], parts[0], parts[2], '')  # type: ignore[arg-type]


@lru_cache(maxsize=1024)  # what lags is looked at when it comes and when it goes
def _text(kind: Any, data: bytes) -> str:
    """Return a serialised message as JSON.

    Equal messages may differ in the bytes that only fill their serialised form up.
    """
    try:
        return as_json(deserialize_message(data, kind))
    except Exception:  # whatever its decoder makes of bytes that are none of its messages
        return data.hex()


def make_relay(**options: Any) -> Node:
    """Return this node; the one for other people's graphs, if it is given a file with `config`."""
    quiet: dict[str, Any] = {'start_parameter_services': False, 'enable_rosout': False}
    asked = Node('fault_relay', **quiet, **options)
    anything = ParameterDescriptor(dynamic_typing=True)  # whoever takes it says what is wrong
    config = asked.declare_parameter('config', '', anything).value
    # It goes before the relay comes, because of two nodes of one name in a context others take
    # what is of the second for the first's, and forget it when that goes. And something stays,
    # because the context's participant goes with its last node.
    keeper = Node('_keeper', context=asked.context, use_global_arguments=False, **quiet)
    asked.destroy_node()
    try:
        return TransitRelayNode(**options) if config else FaultRelayNode(**options)
    finally:
        keeper.destroy_node()


make_relay.params_model = RelayParams  # type: ignore[attr-defined]  # for --help


def main() -> int:
    """Run the node."""
    return run(make_relay)


if __name__ == '__main__':
    raise SystemExit(main())
