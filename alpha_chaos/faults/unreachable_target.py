"""The arm is told to go further out than the controller meant."""

import math
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue, field_validator

from alpha_chaos.faults.base import Call, Decision, Fault, Fields, Injector

Vector = tuple[float, float, float]
Direction = Literal['radial'] | Vector


class UnreachableTarget(Fault):
    """Push every commanded end-effector position outward by `offset_m`."""

    kind: Literal['unreachable_target'] = 'unreachable_target'
    route: str = 'arm/move_to'
    position: str = Field(
        default='target.pose.position', description='where the route has x, y, z'
    )
    offset_m: float = Field(ge=0, le=10, description='length of the push [m]')
    direction: Direction = Field(
        default='radial',
        description='radial: horizontally away from `origin`; else a vector of any length',
    )
    origin: Vector = Field(
        default=(0.0, 0.0, 0.0), description="base of the arm, in the target's frame [m]"
    )

    @field_validator('direction')
    @classmethod
    def _points_somewhere(cls, direction: Direction) -> Direction:
        if direction != 'radial' and not 1e-6 < math.hypot(*direction) < 1e6:
            raise ValueError("a direction is 'radial' or a vector of some length, as [1, 0, 0]")
        return direction

    @property
    def routes(self) -> tuple[str, ...]:
        """The action that moves the arm."""
        return (self.route,)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Push(self, draws)


UnreachableTarget.example = UnreachableTarget(offset_m=0.1)


class _Push(Injector):
    def __init__(self, fault: UnreachableTarget, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws

    def on_request(self, call: Call) -> None:
        draw = float(self._draws.random())
        meant = _read(call.request, self._fault.position)
        way = _outward(self._fault, meant)
        sent = meant
        if draw < self._fault.probability and way is not None:
            sent = tuple(
                # Adding zero would turn -0.0 into 0.0: what is not pushed stays bit for bit.
                value + self._fault.offset_m * share if share else value
                for value, share in zip(meant, way, strict=True)
            )
        triggered = sent != meant and way is not None
        if triggered:
            for axis, value in zip('xyz', sent, strict=True):
                call.request.set(f'{self._fault.position}.{axis}', value)
        self._decide(
            Decision(
                'unreachable_target',
                self._fault.probability,
                draw,
                triggered,
                {
                    'offset_m': self._fault.offset_m if triggered else 0.0,
                    'direction': None if way is None else list(way),
                    'meant_m': _finite(meant),
                    'sent_m': _finite(sent),
                },
            )
        )


def _read(request: Fields, path: str) -> tuple[float, ...]:
    return tuple(float(request.get(f'{path}.{axis}')) for axis in 'xyz')


def _outward(fault: UnreachableTarget, target: tuple[float, ...]) -> tuple[float, ...] | None:
    """Return the unit vector to push along; None where outward means nothing.

    That is a target right above or below the origin, or one that is not finite: refusing it is
    the arm's business, and a fault must not hide it.
    """
    if not all(map(math.isfinite, target)):
        return None
    if fault.direction == 'radial':
        vector = (target[0] - fault.origin[0], target[1] - fault.origin[1], 0.0)
    else:
        vector = fault.direction
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        return None
    return tuple(part / length for part in vector)


def _finite(point: tuple[float, ...]) -> list[JsonValue]:
    return [value if math.isfinite(value) else None for value in point]
