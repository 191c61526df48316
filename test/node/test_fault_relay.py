"""The relay: without a fault nothing changes, with one only what the fault changes."""

import hashlib
import json
import time

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Pose, PoseStamped
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header

from alpha_chaos import catalogues
from alpha_chaos.action import ExecutePlan, GripperCommand, MoveTo
from alpha_chaos.faults.base import Call, Fields
from alpha_chaos.msg import (
    Action,
    ActionPlan,
    BlockState,
    Exchange,
    FaultEvent,
    SceneObservation,
    Waypoints,
)
from alpha_chaos.nodes.clock import to_time
from alpha_chaos.nodes.fault_relay_node import FaultRelayNode
from alpha_chaos.nodes.flow import deferred_service
from alpha_chaos.plugins import BadSetting
from alpha_chaos.srv import AddFault, ListFaults, Plan, RemoveFault, Reset, ResetFaults

ATTEMPT = 'control_000/oracle#1'
ROUTES = {
    'scene': 'topic scene alpha_chaos/msg/SceneObservation',
    'oracle_planner/plan': 'service oracle_planner/plan alpha_chaos/srv/Plan',
    'arm/move_to': 'action arm/move_to alpha_chaos/action/MoveTo',
    'gripper/command': 'action gripper/command alpha_chaos/action/GripperCommand',
}
LAG = {'kind': 'sensor_lag', 'lag_s': 0.5}
OFFSET = {'kind': 'unreachable_target', 'offset_m': 0.25}
SLIP = {'kind': 'grasp_slip', 'effort_factor': 0.0}
CORRUPTION = {'kind': 'plan_corruption'}
BIAS = {'kind': 'sensor_noise', 'sigma_m': 0.0, 'bias_m': [0.25, 0.0, 0.0]}
DELAY = {'kind': 'gripper_delay'}
TIMEOUT = {'kind': 'planner_timeout'}
NOTHING = hashlib.sha256(b'').hexdigest()


class Provider:
    """A planner, an arm and a gripper that do what they are told and remember what that was."""

    def __init__(self, node):
        self.asked, self.moves, self.grips = [], [], []
        self.refuses = False
        self.waits = False
        self.grips_fail = False
        self.plan = None
        node.create_service(Plan, 'oracle_planner/plan', self._plan)
        self.servers = [
            ActionServer(
                node,
                MoveTo,
                'arm/move_to',
                self._move,
                goal_callback=self._accept,
                cancel_callback=lambda _: CancelResponse.ACCEPT,
            ),
            ActionServer(node, GripperCommand, 'gripper/command', self._grip),
        ]

    def _accept(self, goal):
        return GoalResponse.REJECT if self.refuses else GoalResponse.ACCEPT

    def _plan(self, request, response):
        self.asked.append(request)
        if self.plan is None:
            response.text = '{"actions":[{"action":"RELEASE"}]}'
        else:
            response.typed, response.plan = True, self.plan
        return response

    async def _move(self, handle):
        self.moves.append(handle.request)
        handle.publish_feedback(MoveTo.Feedback(step=7))
        while self.waits and not handle.is_cancel_requested:
            await _turn()
        if handle.is_cancel_requested:
            handle.canceled()
            return MoveTo.Result(message='stopped')
        handle.succeed()
        return MoveTo.Result(reached=True, error=0.043, step=240)

    def _grip(self, handle):
        self.grips.append(handle.request)
        if self.grips_fail:
            handle.abort()
            return GripperCommand.Result(message='no power')
        handle.succeed()
        return GripperCommand.Result(reached=True, stalled=True, effort=500.0)


class _turn:  # noqa: N801  (reads as a verb where it is awaited)
    def __await__(self):
        yield


