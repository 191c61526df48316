"""The plan guard: checks a plan between the parser and the controller, before anything moves."""

from typing import Any

from alpha_chaos.catalogues import bodies, tasks
from alpha_chaos.course import read_actions
from alpha_chaos.experiment import Episode
from alpha_chaos.guard import Guard, Hand
from alpha_chaos.msg import PlanVerdict
from alpha_chaos.nodes.convert import (
    block_positions,
    failure_message,
    placement_message,
    point,
    vector,
)
from alpha_chaos.nodes.episode_node import EpisodeNode
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import parse
from alpha_chaos.srv import CheckPlan, Reset
from alpha_chaos.tasks.base import Task


class PlanGuardNode(EpisodeNode):
    """Answers `~/check` with a verdict, and publishes the same."""

    def __init__(self, **options: Any) -> None:
        super().__init__('plan_guard', **options)
        self._verdicts = self.outlet(PlanVerdict, 'plan_verdicts')
        self.create_service(CheckPlan, '~/check', self._on_check)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Take what the task wants, and the size of the blocks."""
        self._task: Task = parse(tasks(), episode.task, 'task')
        self._guard = Guard(episode.guard, self._task, parse(bodies(), episode.body, 'body'))

    def end(self) -> dict[str, Any]:
        """Report how many plans were checked."""
        return {'plans': self._verdicts.count}

    def _on_check(
        self, request: CheckPlan.Request, response: CheckPlan.Response
    ) -> CheckPlan.Response:
        if not self.is_mine(request.episode_id):
            response.message = f'{self.get_name()} runs {self.episode_id!r}'
            return response
        try:
            response.verdict = self._verdict(request)
        except Exception as error:  # the supervisor aborts the attempt; the node lives on
            response.message = self.spoil('check', error)
            return response
        self._verdicts.send(response.verdict)
        response.ok = True
        return response

    def _verdict(self, request: CheckPlan.Request) -> PlanVerdict:
        verdict = self._guard.check(
            read_actions(request.plan.actions),
            block_positions(request.scene),
            Hand(vector(request.tip) if request.has_moved else None, request.closed),
        )
        return PlanVerdict(
            header=request.plan.header,
            episode_id=self.episode_id,
            sequence=self._verdicts.count + 1,
            mode=verdict.mode,
            clean=verdict.clean,
            blocked=verdict.blocked,
            goal_reached=verdict.goal_reached,
            failures=[*map(failure_message, verdict.failures)],
            path=[*map(point, verdict.path_m)],
            placements=[*map(placement_message, self._task.placements)],
        )


def main() -> int:
    """Run the node."""
    return run(PlanGuardNode)


if __name__ == '__main__':
    raise SystemExit(main())
