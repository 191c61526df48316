"""Every position in a topic's messages is a little off."""

import math
from collections.abc import Iterable
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Decision, Evidence, Fault, Injector, Sample, Unreadable

Vector = tuple[float, float, float]


class SensorNoise(Fault):
    """Add Gaussian noise, and a constant error, to each coordinate of every position.

    The noise of one coordinate is independent of the others' and of the last message's, which is
    kinder to whoever averages than the slow drift of a real camera. Orientations stay.
    """

    kind: Literal['sensor_noise'] = 'sensor_noise'
    route: str = 'scene'
    positions: str = Field(
        default='blocks[*].pose.position',
        description='where its messages have x, y, z; [*] stands for every element',
    )
    sigma_m: float = Field(ge=0, le=1, description='standard deviation along each axis [m]')
    bias_m: Vector = Field(
        default=(0.0, 0.0, 0.0), description='error that is always the same, in x, y, z [m]'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The topic whose positions are off."""
        return (self.route,)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Noise(self, draws)


SensorNoise.example = SensorNoise(sigma_m=0.01)


class _Noise(Injector):
    def __init__(self, fault: SensorNoise, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._positions = 0
        self._errors = 0  # coordinates that were changed
        self._squares_m2 = 0.0
        self._largest_m = 0.0

    def on_message(self, sample: Sample) -> Iterable[Sample]:
        draw = float(self._draws.random())
        try:
            fields = sample.fields()
        except Unreadable:
            self._say(draw, False, {'bypassed': 'unreadable'})
            return (sample,)
        positions = fields.each(self._fault.positions)
        # Drawn whether it strikes or not, and for any sigma: the next message draws the same.
        noise = self._draws.standard_normal((len(positions), 3)).tolist()
        errors_m: list[float] = []
        if draw < self._fault.probability:
            for position, draws in zip(positions, noise, strict=True):
                for axis, number, bias_m in zip('xyz', draws, self._fault.bias_m, strict=True):
                    error_m = number * self._fault.sigma_m + bias_m
                    true_m = float(fields.get(f'{position}.{axis}'))
                    # What does not change stays bit for bit: adding zero turns -0.0 into 0.0.
                    if math.isfinite(true_m) and true_m + error_m != true_m:
                        fields.set(f'{position}.{axis}', true_m + error_m)
                        errors_m.append(error_m)
        self._positions += len(positions)
        largest_m = max(map(abs, errors_m), default=0.0)
        self._errors += len(errors_m)
        self._squares_m2 += sum(error_m * error_m for error_m in errors_m)
        self._largest_m = max(self._largest_m, largest_m)
        self._say(draw, bool(errors_m), {'positions': len(positions), 'largest_m': largest_m})
        return (sample.replaced(fields),) if errors_m else (sample,)

    def _say(self, draw: float, triggered: bool, detail: dict[str, JsonValue]) -> None:
        self._decide(Decision('sensor_noise', self._fault.probability, draw, triggered, detail))

    def evidence(self) -> Evidence:
        """Return whether any position was changed, or might have been, and by how much."""
        rms_m = math.sqrt(self._squares_m2 / self._errors) if self._errors else 0.0
        detail = self._tally() | {'rms_m': rms_m, 'largest_m': self._largest_m}
        return Evidence(self._positions > 0, detail)
