"""Services and actions through the relay: real clients and servers of types found at run time."""

import json

import pytest
from action_msgs.msg import GoalStatus
from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_srvs.srv import SetBool, Trigger

from alpha_chaos.action import MoveTo
from alpha_chaos.catalogues import transit_faults
from alpha_chaos.faults.base import Fields
from alpha_chaos.nodes.flow import Flow, Wait, after, deferred_service
from alpha_chaos.nodes.message_fields import check_values
from alpha_chaos.nodes.transit_relay_node import TransitRelayNode
from alpha_chaos.plugins import BadSetting
from alpha_chaos.srv import AddFault, Advance, ListFaults, RemoveFault, ResetFaults
from alpha_chaos.transit.base import SIDES_OF
from alpha_chaos.transit.content import fill

FILE = """\
allow: [/switch, /advance, /move]
services: {/switch: , /advance: }
actions: {/move: }
"""
NEVER_S = 0.3  # after which what has not come will not come: nothing else is under way
STEPS = 7


class Provider:
    """Two services and an action that note what they were asked."""

    def __init__(self, node):
        self.node = node
        self.switched, self.steps, self.goals, self.cancelled = [], [], [], []
        self.wait_s = 0.0  # that a goal takes
        self.mute = False
        deferred_service(node, SetBool, '/switch', self._switch)
        node.create_service(Advance, '/advance', self._advance)
        self.server = ActionServer(
            node,
            MoveTo,
            '/move',
            self._result,
            goal_callback=self._goal,
            handle_accepted_callback=self._begin,
            cancel_callback=self._cancel,
        )
        self._ends = {}

    def _switch(self, request, response, respond):
        self.switched.append(request.data)
        response.success, response.message = True, f'call {len(self.switched)}'
        if not self.mute:
            respond(response)

    def _advance(self, request, response):
        self.steps.append(request.steps)
        response.ok, response.message = True, str(request.steps)
        response.objects.step = request.steps
        return response

    def _goal(self, goal):
        return GoalResponse.REJECT if goal.episode_id == 'no' else GoalResponse.ACCEPT

    def _begin(self, handle):
        self.goals.append(handle.request.episode_id)

        async def work():
            for step in range(3):
                handle.publish_feedback(MoveTo.Feedback(step=step))
            await Wait(after(self.node, self.wait_s))

        Flow(work(), lambda *_: handle.execute())

    def _cancel(self, handle):
        self.cancelled.append(handle.request.episode_id)
        return CancelResponse.ACCEPT

    def _result(self, handle):
        if handle.is_cancel_requested:
            handle.canceled()
            return MoveTo.Result(message='cancelled')
        handle.succeed()
        return MoveTo.Result(reached=True, step=STEPS, message=handle.request.episode_id)


class Scene:
    """Provider, relay and client on a stage."""

    def __init__(self, stage, folder, text=FILE):
        path = folder / 'relay.yaml'
        path.write_text(text)
        self.stage = stage
        self.provider = Provider(stage.probe)
        self.relay = stage.add(TransitRelayNode, config=str(path), enable_injection=True)
        self.feedback = []

    def arm(self, route, kind, **settings):
        text = json.dumps({'route': route, 'kind': kind, **settings})
        answer = self.stage.ask(AddFault, '/fault_relay/add_fault', fault=text)
        assert answer.ok, answer.message
        return answer.id

    def refusal(self, route, kind, **settings):
        text = json.dumps({'route': route, 'kind': kind, **settings})
        answer = self.stage.ask(AddFault, '/fault_relay/add_fault', fault=text)
        assert not answer.ok
        return answer.message

    def disarm(self, handle):
        assert self.stage.ask(RemoveFault, '/fault_relay/remove_fault', id=handle).ok

    def struck(self):
        return list(self.stage.ask(ListFaults, '/fault_relay/list_faults').struck)

    # -- as a client

    def call(self, data=True):
        return self.stage.request(SetBool, '/relay/switch', data=data)

    def switch(self, data=True):
        return self.stage.answer(self.call(data), 'an answer')

    def nothing_comes(self, future, seconds=NEVER_S):
        waited = after(self.stage.probe, seconds)
        self.stage.until(waited.done, 'the end of the wait')
        assert not future.done()

    def send(self, name='goal'):
        goal = MoveTo.Goal(episode_id=name)
        return self.stage.send(MoveTo, '/relay/move', goal, self.feedback.append)

    def accepted(self, name='goal'):
        handle = self.stage.answer(self.send(name), 'an answer to the goal')
        assert handle.accepted
        return handle

    def end(self, handle):
        return self.stage.answer(handle.get_result_async(), 'a result')

    def move(self, name='goal'):
        return self.end(self.accepted(name))

    def unharmed(self):
        """Check that calls and goals pass as if there were no relay."""
        assert self.switch().success
        answer = self.move('last')
        assert answer.status == GoalStatus.STATUS_SUCCEEDED
        assert (answer.result.reached, answer.result.message) == (True, 'last')


