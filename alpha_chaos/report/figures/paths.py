"""What a corrupted plan leads to: from what was done to its text to what the robot did."""

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from alpha_chaos.journal import Row
from alpha_chaos.report.figures.base import (
    GREEN,
    GREY,
    ORANGE,
    RED,
    Picture,
    Safety,
    picture,
    plain,
)
from alpha_chaos.stats.summary import Summary

UNHARMED = 'text unharmed'
ACCEPTED = 'accepted'
NO_PLAN = 'no plan came'
SUCCESS, FAILURE, STILL = 'moves, succeeds', 'moves, fails', 'does not move'
_HEADS = ('done to the text', 'what the parser said', 'what the robot did')
_WIDE, _HIGH = 0.6, 0.66  # of a box; columns are 1 apart, lines 1
_LINE_IN = 0.34
_LONGEST = 19  # characters of a box


def path_of(row: Row) -> tuple[str, str, str]:
    """Return what was done to a plan, what was said of it, and what came of it."""
    verdict = NO_PLAN
    if row.plan.valid:
        verdict = ACCEPTED
    elif row.plan.valid is False:
        verdict = (row.plan.reasons or ('rejected',))[0].partition(':')[0].replace('_', ' ')
    outcome = SUCCESS if row.success else FAILURE if row.plan.valid else STILL
    return row.corruption.kind.replace('_', ' ') or UNHARMED, verdict, outcome


def paths(summary: Summary, rows: Sequence[Row], safety: Safety) -> Picture | None:
    """Return the ways of the episodes whose plans could be corrupted."""
    by_arm = {
        arm: Counter(
            path_of(row)
            for row in rows
            if row.arm == arm
            and row.corruption.probability is not None
            and row.status != 'aborted'
        )
        for arm in summary.arms
    }
    by_arm = {arm: found for arm, found in by_arm.items() if found}
    if not by_arm:
        return None
    lines = [
        max(len({way[place] for way in found}) for place in range(3)) for found in by_arm.values()
    ]

    def paint(figure: Figure) -> None:
        panels = figure.subplots(len(by_arm), 1, squeeze=False, height_ratios=lines).ravel()
        for axes, (arm, found), high in zip(panels, by_arm.items(), lines, strict=True):
            _flow(axes, arm, found, high)
            if axes is panels[0]:
                for place, head in enumerate(_HEADS):
                    axes.text(place, -0.75, head, ha='center', va='bottom', fontsize=8.5)

    alt = 'Ways of plans that could be corrupted: ' + '; '.join(
        f'{arm}: '
        + ', '.join(f'{" > ".join(way)} {count}' for way, count in sorted(found.items()))
        for arm, found in by_arm.items()
    )
    return picture(
        'paths',
        'What a corrupted plan leads to',
        'Number of episodes in every box; the thicker a line, the more of them go that way.',
        f'{alt}.',
        0.4 + sum(_LINE_IN * high + 0.25 for high in lines),
        paint,
    )


def _flow(axes: Axes, arm: str, found: Counter[tuple[str, str, str]], high: int) -> None:
    total = found.total()
    places: list[dict[str, float]] = []
    for column in range(3):
        names = sorted({way[column] for way in found}, key=lambda name: (name in _LAST, name))
        top = (high - len(names)) / 2
        places.append({name: top + place for place, name in enumerate(names)})
    for column in range(2):
        links = Counter[tuple[str, str]]()
        for way, count in found.items():
            links[way[column], way[column + 1]] += count
        for (one, other), count in sorted(links.items()):
            x, y = column + _WIDE / 2, places[column][one]
            to_x, to_y = column + 1 - _WIDE / 2, places[column + 1][other]
            middle = (x + to_x) / 2
            axes.add_patch(
                PathPatch(
                    Path(
                        [(x, y), (middle, y), (middle, to_y), (to_x, to_y)],
                        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
                    ),
                    facecolor='none',
                    edgecolor=GREY,
                    alpha=0.55,
                    linewidth=1 + 11 * count / total,
                    capstyle='butt',
                )
            )
    for column, boxes in enumerate(places):
        for name, y in boxes.items():
            count = sum(number for way, number in found.items() if way[column] == name)
            colour = _COLOURS.get(name, ORANGE)
            axes.add_patch(
                FancyBboxPatch(
                    (column - _WIDE / 2, y - _HIGH / 2),
                    _WIDE,
                    _HIGH,
                    boxstyle='round,pad=0,rounding_size=0.05',
                    mutation_aspect=5,
                    facecolor=f'{colour}26',
                    edgecolor=colour,
                )
            )
            short = name if len(name) <= _LONGEST else f'{name[: _LONGEST - 2]}..'
            axes.text(column, y, f'{plain(short)}: {count}', ha='center', va='center', fontsize=8)
    axes.set_xlim(-0.5, 2.32)
    axes.set_ylim(high - 0.4, -0.6)
    axes.set_axis_off()
    axes.text(-0.37, (high - 1) / 2, plain(arm), rotation=90, ha='center', va='center', fontsize=9)


_LAST = (UNHARMED, ACCEPTED, SUCCESS)
_COLOURS = {
    UNHARMED: GREEN,
    ACCEPTED: GREEN,
    SUCCESS: GREEN,
    FAILURE: RED,
    STILL: GREY,
    NO_PLAN: GREY,
}