class Relay:
    """The relay on a stage, with providers behind it and the probe before it."""

    def __init__(self, stage, episode, **parameters):
        self.stage, self.episode = stage, episode
        self.provider = Provider(stage.probe)
        settings = {
            'routes': list(ROUTES.values()),
            'allow': list(ROUTES),
            'enable_injection': True,
            **parameters,
        }
        self.node = stage.add(FaultRelayNode, **settings)
        self.scenes = stage.voice('alpha_chaos/msg/SceneObservation', 'scene')
        self.heard = stage.hear('alpha_chaos/msg/SceneObservation', 'relay/scene')
        self._exchanges = stage.hear('alpha_chaos/msg/Exchange', 'exchanges')
        self._events = stage.hear('alpha_chaos/msg/FaultEvent', 'fault_events')
        for topic in ('relay/scene', 'exchanges', 'fault_events'):
            stage.until(lambda topic=topic: self.node.count_subscribers(topic) == 1, topic)
        answer = stage.reset('fault_relay', episode, ATTEMPT)
        assert answer.ready, answer.message

    def show(self, seconds, sequence=1):
        message = scene(seconds, sequence)
        self.scenes.publish(message)
        return message

    def pass_on(self, *seconds):
        """Send scenes and return the times of those that come out."""
        before = len(self.heard)
        for number, second in enumerate(seconds):
            self.show(second, number + 1)
        self.stage.until(lambda: len(self.heard) == before + len(seconds), 'the scenes')
        found = [deserialize_message(data, SceneObservation) for data in self.heard[before:]]
        return [entry.header.stamp.sec + entry.header.stamp.nanosec * 1e-9 for entry in found]

    def plan(self):
        return self.stage.ask(Plan, 'relay/oracle_planner/plan', **question())

    def move(self, z=0.8):
        return self.stage.drive(MoveTo, 'relay/arm/move_to', target(z))

    def grip(self, **fields):
        goal = GripperCommand.Goal(episode_id=ATTEMPT, max_effort=500.0, object='red', **fields)
        return self.stage.drive(GripperCommand, 'relay/gripper/command', goal)

    def add(self, fault):
        text = fault if isinstance(fault, str) else json.dumps(fault)
        return self.stage.ask(AddFault, 'fault_relay/add_fault', fault=text)

    def remove(self, number):
        return self.stage.ask(RemoveFault, 'fault_relay/remove_fault', id=number)

    def armed(self):
        answer = self.stage.ask(ListFaults, 'fault_relay/list_faults')
        return {
            number: json.loads(text)
            for number, text in zip(answer.ids, answer.faults, strict=True)
        }

    def tallies(self):
        answer = self.stage.ask(ListFaults, 'fault_relay/list_faults')
        return list(zip(answer.decided, answer.struck, strict=True))

    def report(self):
        answer = self.stage.finish('fault_relay', ATTEMPT)
        assert answer.ok, answer.message
        self.counts = {count.topic: count.count for count in answer.published}
        return json.loads(answer.report)

    def exchanges(self):
        return self._all(self._exchanges, '/exchanges', Exchange)

    def events(self):
        return self._all(self._events, '/fault_events', FaultEvent)

    def _all(self, heard, topic, kind):
        sent = next(count.count for count in self.node.published() if count.topic == topic)
        self.stage.until(lambda: len(heard) == sent, f'{sent} of {topic}')
        return [deserialize_message(data, kind) for data in heard]


def scene(seconds, sequence=1):
    return SceneObservation(
        header=Header(stamp=to_time(seconds), frame_id='world'),
        episode_id=ATTEMPT,
        sequence=sequence,
        blocks=[
            BlockState(name=name, pose=Pose(position=Point(x=0.5, y=y, z=0.65)))
            for name, y in (('red', -0.15), ('green', 0.125))
        ],
    )


def question():
    return {
        'episode_id': ATTEMPT,
        'block': 'red',
        'zone': Point(x=0.6, y=0.35, z=0.65),
        'success_radius': 0.05,
        'scene': scene(0.5),
        'waypoints': Waypoints(hover=0.125, grasp=0.0, lift=0.25, zone_hover=0.25, zone_place=0.0),
    }


def target(z):
    pose = Pose(position=Point(x=0.5, y=-0.15, z=z))
    stamped = PoseStamped(header=Header(frame_id='world'), pose=pose)
    return MoveTo.Goal(episode_id=ATTEMPT, target=stamped, position_only=True)


def as_is(message):
    """Return a message as compared here: rclpy's own equality takes NaN for unequal."""
    return str(message)


