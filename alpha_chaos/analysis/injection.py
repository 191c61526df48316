"""Pass what a relay got through the same faults again, and compare what comes out.

A fault depends on nothing but its settings, its draws and what passes, in its order; all of these
are in a recording. What follows from them is compared with what was recorded: the messages and
requests that went on, the responses that went back, the commands that faults added, and every
decision.
"""

import copy
import hashlib
import json
import struct
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_chaos.analysis.difference import (
    ABSENT,
    Contradiction,
    Unequal,
    unequal,
    unequal_decisions,
)
from alpha_chaos.bag.definitions import blank, typestore
from alpha_chaos.bag.plain import as_json
from alpha_chaos.bag.reader import Exchange, Message, Recording
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
from alpha_chaos.graph import routes
from alpha_chaos.ledger import entry_of, parsed
from alpha_chaos.plugins import parse

CONSUMER = 'consumer'
_DECIDED = (
    'route',
    'sequence',
    'stage',
    'fault',
    'probability',
    'draw',
    'triggered',
    'detail',
    'digest_before',
    'digest_after',
)
OUTPUT = '/relay'  # in front of the name of a topic on which the relay passes it on
_STAMP = struct.Struct('<iI')
_ACTIONS = frozenset(route.name for route in routes() if route.kind == 'action')


@dataclass
class Passed:
    """What came out of a relay's traffic.

    :param unequal: where that is not what was recorded
    :param proofs: what each fault has to show, as a journal row has it
    :param decisions: what each fault decided, as far as the ledger has it
    :param delivered: by topic, per message that came in: its stamp [ns], and how many messages
        had gone out when it had passed
    """

    unequal: list[Unequal] = field(default_factory=list)
    proofs: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    delivered: dict[str, list[tuple[int, int]]] = field(default_factory=dict)


def pass_again(recording: Recording, exchanges: Sequence[Exchange], episode: Episode) -> Passed:
    """Pass everything that was recorded in front of the relay through the episode's faults."""
    return _Relay(recording, exchanges, episode).run()


@dataclass(frozen=True)
class _Blow:
    """What one fault made of a request or a response; see `nodes.fault_relay_node.Blow`."""

    kind: str
    injector: Injector
    before: str
    after: str
    commands: list[Command]


@dataclass(frozen=True)
class _Input:
    stamp_ns: int
    route: str
    sequence: int
    message: Message


