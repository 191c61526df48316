"""A number in the messages of a topic stays within bounds."""

import math
from collections.abc import Callable
from typing import Literal

from pydantic import Field, JsonValue, model_validator

from alpha_chaos.faults.base import Fields, Unreadable
from alpha_chaos.names import Name
from alpha_chaos.probes.base import Finding, Probe, TopicSource, Watch

MOST_ELEMENTS = 1000  # of an array in one message: a look must cost less than the message


class ValueRange(Probe):
    """Every value of every message is in the range. One that is no finite number is outside."""

    kind: Literal['value_range'] = 'value_range'
    topic: Name = Field(description='its name')
    field: str = Field(
        min_length=1,
        description="path of a number in the message: 'pose.position.x', 'position[0]', "
        "'position[*]' for every element",
    )
    min: float | None = Field(default=None, description="lowest value, in the field's own unit")
    max: float | None = Field(default=None, description='highest value, likewise')

    @model_validator(mode='after')
    def _something_is_asked(self) -> 'ValueRange':
        if self.min is None and self.max is None:
            raise ValueError('min or max is needed')
        if self.min is not None and self.max is not None and self.max < self.min:
            raise ValueError(f'max {self.max:g} is below min {self.min:g}')
        return self

    @property
    def source(self) -> TopicSource:
        """The topic; of any type that has the field."""
        return TopicSource(self.topic)

    def watch(self, start_s: float) -> Watch:
        """Return a watch that has seen no value."""
        return _Range(self)


ValueRange.example = ValueRange(topic='joint_states', field='position[*]', min=-3.0, max=3.0)


class _Range(Watch):
    def __init__(self, probe: ValueRange) -> None:
        self._probe = probe
        self._messages = 0
        self._outside = 0
        self._first_outside = ''
        self._lowest = math.inf
        self._highest = -math.inf
        self._unreadable = ''

    def on_message(self, now_s: float, read: Callable[[], Fields]) -> None:
        try:
            values = self._values(read())
        except (Unreadable, AttributeError, TypeError, ValueError) as error:
            self._unreadable = str(error)
            return
        self._messages += 1
        low = -math.inf if self._probe.min is None else self._probe.min
        high = math.inf if self._probe.max is None else self._probe.max
        for value in values:
            if math.isfinite(value):
                self._lowest = min(self._lowest, value)
                self._highest = max(self._highest, value)
            if not math.isfinite(value) or not low <= value <= high:
                self._outside += 1
                self._first_outside = self._first_outside or f'{value:g}'

    def _values(self, fields: Fields) -> list[float]:
        sequence, wildcard, _ = self._probe.field.partition('[*]')
        if wildcard and len(fields.get(sequence)) > MOST_ELEMENTS:
            raise Unreadable(f'{sequence} has more than {MOST_ELEMENTS} elements')
        found = [fields.get(path) for path in fields.each(self._probe.field)]
        if not all(hasattr(value, '__float__') for value in found):
            raise Unreadable(f'{self._probe.field} is no number')
        return [float(value) for value in found]

    def judge(self, now_s: float) -> Finding:
        probe = self._probe
        measured: dict[str, JsonValue] = {'messages': self._messages, 'outside': self._outside}
        if self._lowest <= self._highest:
            measured |= {'lowest': self._lowest, 'highest': self._highest}
        if self._outside:
            bounds = f'{_bound(probe.min)} to {_bound(probe.max)}'
            reason = f'{probe.field} was {self._first_outside}, not in {bounds}'
            return Finding('deviated', measured, reason)
        if self._unreadable:
            return Finding('unknown', measured, self._unreadable)
        if 'lowest' not in measured:
            return Finding('unknown', measured, 'no value came')
        return Finding('held', measured)


def _bound(value: float | None) -> str:
    return 'any' if value is None else f'{value:g}'
