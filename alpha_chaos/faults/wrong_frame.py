"""A camera is mounted elsewhere than its calibration says."""

import math
from collections.abc import Iterable
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import (
    Decision,
    Evidence,
    Fault,
    Fields,
    Injector,
    Sample,
    Unreadable,
)

Vector = tuple[float, float, float]


class WrongFrame(Fault):
    """Turn every pose by `angle_rad` about the vertical through `origin`, then shift it.

    The header still names the frame it should be in: no message shows that an extrinsic
    calibration is wrong. It is wrong for a whole episode or not at all, which is drawn once.
    """

    kind: Literal['wrong_frame'] = 'wrong_frame'
    route: str = 'scene'
    poses: str = Field(
        default='blocks[*].pose',
        description='where its messages have poses; [*] stands for every element',
    )
    angle_rad: float = Field(
        default=0.0, ge=-math.pi, le=math.pi, description='counterclockwise seen from above [rad]'
    )
    origin: Vector = Field(
        default=(0.0, 0.0, 0.0),
        description="a point of the axis, in the messages' frame [m]; its height does not matter",
    )
    offset_m: Vector = Field(default=(0.0, 0.0, 0.0), description='shift after the turn [m]')

    @property
    def routes(self) -> tuple[str, ...]:
        """The topic whose poses are in the wrong frame."""
        return (self.route,)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector that has drawn; all it remembers is what it did."""
        return _Frame(self, float(draws.random()))


WrongFrame.example = WrongFrame(angle_rad=0.1)


class _Frame(Injector):
    def __init__(self, fault: WrongFrame, draw: float) -> None:
        super().__init__()
        self._fault = fault
        self._draw = draw
        self._poses = 0
        self._largest_m = 0.0

    def on_message(self, sample: Sample) -> Iterable[Sample]:
        try:
            fields = sample.fields()
        except Unreadable:
            self._say(False, {'bypassed': 'unreadable'})
            return (sample,)
        poses = fields.each(self._fault.poses)
        self._poses += len(poses)
        moved_m: list[float] = []
        if self._draw < self._fault.probability and self._is_wrong:
            moved_m = [self._move(fields, pose) for pose in poses]
        largest_m = max(moved_m, default=0.0)
        self._largest_m = max(self._largest_m, largest_m)
        self._say(bool(moved_m), {'poses': len(poses), 'largest_m': largest_m})
        return (sample.replaced(fields),) if moved_m else (sample,)

    @property
    def _is_wrong(self) -> bool:
        return bool(self._fault.angle_rad or any(self._fault.offset_m))

    def _move(self, fields: Fields, pose: str) -> float:
        """Put a pose where the wrong calibration has it; return how far its position moved [m]."""
        angle_rad, (x0, y0, _) = self._fault.angle_rad, self._fault.origin
        was = [float(fields.get(f'{pose}.position.{axis}')) for axis in 'xyz']
        now = list(was)
        if angle_rad:
            cosine, sine = math.cos(angle_rad), math.sin(angle_rad)
            x, y = was[0] - x0, was[1] - y0
            now[:2] = x0 + cosine * x - sine * y, y0 + sine * x + cosine * y
            _turn(fields, f'{pose}.orientation', angle_rad)
        now = [at + by if by else at for at, by in zip(now, self._fault.offset_m, strict=True)]
        for axis, value in zip('xyz', now, strict=True):
            fields.set(f'{pose}.position.{axis}', value)
        moved_m = math.dist(was, now)
        return moved_m if math.isfinite(moved_m) else 0.0

    def _say(self, triggered: bool, detail: dict[str, JsonValue]) -> None:
        self._decide(
            Decision('wrong_frame', self._fault.probability, self._draw, triggered, detail)
        )

    def evidence(self) -> Evidence:
        """Return whether there were poses to move and a calibration to be wrong."""
        detail = self._tally() | {'largest_m': self._largest_m}
        return Evidence(self._poses > 0 and self._is_wrong, detail)


def _turn(fields: Fields, orientation: str, angle_rad: float) -> None:
    """Turn a unit quaternion about the vertical: (0, 0, s, c) times (x, y, z, w)."""
    sine, cosine = math.sin(angle_rad / 2), math.cos(angle_rad / 2)
    x, y, z, w = (float(fields.get(f'{orientation}.{part}')) for part in 'xyzw')
    turned = {
        'x': cosine * x - sine * y,
        'y': cosine * y + sine * x,
        'z': cosine * z + sine * w,
        'w': cosine * w - sine * z,
    }
    for part, value in turned.items():
        fields.set(f'{orientation}.{part}', value)
