"""What a run took: cost per success, and every attempt accounted for."""

from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from alpha_chaos.journal import Row
from alpha_chaos.report import wording as say
from alpha_chaos.report.figures.base import (
    GREEN,
    GREY,
    OLIVE,
    ORANGE,
    PINK,
    PURPLE,
    RED,
    TEAL,
    Picture,
    Safety,
    colour_of,
    legend,
    mark,
    marker_of,
    picture,
    plain,
    quiet,
)
from alpha_chaos.report.figures.lanes import beside
from alpha_chaos.stats.cells import Cell
from alpha_chaos.stats.summary import Summary

_LINE_IN = 0.34
_FAILED = (ORANGE, PURPLE, RED, TEAL, OLIVE, PINK)
_MISSING = 'not attempted'
_COSTS = (
    ('tokens for each success', 'tokens_per_success'),
    ("planner's time for each success [s]", 'plan_s_per_success'),
)


def cost(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return what one success took in each arm."""
    cells = [cell for cell in summary.overall if cell.result.n]
    if not cells:
        return None

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (label, attribute) in zip(panels, _COSTS, strict=True):
            quiet(axes)
            for place, cell in enumerate(cells):
                value = getattr(cell.cost, attribute)
                beside(axes, place, _price(cell, value))
                if value is not None:
                    colour = colour_of(summary, cell.arm)
                    axes.barh(place, value, height=0.5, color=colour, alpha=0.75)
                by_condition = [
                    getattr(item.cost, attribute)
                    for item in summary.of_arm(cell.arm)
                    if getattr(item.cost, attribute) is not None
                ]
                if by_condition:  # an empty line, not clipped, has no place and upsets the layout
                    axes.plot(
                        by_condition,
                        [place] * len(by_condition),
                        linestyle='none',
                        marker=marker_of(summary, cell.arm),
                        markersize=4,
                        markerfacecolor='none',
                        markeredgecolor=GREY,
                        clip_on=False,
                    )
            axes.set_xlabel(label)
            axes.set_xlim(left=0)
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.spines['left'].set_visible(False)
            axes.tick_params(axis='y', pad=8)
        panels[0].set_ylim(len(cells) - 0.5, -0.5)
        panels[0].set_yticks(range(len(cells)), [plain(cell.arm) for cell in cells])
        legend(figure, [mark('one condition', 'o', GREY, hollow=True)])

    return picture(
        'cost',
        'What one success costs',
        'Tokens and time of all episodes of an arm, failures too, for each success. A condition '
        'without a success has no mark: there the cost has no end. Not known: some episodes do '
        'not say what they took.',
        f'Cost for each success: {"; ".join(map(_cost_in_words, cells))}.',
        0.95 + _LINE_IN * max(2, len(cells)),
        paint,
    )


def _price(cell: Cell, value: float | None) -> str:
    if not cell.result.k:
        return 'no success'
    return 'not known' if value is None else say.plain(value)


def _cost_in_words(cell: Cell) -> str:
    tokens, plan_s = cell.cost.tokens_per_success, cell.cost.plan_s_per_success
    if not cell.result.k:
        return f'{cell.arm} never succeeded'
    return f'{cell.arm} tokens {_price(cell, tokens)}, planner [s] {_price(cell, plan_s)}'


def attempts(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return what became of every attempt, by arm."""
    if not any(item.total for item in summary.attempts) and not summary.missing:
        return None
    failures = _kinds(reason.type for item in summary.attempts for reason in item.failures)
    aborts = _kinds(reason.type for item in summary.attempts for reason in item.aborts)
    # The colours of failures begin again after the last; hatches tell aborts from them.
    parts = [('success', GREEN, '')]
    parts += [
        (f'failed: {name}', _FAILED[place % len(_FAILED)], '')
        for place, name in enumerate(failures)
    ]
    parts += [
        (f'aborted: {name}', _FAILED[place % len(_FAILED)], '////')
        for place, name in enumerate(aborts)
    ]
    parts += [(_MISSING, '', '')]
    counts: dict[str, dict[str, int]] = {}
    for item in summary.attempts:
        found = {'success': item.done}
        found |= {f'failed: {reason.type}': reason.attempts for reason in item.failures}
        found |= {f'aborted: {reason.type}': reason.attempts for reason in item.aborts}
        found[_MISSING] = sum(arm == item.arm for _, arm in summary.missing)
        counts[item.arm] = found
    shown = [part for part in parts if any(found.get(part[0]) for found in counts.values())]
    most = max(sum(found.values()) for found in counts.values())

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        for place, found in enumerate(counts.values()):
            left = 0
            for label, colour, hatch in shown:
                number = found.get(label, 0)
                if not number:
                    continue
                axes.barh(
                    place,
                    number,
                    left=left,
                    height=0.6,
                    facecolor=f'{colour}66' if hatch else colour or 'none',
                    edgecolor=colour or GREY,
                    hatch=hatch or None,
                    linestyle='-' if colour else DASHES,
                    linewidth=0.8 if hatch or not colour else 0,
                )
                if number / most > 0.035:
                    axes.text(
                        left + number / 2,
                        place,
                        str(number),
                        ha='center',
                        va='center',
                        fontsize=7.5,
                        fontweight='bold',
                        color='white' if colour else GREY,
                        bbox={'facecolor': colour, 'edgecolor': 'none', 'pad': 1.5}
                        if hatch
                        else None,
                    )
                left += number
            total = summary.attempts[place].total
            beside(axes, place, str(total), 1.01)
        axes.set_xlim(0, most)
        axes.set_ylim(len(counts) - 0.5, -0.5)
        axes.set_yticks(range(len(counts)), [plain(arm) for arm in counts])
        axes.spines['left'].set_visible(False)
        axes.set_xlabel('attempts')
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        legend(
            figure,
            [
                Patch(
                    facecolor=f'{colour}66' if hatch else colour or 'none',
                    edgecolor=colour or GREY,
                    hatch=hatch or None,
                    linestyle='-' if colour else '--',
                    label=plain(label)[:40],
                )
                for label, colour, hatch in shown
            ],
            3,
        )

    alt = 'Attempts: ' + '; '.join(
        f'{item.arm} {item.total}, of them {item.done} successes, {item.task_failed} failures, '
        f'{item.aborted} aborted, {item.superseded} superseded'
        for item in summary.attempts
    )
    return picture(
        'attempts',
        'Every attempt accounted for',
        'Attempts of each arm by how they ended, also those that were run again. An aborted '
        'attempt is the fault of the infrastructure, and says nothing about the robot.',
        f'{alt}.',
        0.7 + 0.2 * (1 + len(shown) // 3) + _LINE_IN * max(2, len(counts)),
        paint,
    )


DASHES = (0.0, (3.0, 2.0))


def _kinds(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
