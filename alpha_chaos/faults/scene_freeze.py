"""A camera driver hangs and repeats its last picture."""

from collections.abc import Iterable
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Decision, Evidence, Fault, Injector, Sample


class SceneFreeze(Fault):
    """From `after_s` on, deliver the last message before it over and over, its stamp unchanged.

    Messages keep coming at their rate, and only the stamp says how old they are. Whether the
    driver hangs at all is drawn once an episode. A driver that hangs before its first message
    repeats that.
    """

    kind: Literal['scene_freeze'] = 'scene_freeze'
    route: str = 'scene'
    after_s: float = Field(
        ge=0, le=3600, description='stamp of the first message that is not delivered any more [s]'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The topic that freezes."""
        return (self.route,)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector that has drawn, and waits for its time."""
        return _Freeze(self, float(draws.random()))


SceneFreeze.example = SceneFreeze(after_s=0.25)


class _Freeze(Injector):
    def __init__(self, fault: SceneFreeze, draw: float) -> None:
        super().__init__()
        self._fault = fault
        self._draw = draw
        self._after_ns = round(fault.after_s * 1e9)  # stamps are whole nanoseconds
        self._last: Sample | None = None  # before the freeze
        self._due = 0  # messages that came after it
        self._oldest_s = 0.0

    def on_message(self, sample: Sample) -> Iterable[Sample]:
        due = round(sample.stamp_s * 1e9) >= self._after_ns
        before = self._last
        if before is None or not due:
            self._last = sample
        self._due += due and before is not None
        frozen = due and before is not None and self._draw < self._fault.probability
        delivered = before if frozen and before is not None else sample
        age_s = sample.stamp_s - delivered.stamp_s
        self._oldest_s = max(self._oldest_s, age_s)
        detail: dict[str, JsonValue] = {
            'staleness_s': age_s,
            'delivered_sequence': delivered.sequence,
        }
        self._decide(Decision('scene_freeze', self._fault.probability, self._draw, frozen, detail))
        return (delivered,)

    def evidence(self) -> Evidence:
        """Return whether any message came after the freeze, and how old the last picture got."""
        detail = self._tally() | {'after_s': self._fault.after_s, 'oldest_s': self._oldest_s}
        return Evidence(self._due > 0, detail)
