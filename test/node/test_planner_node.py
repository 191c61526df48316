"""Planner nodes: an answer to every question, whatever the planner behind it does."""

import math
import threading

import pytest
from geometry_msgs.msg import Point, Pose
from std_msgs.msg import Header

from alpha_chaos.msg import Action, BlockState, SceneObservation, Waypoints
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.oracle_planner_node import OraclePlannerNode
from alpha_chaos.plan import ActionPlan, Placement
from alpha_chaos.planners.base import PlanReply, Provenance
from alpha_chaos.srv import Finish, Plan

ATTEMPT = 'control_000/oracle#1'
RED = (0.5, -0.15, 0.65)
ZONE = (0.6, 0.35, 0.65)
NOBODY = Provenance(planner='nobody', provider='scripted')


class Planner:
    """The planner node on a stage, in an attempt that has begun."""

    def __init__(self, stage, episode):
        self.stage = stage
        self.node = stage.add(OraclePlannerNode)
        assert stage.reset('oracle_planner', episode, ATTEMPT).ready

    def ask(self, **fields):
        return self.stage.ask(Plan, 'oracle_planner/plan', **question(**fields))

    def thinks(self, plan):
        """Put another planner behind the node: a function of the request."""

        class Thinker:
            def plan(self, request, complete):
                return plan(request)

        self.node._planner = Thinker()


def question(attempt=ATTEMPT, blocks=(('red', RED),), **changes):
    zone = Point(x=ZONE[0], y=ZONE[1], z=ZONE[2])
    return {
        'episode_id': attempt,
        'block': 'red',
        'zone': zone,
        'success_radius': 0.05,
        'waypoints': Waypoints(hover=0.15, grasp=0.02, lift=0.2, zone_hover=0.25, zone_place=0.06),
        'scene': SceneObservation(
            header=Header(stamp=to_time(0.5), frame_id='world'),
            episode_id=attempt,
            sequence=1,
            blocks=[
                BlockState(name=name, pose=Pose(position=Point(x=x, y=y, z=z)))
                for name, (x, y, z) in blocks
            ],
        ),
        **changes,
    }


def replies(text=None, **fields):
    return lambda request: PlanReply(None, text, NOBODY, **fields)


@pytest.fixture
def planner(stage, control):
    return Planner(stage, control)


def test_the_oracle_answers_with_a_typed_plan(planner):
    answer = planner.ask()
    assert (answer.error, answer.typed, answer.text) == ('', True, '')
    kinds = [action.kind for action in answer.plan.actions]
    move, grip, release = Action.MOVE_TO, Action.GRIP, Action.RELEASE
    assert kinds == [move, move, grip, move, move, move, release]
    hover = answer.plan.actions[0]
    assert hover.waypoint == 'red.hover'
    assert (hover.target.x, hover.target.y, hover.target.z) == (RED[0], RED[1], RED[2] + 0.15)
    assert answer.plan.header.frame_id == 'world'
    assert answer.info.planner == 'oracle'


def test_the_oracle_as_text_answers_with_the_same_plan_as_text(stage, paper):
    planner = Planner(stage, paper.episode('control_000', 'oracle_json'))
    answer = planner.ask()
    assert (answer.error, answer.typed) == ('', False)
    verdict = ActionPlan.validate_raw_plan(answer.text)
    assert verdict.reasons == []
    assert len(verdict.plan.actions) == 7
    assert answer.info.planner == 'oracle_json'


def test_a_planner_that_crashes_is_an_answer_and_the_node_lives_on(planner):
    def crash(request):
        raise ZeroDivisionError('no idea')

    planner.thinks(crash)
    answer = planner.ask()
    assert (answer.error, answer.infrastructure) == ('planner_crashed', True)
    assert answer.message == 'ZeroDivisionError: no idea'
    planner.thinks(replies('{}'))
    answer = planner.ask()
    assert (answer.error, answer.text) == ('', '{}')


def test_a_message_of_a_crash_that_cannot_be_sent_is_escaped(planner):
    def crash(request):
        raise ValueError('\x00 and \ud800')

    planner.thinks(crash)
    assert planner.ask().message == 'ValueError: \\u0000 and \\ud800'


