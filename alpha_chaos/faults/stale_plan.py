"""The plan that arrives was made for an earlier episode."""

from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue

from alpha_chaos.faults.answer import read_plan
from alpha_chaos.faults.base import Call, Decision, Evidence, Fault, Injector
from alpha_chaos.plan import MoveTo
from alpha_chaos.workspace import WORKSPACE

BLOCKS = 'scene.blocks[*]'


class StalePlan(Fault):
    """Show the planner the blocks elsewhere on the table; the consumer keeps its own scene.

    The task is the same and every block is moved by a draw of its own, anew for each call, but not
    out of the workspace; blocks may come to lie in one another. A plan in which all targets have
    names is immune: names are looked up in the scene of the one who carries the plan out.
    """

    kind: Literal['stale_plan'] = 'stale_plan'
    planners: tuple[str, ...] = Field(
        default=('oracle_planner/plan', 'llm_planner/plan'), description='services that are hit'
    )
    spread_m: float = Field(
        ge=0, le=1, description='largest displacement of a block, in x and in y [m]'
    )

    @property
    def routes(self) -> tuple[str, ...]:
        """The services that are asked for a plan."""
        return self.planners

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Stale(self, draws)


StalePlan.example = StalePlan(spread_m=0.1)


class _Stale(Injector):
    def __init__(self, fault: StalePlan, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._moved = False  # blocks of the request that is being answered
        self._plans = 0
        self._numeric = 0  # plans with a target in numbers
        self._misled = 0  # such plans, made for blocks elsewhere

    def on_request(self, call: Call) -> None:
        blocks = call.request.each(BLOCKS)
        draw = float(self._draws.random())
        shares = self._draws.uniform(-1.0, 1.0, (len(blocks), 2)).tolist()
        moved_m: dict[str, JsonValue] = {}
        if draw < self._fault.probability and call.answer is None:
            for block, share in zip(blocks, shares, strict=True):
                by_m = [self._move(call, block, axis, share[axis]) for axis in (0, 1)]
                if any(by_m):
                    moved_m[str(call.request.get(f'{block}.name'))] = [*by_m]
        self._moved = bool(moved_m)
        detail: dict[str, JsonValue] = {'moved_m': moved_m}
        if call.answer is not None:
            detail['bypassed'] = 'answered already'
        self._decide(Decision('stale_plan', self._fault.probability, draw, self._moved, detail))

    def _move(self, call: Call, block: str, axis: int, share: float) -> float:
        """Move a block along x (0) or y (1); return how far [m]."""
        path = f'{block}.pose.position.{"xyz"[axis]}'
        low, high = WORKSPACE.min[axis], WORKSPACE.max[axis]
        true = float(call.request.get(path))
        seen = true + share * self._fault.spread_m
        if not low <= true <= high or seen == true:  # fallen off the table, or not finite
            return 0.0
        seen = min(max(seen, low), high)
        call.request.set(path, seen)
        return seen - true

    def on_response(self, call: Call) -> None:
        if call.response is None:
            return
        plan = read_plan(call.response, call.request)
        numeric = any(
            isinstance(action, MoveTo) and not isinstance(action.target, str)
            for action in plan.actions
        )
        self._plans += bool(plan.actions)
        self._numeric += numeric
        self._misled += numeric and self._moved

    def evidence(self) -> Evidence:
        """Return whether any plan had targets in numbers: one that has none is immune."""
        detail = self._tally() | {
            'plans': self._plans,
            'numeric_plans': self._numeric,
            'misled': self._misled,
        }
        return Evidence(self._numeric > 0, detail)
