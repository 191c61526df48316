"""The language-model planner as a node."""

from typing import Any

from alpha_chaos.nodes.planner_node import PlannerNode
from alpha_chaos.nodes.spin import run


class LlmPlannerNode(PlannerNode):
    """Plans by asking a model."""

    def __init__(self, **options: Any) -> None:
        super().__init__('llm_planner', **options)


def main() -> int:
    """Run the node."""
    return run(LlmPlannerNode)


if __name__ == '__main__':
    raise SystemExit(main())
