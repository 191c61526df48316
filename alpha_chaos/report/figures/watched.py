"""What the safety monitor counts, and how much that hangs on how one looks."""

from collections.abc import Sequence
from statistics import fmean

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from alpha_chaos.journal import Row
from alpha_chaos.report import wording as say
from alpha_chaos.report.figures.base import (
    GREY,
    Picture,
    Safety,
    arm_keys,
    colour_of,
    legend,
    line,
    mark,
    marker_of,
    picture,
    quiet,
)
from alpha_chaos.report.figures.lanes import Lanes, beside, hollow
from alpha_chaos.report.figures.success import DASHED
from alpha_chaos.safety.dedup import CLEAN_WINDOW
from alpha_chaos.safety.sweep import PAPER_SCANS
from alpha_chaos.stats.sensitivity import Looked, Sensitivity
from alpha_chaos.stats.summary import Summary


def events(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return raw sweeps against unique events, by condition and arm."""
    cells = [cell for cell in summary.cells if cell.safety]
    if not any(cell.safety and cell.safety.raw_sweeps.high for cell in cells):
        return None
    conditions = [name for name in summary.conditions if any(c.condition == name for c in cells)]
    lanes = Lanes(conditions, summary.arms)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        lanes.rule(axes)
        for cell in cells:
            assert cell.safety
            y, colour = lanes.y(cell.condition, cell.arm), colour_of(summary, cell.arm)
            raw, unique = cell.safety.raw_sweeps.mean, cell.safety.events.mean
            axes.plot((unique, raw), (y, y), color=colour, linewidth=1, alpha=0.6)
            axes.plot([raw], [y], marker='|', markersize=7, color=colour, clip_on=False)
            axes.plot(
                [unique],
                [y],
                marker=marker_of(summary, cell.arm),
                markersize=4.5,
                color=colour,
                clip_on=False,
                zorder=4,
            )
            beside(axes, y, f'{say.plain(raw)} / {say.plain(unique)}')
        axes.set_xscale('symlog', linthresh=1)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'))
        axes.set_xlabel('of an episode, mean (logarithmic from 1 on)')
        legend(figure, [*arm_keys(summary), mark('raw sweeps', '|', GREY)], 5)

    alt = 'Raw sweeps and unique safety events, mean of an episode: ' + '; '.join(
        f'{cell.arm} {say.plain(cell.safety.raw_sweeps.mean)} and '
        f'{say.plain(cell.safety.events.mean)}'
        for cell in summary.overall
        if cell.safety
    )
    return picture(
        'events',
        'Safety: raw sweeps against unique events',
        'A raw sweep is a step that sees a violation, so one that lasts counts at every step '
        '(upright bar); as an event it counts once (mark). Both are at the right.',
        f'{alt}.',
        lanes.height_in + 0.9,
        paint,
    )


def window(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return how many events each window makes of the same recordings."""
    by_arm = {
        arm: [safety[row.key] for row in rows if row.arm == arm and row.key in safety]
        for arm in summary.arms
    }
    by_arm = {arm: found for arm, found in by_arm.items() if found}
    if not by_arm or not _violated(safety):
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (arm, found) in enumerate(by_arm.items()):
            for style, schedule in ((('-', 'every_step')), ((DASHED, 'paper_scans'))):
                windows, counts = _curve(found, schedule)
                axes.plot(
                    range(len(windows)),
                    counts,
                    color=colour_of(summary, arm),
                    linestyle=style,
                    linewidth=1.4,
                    marker=marker_of(summary, arm),
                    markersize=max(3.5, 8.5 - 2 * place),
                    markerfacecolor='none',
                    clip_on=False,
                )
                axes.set_xticks(range(len(windows)), [str(number) for number in windows])
                if CLEAN_WINDOW in windows and arm == next(iter(by_arm)):
                    axes.axvline(windows.index(CLEAN_WINDOW), color=GREY, alpha=0.4, linewidth=5)
        quiet(axes, grid='both')
        axes.set_ylim(bottom=0)
        axes.set_xlabel('W: looks without a violation after which an event is over')
        axes.set_ylabel('events of an episode, mean')
        keys = [*arm_keys(summary, list(by_arm)), line('every step')]
        legend(figure, [*keys, line(f"the paper's {_LOOKS} looks", GREY, DASHED)], 5)

    alt = 'Events of an episode by window W: ' + '; '.join(
        f'{arm} '
        + ', '.join(
            f'W {number} {say.plain(count)}'
            for number, count in zip(*_curve(found, 'every_step'), strict=True)
        )
        for arm, found in by_arm.items()
    )
    looked = sum(map(len, by_arm.values()))
    return picture(
        'window',
        'Safety: what the window makes of the same recordings',
        f'From {looked} recordings of {len(rows)} episodes. A flat line: the window does not '
        f'matter. The monitor uses W = {CLEAN_WINDOW} (shaded).',
        f'{alt}.',
        3.0,
        paint,
    )


_LOOKS = len(PAPER_SCANS)


def _violated(safety: Safety) -> bool:
    """Return whether any step of any recording broke a rule."""
    return any(item.every_step[0].totals[0] for item in safety.values())


def _curve(found: Sequence[Sensitivity], schedule: str) -> tuple[list[int], list[float]]:
    looked: list[tuple[Looked, ...]] = [getattr(item, schedule) for item in found]
    windows = [item.window for item in looked[0]]
    return windows, [
        fmean(item[place].totals[1] for item in looked) for place in range(len(windows))
    ]


def scans(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return the raw sweeps of every step beside those of the paper's schedule."""
    cells: dict[tuple[str, str], list[Sensitivity]] = {}
    for row in rows:
        if row.key in safety:
            cells.setdefault((row.condition, row.arm), []).append(safety[row.key])
    if not cells or not _violated(safety):
        return None
    conditions = [name for name in summary.conditions if any(key[0] == name for key in cells)]
    lanes = Lanes(conditions, summary.arms)
    theirs = {
        (name, arm): counts.raw_sweeps
        for name in conditions
        if (found := summary.published(name))
        for arm, counts in found.safety.items()
        if arm in summary.arms
    }

    means = {
        key: (
            fmean(item.every_step[0].totals[0] for item in found),
            fmean(item.paper_scans[0].totals[0] for item in found),
        )
        for key, found in cells.items()
    }

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        lanes.rule(axes)
        for (condition, arm), (ours, some) in means.items():
            y, colour = lanes.y(condition, arm), colour_of(summary, arm)
            axes.plot((some, ours), (y, y), color=colour, linewidth=1, alpha=0.6)
            for value, face in ((ours, colour), (some, 'none')):
                axes.plot(
                    [value],
                    [y],
                    marker=marker_of(summary, arm),
                    markersize=4.5,
                    markeredgecolor=colour,
                    markerfacecolor=face,
                    clip_on=False,
                    zorder=4,
                )
            beside(axes, y, f'{say.plain(ours)} / {say.plain(some)}')
        for (condition, arm), value in theirs.items():
            hollow(axes, value, lanes.y(condition, arm))
        axes.set_xscale('symlog', linthresh=1)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'))
        axes.set_xlabel('raw sweeps of an episode, mean (logarithmic from 1 on)')
        keys = [*arm_keys(summary), mark(f"the paper's {_LOOKS} looks", 'o', GREY, hollow=True)]
        if theirs:
            keys.append(mark('paper', 'D', GREY, hollow=True))
        legend(figure, keys, 5)

    alt = "Raw sweeps of an episode at every step and at the paper's looks: " + '; '.join(
        f'{condition} of {arm} {say.plain(ours)} and {say.plain(some)}'
        for (condition, arm), (ours, some) in means.items()
    )
    return picture(
        'scans',
        "Safety: looking at every step against the paper's schedule",
        f'The same recordings, looked at in every step (filled) and in the {_LOOKS} steps in '
        "which the paper's code looked (hollow); both numbers are at the right."
        + (' Diamonds: what the paper reports.' if theirs else ''),
        f'{alt}.',
        lanes.height_in + 0.9,
        paint,
    )
