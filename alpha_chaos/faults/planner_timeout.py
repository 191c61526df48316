"""A planner does not answer."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Call, Decision, Evidence, Fault, Injector

ERROR = 'planner_timeout'


class PlannerTimeout(Fault):
    """Answer in the planner's place that there was no answer in time; it is not even asked.

    No time passes: the robot waits for a plan with the world standing still, and so it does here
    for one that never comes. Each call is drawn anew, so that asking again can help. It counts as
    a failure of the planner, not of the harness.
    """

    kind: Literal['planner_timeout'] = 'planner_timeout'
    planners: tuple[str, ...] = Field(
        default=('oracle_planner/plan', 'llm_planner/plan'), description='services that are hit'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The services that should answer with a plan."""
        return self.planners

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Timeout(self, draws)


PlannerTimeout.example = PlannerTimeout()


class _Timeout(Injector):
    def __init__(self, fault: PlannerTimeout, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws

    def on_request(self, call: Call) -> None:
        draw = float(self._draws.random())
        detail: dict[str, JsonValue] = {}
        timed_out = draw < self._fault.probability and call.answer is None
        if call.answer is not None:
            detail['bypassed'] = 'answered already'
        if timed_out:
            answer = call.blank()
            answer.set('error', ERROR)
            answer.set('message', 'no plan came in time')
            answer.set('infrastructure', False)
            call.answer = answer
        self._decide(Decision('planner_timeout', self._fault.probability, draw, timed_out, detail))

    def evidence(self) -> Evidence:
        """Return whether a planner was asked at all, and how often it was not let answer."""
        return Evidence(self._decided > 0, self._tally())