@pytest.fixture
def relay(stage, control):
    return Relay(stage, control)


# -- nothing changes

SPARING = [
    {**kind.example.model_dump(mode='json'), 'probability': 0.0}
    for kind in catalogues.faults().values()
]
HARMLESS = [[], *([fault] for fault in SPARING), SPARING]


@pytest.fixture(params=HARMLESS, ids=lambda faults: '+'.join(f['kind'] for f in faults) or 'none')
def harmless(stage, control, request):
    """Return a relay with no fault, or faults of probability 0."""
    return Relay(stage, control.model_copy(update={'faults': tuple(request.param)}))


def test_messages_pass_byte_for_byte(harmless):
    sent = harmless.stage.hear('alpha_chaos/msg/SceneObservation', 'scene')
    harmless.stage.until(lambda: harmless.scenes.get_subscription_count() == 2, 'the listener')
    for number in range(30):
        harmless.show(number / 240, number)
    # Bytes that are more than a message, or less, pass as well.
    harmless.scenes.publish(serialize_message(scene(9.0)) + b'\x00\x00\x00\x00')
    harmless.scenes.publish(serialize_message(scene(9.0))[:-12])
    harmless.stage.until(lambda: len(harmless.heard) == len(sent) == 32, 'all messages')
    assert harmless.heard == sent


def test_questions_and_answers_pass_as_they_are(harmless):
    answer = harmless.plan()
    (asked,) = harmless.provider.asked
    assert as_is(asked) == as_is(Plan.Request(**question()))
    assert as_is(answer) == as_is(Plan.Response(text='{"actions":[{"action":"RELEASE"}]}'))


def test_goals_feedback_and_results_pass_as_they_are(harmless):
    heard = []
    goal = target(0.8)
    handle = harmless.stage.answer(
        harmless.stage.send(MoveTo, 'relay/arm/move_to', goal, lambda m: heard.append(m.feedback))
    )
    answer = harmless.stage.answer(handle.get_result_async())
    assert [as_is(each) for each in harmless.provider.moves] == [as_is(goal)]
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert as_is(answer.result) == as_is(MoveTo.Result(reached=True, error=0.043, step=240))
    harmless.stage.until(lambda: heard, 'feedback')
    assert heard == [MoveTo.Feedback(step=7)]
    assert harmless.grip().result.reached
    assert harmless.move(0.9).result.reached
    assert len(harmless.provider.moves) == 2
    assert len(harmless.provider.grips) == 1


def test_a_spared_message_looks_the_same_in_the_record(harmless):
    harmless.pass_on(0.1, 0.2)
    harmless.plan()
    harmless.grip()
    harmless.move(0.7)
    harmless.move(0.9)
    for event in harmless.events():
        assert not event.triggered
        assert event.digest_before == event.digest_after
    for entry in harmless.report()['ledger']:
        assert entry['digest_before'] == entry['digest_after']


def test_both_sides_of_every_exchange_are_recorded(relay):
    relay.plan()
    relay.move()
    exchanges = relay.exchanges()
    assert [(entry.route, entry.stage, entry.side) for entry in exchanges] == [
        (route, stage, side)
        for route in ('oracle_planner/plan', 'arm/move_to')
        for stage, side in (
            ('request', 'client'),
            ('request', 'server'),
            ('response', 'server'),
            ('response', 'client'),
        )
    ]
    assert {(entry.sequence, entry.origin, entry.episode_id) for entry in exchanges} == {
        (1, 'consumer', ATTEMPT)
    }
    goal = deserialize_message(bytes(exchanges[5].payload), MoveTo.Goal)
    assert as_is(goal) == as_is(target(0.8))
    assert json.loads(exchanges[5].text)['target']['pose']['position']['z'] == 0.8


# -- faults strike


def test_the_faults_of_the_episode_are_at_work_from_the_first_message(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (LAG,)}))
    times = relay.pass_on(*(step / 10 for step in range(10)))
    assert times == pytest.approx([0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3, 0.4])
    report = relay.report()
    assert len(report['ledger']) == 10
    assert report['ledger'][0]['sequence'] == 1
    assert report['faults'][0]['exercised']
    assert relay.counts['/fault_events'] == 10