@pytest.fixture
def scene(stage, tmp_path):
    return Scene(stage, tmp_path)


# -- without a fault


def test_calls_and_goals_pass_with_everything_that_belongs_to_them(scene):
    assert scene.switch(False).message == 'call 1'
    assert scene.provider.switched == [False]
    scene.unharmed()
    scene.stage.until(lambda: len(scene.feedback) == 3, 'the feedback')
    assert [message.feedback.step for message in scene.feedback] == [0, 1, 2]
    rejected = scene.stage.answer(scene.send('no'), 'an answer')
    assert not rejected.accepted
    scene.provider.wait_s = 30.0
    handle = scene.accepted('cancelled')
    answer = scene.stage.answer(handle.cancel_goal_async(), 'an answer to the cancel')
    assert len(answer.goals_canceling) == 1
    assert scene.provider.cancelled == ['cancelled']


def test_whatever_is_armed_with_probability_0_lets_calls_and_goals_pass_as_they_are(scene):
    scene.unharmed()  # the types are known from now on
    armed = []
    for kind, fault in transit_faults().items():
        for route, sides in (('/switch', 'service'), ('/move', 'action')):
            for side in set(SIDES_OF[sides]) & set(fault.sides):
                changes = {'route': route, 'side': side, 'probability': 0.0}
                text = json.dumps({**fault.example.model_dump(mode='json'), **changes})
                answer = scene.stage.ask(AddFault, '/fault_relay/add_fault', fault=text)
                # A fault of content whose field these types do not have.
                assert answer.ok or 'field' in answer.message, f'{kind}: {answer.message}'
                armed += [(kind, side)] if answer.ok else []
    assert {('drop', 'request'), ('delay', 'result'), ('ignore_cancel', 'cancel')} <= set(armed)
    scene.provider.wait_s = 0.1
    scene.unharmed()
    handle = scene.accepted('to the end')
    assert len(scene.stage.answer(handle.cancel_goal_async(), 'an answer').goals_canceling) == 1
    assert scene.end(handle).status == GoalStatus.STATUS_CANCELED
    assert not any(scene.struck())


# -- services


def test_a_refused_call_never_reaches_the_server(scene):
    handle = scene.arm('/switch', 'refuse', answer={'success': False, 'message': 'busy'})
    answer = scene.switch()
    assert (answer.success, answer.message) == (False, 'busy')
    assert scene.provider.switched == []
    assert scene.struck() == [1]
    scene.disarm(handle)
    scene.unharmed()


def test_a_delayed_call_holds_up_no_other(scene):
    handle = scene.arm('/switch', 'delay', side='request', delay_s=30)
    slow = scene.call(False)
    scene.stage.until(lambda: scene.struck() == [1], 'the delay')
    scene.arm('/switch', 'wrong_response', values={'message': 'quick'})
    other = scene.stage.ask(Advance, '/relay/advance', steps=3)
    assert other.message == '3'
    assert scene.move('beside').result.reached
    assert not slow.done()
    scene.disarm(handle)  # lets go what it holds
    assert scene.stage.answer(slow, 'the delayed answer').message == 'quick'
    assert scene.provider.switched == [False]


