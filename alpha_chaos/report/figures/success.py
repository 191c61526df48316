"""Success and slips: shares of episodes, with their intervals."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

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
    plain,
    quiet,
)
from alpha_chaos.report.figures.lanes import Lanes, beside, hollow, whisker
from alpha_chaos.stats.intervals import wilson
from alpha_chaos.stats.summary import Summary

DASHED = (0.0, (2.0, 1.6))


def success(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return the success of every cell."""
    if not summary.cells:
        return None
    lanes = Lanes(summary.conditions, summary.arms)
    copies = sum(cell.copies for cell in summary.cells)
    published = [name for name in summary.conditions if summary.published(name)]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        lanes.rule(axes)
        for cell in summary.cells:
            y = lanes.y(cell.condition, cell.arm)
            rate = cell.result.rate
            if rate is None:
                beside(axes, y, 'no result')
                continue
            beside(axes, y, say.counted(cell.result))
            whisker(
                axes,
                y,
                rate,
                cell.result.interval,
                colour_of(summary, cell.arm),
                marker_of(summary, cell.arm),
                doubtful=cell.copies,
            )
            theirs = summary.published(cell.condition)
            if theirs and theirs.n and cell.arm in theirs.successes:
                hollow(axes, theirs.successes[cell.arm] / theirs.n, y)
        _percent(figure, 'episodes that succeed')
        keys = arm_keys(summary)
        if copies:
            keys.append(line('n counts copies', GREY, DASHED))
        if published:
            keys.append(mark('paper', 'D', GREY, hollow=True))
        legend(figure, keys, 5)

    caption = 'Share of successes, with its 95 % Wilson interval; k/n at the right.'
    if copies:
        caption += (
            f' In {copies} of {len(summary.cells)} cells episodes repeat a trajectory: their '
            'marks are pale and their intervals, dashed, are too narrow to mean anything.'
        )
    if published:
        caption += ' Hollow diamonds: what the paper reports.'
    if not summary.results:
        caption = 'No episode has a result yet.'
    alt = 'Success by arm: ' + '; '.join(
        f'{cell.arm} {say.counted(cell.result)}'
        + ('' if cell.result.rate is None else f' ({say.percent(cell.result.rate)} %)')
        for cell in summary.overall
    )
    if summary.results:
        never = [
            f'{cell.condition} of {cell.arm}'
            for cell in summary.cells
            if cell.result.n and not cell.result.k
        ]
        alt += f'. No success at all: {say.first_few(never, 8)}' if never else ''
    return picture(
        'success',
        'Success by condition and arm',
        caption,
        f'{alt}.',
        lanes.height_in + 0.9,
        paint,
    )


def slip(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return how often the grasp slipped against how often it should have."""
    cells = [cell for cell in summary.cells if cell.slips]
    if not cells:
        return None
    conditions = [name for name in summary.conditions if any(c.condition == name for c in cells)]
    lanes = Lanes(conditions, summary.arms)
    copies = any(cell.copies for cell in cells)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        lanes.rule(axes)
        for cell in cells:
            assert cell.slips
            y, found = lanes.y(cell.condition, cell.arm), cell.slips
            asked = found.probability.mean
            axes.plot((asked, asked), (y - 0.5, y + 0.5), color=GREY, linewidth=2, clip_on=False)
            beside(axes, y, say.counted(found.slipped))
            whisker(
                axes,
                y,
                found.slipped.k / found.slipped.n,
                wilson(found.slipped.k, found.slipped.n),
                colour_of(summary, cell.arm),
                marker_of(summary, cell.arm),
                doubtful=cell.copies,
            )
        _percent(figure, 'episodes in which the grasp slipped')
        keys = [*arm_keys(summary), mark('calibrated probability', '|', GREY)]
        if copies:
            keys.append(line('n counts copies', GREY, DASHED))
        legend(figure, keys, 5)

    alt = 'Slips: ' + '; '.join(
        f'{cell.condition} of {cell.arm} {say.counted(cell.slips.slipped)} at a probability of '
        f'{say.plain(cell.slips.probability.mean)}'
        for cell in cells
        if cell.slips
    )
    return picture(
        'slip',
        'Slips drawn against slips that happened',
        'Upright bar: the calibrated probability of a slip. Mark: the share of episodes in which '
        'the grasp did slip, with its 95 % Wilson interval.',
        f'{alt}.',
        lanes.height_in + 0.9,
        paint,
    )


def _percent(figure: Figure, label: str) -> None:
    (axes,) = figure.axes
    axes.set_xlim(0, 1)
    axes.set_xticks((0, 0.25, 0.5, 0.75, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel(plain(label))
