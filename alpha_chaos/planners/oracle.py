"""The scripted planner: what a perfect planner would do in the scene it was given."""

from typing import ClassVar, Literal, cast

from alpha_chaos.plan import (
    BLOCKS,
    ActionPlan,
    Grip,
    MoveTo,
    PlanProblem,
    Reason,
    Release,
    WaypointName,
)
from alpha_chaos.planners.base import Complete, Planner, PlanReply, PlanRequest, Provenance


class Oracle(Planner):
    """Compute the plan and hand it over typed, every target in numbers."""

    kind: Literal['oracle'] = 'oracle'
    node: ClassVar[Literal['oracle_planner', 'llm_planner']] = 'oracle_planner'

    def plan(self, request: PlanRequest, complete: Complete | None = None) -> PlanReply:
        """Return the plan for the scene as it was seen; its truth is not known here either."""
        info = Provenance(self.kind)
        try:
            plan = pick_and_place(request.block)
            resolved = plan.resolve(request.blocks, request.zone, request.waypoints)
        except PlanProblem as problem:
            return PlanReply(None, None, info, problem.reason.code, str(problem))
        return PlanReply(resolved, None, info)


Oracle.example = Oracle()


def pick_and_place(block: str) -> ActionPlan:
    """Return the plan that moves a block to the zone, its targets by name.

    :raises PlanProblem: for a block that no plan can name
    """
    if block not in BLOCKS:
        message = f'{block!r} is none of {", ".join(BLOCKS)}'
        raise PlanProblem(Reason('schema', 'block', '', message))

    def move_to(name: str) -> MoveTo:
        return MoveTo(target=cast(WaypointName, name))

    return ActionPlan(
        actions=(
            move_to(f'{block}.hover'),
            move_to(f'{block}.grasp'),
            Grip(block=block),
            move_to(f'{block}.lift'),
            move_to('zone.hover'),
            move_to('zone.place'),
            Release(),
        )
    )