def test_several_calls_in_flight_come_back_to_who_asked(scene):
    scene.arm('/advance', 'delay', side='response', delay_s=0.1, spread_s=0.1)
    asked = [scene.stage.request(Advance, '/relay/advance', steps=number) for number in range(10)]
    answers = [scene.stage.answer(future, 'an answer') for future in asked]
    assert [answer.message for answer in answers] == [str(number) for number in range(10)]
    assert scene.struck() == [10]


def test_a_wrong_response_says_what_it_is_told_to_and_the_server_was_asked(scene):
    scene.arm('/switch', 'wrong_response', values={'success': False, 'message': 'on fire'})
    answer = scene.switch()
    assert (answer.success, answer.message) == (False, 'on fire')
    assert scene.provider.switched == [True]


def test_a_stale_response_is_that_of_the_call_before(scene):
    scene.arm('/switch', 'stale_response')
    assert [scene.switch().message for _ in range(3)] == ['call 1', 'call 1', 'call 2']


@pytest.mark.parametrize(('side', 'asked'), [('request', []), ('response', [True])])
def test_a_call_that_is_lost_lets_the_client_time_out_and_the_next_one_pass(scene, side, asked):
    handle = scene.arm('/switch', 'drop', side=side)
    lost = scene.call()
    scene.nothing_comes(lost)
    assert scene.provider.switched == asked
    scene.disarm(handle)
    assert scene.switch().success
    assert not lost.done()


def test_fields_of_requests_and_responses_are_corrupted(scene):
    scene.arm('/advance', 'field_bias', side='request', field='steps', bias=5)
    scene.arm('/advance', 'field_scale', side='response', field='objects.step', factor=3)
    answer = scene.stage.ask(Advance, '/relay/advance', steps=2)
    assert scene.provider.steps == [7]
    assert (answer.message, answer.objects.step) == ('7', 21)


def test_faults_of_a_call_compose(scene):
    scene.arm('/switch', 'refuse', probability=0.5, answer={'message': 'no'})
    scene.arm('/switch', 'wrong_response', values={'success': True})
    scene.arm('/switch', 'delay', side='response', delay_s=0.001)
    answers = [scene.switch() for _ in range(20)]
    assert all(answer.success for answer in answers)
    refused = sum(answer.message == 'no' for answer in answers)
    assert 0 < refused < 20
    assert len(scene.provider.switched) == 20 - refused


def test_a_schedule_holds_for_calls_too(scene):
    scene.arm('/switch', 'refuse', schedule={'every_n': 3})
    assert [scene.switch().success for _ in range(6)] == [True, True, False, True, True, False]


# -- actions


def test_a_rejected_goal_never_reaches_the_server(scene):
    handle = scene.arm('/move', 'reject_goal')
    assert not scene.stage.answer(scene.send(), 'an answer').accepted
    assert scene.provider.goals == []
    scene.disarm(handle)
    scene.unharmed()


def test_feedback_that_is_lost_changes_nothing_else(scene):
    scene.arm('/move', 'drop', side='feedback')
    assert scene.move().result.reached
    scene.stage.until(lambda: scene.struck() == [3], 'three losses')
    assert scene.feedback == []


def test_feedback_that_is_late_comes_in_its_order(scene):
    scene.arm('/move', 'lag', side='feedback', lag_s=0.3)
    scene.provider.wait_s = 30.0
    scene.accepted()
    scene.stage.until(lambda: scene.struck() == [3], 'the lag')
    assert scene.feedback == []
    scene.stage.until(lambda: len(scene.feedback) == 3, 'the feedback')
    assert [message.feedback.step for message in scene.feedback] == [0, 1, 2]


def test_a_result_that_is_late_holds_up_no_other_goal(scene):
    handle = scene.arm('/move', 'delay', side='result', delay_s=30)
    slow = scene.accepted('slow').get_result_async()
    scene.stage.until(lambda: scene.struck() == [1], 'the delay')
    scene.arm('/move', 'wrong_response', side='result', values={'result.step': 1})
    late = scene.accepted('other').get_result_async()
    scene.stage.until(lambda: scene.struck()[0] == 2, 'the other delay')
    assert scene.switch().success
    scene.disarm(handle)
    names = [scene.stage.answer(one, 'a result').result.message for one in (slow, late)]
    assert names == ['slow', 'other']


