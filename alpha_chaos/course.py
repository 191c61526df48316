"""The course of an attempt: its phases, what its recovery may know, what a planner's answer means.

The supervisor of an attempt goes by these, and so does whoever walks through its recording again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from alpha_chaos.catalogues import recoveries
from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.plan import (
    ActionPlan,
    Placement,
    PlanProblem,
    Waypoints,
    Words,
    zone_centres,
)
from alpha_chaos.plugins import explain, parse
from alpha_chaos.recovery.base import Facts, Vector
from alpha_chaos.tasks.base import Phase, Task, distance_m, worst_m

MOVE_TO, GRIP = 0, 1  # kinds of Action.msg; RELEASE is the third


class Course:
    """The phases of an attempt one after the other, those its recovery policy adds among them."""

    def __init__(self, task: Task, record: EpisodeRecord) -> None:
        """Begin an attempt with nothing recovered yet."""
        self._due = list(task.phases)
        self._policy = parse(recoveries(), record.episode.recovery, 'recovery').policy()
        self._record = record

    def __iter__(self) -> Iterator[Phase]:
        """Return the phases; `passed` must be called after each."""
        while self._due:
            yield self._due.pop(0)

    def passed(self, phase: Phase, facts: Facts) -> None:
        """Let the policy add what comes next, before the rest of what it added earlier."""
        self._due[:0] = self._policy.after(phase, facts)
        if self._policy.rounds > self._record.rounds:
            self._record.recovers(self._policy.rounds)


def known_facts(
    task: Task,
    record: EpisodeRecord,
    seen: Mapping[str, Vector] | None,
    sampled_s: float,
    now_s: float,
    completed: bool,
) -> Facts:
    """Return what a recovery policy may know; the truth is not part of it.

    :param seen: where the last scene has the blocks, world frame [m]; None if no scene came
    :param sampled_s: when that scene was sampled, in simulated time [s]
    :param completed: whether the last plan was carried out to its end
    """
    rejected = (*record.plan.get('reasons', ()), *record.objections)
    if seen is None:
        return Facts(rejected=rejected, completed=completed)
    errors_m = [distance_m(seen.get(it.block), it.position_m) for it in task.placements]
    return Facts(
        seen=seen,
        sampled_s=sampled_s,
        age_s=now_s - sampled_s,
        goal_error_m=worst_m(errors_m),
        tolerance_m=min((it.radius_m for it in task.placements), default=0.0),
        rejected=rejected,
        completed=completed,
    )


@dataclass(frozen=True)
class Answer:
    """A planner's answer as it was understood.

    :param plan: every target in numbers; empty where there are reasons against it
    """

    plan: ActionPlan
    reasons: list[str]
    text: str


def hear(
    record: EpisodeRecord,
    answer: Any,
    asked: str,
    blocks: Mapping[str, Vector],
    placements: Sequence[Placement],
    waypoints: Waypoints,
) -> ActionPlan | None:
    """Note a planner's answer; return its plan, None where there is none to carry out.

    :param answer: Plan_Response, or any object with its fields
    :param asked: kind of the planner; none says so when none has answered
    :param blocks: where the planner was told the blocks are [m]
    :param placements: what it was asked for
    :raises Abort: for an error that says nothing about the planner
    """
    record.asked(_planner_record(answer.info, asked))
    if answer.error:
        if answer.infrastructure:
            raise Abort(answer.error, answer.message)
        record.planned(0, [f'{answer.error}: {answer.message}'], '')
        return None
    read = read_answer(answer, blocks, placements, waypoints)
    record.planned(len(read.plan.actions), read.reasons, read.text)
    return None if read.reasons else read.plan


def read_answer(
    answer: Any,
    blocks: Mapping[str, Vector],
    placements: Sequence[Placement],
    waypoints: Waypoints,
) -> Answer:
    """Read what a planner answered (Plan_Response) without an error.

    :param blocks: where the planner was told the blocks are [m]
    :param placements: what it was asked for
    """
    reasons: list[str] = []
    text = ''
    if answer.typed:
        try:
            plan = read_actions(answer.plan.actions)
            if not plan.actions:
                reasons = ['an empty plan is no plan: nothing to execute']
        except ValidationError as error:
            plan, reasons = ActionPlan(actions=()), [explain(error)]
    else:
        text = answer.text
        verdict = ActionPlan.validate_raw_plan(text, Words.of(placements))
        plan, reasons = verdict.plan, [str(reason) for reason in verdict.reasons]
    try:
        plan = plan.resolve(blocks, zone_centres(placements), waypoints)
    except PlanProblem as problem:
        plan, reasons = ActionPlan(actions=()), [*reasons, str(problem)]
    return Answer(plan, reasons, text)


def read_actions(actions: Iterable[Any]) -> ActionPlan:
    """Return the plan of some actions (Action.msg), whose targets are numbers.

    :raises ValidationError: for what is no action, and for a target out of the workspace
    """
    return ActionPlan.model_validate({'actions': [*map(_action, actions)]})


def _action(action: Any) -> dict[str, Any]:
    """Return an action of a message as plain data, to be validated like any other."""
    if action.kind == MOVE_TO:
        at = action.target
        return {'action': 'MOVE_TO', 'target': (at.x, at.y, at.z)}
    if action.kind == GRIP:
        return {'action': 'GRIP', 'block': action.block}
    return {'action': 'RELEASE'}


def _planner_record(info: Any, asked: str) -> dict[str, Any]:
    """Return PlannerInfo.msg as a journal row has it."""
    return {
        'planner': info.planner or asked,
        'provider': info.provider,
        'model': info.model,
        'digest': info.digest,
        'prompt_sha256': info.prompt_sha256,
        'prompt_tokens': info.prompt_tokens,
        'completion_tokens': info.completion_tokens,
        'wall_s': info.wall_time,
        'cached': info.cached,
        'done_reason': info.done_reason,
    }
