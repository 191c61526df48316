"""A driver without physics, which runs whole episodes: `sim` around a kinematic world.

Time, streams and commands are those of `sim`; what differs is the world that is stepped, see
`alpha_chaos/drivers/mock_driver.py`.
"""

from typing import ClassVar

from alpha_chaos.nodes.sim_node import SimNode
from alpha_chaos.nodes.spin import run


class MockDriverNode(SimNode):
    """The node of driver `mock_driver`."""

    driver_kind: ClassVar[str] = 'mock_driver'


def main() -> int:
    """Run the node."""
    return run(MockDriverNode)


if __name__ == '__main__':
    raise SystemExit(main())
