"""The gripper: gripper/command."""

import math

import pytest
from action_msgs.msg import GoalStatus

from alpha_chaos.driver_contract.probe import Ended, Probe
from alpha_chaos.driver_contract.test_arm import IN_PART, require_refusal

OPEN_M, EFFORT_N = 0.08, 10.0
NEAR_M = 0.01


def require_sense(ended: Ended, most_n: float) -> None:
    """Fail unless the numbers of a result can be."""
    assert ended.accepted, 'a good goal was rejected'
    result = ended.result
    numbers = f'opening {result.opening} m, effort {result.effort} N'
    assert 0 <= result.opening < math.inf, numbers
    assert 0 <= result.effort <= most_n + 1e-6, numbers
    succeeded = ended.status == GoalStatus.STATUS_SUCCEEDED
    assert result.reached == succeeded, f'status and reached do not agree: {ended}'
    assert result.reached or result.message, 'not reached, and no message says why'


def test_serves_gripper(probe: Probe) -> None:
    """An action server for alpha_chaos/action/GripperCommand."""
    found = probe.served(probe.options.gripper)
    assert found, f'nobody serves {probe.options.gripper}'
    assert found == ['alpha_chaos/action/GripperCommand'], (
        f'{probe.options.gripper} is of type {found}'
    )
    assert probe.reaches(probe.gripper), f'{probe.options.gripper}: {IN_PART}'


def test_opens_and_closes(probe: Probe) -> None:
    """The gripper opens as far as it is told to, closes, and reports what it did."""
    probe.begin()
    opened = probe.grip(OPEN_M, 0.0)
    require_sense(opened, EFFORT_N)
    assert opened.reached, f'opening: {opened}'
    wide = opened.result.opening
    assert abs(wide - OPEN_M) <= NEAR_M, f'told to open to {OPEN_M} m, it reports {wide} m'
    closed = probe.grip(0.0, EFFORT_N)
    require_sense(closed, EFFORT_N)
    assert closed.reached, f'closing: {closed}'
    narrow = closed.result.opening
    assert narrow <= NEAR_M or closed.result.stalled, (
        f'closed to {narrow} m, and nothing is said to be between the fingers'
    )


@pytest.mark.parametrize(
    ('opening', 'effort'),
    [(math.nan, EFFORT_N), (0.0, math.nan), (math.inf, EFFORT_N), (-0.01, EFFORT_N), (0.0, -1.0)],
)
def test_refuses_grips_that_cannot_be(probe: Probe, opening: float, effort: float) -> None:
    """An opening or effort that is not finite, or negative, is refused."""
    probe.begin()
    require_refusal(probe.grip(opening, effort), f'opening {opening}, effort {effort}')