class _Relay:
    """The relay, with nobody on either side of it."""

    def __init__(
        self, recording: Recording, exchanges: Sequence[Exchange], episode: Episode
    ) -> None:
        self._recording = recording
        self._exchanges = exchanges
        self._armed: list[tuple[Fault, Injector]] = []
        same: Counter[str] = Counter()
        for settings in episode.faults:
            fault = parse(faults(), settings, 'fault')
            draws = generator(episode.draws, episode.seed, fault.kind, same[fault.kind])
            same[fault.kind] += 1
            self._armed.append((fault, fault.injector(draws)))
        self._passed = Passed()
        self._inputs = deque(_inputs(recording))
        self._out: dict[str, list[bytes]] = {}
        self._next = 0  # exchange
        self._sequences: Counter[str] = Counter()
        self._last: dict[str, Any] = {}  # request that succeeded last, by route

    def run(self) -> Passed:
        try:
            while self._next < len(self._exchanges):
                self._pass_call(self._exchanges[self._next])
        except Contradiction as wrong:
            self._differs(wrong.field, wrong.said, wrong.found)
        self._let_in(None)
        self._compare_outputs()
        self._compare_events()
        for fault, injector in self._armed:
            evidence = injector.evidence()
            self._passed.proofs.append(
                {
                    'fault': fault.kind,
                    'exercised': evidence.exercised,
                    'evidence': evidence.detail,
                }
            )
        return self._passed

    # -- messages

    def _let_in(self, until_ns: int | None) -> None:
        """Pass the messages up to a stamp; None: all.

        How far a topic had come when a call passed was up to the load of the machine. No fault may
        depend on it, so any order will do that keeps topics and calls each in theirs.
        """
        while self._inputs and (until_ns is None or self._inputs[0].stamp_ns <= until_ns):
            self._pass_message(self._inputs.popleft())

    def _pass_message(self, came: _Input) -> None:
        data, kind = came.message.data, came.message.type
        stamp_s = came.stamp_ns // 10**9 + came.stamp_ns % 10**9 * 1e-9
        samples = [Sample(data, stamp_s, came.sequence, _codec(kind))]
        for injector in self._on(came.route):
            passed: list[Sample] = []
            for sample in samples:
                out = list(injector.on_message(sample))
                if decisions := injector.decisions():
                    before = self._text(kind, sample.data)
                    after = ''.join(self._text(kind, one.data) for one in out)
                    self._note(decisions, came.route, came.sequence, 'message', before, after)
                passed += out
            samples = passed
        sent = self._out.setdefault(came.route, [])
        sent += [sample.data for sample in samples]
        self._passed.delivered.setdefault(came.route, []).append((came.stamp_ns, len(sent)))

    def _text(self, kind: str, data: bytes) -> str:
        return as_json(typestore().deserialize_cdr(data, kind))

    # -- calls

    def _pass_call(self, asked: Exchange) -> None:
        """Pass one call of a consumer, and whatever faults add to it.

        Consumers ask one thing after the other, so what belongs to a call stands together.
        """
        route, number = asked.route, asked.sequence
        text = self._take(route, 'request', 'client', CONSUMER)
        call = Call(
            route,
            number,
            Fields(copy.deepcopy(asked.message)),
            blank=lambda: Fields(blank(_response_type(asked.type))),
        )
        self._strike(call, 'request', text, lambda injector: injector.on_request(call))
        if call.answer is None:
            self._expect(as_json(call.request.message), route, 'request', 'server', number)
            answer = self._peek(route, 'response', 'server', CONSUMER)
            self._expect(as_json(answer.message), route, 'response', 'server', number)
            call.response = Fields(copy.deepcopy(answer.message))
            if _succeeded(answer.message):
                self._last[route] = call.request.message
        else:
            call.response = call.answer
        text = as_json(call.response.message)
        self._strike(call, 'response', text, lambda injector: injector.on_response(call))
        self._expect(as_json(call.response.message), route, 'response', 'client', number)

    def _add(self, kind: str, command: Command) -> tuple[bool, str]:
        """Take what a fault has added; return how it ended."""
        route = command.route
        if route not in _ACTIONS:
            return False, f'this relay has no action {route}'
        asked = self._last.get(route) if command.request is None else command.request.message
        if asked is None:
            return False, 'nothing to repeat'
        goal = copy.deepcopy(asked)
        for path, value in command.changes.items():
            Fields(goal).set(path, value)
        number = self._peek(route, 'request', 'server', kind).sequence
        self._expect(as_json(goal), route, 'request', 'server', number, kind)
        answer = self._peek(route, 'response', 'server', kind).message
        self._expect(as_json(answer), route, 'response', 'server', number, kind)
        succeeded = _succeeded(answer)
        if succeeded and command.request is not None:
            self._last[route] = goal
        return succeeded, str(getattr(answer, 'message', ''))

    def _peek(self, route: str, stage: str, side: str, origin: str) -> Exchange:
        """Return the next exchange.

        :raises Contradiction: if it is another one
        """
        wanted = _name(route, stage, side, origin)
        if self._next == len(self._exchanges):
            raise Contradiction('/exchanges', ABSENT, wanted)
        entry = self._exchanges[self._next]
        if (entry.route, entry.stage, entry.side, entry.origin) != (route, stage, side, origin):
            there = _name(entry.route, entry.stage, entry.side, entry.origin)
            raise Contradiction(f'/exchanges {self._next + 1}', there, wanted)
        return entry

    def _take(self, route: str, stage: str, side: str, origin: str) -> str:
        """Go on to the next exchange, with what had passed until then; return it as JSON."""
        entry = self._peek(route, stage, side, origin)
        self._let_in(entry.time_ns)
        self._next += 1
        where = f'{route} {entry.sequence} {stage} ({side})'
        if (stage, side) == ('request', 'client' if origin == CONSUMER else 'server'):
            self._sequences[route] += 1
            if entry.sequence != self._sequences[route]:
                self._differs(f'{where} sequence', entry.sequence, self._sequences[route])
                self._sequences[route] = entry.sequence
        text = as_json(entry.message)
        self._texts_differ(f'{where} text', entry.text, text)
        return text

    def _expect(
        self, found: str, route: str, stage: str, side: str, number: int, origin: str = CONSUMER
    ) -> None:
        """Go on to the next exchange, and compare it with what should be in it."""
        sequence = self._peek(route, stage, side, origin).sequence
        said = self._take(route, stage, side, origin)
        where = f'{route} {sequence} {stage} ({side})'
        if sequence != number:
            self._differs(f'{where} sequence', sequence, number)
        self._texts_differ(where, said, found)

    def _strike(
        self, call: Call, stage: str, before: str, hook: Callable[[Injector], None]
    ) -> None:
        fields = call.request if stage == 'request' else call.response
        assert fields is not None
        blows = []
        for fault, injector in self._armed:
            if call.route not in fault.routes:
                continue
            known, answer = len(call.commands), call.answer
            hook(injector)
            after = as_json(fields.message)
            travels = after if call.answer is answer else ''
            blows.append(_Blow(fault.kind, injector, before, travels, call.commands[known:]))
            before = after
        for blow in blows:
            for command in blow.commands:
                blow.injector.on_command(command, *self._add(blow.kind, command))
        for blow in blows:
            decisions = blow.injector.decisions()
            self._note(decisions, call.route, call.sequence, stage, blow.before, blow.after)

    # -- what comes out

    def _on(self, route: str) -> Iterator[Injector]:
        return (injector for fault, injector in self._armed if route in fault.routes)

    def _note(
        self,
        decisions: Sequence[Decision],
        route: str,
        sequence: int,
        stage: str,
        before: str,
        after: str,
    ) -> None:
        for decision in decisions:
            self._passed.decisions.append(
                {
                    'route': route,
                    'sequence': sequence,
                    'stage': stage,
                    'fault': decision.fault,
                    'probability': float(decision.probability),
                    'draw': None if decision.draw is None else float(decision.draw),
                    'triggered': decision.triggered,
                    'detail': json.loads(json.dumps(decision.detail)),
                    'digest_before': hashlib.sha256(before.encode()).hexdigest(),
                    'digest_after': hashlib.sha256(after.encode()).hexdigest(),
                }
            )

    def _compare_outputs(self) -> None:
        for route, sent in self._out.items():
            topic = f'{OUTPUT}/{route}'
            recorded = list(self._recording.messages(topic))
            if len(recorded) != len(sent):
                self._differs(f'{topic} messages', len(recorded), len(sent))
            for number, (message, data) in enumerate(zip(recorded, sent, strict=False), start=1):
                if message.data != data:
                    one, other = (self._text(message.type, item) for item in (message.data, data))
                    self._texts_differ(f'{topic} {number}', one, other)

    def _compare_events(self) -> None:
        events = self._recording.decoded('/fault_events')
        said = [
            (f'/fault_events {number}', decision_of(entry_of(event)))
            for number, event in enumerate(events, start=1)
        ]
        for place, path, one, other in unequal_decisions(said, self._passed.decisions):
            self._differs(f'{place or "/fault_events"}: {path}', one, other)

    def _texts_differ(self, where: str, said: str, found: str) -> None:
        if said != found:
            places = list(unequal(parsed(said), parsed(found), where))
            self._passed.unequal.extend(places or [(where, said, found)])

    def _differs(self, where: str, said: Any, found: Any) -> None:
        self._passed.unequal.append((where, said, found))