@pytest.mark.parametrize(
    ('text', 'sent'),
    [
        ('{"actions": []}\x00{"actions": [1]}', '{"actions": []}\\u0000{"actions": [1]}'),
        ('half a pair \ud83d', 'half a pair \\ud83d'),
        ('\udc80\x00', '\\udc80\\u0000'),
        ('whole pairs \U0001f600 and é', 'whole pairs \U0001f600 and é'),
        ('', ''),
        (' ' * 200_000 + 'x', ' ' * 200_000 + 'x'),
    ],
)
def test_whatever_a_model_writes_arrives_whole(planner, text, sent):
    planner.thinks(replies(text))
    answer = planner.ask()
    assert (answer.error, answer.typed) == ('', False)
    assert answer.text == sent


def test_a_planner_that_has_no_answer_says_why(planner):
    planner.thinks(replies(error='timeout', message='no reply in 60 s', infrastructure=True))
    answer = planner.ask()
    assert (answer.error, answer.message) == ('timeout', 'no reply in 60 s')
    assert answer.infrastructure


def test_a_question_with_numbers_that_are_none_is_refused_by_field(planner):
    answer = planner.ask(waypoints=Waypoints(hover=math.nan))
    assert (answer.error, answer.infrastructure) == ('bad_request', True)
    assert answer.message.startswith('hover: Input should be a finite number')
    assert planner.ask().error == ''


def test_where_the_answer_came_from_is_told(planner):
    whence = Provenance(
        planner='llm',
        provider='embedded',
        model='7e1',
        digest='ab' * 32,
        prompt_sha256='cd' * 32,
        prompt_tokens=300,
        completion_tokens=80,
        wall_s=1.5,
        cached=True,
        done_reason='stop',
    )
    planner.thinks(lambda request: PlanReply(None, '{}', whence))
    info = planner.ask().info
    assert (info.model, info.prompt_tokens, info.completion_tokens) == ('7e1', 300, 80)
    assert (info.wall_time, info.cached, info.done_reason) == (1.5, True, 'stop')
    assert (info.digest, info.prompt_sha256) == ('ab' * 32, 'cd' * 32)


def test_the_planner_is_told_what_was_seen_and_when(planner):
    asked = []

    def plan(request):
        asked.append(request)
        return PlanReply(None, '{}', NOBODY)

    planner.thinks(plan)
    planner.ask(blocks=(('red', RED), ('green', (0.5, 0.0, 0.65))))
    (request,) = asked
    assert (request.block, request.zone, request.success_radius) == ('red', ZONE, 0.05)
    assert dict(request.blocks) == {'red': RED, 'green': (0.5, 0.0, 0.65)}
    assert request.observed_s == 0.5
    assert request.waypoints.model_dump() == {
        'hover': 0.15,
        'grasp': 0.02,
        'lift': 0.2,
        'zone_hover': 0.25,
        'zone_place': 0.06,
        'zone_stack': 0.0,
    }
    assert request.wanted == (Placement('red', ZONE, 0.05),)


def test_a_block_that_was_not_seen_gives_no_plan_and_no_crash(planner):
    answer = planner.ask(blocks=())
    assert answer.error
    assert answer.error != 'planner_crashed'
    assert 'red' in answer.message
    assert not answer.plan.actions


@pytest.mark.parametrize('attempt', ['control_000/oracle#2', ''])
def test_a_question_of_another_attempt_is_not_answered(planner, attempt):
    answer = planner.ask(attempt=attempt)
    assert (answer.error, answer.infrastructure) == ('wrong_episode', True)
    assert (
        answer.message == "oracle_planner runs 'control_000/oracle#1' and plans for its arm only"
    )


def test_an_arm_that_another_node_plans_for_is_not_answered(stage, paper):
    planner = Planner(stage, paper.episode('control_000', 'llm'))
    assert planner.ask().error == 'wrong_episode'


def test_while_a_planner_thinks_the_node_answers_others(planner):
    think = threading.Event()

    def plan(request):
        assert think.wait(30)
        return PlanReply(None, '{}', NOBODY)

    planner.thinks(plan)
    waiting = planner.stage.request(Plan, 'oracle_planner/plan', **question())
    report = planner.stage.ask(Finish, 'oracle_planner/finish', episode_id='other')
    assert not report.ok
    assert not waiting.done()
    think.set()
    assert planner.stage.answer(waiting).text == '{}'


def test_a_node_that_leaves_does_not_wait_for_a_thought(planner):
    think = threading.Event()
    planner.thinks(lambda request: think.wait(30) and replies('{}')(request))
    planner.stage.request(Plan, 'oracle_planner/plan', **question())
    for _ in range(5):
        planner.stage.turn(0.01)
    planner.stage.remove(planner.node)
    think.set()