def test_a_wrong_result_can_lie_about_status_and_content(scene):
    values = {
        'status': GoalStatus.STATUS_ABORTED,
        'result.reached': False,
        'result.message': 'hit',
    }
    scene.arm('/move', 'wrong_response', side='result', values=values)
    answer = scene.move()
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert (answer.result.reached, answer.result.message) == (False, 'hit')
    assert answer.result.step == STEPS


def test_a_stale_result_is_that_of_the_goal_before(scene):
    scene.arm('/move', 'stale_response', side='result')
    names = [scene.move(name).result.message for name in ('first', 'second', 'third')]
    assert names == ['first', 'first', 'second']


def test_a_result_that_is_lost_never_comes_and_later_ones_do(scene):
    handle = scene.arm('/move', 'drop', side='result')
    lost = scene.accepted('lost').get_result_async()
    scene.nothing_comes(lost)
    assert scene.provider.goals == ['lost']
    scene.disarm(handle)
    scene.unharmed()
    assert not lost.done()


@pytest.mark.parametrize(('claims', 'told'), [('accepted', 1), ('rejected', 0)])
def test_a_cancel_that_is_ignored_lets_the_goal_go_on(scene, claims, told):
    scene.arm('/move', 'ignore_cancel', claims=claims)
    scene.provider.wait_s = 0.3
    handle = scene.accepted('stubborn')
    answer = scene.stage.answer(handle.cancel_goal_async(), 'an answer to the cancel')
    assert len(answer.goals_canceling) == told
    ended = scene.end(handle)
    assert ended.status == GoalStatus.STATUS_SUCCEEDED
    assert scene.provider.cancelled == []


def test_a_goal_that_is_told_to_be_rejected_runs_as_a_ghost(scene):
    scene.arm('/move', 'wrong_response', side='goal_response', values={'accepted': False})
    assert not scene.stage.answer(scene.send('ghost'), 'an answer').accepted
    assert scene.provider.goals == ['ghost']


def test_many_goals_at_once_each_get_their_own_result(scene):
    scene.arm('/move', 'delay', side='result', delay_s=0.1, spread_s=0.1)
    names = [f'goal {number}' for number in range(8)]
    sent = [scene.send(name) for name in names]
    handles = [scene.stage.answer(future, 'an answer') for future in sent]
    results = [handle.get_result_async() for handle in handles]
    assert [scene.stage.answer(one, 'a result').result.message for one in results] == names


# -- bad input, bounds


@pytest.mark.parametrize(
    ('route', 'kind', 'given', 'words'),
    [
        ('/switch', 'refuse', {'answer': {'success': 'no'}}, 'success cannot hold'),
        ('/switch', 'refuse', {'answer': {'sucess': False}}, "did you mean 'success'"),
        ('/switch', 'refuse', {'answer': {'message': 'a\ud800'}}, 'message cannot hold'),
        ('/switch', 'refuse', {'side': 'response'}, 'side'),
        ('/advance', 'refuse', {'answer': {'published[0].count': 1}}, 'has no element 0'),
        ('/switch', 'wrong_response', {'values': {'message': 7}}, 'message cannot hold'),
        ('/move', 'wrong_response', {'side': 'result', 'values': {'result.stp': 1}}, "'step'"),
        (
            '/move',
            'wrong_response',
            {'side': 'result', 'values': {'status': 300}},
            'status cannot',
        ),
        ('/move', 'refuse', {}, 'cannot strike a route of kind action'),
    ],
)
def test_a_fault_that_does_not_fit_the_type_is_refused(scene, route, kind, given, words):
    scene.unharmed()  # the types are known from now on
    scene.stage.ask(Advance, '/relay/advance')
    assert words in scene.refusal(route, kind, **given)
    scene.unharmed()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
PATHS = ['', 'target', 'target.header.frame_id', 'target.header.stamp.sec', 'position_only']
PATHS += ['target.pose.position.x', 'target.pose.position[0]', 'episode_id', '[*]', 'a.b.c']


