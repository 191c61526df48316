"""Episodes in pairs: arm against arm, fault against control, recovery against none."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from alpha_chaos.journal import Row
from alpha_chaos.report import wording as say
from alpha_chaos.report.figures.base import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    Safety,
    arm_keys,
    colour_of,
    legend,
    line,
    marker_of,
    picture,
    plain,
    quiet,
)
from alpha_chaos.report.figures.lanes import LANE_IN, Lanes, beside, whisker
from alpha_chaos.report.figures.success import DASHED
from alpha_chaos.stats.cells import OVERALL
from alpha_chaos.stats.difference import Difference
from alpha_chaos.stats.intervals import Interval
from alpha_chaos.stats.paired import ALL, Comparison, Paired
from alpha_chaos.stats.summary import Summary

_PANELS = 3  # comparisons beside each other; more go below
_OUTCOMES = (
    ('both succeed', GREEN),
    ('only the first', BLUE),
    ('only the second', ORANGE),
    ('neither', GREY),
)


def _counts(found: Paired) -> tuple[int, int, int, int]:
    return found.both, len(found.first_only), len(found.second_only), found.neither


def pairs(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return what became of each pair, by comparison and condition."""
    tests = [test for test in summary.comparisons if test.cohort == ALL and test.pairs]
    if not tests:
        return None
    conditions = [
        name
        for name in summary.conditions
        if any(item.condition == name for test in tests for item in test.conditions)
    ]
    lanes = Lanes(conditions, ('',))
    lines = -(-len(tests) // _PANELS)
    copies = any(item.copies for test in tests for item in test.conditions)

    def paint(figure: Figure) -> None:
        columns = min(len(tests), _PANELS)
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        for place, axes in enumerate(panels):
            if place < len(tests):
                _matrix(axes, tests[place], lanes, names=place % columns == 0)
            else:
                axes.set_axis_off()
        keys = [Patch(facecolor=colour, label=label) for label, colour in _OUTCOMES]
        if copies:
            keys.append(
                Patch(facecolor=GREY, hatch='////', label='with copies', edgecolor='white')
            )
        legend(figure, keys, 5)

    alt = 'Pairs (both succeed, only the first, only the second, neither): ' + '; '.join(
        f'{test.first} and {test.second} {", ".join(map(str, _counts(test)))}' for test in tests
    )
    caption = 'The same episodes in two arms, named first and second above each panel.'
    if copies:
        caption += ' Hatched: some of the pairs repeat others, and are no further evidence.'
    return picture(
        'pairs',
        'Paired outcomes by condition',
        caption,
        f'{alt}.',
        lines * (lanes.height_in + 0.8) + 0.3,
        paint,
    )


def _matrix(axes: Axes, test: Comparison, lanes: Lanes, *, names: bool) -> None:
    lanes.rule(axes, names=names)
    axes.tick_params(axis='y', length=0)
    for item in test.conditions:
        y, left = lanes.middle(item.condition), 0.0
        for count, (_, colour) in zip(_counts(item), _OUTCOMES, strict=True):
            share = count / item.pairs
            axes.barh(
                y,
                share,
                height=1.4,
                left=left,
                color=colour,
                edgecolor='white',  # of the hatch
                linewidth=0,
                hatch='////' if item.copies else None,
            )
            if count:
                axes.text(
                    left + share / 2,
                    y,
                    str(count),
                    color='white',
                    fontsize=7,
                    fontweight='bold',
                    ha='center',
                    va='center',
                    bbox={'facecolor': colour, 'edgecolor': 'none', 'pad': 1.2},
                )
            left += share
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.spines['bottom'].set_visible(False)
    axes.set_title(f'{plain(test.first)}\nand {plain(test.second)}', fontsize=8.5, color=GREY)


def twins(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return what each fault costs in success against its control."""
    if not summary.twins:
        return None
    conditions = [
        name for name in summary.conditions if any(t.condition == name for t in summary.twins)
    ]
    lanes = Lanes(conditions, summary.arms)
    none = [twin for twin in summary.twins if not twin.pairs]
    copies = any(twin.copies for twin in summary.twins)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        quiet(axes)
        lanes.rule(axes)
        axes.axvline(0, color=GREY, linewidth=1)
        for twin in summary.twins:
            y, value = lanes.y(twin.condition, twin.arm), twin.difference.value
            if value is None:
                beside(axes, y, 'no pair')
                continue
            beside(axes, y, f'n = {twin.distinct}')
            whisker(
                axes,
                y,
                100 * value,
                _in_points(twin.difference),
                colour_of(summary, twin.arm),
                marker_of(summary, twin.arm),
                doubtful=twin.copies,
            )
        axes.set_xlim(-103, 103)
        axes.set_xticks((-100, -50, 0, 50, 100))
        axes.set_xlabel('success with the fault less without it [percentage points]')
        keys = arm_keys(summary)
        if copies:
            keys.append(line('with copies left out', GREY, DASHED))
        legend(figure, keys, 5)

    caption = (
        'Each episode with a fault beside the same episode without it: difference of the success '
        'rates with its 95 % interval, over n distinct pairs; left of the line the fault does '
        'harm.'
    )
    if none:
        reasons = say.first_few(list(dict.fromkeys(twin.why for twin in none)), 2)
        caption += f' {len(none)} of {len(summary.twins)} cells have no pair: {plain(reasons)}.'
    alt = 'Fault less control, in percentage points: ' + '; '.join(
        f'{twin.condition} of {twin.arm} {say.points(twin.difference)}' for twin in summary.twins
    )
    return picture(
        'twins',
        'What each fault costs: the same episode with it and without',
        caption,
        f'{alt}.',
        lanes.height_in + 0.9,
        paint,
    )


def _in_points(found: Difference) -> Interval | None:
    ends = found.interval
    return Interval(100 * ends.low, 100 * ends.high) if ends else None


# Of `Recovered`: label, attribute, factor and how it is written.
_BOUGHT = (
    ('success\n[points]', 'difference', 100.0),
    ('rounds', 'rounds', 1.0),
    ('tokens', 'tokens', 1.0),
    ('planner\n[s]', 'plan_s', 1.0),
    ('episode\n[s]', 'wall_s', 1.0),
)


def recoveries(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return what each arm that recovers gains, and what it costs."""
    found = [item for item in summary.recoveries if item.condition == OVERALL and item.pairs]
    if not found:
        return None
    names = tuple(item.arm for item in found)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(_BOUGHT), sharey=True)
        for axes, (label, attribute, factor) in zip(panels, _BOUGHT, strict=True):
            quiet(axes)
            axes.axvline(0, color=GREY, linewidth=1)
            for place, item in enumerate(found):
                difference: Difference = getattr(item, attribute)
                if difference.value is None:
                    axes.text(
                        0.5,
                        place,
                        'not known',
                        transform=axes.get_yaxis_transform(),
                        fontsize=7,
                        ha='center',
                        va='center',
                    )
                    continue
                ends = difference.interval
                whisker(
                    axes,
                    place,
                    factor * difference.value,
                    Interval(factor * ends.low, factor * ends.high) if ends else None,
                    colour_of(summary, item.arm),
                    marker_of(summary, item.arm),
                    doubtful=item.copies,
                )
            axes.set_xlabel(label)
            axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
            axes.margins(x=0.15)
            axes.spines['left'].set_visible(False)
        panels[0].set_ylim(len(found) - 0.5, -0.5)
        panels[0].set_yticks(
            range(len(found)),
            [f'{plain(item.arm)}\nagainst {plain(item.base)}' for item in found],
        )

    alt = 'More than the arm without recovery, an episode: ' + '; '.join(
        f'{item.arm} against {item.base}: success {say.points(item.difference)} points, rounds '
        f'{_flat(item.rounds)}, tokens {_flat(item.tokens)}, planner {_flat(item.plan_s)} s, '
        f'episode {_flat(item.wall_s)} s'
        for item in found
    )
    return picture(
        'recoveries',
        'What recovery gains, and what it costs',
        'Each arm that recovers less the same planner without, of an episode, over distinct '
        'pairs, with 95 % intervals where there is any spread. Right of the line is more: more '
        'success is better, the rest is the price.',
        f'{alt}.',
        0.9 + max(3 * LANE_IN, 0.42 * len(names)),
        paint,
    )


def _flat(found: Difference) -> str:
    return say.more(found).replace('\n', ' ')
