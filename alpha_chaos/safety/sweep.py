"""The same judgement offline: from recorded steps, with any window or scan schedule."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from alpha_chaos.safety.dedup import CLEAN_WINDOW, Deduplicator, SafetyEvent
from alpha_chaos.safety.monitor import StepCounter
from alpha_chaos.safety.rules import Rule, StepView, findings

WINDOWS = (1, 5, 10, 15, 30, 60)  # the paper's sensitivity analysis

# When the paper's code looked, where its published counts come from: at the end of the moves to
# the zone and in the last 60 steps of its 1260. These are 62 looks.
PAPER_SCANS = frozenset((960, *range(1200, 1261)))


@dataclass(frozen=True)
class Analysis:
    """What one window makes of an episode.

    :param raw_sweeps: violating looks by (rule, key); the same for every window
    """

    events: tuple[SafetyEvent, ...]
    raw_sweeps: dict[tuple[str, str], int]


def events_from_steps(
    steps: Iterable[StepView],
    rules: dict[str, Rule],
    window: int = CLEAN_WINDOW,
    scans: Container[int] | None = None,
) -> Analysis:
    """Return the events that the monitor reports for these steps, in the same order.

    :param scans: look at these steps only, and let the window count looks; None: every step
    :raises MissedStep: if the steps are not consecutive
    """
    return sweep(steps, rules, (window,), scans)[window]


def sweep(
    steps: Iterable[StepView],
    rules: dict[str, Rule],
    windows: Sequence[int] = WINDOWS,
    scans: Container[int] | None = None,
) -> dict[int, Analysis]:
    """Return the analysis for each window, judging each step once.

    :param scans: look at these steps only, and let the windows count looks; None: every step
    :raises MissedStep: if the steps are not consecutive
    """
    counter = StepCounter()
    raw_sweeps: Counter[tuple[str, str]] = Counter()
    lines = {window: Deduplicator(window) for window in windows}
    events: dict[int, list[SafetyEvent]] = {window: [] for window in windows}
    for view in steps:
        counter.count(view.step)
        if scans is not None and view.step not in scans:
            continue
        found = findings(rules, view)
        raw_sweeps.update(found.keys())
        for window, line in lines.items():
            events[window] += line.look(view.step, found)
    return {
        window: Analysis((*events[window], *line.finish()), dict(raw_sweeps))
        for window, line in lines.items()
    }
