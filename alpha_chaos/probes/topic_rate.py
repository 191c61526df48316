"""A topic comes as often as it should, in every piece of the phase."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field, JsonValue, model_validator

from alpha_chaos.faults.base import Fields
from alpha_chaos.names import Name
from alpha_chaos.probes.base import Finding, Probe, TopicSource, Watch

LEAST_MESSAGES = 2  # in a window; one missing message must make a difference


class TopicRate(Probe):
    """Messages are counted in windows laid end to end; the rate of each must be in the range.

    A mean over the whole phase would not notice an outage. A window may hold one message more or
    less than the rate says: that depends on where it begins. The last one counts if it is full.
    """

    kind: Literal['topic_rate'] = 'topic_rate'
    topic: Name = Field(description='its name')
    min_hz: float = Field(default=0.0, ge=0, description='lowest rate [Hz]')
    max_hz: float | None = Field(default=None, gt=0, description='highest rate [Hz]; none if null')
    window_s: float = Field(
        default=1.0, ge=0.05, le=3600, description='time over which messages are counted [s]'
    )

    @model_validator(mode='after')
    def _something_is_asked(self) -> 'TopicRate':
        if self.max_hz is None and self.min_hz == 0:
            raise ValueError('min_hz or max_hz is needed: every rate is at least 0')
        if self.max_hz is not None and self.max_hz < self.min_hz:
            raise ValueError(f'max_hz {self.max_hz:g} is below min_hz {self.min_hz:g}')
        if 0 < self.min_hz * self.window_s < LEAST_MESSAGES:
            least_s = LEAST_MESSAGES / self.min_hz
            raise ValueError(f'window_s must be at least {least_s:g} s for {self.min_hz:g} Hz')
        return self

    @property
    def source(self) -> TopicSource:
        """The topic; of any type."""
        return TopicSource(self.topic)

    @property
    def shortest_s(self) -> float:
        """One window."""
        return self.window_s

    def watch(self, start_s: float) -> Watch:
        """Return a watch whose first window begins now."""
        return _Rate(self, start_s)


TopicRate.example = TopicRate(topic='scan', min_hz=8.0, max_hz=12.0)


class _Rate(Watch):
    def __init__(self, probe: TopicRate, start_s: float) -> None:
        self._probe = probe
        self._start_s = start_s
        self._full = 0  # windows that are over
        self._count = 0  # messages in the window that is not
        self._lowest: int | None = None
        self._highest: int | None = None
        self._senders = 0

    def on_message(self, now_s: float, read: Callable[[], Fields]) -> None:
        self._close_windows(now_s)
        self._count += 1

    def on_senders(self, count: int) -> None:
        self._senders = count

    def judge(self, now_s: float) -> Finding:
        self._close_windows(now_s)
        probe = self._probe
        if self._lowest is None or self._highest is None:
            return Finding('unknown', reason=f'no window of {probe.window_s:g} s was full')
        window_s = probe.window_s
        lowest_hz, highest_hz = self._lowest / window_s, self._highest / window_s
        measured: dict[str, JsonValue] = {
            'lowest_hz': lowest_hz,
            'highest_hz': highest_hz,
            'windows': self._full,
        }
        if self._lowest + 1 < probe.min_hz * window_s:
            nobody = '' if self._senders else '; nobody publishes it'
            reason = f'{lowest_hz:g} Hz, below {probe.min_hz:g} Hz{nobody}'
        elif probe.max_hz is not None and self._highest - 1 > probe.max_hz * window_s:
            reason = f'{highest_hz:g} Hz, above {probe.max_hz:g} Hz'
        else:
            return Finding('held', measured)
        return Finding('deviated', measured, reason)

    def _close_windows(self, now_s: float) -> None:
        # 1.1 s - 0.1 s is less than 1 s in floating point.
        over = int((now_s - self._start_s) / self._probe.window_s + 1e-9)
        if over <= self._full:
            return
        counts = [self._count, 0] if over - self._full > 1 else [self._count]
        lowest, highest = min(counts), max(counts)
        self._lowest = lowest if self._lowest is None else min(self._lowest, lowest)
        self._highest = highest if self._highest is None else max(self._highest, highest)
        self._full, self._count = over, 0
