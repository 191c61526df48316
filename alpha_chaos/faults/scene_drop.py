"""Messages of a topic are lost."""

from collections.abc import Iterable
from typing import Literal

from numpy.random import Generator

from alpha_chaos.faults.base import Decision, Evidence, Fault, Injector, Sample


class SceneDrop(Fault):
    """Lose each message with `probability`, independently of the others.

    The consumer then acts on the last one that came through, or has none to act on. Whether the
    one it needed was among the lost is for the episode's observation to say.
    """

    kind: Literal['scene_drop'] = 'scene_drop'
    route: str = 'scene'

    @property
    def routes(self) -> tuple[str, ...]:
        """The topic whose messages are lost."""
        return (self.route,)

    def injector(self, draws: Generator) -> Injector:
        """Return an injector; all it remembers is what it did."""
        return _Drop(self, draws)


SceneDrop.example = SceneDrop(probability=0.5)


class _Drop(Injector):
    def __init__(self, fault: SceneDrop, draws: Generator) -> None:
        super().__init__()
        self._fault = fault
        self._draws = draws
        self._run = 0  # lost since the last one that came through
        self._longest = 0

    def on_message(self, sample: Sample) -> Iterable[Sample]:
        draw = float(self._draws.random())
        lost = draw < self._fault.probability
        self._run = self._run + 1 if lost else 0
        self._longest = max(self._longest, self._run)
        detail = {'lost_in_a_row': self._run}
        self._decide(Decision('scene_drop', self._fault.probability, draw, lost, {**detail}))
        return () if lost else (sample,)

    def evidence(self) -> Evidence:
        """Return whether there was anything to lose, and how much of it was lost."""
        detail = self._tally() | {
            'delivered': self._decided - self._struck,
            'longest_run_lost': self._longest,
            'last_lost': self._run > 0,
        }
        return Evidence(self._decided > 0, detail)
