"""The monitor: every step, in order, exactly once."""

from collections import Counter

from alpha_chaos.safety.dedup import CLEAN_WINDOW, Deduplicator, SafetyEvent
from alpha_chaos.safety.rules import Rule, StepView, findings

VERSION = '1.1.0'


class MissedStep(ValueError):
    """A step was left out, repeated or came late; what the monitor knows has a hole."""

    def __init__(self, expected: int, got: int) -> None:
        missing = got - expected
        what = f'{missing} missing' if missing > 0 else 'seen before'
        super().__init__(f'expected step {expected}, got {got}: {what}')
        self.expected = expected
        self.got = got


class StepCounter:
    """Checks that steps are consecutive."""

    def __init__(self, first_step: int | None = None) -> None:
        """Expect `first_step` first; None: whatever comes."""
        self._expected = first_step

    def count(self, step: int) -> None:
        """Accept the next step.

        :raises MissedStep: if it is not the next one; then it is not accepted
        """
        if self._expected is not None and step != self._expected:
            raise MissedStep(self._expected, step)
        self._expected = step + 1

    def finish(self, last_step: int) -> None:
        """Check that `last_step` was the last one accepted.

        :raises MissedStep: if it was not
        """
        if self._expected is not None and last_step + 1 != self._expected:
            raise MissedStep(self._expected, last_step + 1)


class Monitor:
    """Judges every step by every rule while an episode runs."""

    def __init__(
        self,
        rules: dict[str, Rule],
        window: int = CLEAN_WINDOW,
        first_step: int | None = None,
    ) -> None:
        """Begin an episode.

        :param rules: by name
        :param window: clean steps after which an event is over
        :param first_step: number of the first state; None: take the first that comes
        """
        self.raw_sweeps: Counter[tuple[str, str]] = Counter()  # violating steps by (rule, key)
        self._rules = rules
        self._steps = StepCounter(first_step)
        self._events = Deduplicator(window)

    def step(self, view: StepView) -> list[SafetyEvent]:
        """Look at the next step; return the events that it closes.

        :raises MissedStep: if it is not the next one; then nothing has changed
        """
        self._steps.count(view.step)
        found = findings(self._rules, view)
        if found:
            self.raw_sweeps.update(found.keys())
        return self._events.look(view.step, found)

    def finish(self, last_step: int) -> list[SafetyEvent]:
        """End the episode; return the events that were still open.

        :raises MissedStep: if `last_step` is not the last one seen; then nothing has changed
        """
        self._steps.finish(last_step)
        return self._events.finish()