@settings(max_examples=300)
@given(path=st.sampled_from(PATHS) | st.text(max_size=5), value=JSON)
def test_a_value_that_is_taken_makes_a_message_and_any_other_is_refused(path, value):
    try:
        check_values(MoveTo.Goal, {path: value})
    except BadSetting:
        return
    goal = MoveTo.Goal()
    fill(Fields(goal), {path: value})
    serialize_message(goal)


def test_a_reset_loses_what_is_held_and_leaves_a_clean_relay(scene):
    scene.arm('/switch', 'delay', side='response', delay_s=30)
    lost = [scene.call() for _ in range(5)]
    scene.stage.until(lambda: scene.struck() == [5], 'the delays')
    assert scene.stage.ask(ResetFaults, '/fault_relay/reset_faults').ok
    assert scene.struck() == []
    scene.unharmed()
    assert not any(future.done() for future in lost)


def test_calls_that_are_never_answered_do_not_pile_up(stage, tmp_path):
    scene = Scene(stage, tmp_path, FILE + 'hold: {messages: 30}\n')
    scene.provider.mute = True
    for asked in range(10, 101, 10):  # a server keeps no more than ten
        for _ in range(10):
            scene.call()
        stage.until(lambda asked=asked: len(scene.provider.switched) == asked, 'the calls')
    leg = scene.relay.routes['/switch'].calls[0]
    assert leg.waiting == 30
    scene.provider.mute = False
    scene.unharmed()
    assert leg.waiting <= 30


# -- servers that come and go


def test_a_service_is_there_as_long_as_its_server_is(stage, tmp_path):
    path = tmp_path / 'relay.yaml'
    path.write_text(FILE)
    server = stage.add(Node, 'server')
    relay = stage.add(TransitRelayNode, config=str(path))
    before = stage.probe.create_client(SetBool, '/switch')  # who waits for it proves nothing
    client = stage.probe.create_client(SetBool, '/relay/switch')
    nothing = after(stage.probe, NEVER_S)
    stage.until(nothing.done)
    assert not client.service_is_ready()

    def serve(mute=False):
        def handle(_, response, respond):
            if not mute:
                respond(response)

        return deferred_service(server, SetBool, '/switch', handle)

    service = serve(mute=True)
    stage.until(client.service_is_ready, 'the service')
    lost = client.call_async(SetBool.Request())
    stage.until(lambda: relay.routes['/switch'].calls[0].waiting == 1, 'the call')
    server.destroy_service(service)  # and with it what it was asked
    stage.until(lambda: not client.service_is_ready(), 'the end of the service')
    serve()
    stage.until(client.service_is_ready, 'the service again')
    call = client.call_async(SetBool.Request())
    stage.until(call.done, 'an answer')
    assert not lost.done()
    assert relay.routes['/switch'].calls[0].waiting == 0
    stage.probe.destroy_client(before)


def test_a_server_that_comes_back_as_another_type_is_served_as_that(stage, tmp_path, elsewhere):
    path = tmp_path / 'relay.yaml'
    path.write_text(FILE)
    relay = stage.add(TransitRelayNode, config=str(path), enable_injection=True)
    route = relay.routes['/switch']
    leg, requests = route.calls[0], route.lanes['request']
    service = elsewhere.create_service(SetBool, '/switch', lambda _, response: response)
    client = elsewhere.create_client(SetBool, '/relay/switch')
    stage.until(client.service_is_ready, 'the service')
    relay._add_fault({'route': '/switch', 'kind': 'delay', 'side': 'request', 'delay_s': 60.0})
    client.call_async(SetBool.Request())
    stage.until(lambda: requests.stack.held == 1, 'the call')

    elsewhere.destroy_client(client)
    elsewhere.destroy_service(service)
    elsewhere.create_service(Trigger, '/switch', lambda _, response: response)
    stage.until(lambda: not leg._client.service_is_ready(), 'the end of the service')
    while leg._client is not None:
        leg.look({'/switch': ['std_srvs/srv/SetBool', 'std_srvs/srv/Trigger']})
    relay._pump(requests.stack.due_ns)  # to nobody: who asked has gone with the service
    stage.until(lambda: requests.kind is Trigger.Request, 'the service as another type')
    client = stage.probe.create_client(Trigger, '/relay/switch')
    stage.until(client.service_is_ready, 'the service behind the relay')
