"""Rows of a figure: one lane for each arm, grouped by condition, from the top down."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from alpha_chaos.report import wording as say
from alpha_chaos.report.figures.base import GREY, plain
from alpha_chaos.stats.intervals import Interval

LANE_IN = 0.135
_BETWEEN = 0.8  # of a lane, between two groups
_LEAST = 2.4  # lanes a group takes, so that its name in two lines has room
_NAME = 22  # characters of a name on one line


@dataclass(frozen=True)
class Lanes:
    """Where everything is; y grows downwards, in lanes.

    :param groups: names of conditions, or of anything else with a row of its own
    :param lanes: names of what each group has, as the arms
    """

    groups: Sequence[str]
    lanes: Sequence[str]

    @property
    def _pitch(self) -> float:
        return max(_LEAST, len(self.lanes) + _BETWEEN)

    @property
    def height_in(self) -> float:
        """Return the height of all of it."""
        return len(self.groups) * self._pitch * LANE_IN

    def middle(self, group: str) -> float:
        """Return the y of a group's middle."""
        return (self.groups.index(group) + 0.5) * self._pitch

    def y(self, group: str, lane: str) -> float:
        """Return the y of a lane."""
        return self.middle(group) + self.lanes.index(lane) - (len(self.lanes) - 1) / 2

    def rule(self, axes: Axes, *, names: bool = True) -> None:
        """Name the groups at the left of `axes` and part them by lines."""
        axes.set_ylim(len(self.groups) * self._pitch, 0)
        axes.set_yticks(
            [self.middle(group) for group in self.groups],
            [say.broken(plain(group), _NAME) for group in self.groups] if names else [],
        )
        for place in range(1, len(self.groups)):
            axes.axhline(place * self._pitch, color=GREY, alpha=0.3, linewidth=0.5)
        axes.spines['left'].set_visible(False)
        axes.tick_params(axis='y', length=0, pad=8)


def whisker(
    axes: Axes,
    y: float,
    value: float,
    interval: Interval | None,
    colour: str,
    marker: str,
    *,
    doubtful: bool = False,
) -> None:
    """Draw a value and how far it can be trusted.

    :param doubtful: copies were counted: the interval is dashed and the value pale
    """
    if interval is not None:
        axes.plot(
            (interval.low, interval.high),
            (y, y),
            color=GREY if doubtful else colour,
            linestyle=(0, (2, 1.6)) if doubtful else '-',
            linewidth=1.1 if doubtful else 1.5,
            solid_capstyle='butt',
        )
    axes.plot(
        [value],
        [y],
        marker=marker,
        markersize=4.8,
        markeredgewidth=1,
        markeredgecolor=colour,
        markerfacecolor=f'{colour}55' if doubtful else colour,
        linestyle='none',
        clip_on=False,
        zorder=4,
    )


def hollow(axes: Axes, x: float, y: float, marker: str = 'D') -> None:
    """Draw a published value."""
    axes.plot(
        [x],
        [y],
        marker=marker,
        markersize=6.5,
        markerfacecolor='none',
        markeredgecolor=GREY,
        markeredgewidth=1.2,
        linestyle='none',
        clip_on=False,
        zorder=5,
    )


def beside(axes: Axes, y: float, text: str, x: float = 1.02) -> None:
    """Write behind a lane; x as a share of the width of `axes`."""
    axes.text(
        x,
        y,
        plain(text),
        transform=axes.get_yaxis_transform(),
        va='center',
        ha='left',
        fontsize=7,
        clip_on=False,
    )
