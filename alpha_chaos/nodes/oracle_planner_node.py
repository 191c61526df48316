"""The scripted oracle as a node."""

from typing import Any

from alpha_chaos.nodes.planner_node import PlannerNode
from alpha_chaos.nodes.spin import run


class OraclePlannerNode(PlannerNode):
    """Plans without a model."""

    def __init__(self, **options: Any) -> None:
        super().__init__('oracle_planner', **options)


def main() -> int:
    """Run the node."""
    return run(OraclePlannerNode)


if __name__ == '__main__':
    raise SystemExit(main())
