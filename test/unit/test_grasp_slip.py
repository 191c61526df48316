"""When a grasp slips, how often, and what is sent to the gripper."""

from typing import Any

import pytest
from fault_traffic import Message, Recorder, done, grip, move
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.base import Call, Command, Fields
from alpha_chaos.faults.grasp_slip import GraspSlip


class Robot:
    """Sends motions and grips through one injector and remembers which motions brought a slip."""

    def __init__(self, seed: int = 0, obeys: bool = True, **settings: Any) -> None:
        fault = GraspSlip(**settings)
        self.recorder = Recorder(fault, fault.injector(default_rng(seed)), obeys)

    def move(self, z: float) -> list[Command]:
        return self.recorder.call('arm/move_to', move(0.5, 0.0, z), done()).commands

    def grip(self, commanded: float = 500.0, block: str = 'red', **result: Any) -> None:
        response = Message(**{'reached': True, 'stalled': True, **result})
        self.recorder.call('gripper/command', grip(commanded, block=block), response)

    def release(self) -> None:
        self.recorder.call('gripper/command', grip(0.0, opening=0.08), done(stalled=False))


def test_the_first_lift_after_a_grasp_opens_the_gripper() -> None:
    robot = Robot()
    assert robot.move(0.8) == []
    assert robot.move(0.675) == []
    robot.grip()
    assert robot.move(0.805) == [Command('gripper/command', {'max_effort': 0.0})]
    record = robot.recorder.finish()
    (decision,) = record.decisions
    assert decision.triggered
    assert decision.detail == {
        'object': 'red',
        'effort_before_n': 500.0,
        'effort_after_n': 0.0,
    }
    assert record.evidence.exercised
    assert record.evidence.detail == {'decided': 1, 'struck': 1, 'grasps': 1}


def test_the_motion_itself_is_not_touched() -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    call = robot.recorder.call('arm/move_to', move(0.5, 0.0, 0.8), done())
    assert call.request.message == move(0.5, 0.0, 0.8)


def test_a_factor_leaves_that_much_of_the_effort() -> None:
    robot = Robot(effort_factor=0.25, opening_m=0.08)
    robot.move(0.675)
    robot.grip(400.0)
    (command,) = robot.move(0.8)
    assert command.changes == {'max_effort': 100.0, 'opening': 0.08}


@pytest.mark.parametrize('z', [0.675 - 1e-9, 0.675])
def test_a_motion_that_does_not_go_up_is_no_lift(z: float) -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    assert robot.move(z) == []
    assert not robot.recorder.finish().evidence.exercised


def test_the_least_upward_motion_is_a_lift() -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    assert len(robot.move(0.675 + 1e-9)) == 1


def test_a_lift_may_come_after_motions_that_are_none() -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    assert robot.move(0.675) == []
    assert robot.move(0.6) == []
    assert len(robot.move(0.61)) == 1


def test_without_a_motion_before_it_nothing_is_known_to_go_up() -> None:
    robot = Robot()
    robot.grip()
    assert robot.move(0.9) == []


def test_a_grasp_has_one_draw_and_at_most_one_slip() -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    assert len(robot.move(0.7)) == 1
    assert robot.move(0.8) == []
    robot.grip(200.0)  # gripping on is no new grasp
    assert robot.move(0.9) == []
    assert robot.recorder.finish().evidence.detail['decided'] == 1


def test_the_draw_is_spent_even_if_it_spares_the_grasp() -> None:
    robot = Robot(probability=0.0)
    robot.move(0.675)
    robot.grip()
    assert robot.move(0.7) == robot.move(0.8) == []
    record = robot.recorder.finish()
    (decision,) = record.decisions
    assert not decision.triggered
    assert decision.detail['effort_after_n'] == 500.0
    assert record.evidence.exercised  # it had its chance


@pytest.mark.parametrize('block', ['red', 'blue'])
def test_a_new_grasp_after_a_release_draws_again(block: str) -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    robot.move(0.8)
    robot.release()
    assert robot.move(0.9) == []
    robot.move(0.675)
    robot.grip(block=block)
    assert len(robot.move(0.8)) == 1
    assert robot.recorder.finish().evidence.detail == {'decided': 2, 'struck': 2, 'grasps': 2}


