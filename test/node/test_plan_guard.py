"""The plan guard as a node: it answers what it publishes, whatever the plan is."""

import math

import pytest
from geometry_msgs.msg import Point, Pose
from rclpy.serialization import deserialize_message
from std_msgs.msg import Header

from alpha_chaos.catalogues import bodies
from alpha_chaos.msg import (
    Action,
    ActionPlan,
    BlockState,
    PlanVerdict,
    SceneObservation,
    WorldDescription,
)
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.convert import plan_message
from alpha_chaos.nodes.markers import Picture
from alpha_chaos.nodes.plan_guard_node import PlanGuardNode
from alpha_chaos.plan import ActionPlan as Plan
from alpha_chaos.planners.oracle import plan_for
from alpha_chaos.plugins import parse
from alpha_chaos.srv import CheckPlan
from alpha_chaos.tasks.pick_place import PickPlace

ATTEMPT = 'control_000/oracle#1'
RED = (0.5, -0.15, 0.655)
PLACEMENTS = PickPlace().placements
HEADER = Header(stamp=to_time(0.5), frame_id='world')


class Guarded:
    """The guard on a stage, in an attempt that has begun."""

    def __init__(self, stage, episode, mode):
        self.stage = stage
        self.node = stage.add(PlanGuardNode)
        self.heard = stage.hear('alpha_chaos/msg/PlanVerdict', 'plan_verdicts')
        stage.until(lambda: self.node.count_subscribers('plan_verdicts') == 1, 'a subscriber')
        self.waypoints = parse(bodies(), episode.body, 'body').waypoints
        guarded = episode.model_copy(update={'guard': mode})
        assert stage.reset('plan_guard', guarded, ATTEMPT).ready

    def oracles(self):
        resolved = plan_for(PLACEMENTS).resolve(
            {'red': RED}, {'zone': PLACEMENTS[0].position_m}, self.waypoints
        )
        return list(resolved.actions)

    def ask(self, actions, attempt=ATTEMPT, **fields):
        plan = plan_message(Plan(actions=tuple(actions)), HEADER, attempt)
        return self.check(plan, attempt, **fields)

    def check(self, plan, attempt=ATTEMPT, **fields):
        x, y, z = RED
        pose = Pose(position=Point(x=x, y=y, z=z))
        scene = SceneObservation(blocks=[BlockState(name='red', pose=pose)])
        return self.stage.ask(
            CheckPlan, 'plan_guard/check', episode_id=attempt, plan=plan, scene=scene, **fields
        )


@pytest.fixture
def guarded(stage, control):
    return Guarded(stage, control, 'block')


def test_a_clean_plan_passes_and_its_verdict_is_published(guarded):
    answer = guarded.ask(guarded.oracles())
    assert answer.ok, answer.message
    assert (answer.verdict.clean, answer.verdict.blocked) == (True, False)
    assert (answer.verdict.mode, answer.verdict.sequence) == ('block', 1)
    guarded.stage.until(lambda: guarded.heard, 'the verdict')
    assert deserialize_message(guarded.heard[0], PlanVerdict) == answer.verdict
    (place,) = answer.verdict.placements
    assert (place.block, place.zone, place.base, place.radius) == ('red', 'zone', '', 0.05)
    assert len(answer.verdict.path) == 7


def test_a_plan_with_a_failure_is_stopped_with_the_place_and_the_reason(guarded):
    hover, grasp, grip, *rest = guarded.oracles()
    answer = guarded.ask([hover, grip, grasp, *rest])
    assert answer.ok
    assert (answer.verdict.clean, answer.verdict.blocked) == (False, True)
    first, *others = answer.verdict.failures
    assert (first.action, first.rule, first.kind) == (1, 'gripped_nothing', 'latent')
    assert (first.position.x, first.position.y, first.position.z) == pytest.approx(
        (RED[0], RED[1], RED[2] + guarded.waypoints.hover)
    )
    assert 'red was never put into zone' in [failure.message for failure in others]
    assert guarded.ask(guarded.oracles()).verdict.sequence == 2


def test_a_guard_that_only_looks_stops_nothing(stage, control):
    guarded = Guarded(stage, control, 'observe')
    verdict = guarded.ask(guarded.oracles()[:2]).verdict
    assert (verdict.mode, verdict.clean, verdict.blocked) == ('observe', False, False)


def test_the_hand_is_where_it_was_left(guarded):
    plan = guarded.oracles()[4:]  # to the zone, and let go
    tip = Point(x=RED[0], y=RED[1], z=RED[2])
    assert guarded.ask(plan, has_moved=True, tip=tip, closed=True).verdict.clean
    opened = guarded.ask(plan, has_moved=True, tip=tip, closed=False).verdict
    assert 'the gripper is open already' in [failure.message for failure in opened.failures]


def test_a_plan_of_another_attempt_is_not_checked(guarded):
    answer = guarded.ask(guarded.oracles(), 'control_000/oracle#2')
    assert not answer.ok
    assert answer.message == f"plan_guard runs '{ATTEMPT}'"
    assert not guarded.heard


@pytest.mark.parametrize(
    'action',
    [
        Action(kind=Action.MOVE_TO, target=Point(x=math.nan)),
        Action(kind=Action.MOVE_TO, target=Point(x=1e300)),
        Action(kind=Action.GRIP, block='\x1b[2J'),
    ],
    ids=['nan', 'far', 'binary'],
)
def test_what_no_parser_lets_through_is_an_error_and_the_node_lives_on(guarded, action):
    answer = guarded.check(ActionPlan(header=HEADER, episode_id=ATTEMPT, actions=[action]))
    assert not answer.ok
    assert 'ValidationError' in answer.message
    assert guarded.ask(guarded.oracles()).ok
    assert not guarded.stage.finish('plan_guard', ATTEMPT).ok  # the attempt does not count


def test_viewers_are_shown_the_way_and_what_fails_on_it(guarded):
    hover, grasp, grip, *rest = guarded.oracles()
    picture = Picture(WorldDescription(zone=Point(x=0.6, y=0.35, z=0.65), success_radius=0.05))
    before = {marker.ns for marker in picture.markers()}
    picture.verdict = guarded.ask([hover, grip, grasp, *rest]).verdict
    shown = [marker for marker in picture.markers() if marker.ns not in before]
    (way,) = (marker for marker in shown if marker.ns == 'plan')
    assert list(way.points) == list(picture.verdict.path)
    failures = picture.verdict.failures
    places = [marker.pose.position for marker in shown if marker.ns == 'plan failures']
    assert places == [failure.position for failure in failures]
    texts = [marker.text for marker in shown if marker.ns == 'plan failure texts']
    assert texts[0] == 'gripped_nothing: the gripper closed on nothing'
    assert len(texts) == len(failures)
    assert not [marker for marker in shown if marker.ns == 'zones']  # there is but the world's
