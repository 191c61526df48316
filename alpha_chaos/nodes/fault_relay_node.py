"""The relay: every boundary of the graph passes here, and faults strike messages in transit.

With no fault armed it passes on what it got, byte for byte.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.serialization import deserialize_message, serialize_message

from alpha_chaos.catalogues import faults
from alpha_chaos.experiment import Episode
from alpha_chaos.faults.base import Call, Command, Decision, Fault, Fields, Injector, Sample
from alpha_chaos.faults.draws import generator
from alpha_chaos.graph import Route
from alpha_chaos.msg import Exchange, FaultEvent
from alpha_chaos.nodes.clock import peek_nanoseconds, to_time
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams, Outlet
from alpha_chaos.nodes.flow import Flow, Respond, Wait, deferred_service
from alpha_chaos.nodes.goals import PendingGoals
from alpha_chaos.nodes.interfaces import as_json, full_name, load
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.srv import AddFault, ListFaults, RemoveFault, Reset, ResetFaults

CONSUMER = 'consumer'


class RelayParams(EpisodeParams):
    """Parameters of the relay."""

    routes: list[str] = Field([], description="boundaries: 'topic|service|action name type'")
    enable_injection: bool = Field(
        False,
        description='faults may be armed; off, so that nobody breaks a live robot by accident',
    )
    allow: list[str] = Field([], description='input names of the routes that faults may name')


@dataclass
class Armed:
    """A fault at work."""

    id: int
    fault: Fault
    injector: Injector


@dataclass
class Traffic:
    """One route's state in an attempt."""

    route: Route
    sequence: int = 0
    last: Any = None  # last request that succeeded, as the provider got it
    client: Any = None
    outlet: Outlet | None = None
    goals: dict[bytes, Any] = field(default_factory=dict)


