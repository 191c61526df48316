"""The terminal that a result is printed in, and how much it can show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from alpha_chaos.report import wording as say
from alpha_chaos.stats.summary import Summary

WIDE = 100  # columns of a terminal from which on nothing is left out
NARROWEST = 12  # columns that are kept for a name
_ASCII_RULE = box.Box('    \n    \n -- \n    \n    \n -- \n    \n    \n', ascii=True)


@dataclass(frozen=True)
class Column:
    """A column of a table, and when it is shown."""

    header: str
    justify: Literal['left', 'right'] = 'right'
    paper: bool = False  # only shown when there is a paper to compare with
    wide: bool = False  # only shown when there is room
    name: bool = False  # broken at underscores where the other columns leave too little room


class Screen:
    """Where it is printed, and how much that can show."""

    def __init__(self, summary: Summary, console: Console) -> None:
        self.summary = summary
        self._console = console

    def text(self, content: str, style: str = '') -> Text:
        """Return one line of text that the terminal can show."""
        return Text(say.shown(content, self._console.encoding), style=style, overflow='fold')

    def cell(self, content: str) -> Text:
        """Return text of one or more lines."""
        return Text('\n').join(self.text(line) for line in content.split('\n'))

    @property
    def wide(self) -> bool:
        """Whether there is room for everything."""
        return self._console.width >= WIDE

    def heading(self, content: str) -> None:
        """Print the beginning of a section."""
        self._console.print()
        self.line(content, style='bold')

    def line(self, content: str, indent: int = 0, style: str = '') -> None:
        """Print a paragraph."""
        width = max(20, min(self._console.width, WIDE)) - indent
        for part in self.text(content, style).wrap(self._console, width):
            part.rstrip()
            self._console.print(Text(' ' * indent) + part)

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
        """Print a table; a cell may have several lines, which stay beside those of the others."""
        kept = [
            index
            for index, column in enumerate(columns)
            if (self.summary.paper or not column.paper) and (self.wide or not column.wide)
        ]
        shown = [columns[index] for index in kept]
        gap = 2 if self.wide else 1
        content = self._fitted(shown, [[row[index] for index in kept] for row in rows], gap)
        table = Table(
            box=_ASCII_RULE if self._console.options.ascii_only else box.SIMPLE,
            show_edge=False,
            pad_edge=False,
            padding=(0, gap - 1, 0, 0),
            header_style='bold',
        )
        for column in shown:
            table.add_column(self.cell(column.header), justify=column.justify, overflow='fold')
        for row in content:
            # A row for each line: lines stay beside each other even if one must be folded.
            for lines in zip(*(part.split('\n') for part in say.beside(*row)), strict=True):
                table.add_row(*map(self.text, lines))
        self._console.print(table)

    def _fitted(
        self, columns: Sequence[Column], rows: Sequence[list[str]], gap: int
    ) -> list[list[str]]:
        """Return the rows with names broken if the whole would not fit."""
        widths = [
            max(self._width(cell) for cell in (column.header, *(row[index] for row in rows)))
            for index, column in enumerate(columns)
        ]
        taken = sum(
            width for width, column in zip(widths, columns, strict=True) if not column.name
        )
        room = max(self._console.width - taken - gap * (len(columns) - 1), NARROWEST)
        return [
            [
                '\n'.join(say.broken(line, room) for line in cell.split('\n'))
                if column.name
                else cell
                for cell, column in zip(row, columns, strict=True)
            ]
            for row in rows
        ]

    def _width(self, content: str) -> int:
        return max(self.text(line).cell_len for line in content.split('\n'))
