"""The scripted planner, answering in text as a language model does."""

from typing import ClassVar, Literal

from alpha_chaos.plan import PlanProblem
from alpha_chaos.planners.base import Complete, Planner, PlanReply, PlanRequest, Provenance
from alpha_chaos.planners.oracle import plan_for


class OracleJson(Planner):
    """Write the oracle's plan as text, to tell the planner from its interface.

    Targets go by name, because that is what the language model is asked for: its perfect reply
    and this one are the same text. Numbers come from the same `resolve` on the same scene as the
    oracle's, so after parsing they are the same to the last bit.
    """

    kind: Literal['oracle_json'] = 'oracle_json'
    node: ClassVar[Literal['oracle_planner', 'llm_planner']] = 'oracle_planner'

    def plan(self, request: PlanRequest, complete: Complete | None = None) -> PlanReply:
        """Return the plan as text; what the oracle cannot plan, this cannot either."""
        info = Provenance(self.kind)
        try:
            plan = plan_for(request.wanted)
            request.resolve(plan)
        except PlanProblem as problem:
            return PlanReply(None, None, info, problem.reason.code, str(problem))
        return PlanReply(None, plan.to_text(), info)


OracleJson.example = OracleJson()