def test_each_grasp_draws_the_next_number() -> None:
    draws = default_rng(5).random(4)
    robot = Robot(seed=5, probability=0.5)
    for number in range(4):
        robot.move(0.675)
        robot.grip(block=f'block {number}')
        robot.move(0.8)
    decisions = robot.recorder.finish().decisions
    assert [decision.draw for decision in decisions] == list(draws)
    assert [decision.triggered for decision in decisions] == list(draws < 0.5)


@pytest.mark.parametrize(
    ('effort', 'block', 'result'),
    [
        (500.0, 'red', {'reached': False}),
        (500.0, 'red', {'stalled': False}),  # closed on nothing
        (500.0, '', {}),
        (0.0, 'red', {}),
    ],
)
def test_a_grip_that_holds_nothing_is_no_grasp(
    effort: float, block: str, result: dict[str, bool]
) -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip(effort, block, **result)
    assert robot.move(0.8) == []
    assert robot.recorder.finish().evidence.detail['grasps'] == 0


def test_the_weakest_grip_is_a_grasp() -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip(1e-9)
    assert len(robot.move(0.8)) == 1


def test_a_gripper_that_does_not_tell_whether_it_stalled_is_believed() -> None:
    fault = GraspSlip()
    recorder = Recorder(fault, fault.injector(default_rng(0)))
    recorder.call('arm/move_to', move(0.5, 0.0, 0.675), done())
    recorder.call('gripper/command', grip(500.0), Message(reached=True))
    assert recorder.call('arm/move_to', move(0.5, 0.0, 0.8), done()).commands


def test_a_refused_release_keeps_the_grasp() -> None:
    robot = Robot()
    robot.move(0.675)
    robot.grip()
    robot.recorder.call('gripper/command', grip(0.0, 0.08), Message(reached=False, stalled=True))
    assert len(robot.move(0.8)) == 1


def test_a_call_that_got_no_response_is_no_grasp() -> None:
    injector = GraspSlip().injector(default_rng(0))
    injector.on_response(Call('gripper/command', 1, Fields(grip(500.0))))
    injector.on_request(Call('arm/move_to', 1, Fields(move(0.5, 0.0, 0.6))))
    injector.on_request(Call('arm/move_to', 2, Fields(move(0.5, 0.0, 0.8))))
    assert injector.decisions() == []


@pytest.mark.parametrize('factor', [-1e-9, 1.0])
def test_a_slip_that_would_not_weaken_the_grip_is_refused(factor: float) -> None:
    with pytest.raises(ValidationError, match='effort_factor'):
        GraspSlip(effort_factor=factor)


def test_what_is_weakened_is_the_effort_that_the_gripper_reports() -> None:
    robot = Robot(effort_factor=0.25)
    robot.move(0.675)
    robot.grip(commanded=500.0, effort=40.0)
    assert robot.move(0.8) == [Command('gripper/command', {'max_effort': 10.0})]
    (decision,) = robot.recorder.finish().decisions
    assert decision.detail == {
        'object': 'red',
        'effort_before_n': 40.0,
        'effort_after_n': 10.0,
    }


def test_a_gripper_that_reports_no_effort_is_taken_at_its_orders() -> None:
    robot = Robot(effort_factor=0.25)
    robot.move(0.675)
    robot.grip(commanded=400.0, effort=0.0)
    assert robot.move(0.8) == [Command('gripper/command', {'max_effort': 100.0})]


def test_a_slip_that_the_gripper_refuses_did_not_strike() -> None:
    robot = Robot(obeys=False)
    robot.move(0.675)
    robot.grip()
    robot.move(0.8)
    record = robot.recorder.finish()
    (decision,) = record.decisions
    assert not decision.triggered
    assert decision.draw is not None
    assert decision.detail == {
        'object': 'red',
        'effort_before_n': 500.0,
        'effort_after_n': 500.0,
        'failed': 'no power',
    }
    assert not record.evidence.exercised
    assert record.evidence.detail == {'decided': 1, 'struck': 0, 'grasps': 1, 'failed': 1}
