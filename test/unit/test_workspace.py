"""The admissible volume."""

import math

import pytest

from alpha_chaos.workspace import WORKSPACE

INSIDE = (0.5, 0.0, 0.8)


@pytest.mark.parametrize('corner', [WORKSPACE.min, WORKSPACE.max])
def test_its_corners_belong_to_it(corner: tuple[float, float, float]) -> None:
    assert WORKSPACE.contains(corner)
    assert WORKSPACE.distance_m(corner) == 0


@pytest.mark.parametrize('axis', [0, 1, 2])
@pytest.mark.parametrize('side', ['min', 'max'])
def test_the_next_number_outside_does_not(axis: int, side: str) -> None:
    point = list(INSIDE)
    away = -math.inf if side == 'min' else math.inf
    point[axis] = math.nextafter(getattr(WORKSPACE, side)[axis], away)
    assert not WORKSPACE.contains(point)
    assert WORKSPACE.distance_m(point) > 0


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('axis', [0, 1, 2])
def test_what_is_not_finite_is_nowhere_inside(axis: int, value: float) -> None:
    point = list(INSIDE)
    point[axis] = value
    assert not WORKSPACE.contains(point)
    assert WORKSPACE.distance_m(point) == math.inf


def test_the_distance_is_to_the_nearest_point_of_the_surface() -> None:
    assert WORKSPACE.distance_m((0.95 + 0.3, 0.55 + 0.4, 0.8)) == pytest.approx(0.5)
