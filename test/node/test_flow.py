"""Waiting inside a node: nothing blocks, nothing polls, everything ends."""

import time

import pytest
from rclpy.node import Node
from rclpy.task import Future

from alpha_chaos.nodes.flow import (
    Cancelled,
    Flow,
    TimedOut,
    Wait,
    after,
    deferred_service,
    in_time,
)
from alpha_chaos.srv import ListFaults, RemoveFault


class Ending:
    """Remembers how a flow ended."""

    def __init__(self):
        self.calls = []

    def __call__(self, value, error):
        self.calls.append((value, error))

    @property
    def value(self):
        ((value, error),) = self.calls
        if error is not None:
            raise error
        return value


# -- flows


def test_a_flow_that_waits_for_nothing_ends_at_once():
    async def work():
        return 7

    end = Ending()
    assert Flow(work(), end).ended
    assert end.value == 7


def test_a_flow_goes_on_when_what_it_waits_for_is_there():
    first, second, end = Future(), Future(), Ending()

    async def work():
        return await Wait(first) + await Wait(second)

    flow = Flow(work(), end)
    second.set_result(2)
    assert not flow.ended
    first.set_result(40)
    assert end.value == 42


def test_an_error_in_a_flow_is_handed_on():
    async def work():
        raise KeyError('x')

    end = Ending()
    Flow(work(), end)
    with pytest.raises(KeyError):
        _ = end.value


def test_an_error_in_what_a_flow_waits_for_is_raised_where_it_waits():
    future, end = Future(), Ending()

    async def work():
        try:
            await Wait(future)
        except KeyError:
            return 'caught'

    Flow(work(), end)
    future.set_exception(KeyError('x'))
    assert end.value == 'caught'


def test_a_cancelled_flow_ends_and_never_hears_of_what_it_waited_for():
    future, end, went_on = Future(), Ending(), []

    async def work():
        await Wait(future)
        went_on.append(True)

    flow = Flow(work(), end)
    flow.cancel(Cancelled('enough'))
    assert flow.ended
    future.set_result(1)
    assert not went_on
    with pytest.raises(Cancelled, match='enough'):
        _ = end.value


def test_a_flow_may_clean_up_after_a_cancellation_and_wait_for_that():
    never, cleaned, end = Future(), Future(), Ending()

    async def work():
        try:
            await Wait(never)
        except Cancelled:
            return await Wait(cleaned)

    flow = Flow(work(), end)
    flow.cancel(Cancelled())
    assert not flow.ended
    never.set_result('late')
    assert not flow.ended
    cleaned.set_result('clean')
    assert end.value == 'clean'


def test_cancelling_a_flow_that_has_ended_does_nothing():
    async def work():
        return 1

    end = Ending()
    flow = Flow(work(), end)
    flow.cancel(Cancelled())
    assert end.value == 1


# -- waiting with a limit


def test_what_comes_in_time_is_returned(stage):
    future, end = Future(), Ending()

    async def work():
        return await in_time(stage.probe, future, 30.0, 'the future')

    Flow(work(), end)
    future.set_result('there')
    assert end.value == 'there'


def test_what_is_there_already_is_returned(stage):
    future, end = Future(), Ending()
    future.set_result('there')

    async def work():
        return await in_time(stage.probe, future, 30.0, 'the future')

    Flow(work(), end)
    assert end.value == 'there'


def test_what_does_not_come_in_time_is_named(stage):
    end = Ending()

    async def work():
        await in_time(stage.probe, Future(), 0.05, 'an oracle')

    flow = Flow(work(), end)
    stage.until(lambda: flow.ended, 'the time limit')
    with pytest.raises(TimedOut, match=r'no answer from an oracle within 0\.05 s'):
        _ = end.value


def test_an_answer_after_the_limit_is_ignored(stage):
    future, end = Future(), Ending()

    async def work():
        try:
            await in_time(stage.probe, future, 0.02, 'it')
        except TimedOut:
            return 'late'

    flow = Flow(work(), end)
    stage.until(lambda: flow.ended, 'the time limit')
    future.set_result('too late')
    assert end.value == 'late'


