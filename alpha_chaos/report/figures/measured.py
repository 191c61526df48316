"""What was measured in every episode: lags, staleness, placement errors."""

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
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
from alpha_chaos.stats.intervals import spread
from alpha_chaos.stats.summary import Summary
from alpha_chaos.tasks.pick_place import PickPlace

JAW_SPAN_M = 0.08  # of the Franka hand: what the paper measures staleness by
LEAST_M = 1e-5  # errors below are drawn here
_LOG = 20.0  # ratio of largest to smallest error from which on the axis is logarithmic


def lag(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return how far the lag that was asked for arrived, and how stale the scene was."""
    asked = [row for row in rows if row.observation.requested_lag_s is not None]
    if not asked:
        return None
    theirs = [
        found
        for name in summary.conditions
        if (found := summary.published(name)) and found.requested_lag_s is not None
    ]

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        most = max(row.observation.requested_lag_s or 0 for row in asked)
        most = 1.12 * max([most, *(row.observation.delivered_lag_s or 0 for row in asked)])
        left.plot((0, most), (0, most), color=GREY, linewidth=1, linestyle=DASHED)
        _scatter(left, summary, asked, 'delivered_lag_s', 1.0)
        _scatter(right, summary, asked, 'staleness_m', 1e3)
        right.axhline(1e3 * JAW_SPAN_M, color=GREY, linewidth=1.4)
        stale = [row.observation.staleness_m or 0 for row in asked]
        for item in theirs:
            if item.requested_lag_s is not None and item.delivered_lag_s is not None:
                hollow(left, item.requested_lag_s, item.delivered_lag_s)
            if item.requested_lag_s is not None and item.staleness_m is not None:
                hollow(right, item.requested_lag_s, 1e3 * item.staleness_m)
        for axes in (left, right):
            quiet(axes, grid='both')
            axes.set_xlim(0, most or 1)
            axes.set_xlabel('requested lag [s]')
        left.set_ylim(0, most or 1)
        left.set_ylabel('delivered lag [s]')
        right.set_ylim(0, 1.15 * 1e3 * max(JAW_SPAN_M, *stale))
        right.set_ylabel('seen to true place of the block [mm]')
        keys = [*arm_keys(summary), line('delivered = requested', GREY, DASHED)]
        keys.append(line(f'the jaws open {1e3 * JAW_SPAN_M:g} mm'))
        if theirs:
            keys.append(mark('paper', 'D', GREY, hollow=True))
        legend(figure, keys, 4)

    told = []
    for arm in summary.arms:
        of_arm = [row.observation for row in asked if row.arm == arm]
        if of_arm:
            told.append(
                f'{arm} asked for {_range(item.requested_lag_s for item in of_arm)} s, got '
                f'{_range(item.delivered_lag_s for item in of_arm)} s, staleness '
                f'{_range(item.staleness_m for item in of_arm)} m'
            )
    return picture(
        'lag',
        'Lag asked for, lag delivered, and how stale the scene was',
        'Left: on the dashed line the lag arrives as asked; a lag longer than the past that there '
        'is stays below. Right: a block that is seen further from its place than the jaws open '
        'cannot be gripped. A mark is every episode there.',
        f'Lag: {"; ".join(told)}; jaw span {JAW_SPAN_M} m.',
        3.3,
        paint,
    )


def _range(values: Iterable[float | None]) -> str:
    return say.spread(spread(values))


def _scatter(axes: Axes, summary: Summary, rows: Sequence[Row], of: str, factor: float) -> None:
    """Draw the observations, the arms as smaller and smaller marks: they coincide."""
    for place, arm in enumerate(summary.arms):
        of_arm = [row.observation for row in rows if row.arm == arm]
        points = {
            (item.requested_lag_s, round(factor * getattr(item, of), 4))
            for item in of_arm
            if item.requested_lag_s is not None and getattr(item, of) is not None
        }
        if not points:  # an empty line, not clipped, has no place and upsets the layout
            continue
        axes.plot(
            [x for x, _ in sorted(points)],
            [y for _, y in sorted(points)],
            linestyle='none',
            marker=marker_of(summary, arm),
            markersize=max(3.5, 9.5 - 2.2 * place),
            markeredgecolor=colour_of(summary, arm),
            markeredgewidth=1.3,
            markerfacecolor='none',
            clip_on=False,
            zorder=3 + place,
        )


def error(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return how far from the zone every block ended."""
    ended = [row for row in rows if row.final_error_m is not None and row.status != 'aborted']
    if not ended:
        return None
    lanes = Lanes(summary.conditions, summary.arms)
    errors = [max(LEAST_M, row.final_error_m or 0) for row in ended]
    radius_m = PickPlace().success_radius_m
    logarithmic = max(errors) > _LOG * min(errors)
    theirs = {
        (name, arm): value
        for name in summary.conditions
        if (found := summary.published(name))
        for arm, value in found.final_error_m.items()
        if arm in summary.arms
    }

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        lanes.rule(axes)
        axes.axvline(1e3 * radius_m, color=GREY, linewidth=1.2)
        for arm in summary.arms:
            of_arm = [row for row in ended if row.arm == arm]
            if not of_arm:
                continue
            axes.plot(
                [1e3 * max(LEAST_M, row.final_error_m or 0) for row in of_arm],
                # Within the lane by index, so that equal errors do not hide each other.
                [
                    lanes.y(row.condition, arm) + 0.09 * (row.episode_index % 8 - 3.5)
                    for row in of_arm
                ],
                linestyle='none',
                marker=marker_of(summary, arm),
                markersize=3,
                markeredgewidth=0,
                color=colour_of(summary, arm),
                alpha=0.75,
                clip_on=False,
            )
        for (condition, arm), value in theirs.items():
            hollow(axes, 1e3 * value, lanes.y(condition, arm))
        for cell in summary.cells:
            if cell.error_m is None:
                beside(axes, lanes.y(cell.condition, cell.arm), 'none')
        if logarithmic:
            axes.set_xscale('log')
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f'{value:g}'))
            axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ''))
            axes.tick_params(which='minor', length=0)
        else:
            axes.set_xlim(0, 1.05 * 1e3 * max(*errors, radius_m))
        axes.set_xlabel('from the block to the centre of the zone at the end [mm]')
        keys = [*arm_keys(summary), line(f'success radius {1e3 * radius_m:g} mm')]
        if theirs:
            keys.append(mark('paper', 'D', GREY, hollow=True))
        legend(figure, keys, 5)

    alt = 'Placement error [m], mean (range): ' + '; '.join(
        f'{cell.arm} {say.spread(cell.error_m, say.metres)}' for cell in summary.overall
    )
    return picture(
        'error',
        'Where the block ended: every episode',
        'A mark is one episode; left of the line the block lies in the zone.'
        + (' The axis is logarithmic.' if logarithmic else ''),
        f'{alt}; success radius {radius_m} m.',
        lanes.height_in + 0.9,
        paint,
    )