class FaultRelayNode(EpisodeNode):
    """Routes topics, services and actions through the armed faults."""

    params_model = RelayParams
    params: RelayParams

    def __init__(self, **options: Any) -> None:
        super().__init__('fault_relay', **options)
        self._events = self.outlet(FaultEvent, 'fault_events')
        self._exchanges = self.outlet(Exchange, 'exchanges')
        self._armed: list[Armed] = []
        self._ids = 0
        self._kinds: dict[str, int] = {}  # armed since the reset, by kind
        self._ledger: list[dict[str, Any]] = []
        self._traffic: dict[str, Traffic] = {}
        self._servers: list[Any] = []
        for entry in self.params.routes:
            self._open(_parse_route(entry))
        self.create_service(AddFault, '~/add_fault', self._on_add)
        self.create_service(RemoveFault, '~/remove_fault', self._on_remove)
        self.create_service(ListFaults, '~/list_faults', self._on_list)
        self.create_service(ResetFaults, '~/reset_faults', self._on_reset_faults)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Arm the episode's faults, afresh."""
        for name, traffic in self._traffic.items():
            if traffic.route.kind == 'service':
                self.require(traffic.client.service_is_ready(), name)
            elif traffic.route.kind == 'action':
                self.require(traffic.client.server_is_ready(), name)
            traffic.sequence, traffic.last = 0, None
            traffic.goals.clear()
        self._armed, self._ids, self._kinds, self._ledger = [], 0, {}, []
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

    # -- routes

    def _open(self, route: Route) -> None:
        traffic = self._traffic[route.name] = Traffic(route)
        kind = load(route.type)
        if route.kind == 'topic':
            traffic.outlet = self.outlet(kind, route.output)
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
                )
            )

    def _pass_message(self, traffic: Traffic, data: bytes) -> None:
        traffic.sequence += 1
        stamp_ns = peek_nanoseconds(data)
        self.now = to_time(stamp_ns * 1e-9)
        samples: list[Sample] = [Sample(data, stamp_ns * 1e-9, traffic.sequence)]
        for armed in self._on(traffic.route.name):
            out: list[Sample] = []
            for sample in samples:
                passed = list(armed.injector.on_message(sample))
                self._log(armed, traffic, 'message', sample.data, b''.join(s.data for s in passed))
                out += passed
            samples = out
        for sample in samples:
            traffic.outlet.send(sample.data)  # type: ignore[union-attr]

    def _pass_request(self, traffic: Traffic, request: Any, respond: Respond) -> None:
        async def exchange() -> Any:
            call = await self._before(traffic, request)
            response: Any = await Wait(traffic.client.call_async(call.request.message))
            return self._after(traffic, call, response, succeeded=not response.error)

        def ended(response: Any, error: BaseException | None) -> None:
            if error is not None:
                self.get_logger().error(f'{traffic.route.name}: {type(error).__name__}: {error}')
                response = traffic.client.srv_type.Response(
                    error='relay', message=str(error), infrastructure=True
                )
            respond(response)

        Flow(exchange(), ended)

    async def _pass_goal(self, traffic: Traffic, handle: Any) -> Any:
        key = bytes(handle.goal_id.uuid)
        call = await self._before(traffic, handle.request)

        def feedback(message: Any) -> None:
            if handle.is_active:
                handle.publish_feedback(message.feedback)

        try:
            result = await self._drive(traffic, call.request.message, key, feedback)
        finally:
            traffic.goals.pop(key, None)
        return self._after(traffic, call, result, succeeded=result.reached)

    async def _drive(
        self,
        traffic: Traffic,
        goal: Any,
        key: bytes,
        feedback: Callable[[Any], None] | None = None,
    ) -> Any:
        accepted: Any = await Wait(
            traffic.client.send_goal_async(goal, feedback_callback=feedback)
        )
        if not accepted.accepted:
            kind = load(traffic.route.type)
            return kind.Result(message='refused by the driver')
        traffic.goals[key] = accepted
        return (await Wait(accepted.get_result_async())).result

    def _pass_cancel(self, traffic: Traffic, handle: Any) -> CancelResponse:
        inner = traffic.goals.get(bytes(handle.goal_id.uuid))
        if inner is not None:
            inner.cancel_goal_async()
        return CancelResponse.ACCEPT

    async def _before(self, traffic: Traffic, original: Any) -> Call:
        """Let the faults see a request; carry out the commands they add; return what goes on."""
        traffic.sequence += 1
        data = serialize_message(original)
        request = deserialize_message(
            data, type(original)
        )  # the consumer's record stays as it was
        call = Call(traffic.route.name, traffic.sequence, Fields(request))
        self._record(traffic, 'request', 'client', original, data)
        self._strike(traffic, call, 'request', lambda injector: injector.on_request(call))
        for command in call.commands:
            await self._add(command)
        self._record(traffic, 'request', 'server', request)
        return call

    def _after(self, traffic: Traffic, call: Call, original: Any, succeeded: bool) -> Any:
        """Let the faults see a response; return what the consumer gets."""
        data = serialize_message(original)
        response = deserialize_message(data, type(original))
        if succeeded:
            traffic.last = call.request.message
        self._record(traffic, 'response', 'server', original, data, call.sequence)
        call.response = Fields(response)
        self._strike(traffic, call, 'response', lambda injector: injector.on_response(call))
        self._record(traffic, 'response', 'client', response, None, call.sequence)
        return response

    async def _add(self, command: Command) -> None:
        """Send a provider what no consumer asked for."""
        traffic = self._traffic[command.route]
        if traffic.last is None:
            self.get_logger().warning(f'{command.route}: nothing to repeat with other settings')
            return
        traffic.sequence += 1
        sequence = traffic.sequence
        goal = deserialize_message(serialize_message(traffic.last), type(traffic.last))
        for path, value in command.changes.items():
            Fields(goal).set(path, value)
        self._record(traffic, 'request', 'server', goal, None, sequence, 'fault')
        result = await self._drive(traffic, goal, b'fault')
        traffic.goals.pop(b'fault', None)
        self._record(traffic, 'response', 'server', result, None, sequence, 'fault')

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
        allowed = set(self.params.allow) or known
        if forbidden := known.intersection(fault.routes) - allowed:
            raise BadSetting(
                f'fault {fault.kind!r} names routes that are not allowed: '
                f'{", ".join(sorted(forbidden))}; allowed: {", ".join(sorted(allowed))}'
            )
        if self.episode is None:
            raise BadSetting('no attempt has begun: call ~/reset first')
        same = self._kinds.get(fault.kind, 0)
        draws = generator(self.episode.draws, self.episode.seed, fault.kind, same)
        armed = Armed(self._ids, fault, fault.injector(draws))
        self._kinds[fault.kind] = same + 1
        self._ids += 1
        self._armed.append(armed)
        return armed

    def _on(self, route: str) -> Iterator[Armed]:
        return (armed for armed in tuple(self._armed) if route in armed.fault.routes)

    def _strike(
        self, traffic: Traffic, call: Call, stage: str, hook: Callable[[Injector], None]
    ) -> None:
        message = call.request if stage == 'request' else call.response
        assert message is not None
        for armed in self._on(traffic.route.name):
            before = serialize_message(message.message)
            hook(armed.injector)
            self._log(armed, traffic, stage, before, serialize_message(message.message))

    def _log(
        self, armed: Armed, traffic: Traffic, stage: str, before: bytes, after: bytes
    ) -> None:
        for decision in armed.injector.decisions():
            event = self._event(decision, traffic, stage, before, after)
            self._events.send(event)
            self._ledger.append(
                {
                    'episode_id': self.episode_id,
                    'route': traffic.route.name,
                    'sequence': traffic.sequence,
                    'stage': stage,
                    'fault': decision.fault,
                    'probability': decision.probability,
                    'draw': decision.draw,
                    'triggered': decision.triggered,
                    'detail': decision.detail,
                    'digest_before': event.digest_before,
                    'digest_after': event.digest_after,
                }
            )

    def _event(
        self, decision: Decision, traffic: Traffic, stage: str, before: bytes, after: bytes
    ) -> FaultEvent:
        return FaultEvent(
            stamp=self.now,
            episode_id=self.episode_id,
            route=traffic.route.name,
            sequence=traffic.sequence,
            stage=stage,
            fault=decision.fault,
            probability=float(decision.probability),
            draw=math.nan if decision.draw is None else float(decision.draw),
            triggered=decision.triggered,
            detail=json.dumps(decision.detail),
            digest_before=hashlib.sha256(before).hexdigest(),
            digest_after=hashlib.sha256(after).hexdigest(),
        )

    def _record(
        self,
        traffic: Traffic,
        stage: str,
        side: str,
        message: Any,
        data: bytes | None = None,
        sequence: int | None = None,
        origin: str = CONSUMER,
    ) -> None:
        self._exchanges.send(
            Exchange(
                stamp=self.now,
                episode_id=self.episode_id,
                route=traffic.route.name,
                sequence=traffic.sequence if sequence is None else sequence,
                stage=stage,
                side=side,
                origin=origin,
                type=full_name(message),
                payload=serialize_message(message) if data is None else data,
                text=as_json(message),
            )
        )

    # -- fault control while running

    def _on_add(self, request: AddFault.Request, response: AddFault.Response) -> AddFault.Response:
        try:
            settings = json.loads(request.fault)
            if not isinstance(settings, dict):
                raise BadSetting('a fault is a JSON object: {"kind": ..., ...}')
            response.id = self._arm(parse(faults(), settings, 'fault')).id
            response.ok = True
        except ValueError as error:  # BadSetting and JSONDecodeError
            response.message = str(error)
        return response

    def _on_remove(
        self, request: RemoveFault.Request, response: RemoveFault.Response
    ) -> RemoveFault.Response:
        kept = [armed for armed in self._armed if armed.id != request.id]
        response.ok = len(kept) < len(self._armed)
        if not response.ok:
            response.message = f'no fault {request.id}; armed: {_ids(self._armed) or "none"}'
        self._armed = kept
        return response

    def _on_list(
        self, _: ListFaults.Request, response: ListFaults.Response
    ) -> ListFaults.Response:
        response.ids = [armed.id for armed in self._armed]
        response.faults = [armed.fault.model_dump_json() for armed in self._armed]
        return response

    def _on_reset_faults(
        self, _: ResetFaults.Request, response: ResetFaults.Response
    ) -> ResetFaults.Response:
        self._armed = []
        response.ok = True
        return response


def _parse_route(entry: str) -> Route:
    parts = entry.split()
    if len(parts) != 3 or parts[0] not in ('topic', 'service', 'action'):
        raise BadSetting(f'route {entry!r}: expected "topic|service|action <name> <type>"')
    return Route(parts[1], parts[0], parts[2], '')  # type: ignore[arg-type]


def _ids(armed: Iterable[Armed]) -> str:
    return ', '.join(str(one.id) for one in armed)


def main() -> int:
    """Run the node."""
    return run(FaultRelayNode)


if __name__ == '__main__':
    raise SystemExit(main())
