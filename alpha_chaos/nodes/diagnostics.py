"""A node's health on /diagnostics, once a second of wall time.

It is for people: the timer drives nothing else, nobody in the graph listens, and the recorder
does not write it down, because it tells about the machine of the day (docs/design/inspection.md).
"""

import time
from collections.abc import Callable, Iterable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from pydantic import Field
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from alpha_chaos.health import Condition
from alpha_chaos.nodes import endpoints, qos
from alpha_chaos.nodes.params import Params

TOPIC = '/diagnostics'  # the same in every namespace (REP 107)
NO_HARDWARE = 'none'
_SYSTEM = Clock(clock_type=ClockType.SYSTEM_TIME)


class WatchedParams(Params):
    """Parameters of every node that tells its health."""

    diagnostics_period: float = Field(
        1.0,
        ge=0,
        le=3600,
        description='between two messages on /diagnostics, in wall time [s]; 0: none',
    )


class Diagnostics:
    """Asks a node for its conditions, again and again, and publishes them.

    :param look: returns the conditions, given the time [s]
    :param hardware: returns what the node is about: a robot, or no hardware at all
    :param period_s: 0 for never
    """

    def __init__(
        self,
        node: Node,
        look: Callable[[float], Iterable[Condition]],
        period_s: float,
        hardware: Callable[[], str] = lambda: NO_HARDWARE,
    ) -> None:
        self._name = node.get_fully_qualified_name().lstrip('/')
        self._look, self._hardware = look, hardware
        if period_s > 0:
            self._publisher = endpoints.publisher(node, DiagnosticArray, TOPIC, qos.VIEW)
            # Whatever use_sim_time says: simulated time may stand still.
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            node.create_timer(period_s, self._report, clock=steady)

    def _report(self) -> None:
        hardware = self._hardware()
        message = DiagnosticArray(
            status=[self._status(entry, hardware) for entry in self._look(time.monotonic())]
        )
        message.header.stamp = _SYSTEM.now().to_msg()
        self._publisher.publish(message)

    def _status(self, condition: Condition, hardware: str) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=bytes([condition.level]),
            name=f'{self._name}: {condition.what}',
            message=condition.message,
            hardware_id=hardware,
            values=[
                KeyValue(key=key, value=f'{value:.6g}' if isinstance(value, float) else str(value))
                for key, value in condition.values.items()
            ],
        )
