"""The safety monitor reports no more violations than it may."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Fields, Unreadable
from alpha_chaos.names import Name
from alpha_chaos.probes.base import Finding, Probe, TopicSource, Watch


class SafetyEvents(Probe):
    """At most `at_most` events come in the phase. That none comes counts only while one could."""

    kind: Literal['safety_events'] = 'safety_events'
    topic: Name = Field(default='safety_events', description='its name')
    rule: str = Field(
        default='', description="rule whose events count, 'violent_contact'; empty for every rule"
    )
    at_most: int = Field(default=0, ge=0, description='events that are tolerated [1]')

    @property
    def source(self) -> TopicSource:
        """The topic of the safety monitor."""
        return TopicSource(self.topic, 'alpha_chaos/msg/SafetyEvent')

    def watch(self, start_s: float) -> Watch:
        """Return a watch that has counted nothing."""
        return _Events(self)


SafetyEvents.example = SafetyEvents()


class _Events(Watch):
    def __init__(self, probe: SafetyEvents) -> None:
        self._probe = probe
        self._events = 0
        self._looks = 0
        self._unwatched = 0
        self._unreadable = ''
        self._last = ''

    def on_message(self, now_s: float, read: Callable[[], Fields]) -> None:
        try:
            fields = read()
            rule, key = str(fields.get('rule')), str(fields.get('key'))
        except (Unreadable, AttributeError) as error:
            self._unreadable = str(error)
            return
        if self._probe.rule in ('', rule):
            self._events += 1
            self._last = f'{rule} {key}'.strip()

    def on_senders(self, count: int) -> None:
        self._looks += 1
        self._unwatched += count == 0

    def judge(self, now_s: float) -> Finding:
        measured: dict[str, JsonValue] = {'events': self._events}
        if self._events > self._probe.at_most:
            reason = f'{self._events} events, the last one {self._last}'
            return Finding('deviated', measured, reason)
        if self._unreadable:
            return Finding('unknown', measured, self._unreadable)
        if self._unwatched or not self._looks:
            return Finding('unknown', measured, f'nobody publishes {self._probe.topic}')
        return Finding('held', measured)
