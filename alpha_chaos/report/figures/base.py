"""What the figures have in common: one look, on light and on dark; the same bytes each time."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from alpha_chaos.journal import Row
from alpha_chaos.report import wording as say
from alpha_chaos.stats.sensitivity import Sensitivity
from alpha_chaos.stats.summary import Summary

LineStyle: TypeAlias = Literal['-', '--'] | tuple[float, tuple[float, ...]]
EpisodeSafety: TypeAlias = Sensitivity
Safety: TypeAlias = Mapping[tuple[str, str], EpisodeSafety]

WIDTH_IN = 6.4
DPI = 150

# Of middle brightness: at least 3 : 1 against white and against #111, texts at least 4 : 1.
GREY = '#7a7a7a'
BLUE, ORANGE, GREEN, PURPLE = '#3f86c6', '#c9731a', '#2a9470', '#a368c4'
RED, OLIVE, TEAL, PINK = '#d1495b', '#8c8420', '#2b93a6', '#c75a94'
ARM_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, OLIVE, TEAL, PINK)
ARM_MARKERS = ('o', 's', '^', 'v', 'P', 'X', '<', '>')

_STYLE: dict[Any, Any] = {
    'axes.edgecolor': GREY,
    'axes.facecolor': 'none',
    'axes.labelcolor': GREY,
    'axes.labelsize': 9,
    'axes.spines.right': False,
    'axes.spines.top': False,
    'figure.facecolor': 'none',
    'font.family': 'sans-serif',
    'font.sans-serif': ['DejaVu Sans'],  # comes with matplotlib, so widths are the same anywhere
    'font.size': 9,
    'grid.alpha': 0.35,
    'grid.color': GREY,
    'grid.linewidth': 0.5,
    'hatch.linewidth': 0.6,
    'legend.fontsize': 8.5,
    'legend.frameon': False,
    'legend.labelcolor': GREY,
    'path.snap': False,
    'savefig.facecolor': 'none',
    'svg.fonttype': 'none',  # text stays text
    'text.color': GREY,
    'text.parse_math': False,  # names and reasons may hold a $
    'xtick.color': GREY,
    'xtick.labelsize': 8.5,
    'ytick.color': GREY,
    'ytick.labelsize': 8,
}


@dataclass(frozen=True)
class Picture:
    """One figure, ready to be shown.

    :param name: of its files, without a suffix
    :param caption: what to see in it, or what is missing
    :param alt: the same for who does not see it, with the numbers that matter
    :param svg: on a transparent ground, readable on white and on #111; its ids start with the name
    :param png: on white
    """

    name: str
    title: str
    caption: str
    alt: str
    svg: str
    png: bytes


def picture(
    name: str,
    title: str,
    caption: str,
    alt: str,
    height_in: float,
    paint: Callable[[Figure], None],
) -> Picture:
    """Return what `paint` puts into a figure.

    :param alt: made printable here
    """
    with mpl.rc_context(_STYLE | {'svg.hashsalt': name}):
        figure = Figure(figsize=(WIDTH_IN, height_in), layout='constrained')
        FigureCanvasAgg(figure)
        paint(figure)
        svg, png = io.BytesIO(), io.BytesIO()
        figure.savefig(svg, format='svg', metadata={'Date': None, 'Creator': None})
        figure.savefig(png, format='png', dpi=DPI, facecolor='white', metadata={'Software': None})
    text = _of_its_own(name, svg.getvalue().decode('utf-8'))
    return Picture(name, title, caption, plain(alt), text, png.getvalue())


def _of_its_own(name: str, svg: str) -> str:
    """Return it ready to stand in a page with others: no id is shared, and no rule of style."""
    svg = svg[svg.index('<svg') :]
    svg = svg.replace('>*{', f'>#{name}-figure_1 *{{', 1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    return re.sub(r'(href="#|url\(#)', rf'\g<1>{name}-', svg)


def plain(text: str) -> str:
    """Return a text that every font and every XML has the characters for."""
    return say.shown(text, 'ascii')


def colour_of(summary: Summary, arm: str) -> str:
    """Return the colour of an arm, the same in every figure."""
    return ARM_COLOURS[summary.arms.index(arm) % len(ARM_COLOURS)]


def marker_of(summary: Summary, arm: str) -> str:
    """Return the marker of an arm, so that nothing hangs on colour alone."""
    return ARM_MARKERS[summary.arms.index(arm) % len(ARM_MARKERS)]


def arm_keys(summary: Summary, arms: Sequence[str] | None = None) -> list[Line2D]:
    """Return the entries of a legend that name the arms."""
    return [
        mark(plain(arm), marker_of(summary, arm), colour_of(summary, arm))
        for arm in (summary.arms if arms is None else arms)
    ]


def mark(label: str, marker: str, colour: str, *, hollow: bool = False) -> Line2D:
    """Return an entry of a legend that is a marker."""
    return Line2D(
        [],
        [],
        linestyle='none',
        marker=marker,
        markersize=5.5,
        markeredgecolor=colour,
        markerfacecolor='none' if hollow else colour,
        label=label,
    )


def line(label: str, colour: str = GREY, style: LineStyle = '-') -> Line2D:
    """Return an entry of a legend that is a line."""
    return Line2D([], [], color=colour, linestyle=style, linewidth=1.3, label=label)


def legend(figure: Figure, entries: Sequence[Any], columns: int = 4) -> None:
    """Put a legend above everything, in so many columns or, where names are long, in fewer."""
    names = [len(str(entry.get_label())) for entry in entries]
    while columns > 1 and _legend_width_in(names, columns) > WIDTH_IN:
        columns -= 1
    figure.legend(
        handles=list(entries),
        loc='outside upper left',
        ncols=min(columns, max(1, len(entries))),
        handletextpad=0.5,
        columnspacing=1.4,
    )


def _legend_width_in(names: Sequence[int], columns: int) -> float:
    """Return about how wide a legend is, which fills its columns one after the other."""
    lines = -(-len(names) // columns)
    longest = [max(names[place : place + lines]) for place in range(0, len(names), lines)]
    return sum(0.5 + 0.072 * length for length in longest)


def quiet(axes: Axes, *, grid: str = 'x') -> None:
    """Let an axis step back behind what it measures."""
    axes.set_axisbelow(True)
    axes.grid(visible=True, axis=grid)  # type: ignore[arg-type]
    axes.tick_params(length=0)


def listed(items: Sequence[str], limit: int = 6) -> str:
    """Return the first items of a list in words."""
    return say.first_few(items, limit)


Draw: TypeAlias = Callable[[Summary, Sequence[Row], Safety], Picture | None]
