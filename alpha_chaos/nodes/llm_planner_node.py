"""The language-model planner as a node."""

from pathlib import Path
from typing import Any

from pydantic import Field

from alpha_chaos.experiment import Episode
from alpha_chaos.nodes.episode_node import EpisodeParams
from alpha_chaos.nodes.planner_node import PlannerNode
from alpha_chaos.nodes.spin import run
from alpha_chaos.planners.base import Completion, CompletionRequest
from alpha_chaos.planners.llm import Llm
from alpha_chaos.planners.providers.select import Choice, ProviderKind, choose
from alpha_chaos.srv import Reset


class LlmPlannerParams(EpisodeParams):
    """Parameters of the node; the model itself is a setting of the experiment's arm."""

    replies: str = Field('', description="folder of recorded replies, empty for the user's")


class LlmPlannerNode(PlannerNode):
    """Plans by asking a model, which is loaded when it is first asked."""

    params_model = LlmPlannerParams
    params: LlmPlannerParams

    def __init__(self, **options: Any) -> None:
        super().__init__('llm_planner', self._ask, **options)
        self._choice: Choice | None = None
        self._wanted: tuple[ProviderKind, str, int | None] = ('auto', '', None)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Let go of the model if the arm has another."""
        super().begin(episode, request)
        planner = self._planner
        if not isinstance(planner, Llm):
            return
        wanted = planner.provider, planner.model, planner.context_tokens
        if wanted != self._wanted:
            self._let_go()
            self._wanted = wanted

    def destroy_node(self) -> None:
        """Let go of the model."""
        self._let_go()
        super().destroy_node()

    def _ask(self, request: CompletionRequest) -> Completion:
        if self._choice is None:
            provider, model, room = self._wanted
            replies = Path(self.params.replies) if self.params.replies else None
            self._choice = choose(provider, model, replies=replies, room=room)
            self.get_logger().info(self._choice.sentence)
        return self._choice.provider.complete(request)

    def _let_go(self) -> None:
        if self._choice is not None:
            self._choice.provider.close()
            self._choice = None


def main() -> int:
    """Run the node."""
    return run(LlmPlannerNode)


if __name__ == '__main__':
    raise SystemExit(main())