def test_a_changed_request_is_recorded_as_it_came_and_as_it_went(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (OFFSET,)}))
    assert relay.move().result.reached
    (went,) = relay.provider.moves
    assert as_is(went) != as_is(target(0.8))
    came_in, went_on = relay.exchanges()[:2]
    assert as_is(deserialize_message(bytes(came_in.payload), MoveTo.Goal)) == as_is(target(0.8))
    assert as_is(deserialize_message(bytes(went_on.payload), MoveTo.Goal)) == as_is(went)
    (event,) = relay.events()
    assert event.triggered
    assert event.digest_before != event.digest_after


def test_a_command_that_a_fault_adds_is_known_by_the_fault(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (SLIP,)}))
    relay.grip()
    relay.move(0.7)
    relay.move(0.9)
    assert [grip.max_effort for grip in relay.provider.grips] == [500.0, 0.0]
    added = [entry for entry in relay.exchanges() if entry.origin != 'consumer']
    assert [(entry.route, entry.sequence, entry.stage, entry.side) for entry in added] == [
        ('gripper/command', 2, 'request', 'server'),
        ('gripper/command', 2, 'response', 'server'),
    ]
    assert {entry.origin for entry in added} == {'grasp_slip'}
    # It reaches the gripper before the motion that it struck reaches the arm.
    sent_on = [entry for entry in relay.exchanges() if entry.side == 'server'][-4:]
    assert [entry.route for entry in sent_on] == ['gripper/command'] * 2 + ['arm/move_to'] * 2
    assert [entry.sequence for entry in sent_on[-2:]] == [2, 2]


def test_a_new_attempt_begins_with_its_own_faults_and_draws(stage, control):
    struck = control.model_copy(update={'faults': ({**LAG, 'probability': 0.5},)})
    relay = Relay(stage, struck)
    times = [step / 10 for step in range(20)]
    first = relay.pass_on(*times)
    assert stage.reset('fault_relay', struck, 'control_000/oracle#2').ready
    assert relay.pass_on(*times) == first
    assert stage.reset('fault_relay', control, 'control_000/oracle#3').ready
    assert relay.pass_on(*times) == pytest.approx(times)
    assert relay.armed() == {}


def test_a_changed_message_is_the_one_that_came_but_for_what_was_changed(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (BIAS,)}))
    came = relay.show(0.5, 7)
    broken = serialize_message(came)[:-12]  # is no message any more, and passes
    relay.scenes.publish(broken)
    stage.until(lambda: len(relay.heard) == 2, 'both')
    for block in came.blocks:
        block.pose.position.x += 0.25
    assert as_is(deserialize_message(relay.heard[0], SceneObservation)) == as_is(came)
    assert relay.heard[1] == broken
    struck, spared = relay.events()
    assert (struck.triggered, spared.triggered) == (True, False)
    assert struck.digest_before != struck.digest_after
    assert spared.digest_before == spared.digest_after


def test_a_lost_message_is_not_sent_and_its_event_says_that_nothing_went_out(stage, control):
    drop = {'kind': 'scene_drop', 'probability': 1.0}
    relay = Relay(stage, control.model_copy(update={'faults': (drop,)}))
    relay.show(0.5)
    stage.until(lambda: relay.events(), 'the event')
    (event,) = relay.events()
    assert event.triggered
    assert event.digest_after == NOTHING
    relay.report()
    assert relay.counts['/relay/scene'] == 0
    assert relay.heard == []


def test_what_a_fault_answers_reaches_the_consumer_and_the_request_nobody(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (TIMEOUT, DELAY)}))
    answer = relay.plan()
    assert (answer.error, answer.infrastructure) == ('planner_timeout', False)
    gripped = relay.grip(opening=0.0)
    assert gripped.status == GoalStatus.STATUS_SUCCEEDED
    assert as_is(gripped.result) == as_is(
        GripperCommand.Result(reached=True, stalled=True, effort=500.0)
    )
    assert relay.provider.asked == relay.provider.grips == []
    assert [(entry.route, entry.stage, entry.side) for entry in relay.exchanges()] == [
        (route, stage, 'client')
        for route in ('oracle_planner/plan', 'gripper/command')
        for stage in ('request', 'response')
    ]
    for event in relay.events():
        assert event.triggered
        assert event.digest_after == NOTHING


