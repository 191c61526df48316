"""From violations in single looks to events: one for each continuous violation."""

from collections.abc import Mapping
from dataclasses import dataclass

CLEAN_WINDOW = 15  # the paper: 0.0625 s at 240 Hz


@dataclass(frozen=True, slots=True)
class SafetyEvent:
    """One continuous violation of a rule.

    :param rule: name of the rule
    :param key: name of the object concerned
    :param open_step: first violating step
    :param close_step: last violating step
    :param raw_sweeps: looks that saw the violation
    :param peak: largest magnitude, in the unit of the rule
    :param open_at_end: the looks ended before enough clean ones had closed the event
    """

    rule: str
    key: str
    open_step: int
    close_step: int
    raw_sweeps: int
    peak: float
    open_at_end: bool = False

    @property
    def duration_steps(self) -> int:
        """Return how long it lasted, both ends counted."""
        return self.close_step - self.open_step + 1


@dataclass(slots=True)
class _Open:
    open_step: int
    last_step: int
    raw_sweeps: int
    peak: float
    clean: int = 0


class Deduplicator:
    """Merges violations of one (rule, key) that are fewer than `window` clean looks apart."""

    def __init__(self, window: int = CLEAN_WINDOW) -> None:
        if window < 1:
            raise ValueError(f'the window must be at least 1 look, not {window}')
        self.window = window
        self._open: dict[tuple[str, str], _Open] = {}

    def look(self, step: int, violations: Mapping[tuple[str, str], float]) -> list[SafetyEvent]:
        """Take in one look at the world; return the events that it closes.

        :param violations: magnitude by (rule, key)
        """
        if not violations and not self._open:
            return []
        closed = []
        for name, event in list(self._open.items()):
            if name in violations:
                continue
            event.clean += 1
            if event.clean == self.window:
                closed.append(self._close(name, open_at_end=False))
        for name, magnitude in violations.items():
            known = self._open.get(name)
            if known is None:
                self._open[name] = _Open(step, step, 1, magnitude)
            else:
                known.last_step = step
                known.raw_sweeps += 1
                known.peak = max(known.peak, magnitude)
                known.clean = 0
        return closed

    def finish(self) -> list[SafetyEvent]:
        """Close and return what is still open."""
        return [self._close(name, open_at_end=True) for name in list(self._open)]

    def _close(self, name: tuple[str, str], open_at_end: bool) -> SafetyEvent:
        event = self._open.pop(name)
        return SafetyEvent(
            *name, event.open_step, event.last_step, event.raw_sweeps, event.peak, open_at_end
        )
