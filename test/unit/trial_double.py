"""A graph on virtual time for trials: what happens in it is written down beforehand."""

from collections.abc import Callable
from typing import Any

from alpha_chaos.probes.base import Watch
from alpha_chaos.probes.config import SteadyState, Step
from alpha_chaos.probes.trial import Armed, Look, Outcome, RelayLost, Trial

DROP = {'route': 'scan', 'kind': 'drop', 'probability': 1.0}


class Graph:
    """Publishes `scan` at 10 Hz; a `drop` that is armed loses it.

    :param events: what else happens, by the time at which it does [s]
    """

    def __init__(self, events: dict[float, Callable[['Graph'], Any]] | None = None) -> None:
        self.trial: Trial
        self.time_s = 0.0
        self.events = sorted((events or {}).items())
        self.faults: dict[int, Armed] = {}
        self.nodes = frozenset({'/talker'})
        self.relay = True
        self.scans = True
        self.strikes = True  # a fault finds something to strike
        self.answers_get_lost = False
        self.history: list[tuple[float, str]] = []
        self._next_s = 0.0
        self._handles = 0

    def now_s(self) -> float:
        return self.time_s

    def look(self) -> Look:
        return Look(self.nodes, {'rate': int(self.scans)})

    def begin_phase(self) -> None:
        return

    async def pause(self, seconds: float) -> None:
        end_s = self.time_s + seconds
        while min([self._next_s, *(at_s for at_s, _ in self.events)]) <= end_s:
            if self.events and self.events[0][0] < self._next_s:
                self.time_s, event = self.events.pop(0)
                event(self)
            else:
                self.time_s = self._next_s
                self._publish()
                self._next_s = round(self._next_s + 0.1, 6)
        self.time_s = end_s

    def _publish(self) -> None:
        dropped = [handle for handle in self.faults if self.strikes]
        for handle in dropped:
            fault = self.faults[handle]
            self.faults[handle] = Armed(fault.settings, fault.struck + 1)
        if self.scans and not dropped:
            self.tell('rate', lambda watch: watch.on_message(self.time_s, lambda: None))  # type: ignore[arg-type,return-value]

    def tell(self, name: str, sight: Callable[[Watch], None]) -> None:
        self.trial.show(name, sight)

    async def armed(self) -> dict[int, Armed]:
        if not self.relay:
            raise RelayLost('the relay does not answer')
        return dict(self.faults)

    async def arm(self, fault: Any) -> int:
        await self.armed()
        self._handles += 1
        self.faults[self._handles] = Armed(fault, 0)
        self.history.append((self.time_s, 'armed'))
        if self.answers_get_lost:
            raise RelayLost('the relay does not answer')
        return self._handles

    async def disarm(self, handle: int) -> None:
        await self.armed()
        self.faults.pop(handle)
        self.history.append((self.time_s, 'disarmed'))


def settings(probes: Any, **changes: Any) -> SteadyState:
    """Return 2 s before, 3 s of a drop, 1 s to settle and 2 s after."""
    method = (Step(DROP, for_s=3.0),)
    times = {'method': method, 'before_s': 2.0, 'settle_s': 1.0, 'after_s': 2.0, **changes}
    return SteadyState(probes, **times)


def conduct(
    graph: Graph,
    wanted: SteadyState,
    record: Callable[[dict[str, Any]], None] = lambda line: None,
    orphans: Any = (),
) -> Outcome:
    """Run a trial to its end."""
    graph.trial = Trial(wanted, graph, record, orphans)
    try:
        graph.trial.run().send(None)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    raise AssertionError('nothing here ever waits')
