"""A gripper that lies: what it answers, and when it does what it was told."""

from typing import Any

import pytest
from fault_traffic import Message, Recorder, done, grip, move
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.base import Call, Command, Fields
from alpha_chaos.faults.gripper_delay import GripperDelay

CLOSE, OPEN = grip(500.0), grip(0.0, 0.08, block='')
LATE = Command('gripper/command', {}, Fields(CLOSE))


class Robot:
    """Sends motions and grips through one injector."""

    def __init__(self, obeys: bool = True, **settings: Any) -> None:
        fault = GripperDelay(**settings)
        self.recorder = Recorder(fault, fault.injector(default_rng(0)), obeys)

    def move(self, reached: bool = True) -> list[Command]:
        return self.recorder.call(
            'arm/move_to', move(0.5, 0.0, 0.8), Message(reached=reached)
        ).commands

    def grip(self, goal: Message = CLOSE) -> Call:
        return self.recorder.call('gripper/command', goal, done())

    def evidence(self) -> dict[str, Any]:
        return dict(self.recorder.finish().evidence.detail)


def test_a_grip_is_answered_with_success_and_not_passed_on() -> None:
    call = Robot().grip()
    assert call.answer is not None
    assert call.answer.message == Message(
        reached=True, stalled=True, message='', opening=0.0, effort=500.0
    )
    assert call.commands == []


def test_it_goes_out_after_the_next_motion_with_everything_that_was_asked() -> None:
    robot = Robot()
    robot.grip()
    assert robot.move() == [LATE]
    assert robot.move() == []
    assert robot.evidence() == {
        'decided': 1,
        'struck': 1,
        'delivered': 1,
        'failed': 0,
        'never_sent': 0,
    }


def test_it_goes_out_after_as_many_motions_as_the_delay_is_long() -> None:
    robot = Robot(motions=3)
    robot.grip()
    assert [robot.move() for _ in range(4)] == [[], [], [LATE], []]


def test_a_motion_that_was_not_carried_out_does_not_count() -> None:
    robot = Robot()
    robot.grip()
    assert robot.move(reached=False) == []
    assert robot.move() == [LATE]


def test_a_motion_before_the_grip_does_not_count() -> None:
    robot = Robot(motions=2)
    robot.move()
    robot.grip()
    assert robot.move() == []


def test_what_is_due_after_the_end_never_goes_out_and_the_evidence_says_so() -> None:
    robot = Robot()
    robot.move()
    robot.grip()
    record = robot.recorder.finish()
    assert record.evidence.exercised
    assert robot.evidence()['never_sent'] == 1
    assert robot.evidence()['delivered'] == 0


def test_a_release_is_on_time_unless_releases_are_to_be_late() -> None:
    robot = Robot()
    assert robot.grip(OPEN).answer is None
    robot = Robot(commands='opening')
    assert robot.grip().answer is None
    call = robot.grip(OPEN)
    assert call.answer is not None
    assert call.answer.message == Message(
        reached=True, stalled=False, message='', opening=0.08, effort=0.0
    )
    (command,) = robot.move()
    assert command.request is not None
    assert command.request.message == OPEN


def test_limp_fingers_are_no_grip() -> None:
    robot = Robot()
    assert robot.grip(grip(0.0)).answer is None
    assert not robot.recorder.finish().evidence.exercised


def test_commands_keep_their_order() -> None:
    robot = Robot(motions=5)
    robot.grip()
    robot.move()
    call = robot.grip(OPEN)
    assert call.answer is None
    assert call.commands == [LATE]  # before the release is passed on
    assert robot.move() == []


def test_two_late_commands_become_due_one_after_the_other() -> None:
    robot = Robot(motions=2, commands='all')
    robot.grip()
    assert robot.move() == []
    robot.grip(OPEN)
    assert [[each.request for each in robot.move()] for _ in range(2)] == [
        [Fields(CLOSE)],
        [Fields(OPEN)],
    ]


def test_what_faults_nearer_to_the_gripper_change_comes_late_as_well() -> None:
    injector = GripperDelay().injector(default_rng(0))
    call = Call('gripper/command', 1, Fields(grip(500.0)), blank=lambda: Fields(done()))
    injector.on_request(call)
    call.request.set('max_effort', 5.0)
    motion = Call('arm/move_to', 1, Fields(move(0, 0, 0)), Fields(done()))
    injector.on_response(motion)
    (command,) = motion.commands
    assert command.request is not None
    assert command.request.get('max_effort') == 5.0


def test_a_late_command_that_the_gripper_refuses_is_counted() -> None:
    robot = Robot(obeys=False)
    robot.grip()
    robot.move()
    assert (robot.evidence()['delivered'], robot.evidence()['failed']) == (0, 1)


def test_a_grip_that_another_fault_has_answered_is_left_to_it() -> None:
    injector = GripperDelay().injector(default_rng(0))
    answered = Fields(done())
    call = Call('gripper/command', 1, Fields(grip(500.0)), answer=answered)
    injector.on_request(call)
    assert call.answer is answered
    (decision,) = injector.decisions()
    assert not decision.triggered
    assert decision.detail['bypassed'] == 'answered already'


def test_every_grip_command_draws_one_number() -> None:
    draws = default_rng(0).random(3).tolist()
    robot = Robot(probability=0.5)
    for goal in (OPEN, CLOSE, CLOSE):
        robot.grip(goal)
    decisions = robot.recorder.finish().decisions
    assert [decision.draw for decision in decisions] == draws
    late = [decision.triggered for decision in decisions]
    assert late == [False, draws[1] < 0.5, draws[2] < 0.5]


@pytest.mark.parametrize('motions', [0, 65])
def test_a_delay_of_no_motions_is_refused(motions: int) -> None:
    with pytest.raises(ValidationError, match='motions'):
        GripperDelay(motions=motions)