def test_an_error_that_comes_in_time_is_raised(stage):
    future, end = Future(), Ending()

    async def work():
        await in_time(stage.probe, future, 30.0, 'it')

    Flow(work(), end)
    future.set_exception(ValueError('broken'))
    with pytest.raises(ValueError, match='broken'):
        _ = end.value


def test_no_timer_is_left_behind(stage):
    before = len(list(stage.probe.timers))
    answered, end = Future(), Ending()

    async def work():
        await in_time(stage.probe, answered, 30.0, 'it')
        await Wait(after(stage.probe, 0.01))
        try:
            await in_time(stage.probe, Future(), 0.01, 'it')
        except TimedOut:
            return True

    flow = Flow(work(), end)
    answered.set_result(None)
    stage.until(lambda: flow.ended, 'the end')
    assert len(list(stage.probe.timers)) == before


def test_a_pause_takes_its_time(stage):
    end = Ending()
    started = time.monotonic()

    async def work():
        await Wait(after(stage.probe, 0.1))

    flow = Flow(work(), end)
    stage.until(lambda: flow.ended, 'the end of the pause')
    assert 0.1 <= time.monotonic() - started < 10.0


def test_limits_are_wall_time_while_simulated_time_stands_still(stage):
    waiting = stage.add(Node, 'waiting', use_sim_time=True)
    end = Ending()

    async def work():
        await Wait(after(waiting, 0.01))
        await in_time(waiting, Future(), 0.01, 'the clock')

    flow = Flow(work(), end)
    stage.until(lambda: flow.ended, 'the time limit')
    with pytest.raises(TimedOut, match='the clock'):
        _ = end.value


# -- services that answer later


def test_a_service_answers_now_or_later_and_each_caller_gets_its_own(stage):
    waiting = []

    def handle(request, response, respond):
        response.message = f'number {request.id}'
        if request.id == 0:
            respond(response)
        else:
            waiting.append(lambda: respond(response))

    deferred_service(stage.probe, RemoveFault, 'deferred', handle)
    assert stage.ask(RemoveFault, 'deferred', id=0).message == 'number 0'
    first, second = (stage.request(RemoveFault, 'deferred', id=number) for number in (1, 2))
    stage.until(lambda: len(waiting) == 2, 'both requests')
    assert not first.done()
    for answer in reversed(waiting):
        answer()
    assert stage.answer(second).message == 'number 2'
    assert stage.answer(first).message == 'number 1'


def test_a_caller_that_gives_up_does_no_harm(stage):
    waiting = []
    deferred_service(
        stage.probe, ListFaults, 'deferred', lambda _, response, respond: waiting.append(respond)
    )
    client = stage.probe.create_client(ListFaults, 'deferred')
    stage.until(client.service_is_ready, 'the service')
    client.call_async(ListFaults.Request())
    stage.until(lambda: waiting, 'the request')
    stage.probe.destroy_client(client)
    waiting.pop()(ListFaults.Response())
    future = stage.request(ListFaults, 'deferred')
    stage.until(lambda: waiting, 'the next request')
    waiting.pop()(ListFaults.Response(ids=[3]))
    assert list(stage.answer(future).ids) == [3]


def test_waiting_costs_nothing(stage):
    """A coroutine that rclpy itself resumes keeps a core busy for as long as it waits."""
    deferred_service(stage.probe, ListFaults, 'never', lambda *_: None)
    stage.request(ListFaults, 'never')

    async def work():
        await in_time(stage.probe, Future(), 60.0, 'it')

    flow = Flow(work(), Ending())
    stage.until(lambda: True)
    wall, cpu = time.monotonic(), time.thread_time()
    while time.monotonic() - wall < 1.0:
        stage.turn(0.2)
    used = time.thread_time() - cpu
    flow.cancel(Cancelled())
    assert used < 0.1, f'{used:.3f} s of CPU in 1 s of waiting'


def test_a_node_does_not_grow_by_what_it_has_waited_for(stage):
    before = len(stage.probe.default_callback_group.entities)
    for _ in range(5):
        stage.answer(after(stage.probe, 0.001))
    assert len(stage.probe.default_callback_group.entities) == before
