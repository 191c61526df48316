"""The relay for other people's graphs: topics, services and actions of any type, and their faults.

It is what `ros2 run alpha_chaos fault_relay` starts when it is given a file with `config`. With no
fault armed it passes on what it got, byte for byte.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from alpha_chaos.faults.base import Fields
from alpha_chaos.faults.draws import generator
from alpha_chaos.health import Condition, Delays, Level, Rates
from alpha_chaos.msg import FaultEvent
from alpha_chaos.nodes.diagnostics import Diagnostics, WatchedParams
from alpha_chaos.nodes.fault_control import FaultControl, Listed
from alpha_chaos.nodes.message_fields import check_field, check_values
from alpha_chaos.nodes.mirrored_qos import DEPTH
from alpha_chaos.nodes.params import declare
from alpha_chaos.nodes.relay_clock import STEADY, RelayClock
from alpha_chaos.nodes.relay_lane import Lane
from alpha_chaos.nodes.relay_legs import Ear, OpenRoute
from alpha_chaos.plugins import BadSetting, unknown
from alpha_chaos.transit.base import TransitFault
from alpha_chaos.transit.config import (
    MOST_FAULTS,
    Qos,
    RelayConfig,
    Route,
    clash,
    find_relay_file,
    parse_fault,
)
from alpha_chaos.transit.stack import Verdict

# Between two looks at who is there: DDS tells rclpy's nodes of nobody who comes.
LOOK_S = 0.2
MOST_PROBLEMS = 1000  # that are said, each once


class TransitRelayParams(WatchedParams):
    """Parameters of the relay."""

    config: str = Field(
        '', description='relay file (docs/relay.md): its path, or a name from config/relay'
    )
    enable_injection: bool = Field(
        False,
        description='faults may be armed; off, so that nobody breaks a live robot by accident',
    )
    allow: list[str] = Field(
        [], description="routes that faults may touch; if any is given, instead of the file's"
    )


@dataclass(frozen=True)
class Armed:
    """A fault at work."""

    id: int
    route: str
    fault: TransitFault
    lane: Lane

    def waits_for(self, topic: str) -> bool:
        """Tell whether its schedule goes by a topic."""
        return self.fault.schedule.when is not None and self.fault.schedule.when.topic == topic


class TransitRelayNode(Node):
    """Opens routes when their sources appear, and lets the armed faults at what passes."""

    params_model = TransitRelayParams

    def __init__(self, **options: Any) -> None:
        super().__init__('fault_relay', **options)
        self.params = declare(self, TransitRelayParams)
        self.config = RelayConfig.load(find_relay_file(self.params.config))
        self.limits = self.config.hold
        self.node: Node = self
        self.handling = Delays()
        names = [route.name for route in self.config.routes]
        for name in self.params.allow:
            if name not in names:
                raise BadSetting(f'parameter allow: {unknown("route", name, names)}')
        self._allow = self.params.allow or self.config.allow
        self._problems: set[tuple[str, str]] = set()
        self._armed: list[Armed] = []
        self._ids = 0
        self._kinds: Counter[str] = Counter()  # armed since the reset, by where and what
        self._ears: dict[str, Ear] = {}  # of topics that schedules look at
        self._events = self.create_publisher(FaultEvent, '~/fault_events', DEPTH)
        self.clock = RelayClock(self, self._pump, self._restart)
        self.routes = self._open_routes(self.config.routes)
        for route in self.config.routes:
            for fault in route.faults:
                try:
                    self._arm(self.routes[route.name], fault)
                except BadSetting as error:
                    self.problem(route.name, str(error))
        FaultControl(self, self._add_fault, self._remove_fault, self._listed, self._remove_all)
        injection = 'on' if self.params.enable_injection else 'off'
        self.get_logger().info(
            f'relays {", ".join(names) or "nothing"}; injection is {injection}, '
            f'faults armed: {len(self._armed)}'
        )
        self._look()
        self.create_timer(LOOK_S, self._look, clock=STEADY)
        self._rates = Rates({}, 0.0)
        Diagnostics(self, self._conditions, self.params.diagnostics_period)

    def destroy_node(self) -> None:
        """Let go of everything."""
        self.clock.close()
        super().destroy_node()

    # -- routes

    def _open_routes(self, routes: Sequence[Route]) -> dict[str, OpenRoute]:
        opened: dict[str, OpenRoute] = {}
        full: list[Route] = []
        own = self._events.topic_name
        for route in routes:
            resolve = (
                self.resolve_topic_name if route.kind == 'topic' else self.resolve_service_name
            )
            source, output = resolve(route.name), resolve(route.output)
            if route.kind == 'topic' and own in (source, output):
                raise BadSetting(f'{own} tells what faults do here; a fault on it has no end')
            named = Route(route.kind, source, output)
            if why := clash(named, full):
                raise BadSetting(f'{self.params.config}: with remappings and namespace, {why}')
            full.append(named)
            opened[route.name] = OpenRoute(self, route, source, output)
        return opened

    def _look(self) -> None:
        graph = dict(self.get_service_names_and_types())
        for topic, ear in tuple(self._ears.items()):
            before = ear.kind
            ear.look()
            if ear.kind is not before:
                self._look_at([armed for armed in self._armed if armed.waits_for(topic)])
        for route in self.routes.values():
            route.look(graph)

    def problem(self, where: str, text: str) -> None:
        """Say what does not work, once."""
        if (where, text) not in self._problems and len(self._problems) < MOST_PROBLEMS:
            self._problems.add((where, text))
            self.get_logger().warning(f'{where}: {text}')

    def _conditions(self, now_s: float) -> Iterator[Condition]:
        waiting = [name for name, route in self.routes.items() if route.waits]
        counts = {name: route.passed for name, route in self.routes.items()}
        values: dict[str, str | int | float] = {}
        for name, rate_hz in self._rates.look(counts, now_s).items():
            values[f'{name} passed'] = counts[name]
            values[f'{name} [Hz]'] = rate_hz
            values[f'{name} lost'] = self.routes[name].lost
        yield Condition(
            'routes',
            Level.WARN if waiting else Level.OK,
            f'nobody offers {", ".join(waiting)}' if waiting else 'all are open',
            values,
        )
        handling = self.handling.take()
        yield Condition(
            'latency',
            values={
                'passed since the last look': handling.count,
                'mean [ms]': 1e3 * handling.mean_s,
                'longest [ms]': 1e3 * handling.longest_s,
            },
        )
        yield Condition(
            'faults',
            message=', '.join(armed.fault.kind for armed in self._armed) or 'none is armed',
            values={
                'held back': sum(lane.stack.held for lane in self._struck()),
                'held back [B]': sum(lane.stack.held_bytes for lane in self._struck()),
            },
        )

    # -- time

    def _struck(self) -> Iterable[Lane]:
        """Return the lanes with faults; nothing is held back on any other."""
        return dict.fromkeys(armed.lane for armed in self._armed)

    def _pump(self, now_ns: int) -> None:
        for lane in self._struck():
            lane.pump(now_ns)
        self.held()

    def _restart(self, now_ns: int) -> None:
        lost = sum(lane.stack.restart(now_ns) for lane in self._struck())
        if lost:
            self.get_logger().warning(f'time began anew; held messages lost: {lost}')
        self.held()

    def held(self) -> None:
        """Be called when the next message is due."""
        due = (lane.stack.due_ns for lane in self._struck())
        self.clock.wake(min((time for time in due if time is not None), default=None))

    # -- faults

    def _arm(self, route: OpenRoute, fault: TransitFault) -> Armed:
        if not self.params.enable_injection:
            raise BadSetting('injection is off; start the relay with enable_injection:=true')
        name = route.route.name
        if name not in self._allow:
            raise BadSetting(
                f'faults may not touch {name}; allowed: {", ".join(self._allow) or "no route"}'
            )
        if sum(armed.route == name for armed in self._armed) == MOST_FAULTS:
            raise BadSetting(
                f'{MOST_FAULTS} faults are armed on {name}, no more than that; remove one'
            )
        side = fault.side_on(route.route.kind)
        lane = route.lanes[side]
        if (when := fault.schedule.when) is not None:
            self._listen(when.topic)
        try:
            self._check(lane, fault)
        except BadSetting:
            self._stop_listening()
            raise
        where = f'{name}/{side}/{fault.kind}'
        same = self._kinds[where]
        self._kinds[where] += 1

        def make(now_ns: int) -> Any:
            draws, amounts = (
                generator('seed_sequence', self.config.seed, stream, same)
                for stream in (where, f'{where}/amounts')
            )
            return fault.injector(draws, amounts, now_ns)

        armed = Armed(self._ids, name, fault, lane)
        self._ids += 1
        self._armed.append(armed)
        lane.stack.arm(armed.id, make, self.clock.now_ns)
        return armed

    def _check(self, lane: Lane, fault: TransitFault) -> None:
        """Refuse a fault whose fields the types of the messages do not have, or not so."""
        if lane.kind is not None:
            for path, need in fault.needs.items():
                check_field(lane.kind, path, need)
            check_values(lane.kind, fault.writes)
            check_values(lane.answers, fault.answers_with, blank=True)
        when = fault.schedule.when
        if when is not None and (kind := self._ears[when.topic].kind) is not None:
            check_field(kind, when.field, 'field')

    def typed(self, lane: Lane) -> None:
        """Look at the faults of a lane once its type is known."""
        self._look_at([armed for armed in self._armed if armed.lane is lane])

    def _look_at(self, faults: Iterable[Armed]) -> None:
        for armed in faults:
            try:
                self._check(armed.lane, armed.fault)
            except BadSetting as error:
                self.problem(armed.route, f'fault {armed.fault.kind} is taken out: {error}')
                self._disarm(armed)

    def _disarm(self, armed: Armed) -> None:
        self._armed.remove(armed)
        armed.lane.leave(armed.lane.stack.disarm(armed.id, self.clock.now_ns))
        self._stop_listening()

    def _listen(self, topic: str) -> None:
        if topic not in self._ears:
            name = self.resolve_topic_name(topic)
            self._ears[topic] = ear = Ear(self, name, '', Qos(), partial(self._observe, topic))
            ear.look()

    def _stop_listening(self) -> None:
        """Close the ears that no schedule needs any more."""
        for topic in tuple(self._ears):
            if not any(armed.waits_for(topic) for armed in self._armed):
                self._ears.pop(topic).close()

    def _observe(self, topic: str, data: bytes) -> None:
        if topic not in self._ears:  # nobody looks any more at what was under way
            return
        now_ns = self.clock.now_ns
        try:
            fields = Fields(deserialize_message(data, self._ears[topic].kind))
        except Exception as error:  # whatever its decoder makes of bytes that are no message
            self.problem(topic, f'cannot be read: {error}')
            return

        def read(path: str) -> list[float]:
            try:
                return [float(fields.get(one)) for one in fields.each(path)]
            except (AttributeError, TypeError, ValueError) as error:
                self.problem(topic, f'{path}: {error}')
                return []

        for lane in self._struck():
            lane.stack.observe(topic, read, now_ns)

    def report(self, lane: Lane, verdicts: Sequence[Verdict]) -> None:
        """Publish what was decided; the digests are of the serialised messages."""
        stamp = self.get_clock().now().to_msg()
        for verdict in verdicts:
            decision = verdict.decision
            self._events.publish(
                FaultEvent(
                    stamp=stamp,
                    route=lane.route.name,
                    sequence=verdict.parcel.sequence,
                    stage=lane.side,
                    fault=decision.fault,
                    probability=decision.probability,
                    draw=math.nan if decision.draw is None else decision.draw,
                    triggered=decision.triggered,
                    detail=json.dumps(decision.detail),
                    digest_before=hashlib.sha256(verdict.parcel.data).hexdigest(),
                    digest_after=hashlib.sha256(verdict.after).hexdigest(),
                )
            )

    # -- fault control while running

    def _add_fault(self, settings: dict[str, Any]) -> int:
        name = settings.pop('route', None)
        if not isinstance(name, str) or name not in self.routes:
            raise BadSetting(unknown('route', name, self.routes))
        route = self.routes[name]
        armed = self._arm(route, parse_fault(settings, route.route.kind))
        self.get_logger().info(f'{name}: fault {armed.id}, {armed.fault.kind}, is armed')
        when = armed.fault.schedule.when
        if when is not None and self._ears[when.topic].kind is None:
            self.get_logger().info(f'{name}: fault {armed.id} waits for {when.topic}')
        return armed.id

    def _remove_fault(self, handle: int) -> None:
        armed = next(armed for armed in self._armed if armed.id == handle)
        self._disarm(armed)
        self.get_logger().info(f'{armed.route}: fault {handle}, {armed.fault.kind}, is removed')

    def _listed(self) -> list[Listed]:
        listed = []
        for armed in self._armed:
            settings = {'route': armed.route, **armed.fault.model_dump(mode='json')}
            decided, struck = armed.lane.stack.tally(armed.id)
            listed.append(Listed(armed.id, json.dumps(settings), decided, struck))
        return listed

    def _remove_all(self) -> None:
        lost = sum(lane.stack.clear() for lane in self._struck())
        self._armed.clear()
        self._kinds.clear()
        for route in self.routes.values():
            for lane in route.lanes.values():
                lane.sequence = 0
        self._stop_listening()
        self.held()
        self.get_logger().info(f'reset: no fault is armed; held messages lost: {lost}')
