"""The time by which a relay holds messages back.

The one place where something waits for a time: a message that is late on purpose has nothing else
to wait for. In simulated time that is a look at every tick of /clock; else it is one timer of the
steady clock, set to the next message that is due, so that a correction of the computer's clock
neither delays nor hurries anything.
"""

import time
from collections.abc import Callable
from typing import cast

from rclpy.clock import Clock, ClockType, JumpThreshold, ROSClock, TimeJump
from rclpy.duration import Duration
from rclpy.node import Node

STEADY = Clock(clock_type=ClockType.STEADY_TIME)
_NEVER_S = 1e9


class RelayClock:
    """Tells the time and calls `pump(now_ns)` when it has come to what `wake` was told.

    In simulated time `pump` is called at every tick. `restart(now_ns)` is called instead when time
    begins (its first tick), jumps back, or is from now on another clock's.
    """

    def __init__(
        self, node: Node, pump: Callable[[int], None], restart: Callable[[int], None]
    ) -> None:
        self._clock = cast(ROSClock, node.get_clock())
        self._pump = pump
        self._restart = restart
        self._simulated = self._clock.ros_time_is_active
        self._ticked = False
        self._due_ns: int | None = None
        # Made once and set again and again: to make one takes longer than many a lag is exact.
        self._timer = node.create_timer(_NEVER_S, self._on_timer, clock=STEADY)
        self._timer.cancel()
        self._jumps = self._clock.create_jump_callback(
            JumpThreshold(
                min_forward=Duration(nanoseconds=1),
                min_backward=Duration(nanoseconds=-1),
                on_clock_change=True,
            ),
            post_callback=self._on_jump,
        )

    @property
    def now_ns(self) -> int:
        """Return the time [ns]: simulated, or the steady clock's."""
        return int(self._clock.now().nanoseconds) if self._simulated else time.monotonic_ns()

    def wake(self, due_ns: int | None) -> None:
        """Call `pump` at this time, instead of the one asked for before."""
        if self._simulated or due_ns == self._due_ns:
            return
        self._due_ns = due_ns
        if due_ns is None:
            self._timer.cancel()
        else:
            self._timer.timer_period_ns = max(1, due_ns - time.monotonic_ns())
            self._timer.reset()

    def close(self) -> None:
        """Hear of no more jumps."""
        self._jumps.unregister()

    def _on_timer(self) -> None:
        self._timer.cancel()
        self._due_ns = None
        self._pump(self.now_ns)

    def _on_jump(self, jump: TimeJump) -> None:
        simulated = self._clock.ros_time_is_active
        if simulated != self._simulated:
            self.wake(None)
            self._simulated, self._ticked = simulated, False
            self._restart(self.now_ns)
        elif simulated:
            begins, self._ticked = not self._ticked, True
            if begins or jump.delta.nanoseconds < 0:
                self._restart(self.now_ns)
            else:
                self._pump(self.now_ns)
