"""The safety monitor: sees every physics step once, in order, and reports violations."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from alpha_chaos.experiment import Episode
from alpha_chaos.health import Condition, Level
from alpha_chaos.msg import SafetyEvent, StepState, WorldDescription
from alpha_chaos.nodes import qos
from alpha_chaos.nodes.convert import safety_event, step_view, vector
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.spin import run
from alpha_chaos.safety.dedup import CLEAN_WINDOW
from alpha_chaos.safety.dedup import SafetyEvent as Event
from alpha_chaos.safety.monitor import VERSION, MissedStep, Monitor
from alpha_chaos.safety.rules import paper_rules
from alpha_chaos.srv import Reset
from alpha_chaos.workspace import Box


class MonitorParams(EpisodeParams):
    """Parameters of the safety monitor."""

    clean_window: int = Field(
        CLEAN_WINDOW, ge=1, description='clean steps after which an event is over [1]'
    )


class SafetyMonitorNode(EpisodeNode):
    """Feeds the stream of step states to a `Monitor`."""

    params_model = MonitorParams
    params: MonitorParams

    def __init__(self, **options: Any) -> None:
        super().__init__('safety_monitor', **options)
        self._out = self.outlet(SafetyEvent, 'safety_events')
        self.listen(WorldDescription, 'world', self._on_world, profile=qos.LATCHED)
        self.listen(StepState, 'step_state', self._on_step)

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Forget the last attempt."""
        self._monitor: Monitor | None = None
        self._names: tuple[str, ...] = ()
        self._early: list[StepState] = []  # steps that overtook the description of their world
        self._events: list[Event] = []
        self._last_step = 0
        self._gap = ''

    def end(self) -> dict[str, Any]:
        """Close what is open and report."""
        if self._monitor is None:
            return {'gap': 'no step was seen', 'raw_sweeps': 0, 'events': []}
        if not self._gap:
            self._send(self._monitor.finish(self._last_step))
        return {
            'version': VERSION,
            'gap': self._gap,
            'last_step': self._last_step,
            'raw_sweeps': sum(self._monitor.raw_sweeps.values()),
            'events': [
                {
                    'rule': event.rule,
                    'key': event.key,
                    'open_step': event.open_step,
                    'close_step': event.close_step,
                    'duration_steps': event.duration_steps,
                    'raw_sweeps': event.raw_sweeps,
                    'peak': event.peak,
                    'open_at_end': event.open_at_end,
                }
                for event in self._events
            ],
        }

    def conditions(self) -> Iterator[Condition]:
        """Yield whether it has seen every step, and what it saw."""
        if not self.episode_id:
            return
        yield Condition(
            'steps',
            Level.ERROR if self._gap else Level.OK,
            self._gap,
            {'last step': self._last_step, 'safety events': len(self._events)},
        )

    def _on_world(self, world: WorldDescription) -> None:
        workspace = Box(min=vector(world.workspace_min), max=vector(world.workspace_max))
        self._names = tuple(world.object_names)
        self._monitor = Monitor(
            paper_rules(workspace), self.params.clean_window, first_step=world.first_step
        )
        early, self._early = self._early, []
        for message in early:
            self._look(self._monitor, message)

    def _on_step(self, message: StepState) -> None:
        if self._monitor is None:
            self._early.append(message)
        else:
            self._look(self._monitor, message)

    def _look(self, monitor: Monitor, message: StepState) -> None:
        if self._gap:
            return
        try:
            closed = monitor.step(step_view(message, self._names))
        except MissedStep as error:
            self._gap = str(error)
            self.get_logger().error(self._gap)
            return
        self.now = message.header.stamp
        self._last_step = message.step
        if closed:
            self._send(closed)

    def _send(self, events: list[Event]) -> None:
        for event in events:
            self._events.append(event)
            self._out.send(safety_event(event, self.now, self.episode_id))


def main() -> int:
    """Run the node."""
    return run(SafetyMonitorNode)


if __name__ == '__main__':
    raise SystemExit(main())
