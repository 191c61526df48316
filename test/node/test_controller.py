"""The controller: it carries out a plan action by action, and stops where one fails."""

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from std_msgs.msg import Header

from alpha_chaos.action import ExecutePlan, GripperCommand, MoveTo
from alpha_chaos.msg import Action, ActionPlan
from alpha_chaos.nodes.controller_node import ControllerNode
from alpha_chaos.srv import Reset

ATTEMPT = 'control_000/oracle#1'
HOVER = Action(kind=Action.MOVE_TO, waypoint='red.hover', target=Point(x=0.5, y=-0.15, z=0.8))
LIFT = Action(kind=Action.MOVE_TO, target=Point(x=0.5, y=-0.15, z=0.9))
GRIP = Action(kind=Action.GRIP, block='red')
RELEASE = Action(kind=Action.RELEASE)


def plan(*actions, attempt=ATTEMPT):
    message = ActionPlan(header=Header(frame_id='world'), episode_id=attempt, actions=actions)
    return ExecutePlan.Goal(plan=message)


class Turn:
    """Await it to let others go first."""

    def __await__(self):
        yield


class Driver:
    """An arm and a gripper; they fail, refuse or dawdle at the command they are told to."""

    def __init__(self, node):
        self.commands = []
        self.fails = self.refuses = self.dawdles = None  # numbers of commands, from 0
        self.servers = [
            ActionServer(
                node,
                kind,
                name,
                self._work,
                goal_callback=self._accept,
                cancel_callback=lambda _: CancelResponse.ACCEPT,
            )
            for kind, name in ((MoveTo, 'arm/move_to'), (GripperCommand, 'gripper/command'))
        ]

    def _accept(self, goal):
        self.commands.append(goal)
        refused = len(self.commands) - 1 == self.refuses
        return GoalResponse.REJECT if refused else GoalResponse.ACCEPT

    async def _work(self, handle):
        number = len(self.commands) - 1
        kind = MoveTo if isinstance(handle.request, MoveTo.Goal) else GripperCommand
        while number == self.dawdles and not handle.is_cancel_requested:
            await Turn()
        if handle.is_cancel_requested:
            handle.canceled()
            return kind.Result(message='cancelled after 24 of 240 steps')
        if number == self.fails:
            handle.abort()
            return kind.Result(message='the arm is tired')
        handle.succeed()
        return kind.Result(reached=True)


class Hand:
    """The controller on a stage, in an attempt that has begun, with a driver behind it."""

    def __init__(self, stage, episode, **parameters):
        self.stage = stage
        self.driver = Driver(stage.probe)
        self.node = stage.add(ControllerNode, **parameters)
        assert stage.reset('controller', episode, ATTEMPT).ready

    def execute(self, *actions, **fields):
        return self.stage.drive(ExecutePlan, 'execute_plan', plan(*actions, **fields))


@pytest.fixture
def hand(stage, control):
    return Hand(stage, control)


