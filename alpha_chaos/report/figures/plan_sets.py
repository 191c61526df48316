"""Failures of each set of plans, with how far they can be trusted."""

from matplotlib.figure import Figure

from alpha_chaos.report.figures.base import (
    BLUE,
    GREY,
    ORANGE,
    RED,
    Picture,
    picture,
    plain,
    quiet,
)
from alpha_chaos.report.figures.lanes import Lanes, whisker
from alpha_chaos.stats.benchmark import COUNTS, BenchmarkSummary

_COLOURS = (BLUE, ORANGE, RED)


def plan_sets(summary: BenchmarkSummary) -> Picture | None:
    """Return the failures of a task in each set, baselines with hollow names in grey."""
    sets = [item for item in summary.sets if item.n]
    if not sets:
        return None
    lanes = Lanes([item.name for item in sets], ('',))

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(COUNTS))
        for axes, count, colour in zip(panels, COUNTS, _COLOURS, strict=True):
            quiet(axes)
            lanes.rule(axes, names=axes is panels[0])
            for item in sets:
                found = item.counts[count].mean
                if found.value is not None:
                    baseline = item.origin == 'baseline'
                    whisker(
                        axes,
                        lanes.middle(item.name),
                        found.value,
                        found.interval,
                        GREY if baseline else colour,
                        's' if baseline else 'o',
                    )
            axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
            axes.set_title(plain(count), fontsize=9, color=GREY)

    told = '; '.join(
        f'{item.name} '
        + ', '.join(f'{count} {item.counts[count].mean.value or 0:.2f}' for count in COUNTS)
        for item in sets
    )
    return picture(
        'plan_sets',
        'Failures of a task',
        'Mean failures of a task with its 95 % bootstrap interval over tasks (10 000 resamples); '
        'grey squares are plans that nobody thought about, and the golden ones.',
        f'Failures of a task: {told}.',
        lanes.height_in + 0.9,
        paint,
    )