def test_a_command_after_a_response_is_carried_out_before_the_consumer_hears_of_it(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (DELAY,)}))
    relay.grip()
    assert relay.move().result.reached
    (late,) = relay.provider.grips
    assert as_is(late) == as_is(
        GripperCommand.Goal(episode_id=ATTEMPT, max_effort=500.0, object='red')
    )
    assert [
        (entry.route, entry.sequence, entry.stage, entry.side, entry.origin)
        for entry in relay.exchanges()[2:]
    ] == [
        ('arm/move_to', 1, 'request', 'client', 'consumer'),
        ('arm/move_to', 1, 'request', 'server', 'consumer'),
        ('arm/move_to', 1, 'response', 'server', 'consumer'),
        ('gripper/command', 2, 'request', 'server', 'gripper_delay'),
        ('gripper/command', 2, 'response', 'server', 'gripper_delay'),
        ('arm/move_to', 1, 'response', 'client', 'consumer'),
    ]
    (proof,) = relay.report()['faults']
    assert proof['evidence']['delivered'] == 1


def test_a_command_that_the_provider_fails_at_did_not_strike(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (SLIP,)}))
    relay.grip()
    relay.move(0.7)
    relay.provider.grips_fail = True
    assert relay.move(0.9).result.reached
    assert len(relay.provider.grips) == 2
    (event,) = relay.events()
    assert not event.triggered
    assert json.loads(event.detail)['failed'] == 'no power'
    (proof,) = relay.report()['faults']
    assert (proof['exercised'], proof['evidence']['struck']) == (False, 0)


