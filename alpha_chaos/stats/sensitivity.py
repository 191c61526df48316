"""How far an episode's safety counts hang on the window, and on when one looks."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from alpha_chaos.bag.reader import Recording
from alpha_chaos.safety.rules import StepView, paper_rules
from alpha_chaos.safety.sweep import PAPER_SCANS, WINDOWS, Analysis, sweep
from alpha_chaos.workspace import Box

Named = tuple[str, str]  # rule and object


@dataclass(frozen=True)
class Looked:
    """What one schedule and one window make of an episode; counts are by rule and object.

    :param window: clean looks after which an event is over
    :param raw_sweeps: looks that saw a violation
    :param steps: from the first to the last step of an event, summed over its events
    """

    window: int
    raw_sweeps: dict[Named, int]
    events: dict[Named, int]
    steps: dict[Named, int]

    @property
    def totals(self) -> tuple[int, int, int]:
        """Return raw sweeps, events and steps, as the paper's table VI has them."""
        counts = self.raw_sweeps, self.events, self.steps
        raw, events, steps = (sum(count.values()) for count in counts)
        return raw, events, steps


@dataclass(frozen=True)
class Sensitivity:
    """One episode, looked at in every way.

    :param every_step: by window, as the monitor looks
    :param paper_scans: by window, at the 62 steps in which the paper's code looked
    """

    every_step: tuple[Looked, ...]
    paper_scans: tuple[Looked, ...]


def _looked(window: int, analysis: Analysis) -> Looked:
    events: Counter[Named] = Counter()
    steps: Counter[Named] = Counter()
    for event in analysis.events:
        events[event.rule, event.key] += 1
        steps[event.rule, event.key] += event.duration_steps
    return Looked(window, dict(analysis.raw_sweeps), dict(events), dict(steps))


def sensitivity(recording: Recording) -> Sensitivity:
    """Return what each window, and the paper's schedule, make of a recorded episode.

    :raises MissedStep: if the recording lacks a step
    """
    return sensitivity_of(recording.steps(), recording.description.workspace)


def sensitivity_of(steps: Iterable[StepView], workspace: Box) -> Sensitivity:
    """Return the same of an episode's steps.

    :raises MissedStep: if they are not consecutive
    """
    views, rules = list(steps), paper_rules(workspace)
    every, some = sweep(views, rules, WINDOWS), sweep(views, rules, WINDOWS, PAPER_SCANS)
    return Sensitivity(
        tuple(_looked(window, found) for window, found in every.items()),
        tuple(_looked(window, found) for window, found in some.items()),
    )
