"""A planner that does not answer."""

from fault_traffic import Recorder, answer, question, typed_plan
from numpy.random import default_rng

from alpha_chaos.faults.base import Call, Fields
from alpha_chaos.faults.planner_timeout import PlannerTimeout


def test_the_consumer_hears_of_a_timeout_that_is_not_the_harness_s() -> None:
    fault = PlannerTimeout()
    recorder = Recorder(fault, fault.injector(default_rng(0)))
    call = recorder.call('llm_planner/plan', question(), answer('{}'))
    assert call.answer is not None
    assert call.response is call.answer
    message = call.answer.message
    assert (message.error, message.message) == ('planner_timeout', 'no plan came in time')
    assert (message.infrastructure, message.typed, message.text) == (False, False, '')
    record = recorder.finish()
    assert record.evidence.exercised
    assert record.evidence.detail == {'decided': 1, 'struck': 1}


def test_each_call_is_drawn_anew_so_that_asking_again_can_help() -> None:
    draws = default_rng(2).random(20)
    fault = PlannerTimeout(probability=0.6)
    recorder = Recorder(fault, fault.injector(default_rng(2)))
    answered = [
        recorder.call('oracle_planner/plan', question(), typed_plan(())).answer is None
        for _ in range(20)
    ]
    assert answered == (draws >= 0.6).tolist()
    assert {*answered} == {True, False}


def test_a_call_that_another_fault_has_answered_is_left_to_it() -> None:
    injector = PlannerTimeout().injector(default_rng(0))
    other = Fields(answer('{}'))
    call = Call('llm_planner/plan', 1, Fields(question()), answer=other)
    injector.on_request(call)
    assert call.answer is other
    (decision,) = injector.decisions()
    assert not decision.triggered
    assert decision.draw == default_rng(0).random()