def test_there_is_nothing_to_repeat_where_no_command_has_reached_the_provider(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': ({**DELAY, 'motions': 3}, SLIP)}))
    relay.move(0.7)
    relay.grip()
    relay.move(0.9)
    assert relay.provider.grips == []
    slip = next(event for event in relay.events() if event.fault == 'grasp_slip')
    assert not slip.triggered
    assert json.loads(slip.detail)['failed'] == 'nothing to repeat'


def test_what_came_late_can_be_repeated(stage, control):
    relay = Relay(stage, control.model_copy(update={'faults': (DELAY, SLIP)}))
    relay.move(0.7)
    relay.grip()
    relay.move(0.7)
    relay.move(0.9)
    assert [grip.max_effort for grip in relay.provider.grips] == [500.0, 0.0]
    assert {grip.object for grip in relay.provider.grips} == {'red'}


def test_no_command_goes_where_the_relay_may_not_reach(stage, control):
    names = ('scene', 'arm/move_to')
    relay = Relay(stage, control, routes=[ROUTES[name] for name in names], allow=[*names])
    assert relay.add({**SLIP}).ok
    (armed,) = relay.node._armed
    armed.injector.on_response(
        Call(
            'gripper/command',
            1,
            Fields(GripperCommand.Goal(max_effort=500.0, object='red')),
            Fields(GripperCommand.Result(reached=True, stalled=True)),
        )
    )
    relay.move(0.7)
    assert relay.move(0.9).result.reached
    (event,) = relay.events()
    assert json.loads(event.detail)['failed'] == 'this relay has no action gripper/command'


def test_a_typed_plan_is_read_and_rewritten_in_its_own_messages(stage, control):
    wrong = ({'kind': 'wrong_plan', 'mode': 'swapped_block'},)
    relay = Relay(stage, control.model_copy(update={'faults': wrong}))
    relay.provider.plan = ActionPlan(
        actions=[
            Action(
                kind=Action.MOVE_TO, waypoint='red.hover', target=Point(x=0.5, y=-0.15, z=0.775)
            ),
            Action(kind=Action.GRIP, block='red'),
            Action(kind=Action.RELEASE),
        ]
    )
    assert as_is(relay.plan().plan) == as_is(
        ActionPlan(
            actions=[
                Action(
                    kind=Action.MOVE_TO,
                    waypoint='green.hover',
                    target=Point(x=0.5, y=0.125, z=0.775),
                ),
                Action(kind=Action.GRIP, block='green'),
                Action(kind=Action.RELEASE),
            ]
        )
    )


def test_a_planner_is_shown_other_places_than_the_consumer_asked_about(stage, control):
    stale = ({'kind': 'stale_plan', 'spread_m': 0.1},)
    relay = Relay(stage, control.model_copy(update={'faults': stale}))
    relay.plan()
    (asked,) = relay.provider.asked
    for shown, true in zip(asked.scene.blocks, scene(0.5).blocks, strict=True):
        assert 0 < abs(shown.pose.position.y - true.pose.position.y) <= 0.1
        assert shown.pose.position.z == true.pose.position.z
    asked.scene = scene(0.5)
    assert as_is(asked) == as_is(Plan.Request(**question()))


# -- faults come and go while it runs


def test_a_fault_that_was_added_strikes_the_next_message(relay):
    assert relay.pass_on(0.0, 1.0) == [0.0, 1.0]
    answer = relay.add(LAG)
    assert answer.ok, answer.message
    assert relay.pass_on(2.0) == [2.0]  # its memory begins here
    assert relay.pass_on(2.25, 2.75) == [2.0, 2.25]
    assert relay.armed() == {answer.id: {**LAG, 'route': 'scene', 'probability': 1.0}}
    assert relay.tallies() == [(3, 2)]  # the first one was passed as it was


def test_a_fault_that_was_removed_spares_the_next_message(relay):
    number = relay.add(LAG).id
    assert relay.pass_on(0.0, 0.25) == [0.0, 0.0]
    started = time.monotonic()
    assert relay.remove(number).ok
    assert time.monotonic() - started < 5.0
    assert relay.pass_on(0.5, 0.75) == [0.5, 0.75]
    assert relay.armed() == {}


def test_what_a_removed_fault_did_is_still_reported(relay):
    number = relay.add(LAG).id
    relay.pass_on(0.0, 0.25)
    relay.remove(number)
    (proof,) = relay.report()['faults']
    assert (proof['fault'], proof['exercised']) == ('sensor_lag', True)


def test_removing_what_is_not_there_names_what_is(relay):
    first, second = (relay.add(fault).id for fault in (LAG, OFFSET))
    answer = relay.remove(99)
    assert not answer.ok
    assert answer.message == f'no fault 99; armed: {first}, {second}'
    relay.remove(first)
    assert not relay.remove(first).ok
    assert list(relay.armed()) == [second]


def test_a_reset_of_the_faults_disarms_everything(relay):
    relay.add(LAG)
    relay.add(OFFSET)
    assert relay.stage.ask(ResetFaults, 'fault_relay/reset_faults').ok
    assert relay.armed() == {}
    assert relay.pass_on(0.0, 0.25) == [0.0, 0.25]


# -- what is refused


@pytest.mark.parametrize(
    ('fault', 'why'),
    [
        ({'kind': 'sensor_lagg', 'lag_s': 0.5}, "did you mean 'sensor_lag'"),
        ({'kind': 'earthquake'}, 'known: grasp_slip, gripper_delay, plan_corruption'),
        ({'lag_s': 0.5}, 'no fault is named; known: '),
        ({'kind': 'sensor_lag'}, 'lag_s'),
        ({**LAG, 'lagg_s': 1.0}, 'lagg_s'),
        ({**LAG, 'lag_s': -1.0}, 'lag_s'),
        ('{"kind": "sensor_lag", "lag_s": NaN}', 'lag_s'),
        ({**LAG, 'route': 'camera'}, 'needs one of the routes camera; this relay has arm/move_to'),
        ('{"kind": ', 'Expecting value'),
        (
            '{kind: sensor_lag, lag_s: 0.5}',
            'a fault is a JSON object: {"kind": ..., ...}; Expecting',
        ),
        ('[]', 'a fault is a JSON object'),
        ('"sensor_lag"', 'a fault is a JSON object'),
        ('[' * 100_000, 'a fault is one JSON object'),
    ],
)
def test_a_fault_that_cannot_be_is_refused_and_says_why(relay, fault, why):
    answer = relay.add(fault)
    assert not answer.ok
    assert why in answer.message
    assert relay.armed() == {}
    assert relay.pass_on(0.0, 0.25) == [0.0, 0.25]


def test_injection_is_off_unless_it_is_turned_on(stage, control):
    relay = Relay(stage, control, enable_injection=False)
    answer = relay.add(LAG)
    assert not answer.ok
    assert answer.message == 'injection is off; start the relay with enable_injection:=true'
    assert relay.pass_on(0.0, 0.25) == [0.0, 0.25]


def test_an_episode_with_faults_cannot_begin_where_injection_is_off(stage, control):
    relay = Relay(stage, control, enable_injection=False)
    struck = control.model_copy(update={'faults': (LAG,)})
    answer = stage.reset('fault_relay', struck, 'control_000/oracle#2')
    assert answer.failed
    assert 'enable_injection:=true' in answer.message
    assert relay.armed() == {}


def test_no_route_may_be_touched_that_is_not_allowed(stage, control):
    relay = Relay(stage, control, allow=['scene', 'arm/move_to'])
    assert relay.add(LAG).ok
    answer = relay.add(SLIP)
    assert not answer.ok
    assert answer.message == (
        "fault 'grasp_slip' touches gripper/command; the relay's parameter allow names "
        'arm/move_to, scene'
    )
    assert relay.add(OFFSET).ok


def test_unless_a_route_is_allowed_none_may_be_touched(stage, control):
    relay = Relay(stage, control, allow=[])
    answer = relay.add(LAG)
    assert not answer.ok
    assert 'allow names no route' in answer.message


def test_before_any_attempt_no_fault_can_be_armed(stage):
    stage.add(FaultRelayNode, routes=[ROUTES['scene']], enable_injection=True, allow=['scene'])
    answer = stage.ask(AddFault, 'fault_relay/add_fault', fault=json.dumps(LAG))
    assert not answer.ok
    assert '~/reset' in answer.message


@pytest.mark.parametrize(
    ('entry', 'why'),
    [
        ('scene', 'expected "topic|service|action <name> <type>"'),
        ('queue scene alpha_chaos/msg/SceneObservation', 'expected "topic|service|action'),
        ('topic scene alpha_chaos/msg/Seen', 'alpha_chaos/msg/Seen'),
        ('topic scene SceneObservation', 'SceneObservation'),
        ('service scene alpha_chaos/msg/SceneObservation', 'service'),
    ],
)
def test_a_route_that_is_none_is_refused(stage, entry, why):
    with pytest.raises(BadSetting, match=why.replace('|', r'\|')):
        stage.add(FaultRelayNode, routes=[entry])


# -- providers that refuse, stop, or were never there


def test_an_attempt_does_not_begin_before_every_provider_is_there(stage, control):
    stage.add(FaultRelayNode, routes=[ROUTES['arm/move_to']])
    fields = {'episode_id': ATTEMPT, 'episode': control.to_json()}
    answer = stage.ask(Reset, 'fault_relay/reset', **fields)
    assert (answer.ready, answer.failed) == (False, False)
    assert answer.message == 'fault_relay waits for arm/move_to'


def test_a_refusal_by_the_driver_comes_through_as_one(relay):
    relay.provider.refuses = True
    answer = relay.move()
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert not answer.result.reached
    assert answer.result.message == 'refused by the driver'
    relay.provider.refuses = False
    assert relay.move().result.reached


def test_a_cancellation_reaches_the_driver_and_its_end_the_consumer(relay):
    relay.provider.waits = True
    stage = relay.stage
    handle = stage.answer(stage.send(MoveTo, 'relay/arm/move_to', target(0.8)))
    stage.until(lambda: relay.provider.moves, 'the motion')
    result = handle.get_result_async()
    stage.answer(handle.cancel_goal_async())
    answer = stage.answer(result)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.message == 'stopped'


def test_a_cancellation_before_the_driver_has_answered_is_not_lost(relay):
    relay.provider.waits = True
    stage = relay.stage
    accepted = stage.send(MoveTo, 'relay/arm/move_to', target(0.8))
    stage.until(accepted.done)
    handle = accepted.result()
    cancelled, result = handle.cancel_goal_async(), handle.get_result_async()
    stage.answer(cancelled)
    assert stage.answer(result).status == GoalStatus.STATUS_CANCELED


def test_a_fault_that_crashes_spoils_the_attempt_and_not_the_task(relay, monkeypatch):
    relay.add(OFFSET)

    def crash(*_):
        raise ZeroDivisionError('by a fault')

    (armed,) = relay.node._armed
    monkeypatch.setattr(armed.injector, 'on_request', crash)
    assert not relay.move().result.reached
    answer = relay.stage.finish('fault_relay', ATTEMPT)
    assert not answer.ok
    assert 'ZeroDivisionError: by a fault' in answer.message


def test_a_path_that_leads_nowhere_spoils_the_attempt_and_lets_the_message_pass(relay):
    assert relay.add({**BIAS, 'positions': 'blocs[*].pose.position'}).ok
    assert relay.pass_on(0.5) == [0.5]
    answer = relay.stage.finish('fault_relay', ATTEMPT)
    assert not answer.ok
    assert "fault sensor_noise failed: AttributeError: 'SceneObservation'" in answer.message
    assert "'blocs'" in answer.message


# -- types that are not this package's


def test_a_topic_of_any_type_passes(stage, control):
    stage.add(
        FaultRelayNode, routes=['topic lamp std_msgs/msg/Bool', 'topic name std_msgs/msg/String']
    )
    lamp, name = (
        stage.voice(f'std_msgs/msg/{kind}', topic)
        for kind, topic in (('Bool', 'lamp'), ('String', 'name'))
    )
    heard = [
        stage.hear('std_msgs/msg/Bool', 'relay/lamp'),
        stage.hear('std_msgs/msg/String', 'relay/name'),
    ]
    assert stage.reset('fault_relay', control, ATTEMPT).ready
    lamp.publish(lamp.msg_type(data=True))
    name.publish(name.msg_type(data='red'))
    stage.until(lambda: all(heard), 'both')
    assert deserialize_message(heard[0][0], lamp.msg_type).data
    assert deserialize_message(heard[1][0], name.msg_type).data == 'red'


def test_a_service_of_any_type_passes(stage, control):
    kind = 'rcl_interfaces/srv/GetParameters'
    stage.add(FaultRelayNode, routes=[f'service probe/get_parameters {kind}'])
    assert stage.reset('fault_relay', control, ATTEMPT).ready
    stage.probe.declare_parameter('model', '7e1')
    answer = stage.ask(GetParameters, 'relay/probe/get_parameters', names=['model'])
    assert answer.values[0].string_value == '7e1'


def test_an_action_of_any_type_passes(stage, control):
    def work(handle):
        handle.succeed()
        return ExecutePlan.Result(completed=True, executed=3)

    server = ActionServer(stage.probe, ExecutePlan, 'work', work)
    stage.add(FaultRelayNode, routes=['action work alpha_chaos/action/ExecutePlan'])
    assert stage.reset('fault_relay', control, ATTEMPT).ready
    answer = stage.drive(ExecutePlan, 'relay/work', ExecutePlan.Goal())
    assert (answer.status, answer.result.executed) == (GoalStatus.STATUS_SUCCEEDED, 3)
    server.destroy()


def test_a_provider_that_never_answers_keeps_nobody_else_waiting(stage, control):
    silent = deferred_service(stage.probe, Plan, 'llm_planner/plan', lambda *_: None)
    routes = [*ROUTES.values(), 'service llm_planner/plan alpha_chaos/srv/Plan']
    relay = Relay(stage, control, routes=routes)
    waiting = stage.request(Plan, 'relay/llm_planner/plan', **question())
    assert relay.pass_on(0.0) == [0.0]
    assert relay.plan().text
    assert relay.move().result.reached
    assert not waiting.done()
    stage.probe.destroy_service(silent)


def test_a_relay_that_relays_nothing_says_how_it_gets_something_to_relay(stage, capfd):
    stage.add(FaultRelayNode)
    assert 'nothing is relayed: for a graph of your own, name a file' in capfd.readouterr().err
