"""The scripted planner: what a perfect planner would do in the scene it was given."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from alpha_chaos.plan import (
    BLOCKS,
    ActionPlan,
    Grip,
    MoveTo,
    Placement,
    PlanProblem,
    Reason,
    Release,
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
            resolved = request.resolve(plan_for(request.wanted))
        except PlanProblem as problem:
            return PlanReply(None, None, info, problem.reason.code, str(problem))
        return PlanReply(resolved, None, info)


Oracle.example = Oracle()


def plan_for(placements: Sequence[Placement]) -> ActionPlan:
    """Return the plan that moves each block to its zone, one after the other.

    Between two blocks the hand rises from the one that it has let go.

    :raises PlanProblem: for a block that no plan can name
    """
    actions: list[MoveTo | Grip | Release] = []
    for before, place in zip((None, *placements), placements, strict=False):
        if before is not None:
            actions.append(MoveTo(target=f'{before.zone}.hover'))
        let_go = 'stack' if place.base else 'place'
        actions += pick_and_place(place.block, place.zone, let_go).actions
    return ActionPlan(actions=tuple(actions))


def pick_and_place(block: str, zone: str = 'zone', let_go: str = 'place') -> ActionPlan:
    """Return the plan that moves a block to a zone, its targets by name.

    :param let_go: waypoint of the zone
    :raises PlanProblem: for a block that no plan can name
    """
    if block not in BLOCKS:
        message = f'{block!r} is none of {", ".join(BLOCKS)}'
        raise PlanProblem(Reason('schema', 'block', '', message))
    return ActionPlan(
        actions=(
            MoveTo(target=f'{block}.hover'),
            MoveTo(target=f'{block}.grasp'),
            Grip(block=block),
            MoveTo(target=f'{block}.lift'),
            MoveTo(target=f'{zone}.hover'),
            MoveTo(target=f'{zone}.{let_go}'),
            Release(),
        )
    )