def decision_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a line of the ledger that only the fault decides."""
    return {key: entry[key] for key in _DECIDED}


def _inputs(recording: Recording) -> list[_Input]:
    """Return what came in on topics that the relay passes on, in the order of their stamps."""
    found = []
    for topic, kind in recording.types.items():
        if f'{OUTPUT}{topic}' not in recording.types:
            continue
        stamped = _begins_with_stamp(kind)
        for number, message in enumerate(recording.messages(topic), start=1):
            stamp_ns = message.time_ns
            if stamped:
                seconds, rest = _STAMP.unpack_from(message.data, 4)
                stamp_ns = seconds * 10**9 + rest
            found.append(_Input(stamp_ns, topic.removeprefix('/'), number, message))
    return sorted(found, key=lambda came: came.stamp_ns)


def _begins_with_stamp(kind: str) -> bool:
    _, fields = typestore().fielddefs[kind]
    return bool(fields) and fields[0][1][1] in (
        'std_msgs/msg/Header',
        'builtin_interfaces/msg/Time',
    )


def _codec(kind: str) -> Codec:
    store = typestore()
    return Codec(
        lambda data: store.deserialize_cdr(data, kind),
        lambda message: bytes(store.serialize_cdr(message, kind)),
    )


def _name(route: str, stage: str, side: str, origin: str) -> str:
    by = '' if origin == CONSUMER else f' by {origin}'
    return f'{route} {stage} ({side}){by}'


def _response_type(request_type: str) -> str:
    name, _, half = request_type.rpartition('_')
    return f'{name}_{"Result" if half == "Goal" else "Response"}'


def _succeeded(response: Any) -> bool:
    """Tell whether a provider did what it was asked for, as the relay judges it."""
    if hasattr(response, 'reached'):
        return bool(response.reached)
    return not getattr(response, 'error', '')
