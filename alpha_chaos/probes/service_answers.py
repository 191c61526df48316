"""A service answers, in time and with what it should say."""

from typing import Literal

from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Fields
from alpha_chaos.names import Name, TypeName
from alpha_chaos.probes.base import Finding, Probe, ServiceSource, Watch


class ServiceAnswers(Probe):
    """Every call is answered within `within_s`, and the answer has the values in `expects`.

    The service really is called: choose one that a call does not change.
    """

    kind: Literal['service_answers'] = 'service_answers'
    service: Name = Field(description='its name')
    type: TypeName | None = Field(
        default=None, description="'std_srvs/srv/Trigger'; not given: what its server says"
    )
    request: dict[str, JsonValue] = Field(
        default_factory=dict, description='values in the request, by path'
    )
    expects: dict[str, JsonValue] = Field(
        default_factory=dict, description='values that the response must have, by path'
    )
    within_s: float = Field(
        default=1.0, gt=0, le=3600, description='longest time to an answer [s]'
    )
    every_s: float = Field(
        default=0.5, ge=0.01, le=3600, description='time from one call to the next [s]'
    )

    @property
    def source(self) -> ServiceSource:
        """The service."""
        return ServiceSource(
            self.service, self.type or '', self.request, self.every_s, self.within_s
        )

    @property
    def shortest_s(self) -> float:
        """As long as one call may take."""
        return self.every_s + self.within_s

    def watch(self, start_s: float) -> Watch:
        """Return a watch that has seen no call."""
        return _Answers(self)


ServiceAnswers.example = ServiceAnswers(service='plan_ready', expects={'success': True})


class _Answers(Watch):
    def __init__(self, probe: ServiceAnswers) -> None:
        self._probe = probe
        self._answers = 0
        self._failures = 0
        self._first_failure = ''
        self._slowest_s = 0.0

    def on_answer(self, took_s: float, answer: Fields) -> None:
        self._answers += 1
        self._slowest_s = max(self._slowest_s, took_s)
        if took_s > self._probe.within_s:
            self.on_silence(f'answered after {took_s:.3g} s')
            return
        for path, expected in self._probe.expects.items():
            found = answer.get(path) if answer.has(path) else 'not there'
            if found != expected:
                self.on_silence(f'{path} is {found!r}, not {expected!r}')
                return

    def on_silence(self, reason: str) -> None:
        self._failures += 1
        self._first_failure = self._first_failure or reason

    def judge(self, now_s: float) -> Finding:
        measured: dict[str, JsonValue] = {'answers': self._answers, 'failures': self._failures}
        if self._answers:
            measured['slowest_s'] = self._slowest_s
        if self._failures:
            return Finding('deviated', measured, self._first_failure)
        if not self._answers:
            return Finding('unknown', measured, 'no call has ended')
        return Finding('held', measured)
