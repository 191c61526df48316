import math

import pytest

from alpha_chaos import tasks
from alpha_chaos.plugins import BadSetting, catalogue, parse
from alpha_chaos.tasks.base import Advance, Execute, MakePlan, Observe, Task
from alpha_chaos.tasks.pick_place import PickPlace

TASK = PickPlace()


def judge_at(x: float, y: float = 0.35, z: float = 0.65):
    return TASK.judge({'red': (x, y, z), 'green': TASK.zone})


def test_a_block_in_the_zone_is_a_success():
    verdict = judge_at(0.60)
    assert (verdict.success, verdict.success_secondary) == (True, True)
    assert verdict.final_error_m == 0.0


@pytest.mark.parametrize(
    ('error_m', 'success', 'secondary'),
    [
        (0.0499, True, True),
        (0.05, True, True),
        (math.nextafter(0.05, 1), False, True),
        (0.0501, False, True),
        (0.0799, False, True),
        (0.08, False, True),
        (math.nextafter(0.08, 1), False, False),
        (0.0801, False, False),
        (10.0, False, False),
    ],
)
def test_a_distance_equal_to_the_radius_still_counts(error_m, success, secondary):
    task = PickPlace(zone=(0.0, 0.0, 0.0))
    verdict = task.judge({'red': (0.0, error_m, 0.0)})
    assert verdict.final_error_m == error_m
    assert (verdict.success, verdict.success_secondary) == (success, secondary)


def test_the_error_is_measured_in_three_dimensions():
    assert judge_at(0.60, 0.35, 0.75).final_error_m == pytest.approx(0.1)
    assert judge_at(0.63, 0.39, 0.65).final_error_m == pytest.approx(0.05)


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('axis', [0, 1, 2])
def test_a_block_whose_place_is_unknown_is_no_success(bad, axis):
    position = list(TASK.zone)
    position[axis] = bad
    verdict = TASK.judge({'red': position})
    assert not verdict.success
    assert not verdict.success_secondary
    assert math.isnan(verdict.final_error_m)


def test_a_block_that_is_not_there_is_no_success():
    verdict = TASK.judge({'green': TASK.zone})
    assert not verdict.success
    assert math.isnan(verdict.final_error_m)


def test_the_phases_are_those_of_the_paper():
    assert TASK.phases == (
        Advance(steps=120, name='settle'),
        Observe(),
        MakePlan(),
        Execute(),
        Advance(steps=60, name='rest'),
    )
    assert [phase.name for phase in TASK.phases] == [
        'settle', 'observe', 'plan', 'execute', 'rest',
    ]  # fmt: skip


def test_the_first_observation_is_step_zero():
    assert TASK.first_step == -120
    assert PickPlace(settle_steps=7, rest_steps=9).first_step == -7


def test_a_task_names_the_objects_it_needs():
    assert PickPlace(block='blue').objects == ('blue',)


def test_a_misspelt_setting_is_named():
    with pytest.raises(BadSetting, match='success_radius'):
        parse(catalogue(tasks, Task), {'kind': 'pick_place', 'success_radius': 0.05}, 'task')
