"""The plan guard: a validated plan is carried out in a symbolic table-top before anything moves.

It knows what the planner was shown and nothing else: where the blocks were *seen*, and what the
hand was told before. That a grasp slips or a scene is stale is for physics to show.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from alpha_chaos.bodies.base import Body, Tabletop
from alpha_chaos.experiment import GuardMode
from alpha_chaos.plan import BLOCKS, ActionPlan, Grip, MoveTo, Vector
from alpha_chaos.tasks.base import Task
from alpha_chaos.worldmodel.documents import TaskDocument
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import PlanStep
from alpha_chaos.worldmodel.run import Run
from alpha_chaos.worldmodel.state import AGENT
from alpha_chaos.worldmodel.verdict import Failure as SymbolicFailure
from alpha_chaos.worldmodel.world import World

WORLD = 'tabletop'
OTHER = 'other_block'  # class of blocks that no plan can name
EDGE_M = 0.05  # of blocks on a body that does not say
BEFORE = -1  # in place of the index of an action: before the plan, after it, or never


@dataclass(frozen=True)
class Hand:
    """What the hand was told before a plan.

    :param tip_m: where it was sent last, world frame; None if nowhere yet
    :param closed: whether the last that the gripper was told is to close
    """

    tip_m: Vector | None = None
    closed: bool = False

    def after(self, plan: ActionPlan, executed: int) -> 'Hand':
        """Return the same after the first `executed` actions of a plan."""
        tip_m, closed = self.tip_m, self.closed
        for action in plan.actions[:executed]:
            if isinstance(action, MoveTo):
                tip_m = numbers(action)
            else:
                closed = isinstance(action, Grip)
        return Hand(tip_m, closed)


@dataclass(frozen=True)
class Failure:
    """One thing that is wrong with a plan; the fields are those of PlanFailure.msg.

    :param action: index of the action where it shows; -1: after the last one
    :param planted: index of the action that planted the harm; -1: it was there before
    :param sealed: index of the action after which it could not be undone; -1: it can
    :param position_m: tip of the gripper after `action`, world frame
    """

    action: int
    rule: str
    family: str
    kind: str
    severity: int
    reversible: bool
    message: str
    planted: int
    sealed: int
    position_m: Vector


@dataclass(frozen=True)
class Verdict:
    """What became of a plan in the symbolic world; the fields are those of PlanVerdict.msg.

    :param path_m: tip of the gripper after each action
    """

    mode: GuardMode
    failures: tuple[Failure, ...]
    goal_reached: bool
    path_m: tuple[Vector, ...]

    @property
    def clean(self) -> bool:
        """Whether nothing failed, and the goal would be reached."""
        return self.goal_reached and not self.failures

    @property
    def blocked(self) -> bool:
        """Whether the plan is not to be carried out."""
        return self.mode == 'block' and not self.clean


@cache
def _domain() -> Domain:
    return load_domain(WORLD)


class Guard:
    """Checks the plans of one attempt."""

    def __init__(self, mode: GuardMode, task: Task, body: Body) -> None:
        """Begin; raises BadSetting with file, line and key of what is wrong with the world."""
        self._mode = mode
        self._placements = task.placements
        self._edge_m = body.block_edge_m if isinstance(body, Tabletop) else EDGE_M
        self._domain = _domain()

    def check(self, plan: ActionPlan, seen: Mapping[str, Vector], hand: Hand) -> Verdict:
        """Carry out a plan whose targets are numbers.

        :param seen: where the planner was told the blocks are, world frame [m]
        :param hand: what it was told before
        """
        names = _names(seen)
        run = self._world(names, seen).begin()
        before = _told(hand, names, seen)
        for step in before:
            run.step(step)
        start_m, path_m = _tip_m(run), []
        for step in steps(plan, names):
            run.step(step)
            path_m.append(_tip_m(run))
        verdict = run.finish()
        skipped = len(before)
        labels = {f'{kind} ({id_})': name for name, (kind, id_) in names.items()}
        failures = tuple(
            _found(failure, skipped, [start_m, *path_m], labels)
            for failure in verdict.failures
            if not 0 < failure.step <= skipped
        )
        reached = bool(verdict.goal_reached) and all(
            place.block in names for place in self._placements
        )
        return Verdict(self._mode, failures, reached, tuple(path_m))

    def _world(self, names: Mapping[str, tuple[str, str]], seen: Mapping[str, Vector]) -> World:
        """Return the table-top as it was seen, with what the task wants."""
        wanted = {place.block: place for place in self._placements}
        zones = {place.zone: place for place in self._placements if not place.base}
        objects: list[dict[str, Any]] = []
        for name, (kind, id_) in names.items():
            has: dict[str, Any] = {**_at(seen[name]), 'edge': f'{self._edge_m:.6f} m'}
            if (place := wanted.get(name)) is not None:
                has['home'] = place.zone
                if place.base in names:
                    has['base'] = ' '.join(names[place.base])
            objects.append({'class': kind, 'id': int(id_), 'has': has})
        for zone, place in zones.items():
            has = {**_at(place.position_m), 'radius': f'{place.radius_m:.6f} m'}
            objects.append({'class': zone, 'has': has})
        goal: list[Any] = [['agent', 'is not', 'closed']]
        for name, place in wanted.items():
            if name in names and (not place.base or place.base in names):
                block = ' '.join(names[name])
                below = ' '.join(names[place.base]) if place.base else 'table 1'
                goal += [[block, 'on', below], {'above_area': [block, f'{place.zone} 1']}]
        document = TaskDocument.model_validate(
            {'title': WORLD, 'technique': WORLD, 'objects': objects, 'goal': goal, 'golden': ''}
        )
        return World(self._domain, document, self._domain.files.main)


def steps(plan: ActionPlan, names: Mapping[str, tuple[str, str]]) -> list[PlanStep]:
    """Return a plan whose targets are numbers in the language of the worlds.

    :param names: class and id of each block that is there
    """
    written = []
    for action in plan.actions:
        if isinstance(action, MoveTo):
            written.append(_move_to(numbers(action)))
        elif isinstance(action, Grip):
            written.append(PlanStep('grip', (names.get(action.block, (action.block, '1')),)))
        else:
            written.append(PlanStep('release', ()))
    return written


def numbers(action: MoveTo) -> Vector:
    """Return the target of a motion; raises ValueError if it is a name."""
    if isinstance(action.target, str):
        raise ValueError(f'target {action.target!r} has no coordinates yet')
    return action.target


def _names(seen: Mapping[str, Vector]) -> dict[str, tuple[str, str]]:
    """Return class and id of each block that was seen somewhere."""
    found: dict[str, tuple[str, str]] = {}
    others = 0
    for name, place in seen.items():
        if all(map(math.isfinite, place)):
            others += name not in BLOCKS
            found[name] = (name, '1') if name in BLOCKS else (OTHER, str(others))
    return found


def _told(
    hand: Hand, names: Mapping[str, tuple[str, str]], seen: Mapping[str, Vector]
) -> list[PlanStep]:
    """Return the steps that bring the hand to where it is before the plan."""
    if hand.tip_m is None:
        return []
    told = [_move_to(hand.tip_m)]
    if hand.closed and names:
        tip_m = hand.tip_m
        nearest = min(names, key=lambda name: math.dist(seen[name], tip_m))
        told.append(PlanStep('grip', (names[nearest],)))
    return told


def _move_to(target_m: Vector) -> PlanStep:
    return PlanStep('move_to', tuple((f'{value:.6f}_m', '') for value in target_m))


def _at(place_m: Vector) -> dict[str, Any]:
    return {axis: f'{value:.6f} m' for axis, value in zip('xyz', place_m, strict=True)}


def _tip_m(run: Run) -> Vector:
    words, width = run.domain.words, run.domain.words.width
    x, y, z = (
        float(run.state.values[AGENT * width + words.states[axis].column]) for axis in 'xyz'
    )
    return x, y, z


def _found(
    failure: SymbolicFailure,
    skipped: int,
    path_m: Sequence[Vector],
    labels: Mapping[str, str],
) -> Failure:
    """Return a failure with its actions counted from 0, as plans are.

    :param skipped: steps before the plan
    :param path_m: tip before the plan, and after each action
    :param labels: what the world calls blocks that have another name
    """

    def index(step: int | None) -> int:
        return BEFORE if step is None or step <= skipped else step - skipped - 1

    action = index(failure.step)
    written, _, rest = failure.message.partition(': ')
    text = rest if written.startswith('[') and rest else failure.message
    for label, name in labels.items():
        text = text.replace(label, name)
    return Failure(
        action=action,
        rule=failure.rule,
        family=failure.family,
        kind=failure.kind,
        severity=failure.severity,
        reversible=failure.reversible,
        message=text.replace(' (1)', ''),
        planted=index(failure.planted),
        sealed=index(failure.sealed),
        position_m=path_m[action + 1] if action >= 0 else path_m[-1],
    )
