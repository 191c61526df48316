"""A plan is well-formed, and means the wrong thing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator
from pydantic import Field, JsonValue, ValidationError

from alpha_chaos.faults.answer import asked_for, read_plan, read_point, write_plan
from alpha_chaos.faults.base import Call, Decision, Evidence, Fault, Fields, Injector
from alpha_chaos.plan import (
    BLOCKS,
    ActionPlan,
    Grip,
    MoveTo,
    PlanProblem,
    Release,
    ResolvedMoveTo,
    Vector,
    Waypoints,
    zone_centres,
)

Action = MoveTo | Grip | Release
Mode = Literal['swapped_block', 'mirrored_y', 'wrong_order']

ABOVE_M = 0.03  # a target in numbers as near as this to a block, sideways, is meant for the block


class WrongPlan(Fault):
    """Put a plan that parses, and does something else, in the place of the planner's.

    Strikes typed plans and text alike, so that every arm is hit the same: two forms of one plan
    become two forms of one other plan. What is no plan passes unharmed, and so does a plan that
    cannot be made wrong in this way without leaving the workspace.

    - swapped_block: two blocks of the scene change places in it, the second one drawn;
    - mirrored_y: every target has its y with the other sign, as in a left-handed frame; names are
      looked up in the scene that the planner was shown, and become numbers;
    - wrong_order: the first grip comes before the motion that should lead to it.
    """

    kind: Literal['wrong_plan'] = 'wrong_plan'
    planners: tuple[str, ...] = Field(
        default=('oracle_planner/plan', 'llm_planner/plan'), description='services that are hit'
    )
    mode: Mode = Field(description='what is wrong with the plan')

    @property
    def routes(self) -> tuple[str, ...]:
        """The services that answer with a plan."""
        return self.planners

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Wrong(self, draws)


WrongPlan.example = WrongPlan(mode='swapped_block')


class _Wrong(Injector):
    def __init__(self, fault: WrongPlan, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._plans = 0
        self._possible = 0  # plans that can be made wrong in this way

    def on_response(self, call: Call) -> None:
        if call.response is None:
            return
        # Two numbers for each answer, used or not: a second answer draws the same in every arm.
        draw, which = (float(number) for number in self._draws.random(2))
        plan = read_plan(call.response, call.request)
        wrong = _MODES[self._fault.mode](plan, _Scene.of(call.request), which)
        self._plans += bool(plan.actions)
        self._possible += wrong is not None
        detail: dict[str, JsonValue] = {'mode': self._fault.mode}
        triggered = wrong is not None and draw < self._fault.probability
        if wrong is None:
            detail['bypassed'] = _why_not(call.response, plan)
        elif triggered:
            write_plan(call.response, wrong.resolved if call.response.get('typed') else wrong.plan)
            detail |= wrong.detail
        self._decide(Decision('wrong_plan', self._fault.probability, draw, triggered, detail))

    def evidence(self) -> Evidence:
        """Return whether there was a plan that could be made wrong."""
        detail = self._tally() | {'plans': self._plans, 'possible': self._possible}
        return Evidence(self._possible > 0, detail)


def _why_not(answer: Fields, plan: ActionPlan) -> str:
    if answer.get('error'):
        return 'no answer'
    return 'cannot be made wrong in this way' if plan.actions else 'no plan'


@dataclass(frozen=True)
class _Scene:
    """What the planner was shown.

    :param block: that it was to move, the first of several
    :param zones: centres by name
    """

    block: str
    blocks: Mapping[str, Vector]
    zones: Mapping[str, Vector]
    waypoints: Waypoints

    @classmethod
    def of(cls, request: Fields) -> '_Scene':
        """Return what a request (Plan.srv) shows."""
        heights = {
            name: float(request.get(path))
            for name in Waypoints.model_fields
            if request.has(path := f'waypoints.{name}')  # an earlier recording lacks one
        }
        placements = asked_for(request)
        return cls(
            placements[0].block,
            {
                str(request.get(f'{block}.name')): read_point(request, f'{block}.pose.position')
                for block in request.each('scene.blocks[*]')
            },
            zone_centres(placements),
            Waypoints(**heights),
        )

    def resolve(self, plan: ActionPlan) -> ActionPlan:
        """Return a plan with its targets in numbers; raises PlanProblem like `plan.resolve`."""
        return plan.resolve(self.blocks, self.zones, self.waypoints)


@dataclass(frozen=True)
class _WrongPlan:
    """A plan to put in the place of another, as it is written and with all targets in numbers."""

    plan: ActionPlan
    resolved: ActionPlan
    detail: dict[str, JsonValue]


def _swapped_block(plan: ActionPlan, scene: _Scene, which: float) -> _WrongPlan | None:
    """Return the plan with the block it is about and another one in each other's place.

    :param which: in [0, 1), picks the other one among those with which there is a plan
    """
    one: str = next((each.block for each in plan.actions if isinstance(each, Grip)), scene.block)
    possible = []
    for other in BLOCKS:
        if other != one and other in scene.blocks:
            swap = _Swap({one: other, other: one}, scene.blocks)
            detail: dict[str, JsonValue] = {'block': one, 'instead': other}
            possible.append(_checked(plan, scene, map(swap, plan.actions), detail))
    found = [wrong for wrong in possible if wrong is not None]
    return found[int(which * len(found))] if found else None


@dataclass(frozen=True)
class _Swap:
    """Does with a block what a plan would do with another.

    :param names: both ways
    """

    names: Mapping[str, str]
    blocks: Mapping[str, Vector]

    def __call__(self, action: Action) -> Action:
        if isinstance(action, Grip):
            block = self.names.get(action.block, action.block)
            return Grip.model_validate({'block': block})
        if not isinstance(action, MoveTo):
            return action
        target = action.target
        name = action.waypoint if isinstance(action, ResolvedMoveTo) else target
        if isinstance(name, str) and name:
            place, _, waypoint = name.partition('.')
            if place not in self.names:
                return action
            return MoveTo.model_validate({'target': f'{self.names[place]}.{waypoint}'})
        assert not isinstance(target, str)
        for meant, instead in self.names.items():
            here, there = self.blocks.get(meant), self.blocks.get(instead)
            if here is None or there is None:
                continue
            if max(abs(target[axis] - here[axis]) for axis in (0, 1)) <= ABOVE_M:
                moved = [at + to - by for at, by, to in zip(target, here, there, strict=True)]
                return MoveTo.model_validate({'target': moved})
        return action


def _mirrored_y(plan: ActionPlan, scene: _Scene, _: float) -> _WrongPlan | None:
    """Return the plan with every target on the other side of the plane y = 0."""

    def mirror(action: Action) -> Action:
        (resolved,) = scene.resolve(ActionPlan(actions=(action,))).actions
        if not isinstance(resolved, ResolvedMoveTo) or resolved.target[1] == 0:
            return action
        x, y, z = resolved.target
        return MoveTo(target=(x, -y, z))

    return _checked(plan, scene, map(mirror, plan.actions), {})


def _wrong_order(plan: ActionPlan, scene: _Scene, _: float) -> _WrongPlan | None:
    """Return the plan with its first grip before the motion that should lead to it."""
    actions = list(plan.actions)
    for at, action in enumerate(actions):
        if isinstance(action, Grip) and isinstance(actions[at - 1], MoveTo) and at:
            actions[at - 1], actions[at] = action, actions[at - 1]
            return _checked(plan, scene, actions, {'swapped': [at - 1, at]})
    return None


def _checked(
    plan: ActionPlan,
    scene: _Scene,
    actions: Iterable[Action],
    detail: dict[str, JsonValue],
) -> _WrongPlan | None:
    """Return a plan of these actions; None if it is the same plan, or either is no valid one."""
    try:
        scene.resolve(plan)
        wrong = ActionPlan(actions=tuple(actions))  # what makes them may raise, too
        resolved = scene.resolve(wrong)
    except (ValidationError, PlanProblem):  # not in the workspace, or of a block that is not seen
        return None
    return None if wrong == plan else _WrongPlan(wrong, resolved, detail)


_MODES: dict[Mode, Callable[[ActionPlan, _Scene, float], _WrongPlan | None]] = {
    'swapped_block': _swapped_block,
    'mirrored_y': _mirrored_y,
    'wrong_order': _wrong_order,
}
