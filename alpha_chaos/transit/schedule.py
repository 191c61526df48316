"""When a fault is on: a window after it was armed, or after another topic's field crossed a value.

Times are whole nanoseconds of the relay's clock.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, model_validator

from alpha_chaos.names import Name

NANOSECONDS = 10**9
# Forgiven where times are compared: 44/240 s is, in nanoseconds, one less than 1/240 s after
# 43/240 s, and a lag of one step would take two.
ROUNDING_NS = 1
YEAR_S = 366 * 24 * 3600.0  # no duration is longer, so that every time fits into 64 bits


def to_ns(seconds: float) -> int:
    """Return seconds in whole nanoseconds."""
    return round(seconds * NANOSECONDS)


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class Condition(_Settings):
    """A field of a topic that is above or below a value. NaN is neither."""

    topic: Name = Field(description='topic to look at, by its name in the graph')
    field: str = Field(
        min_length=1,
        description='path of a number in it: `pose.position.z`; of `ranges[*]` one is enough',
    )
    above: float | None = Field(None, description='on from the moment the field exceeds this')
    below: float | None = Field(None, description='on from the moment the field is less than this')

    @model_validator(mode='after')
    def _one_side(self) -> 'Condition':
        if (self.above is None) == (self.below is None):
            raise ValueError('a condition has either `above` or `below`')
        return self

    def holds(self, value: float) -> bool:
        """Tell whether a value lies beyond the threshold."""
        return value > self.above if self.above is not None else value < self.below  # type: ignore[operator]


class Schedule(_Settings):
    """When a fault is on. Without any setting: always."""

    after_s: float = Field(
        0.0,
        ge=0,
        le=YEAR_S,
        description='it begins so long after it was armed, or `when` came [s]',
    )
    for_s: float | None = Field(
        None, gt=0, le=YEAR_S, description='it lasts so long [s]; not given: for ever'
    )
    every_n: int = Field(
        1, ge=1, le=10**9, description='only every n-th message of that time is looked at [1]'
    )
    when: Condition | None = Field(
        None,
        description='it begins each time that this becomes true, and ends with `for_s`, or when '
        'it is true no longer',
    )


class Gate:
    """A schedule at work."""

    def __init__(self, schedule: Schedule, armed_ns: int) -> None:
        self._schedule = schedule
        self._begins_ns = to_ns(schedule.after_s)
        self._ends_ns = None if schedule.for_s is None else self._begins_ns + to_ns(schedule.for_s)
        self._since_ns = None if schedule.when else armed_ns
        self._holds = False
        self._seen = 0
        self.windows = 0  # that have begun because `when` became true

    def observe(self, values: Sequence[float], now_ns: int) -> None:
        """Take the newest values of the field that `when` names; one of them is enough."""
        condition = self._schedule.when
        if condition is None or not values:
            return
        held, self._holds = self._holds, any(condition.holds(value) for value in values)
        if self._holds and not held:
            self._since_ns = now_ns
            self.windows += 1
        elif not self._holds and self._ends_ns is None:
            self._since_ns = None

    def lets_strike(self, now_ns: int) -> bool:
        """Tell whether the fault may strike the message that comes now; ask once a message."""
        if self._since_ns is None:
            return False
        elapsed_ns = now_ns + ROUNDING_NS - self._since_ns
        if elapsed_ns < self._begins_ns:
            return False
        if self._ends_ns is not None and elapsed_ns >= self._ends_ns:
            return False
        self._seen += 1
        return self._seen % self._schedule.every_n == 0

    @property
    def ends_ns(self) -> int | None:
        """When the present window ends; None if it has no end that is known."""
        if self._since_ns is None or self._ends_ns is None:
            return None
        return self._since_ns + self._ends_ns