def test_a_plan_is_carried_out_in_order(hand):
    heard = []
    handle = hand.stage.answer(
        hand.stage.send(
            ExecutePlan,
            'execute_plan',
            plan(HOVER, GRIP, LIFT, RELEASE),
            lambda message: heard.append((message.feedback.index, message.feedback.action)),
        )
    )
    answer = hand.stage.answer(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result == ExecutePlan.Result(completed=True, executed=4)
    hover, grip, lift, release = hand.driver.commands
    assert hover.target.pose.position == HOVER.target
    assert hover.target.header.frame_id == 'world'
    assert hover.position_only
    assert (grip.opening, grip.max_effort, grip.object) == (0.0, 500.0, 'red')
    assert lift.target.pose.position == LIFT.target
    assert (release.opening, release.max_effort, release.object) == (0.08, 0.0, '')
    assert {command.episode_id for command in hand.driver.commands} == {ATTEMPT}
    hand.stage.until(lambda: len(heard) == 4, 'feedback')
    assert heard == [
        (0, 'red.hover'),
        (1, 'GRIP red'),
        (2, 'MOVE_TO (0.500, -0.150, 0.900)'),
        (3, 'RELEASE'),
    ]


def test_grip_and_opening_can_be_chosen(stage, control):
    hand = Hand(stage, control, grip_effort=40.0, open_width=0.11)
    assert hand.execute(GRIP, RELEASE).result.completed
    grip, release = hand.driver.commands
    assert (grip.max_effort, release.opening) == (40.0, 0.11)


@pytest.mark.parametrize('number', [0, 1, 2])
def test_it_stops_at_the_action_that_fails_and_says_why(hand, number):
    hand.driver.fails = number
    answer = hand.execute(HOVER, GRIP, LIFT)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert not answer.result.completed
    assert answer.result.executed == number
    what = ['red.hover', 'GRIP red', 'MOVE_TO (0.500, -0.150, 0.900)'][number]
    assert answer.result.message == f'action {number} {what}: the arm is tired'
    assert len(hand.driver.commands) == number + 1


def test_it_stops_at_an_action_that_the_driver_refuses(hand):
    hand.driver.refuses = 1
    answer = hand.execute(HOVER, GRIP, LIFT)
    assert answer.result.message == 'action 1 GRIP red: refused by the driver'
    assert answer.result.executed == 1
    assert hand.execute(HOVER).result.completed


@pytest.mark.parametrize(
    ('actions', 'attempt'), [((), ATTEMPT), ((HOVER,), 'control_000/oracle#2'), ((HOVER,), '')]
)
def test_an_empty_plan_and_a_foreign_one_are_refused_and_nothing_moves(hand, actions, attempt):
    assert not hand.execute(*actions, attempt=attempt).accepted
    assert hand.driver.commands == []


def test_a_second_plan_is_refused_while_one_is_carried_out(hand):
    hand.driver.dawdles = 0
    stage = hand.stage
    first = stage.answer(stage.send(ExecutePlan, 'execute_plan', plan(HOVER)))
    stage.until(lambda: hand.driver.commands, 'the motion')
    assert not stage.answer(stage.send(ExecutePlan, 'execute_plan', plan(GRIP))).accepted
    hand.driver.dawdles = None
    assert stage.answer(first.get_result_async()).result.completed
    assert hand.execute(GRIP).result.completed


def test_a_cancelled_plan_stops_the_motion_under_way_and_sends_no_other(hand):
    hand.driver.dawdles = 1
    stage = hand.stage
    handle = stage.answer(stage.send(ExecutePlan, 'execute_plan', plan(HOVER, LIFT, GRIP)))
    result = handle.get_result_async()
    stage.until(lambda: len(hand.driver.commands) == 2, 'the second motion')
    stage.answer(handle.cancel_goal_async())
    answer = stage.answer(result)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert (answer.result.completed, answer.result.executed) == (False, 1)
    assert 'cancelled' in answer.result.message
    assert len(hand.driver.commands) == 2
    assert hand.execute(GRIP).result.completed


def test_a_plan_may_be_cancelled_before_anything_moves(hand):
    hand.driver.dawdles = 0
    stage = hand.stage
    handle = stage.answer(stage.send(ExecutePlan, 'execute_plan', plan(HOVER, GRIP)))
    cancelled, result = handle.cancel_goal_async(), handle.get_result_async()
    stage.answer(cancelled)
    assert stage.answer(result).status == GoalStatus.STATUS_CANCELED


def test_an_attempt_does_not_begin_without_a_driver(stage, control):
    stage.add(ControllerNode)
    fields = {'episode_id': ATTEMPT, 'episode': control.to_json()}
    answer = stage.ask(Reset, 'controller/reset', **fields)
    assert (answer.ready, answer.failed) == (False, False)
    assert answer.message == 'controller waits for arm/move_to'


def test_an_attempt_does_not_begin_while_a_plan_is_carried_out(hand, control):
    hand.driver.dawdles = 0
    stage = hand.stage
    handle = stage.answer(stage.send(ExecutePlan, 'execute_plan', plan(HOVER)))
    stage.until(lambda: hand.driver.commands, 'the motion')
    fields = {'episode_id': 'control_000/oracle#2', 'episode': control.to_json()}
    answer = stage.ask(Reset, 'controller/reset', **fields)
    assert answer.message == 'controller waits for the plan under way'
    stage.answer(handle.cancel_goal_async())
    assert stage.reset('controller', control, 'control_000/oracle#2').ready
