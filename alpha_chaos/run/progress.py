"""Progress of a matrix: a bar for people, plain lines for logs."""

import time
from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from alpha_chaos.closing import Closing
from alpha_chaos.journal import Row, final
from alpha_chaos.report.wording import shown

LINE_EVERY_S = 10.0  # where there is no terminal to draw a bar on


def columns() -> tuple[ProgressColumn, ...]:
    """Return what every bar shows: name, bar, count, time gone and time left."""
    return (
        TextColumn('{task.description}'),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn('left'),
        TimeRemainingColumn(compact=True),
    )


class Score:
    """Successes so far, per arm, over episodes that have a result."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Count what an earlier call has left."""
        self.done: Counter[str] = Counter()
        self.good: Counter[str] = Counter()
        self.aborted = 0
        for row in final(rows).values():
            if row.status != 'aborted':
                self.add(row)

    def add(self, row: Row) -> None:
        """Count one attempt."""
        if row.status == 'aborted':
            self.aborted += 1
            return
        self.done[row.arm] += 1
        self.good[row.arm] += row.status == 'done'

    def __str__(self) -> str:
        """Return the score as one line."""
        text = '  '.join(f'{arm} {self.good[arm]}/{self.done[arm]}' for arm in self.done)
        return f'{text}  aborted attempts {self.aborted}'.strip() if self.aborted else text


class Display(Closing):
    """Shows the score and the time left while a matrix runs."""

    def __init__(self, console: Console, total: int, rows: Iterable[Row]) -> None:
        """Begin; `rows` are what earlier calls have left."""
        self._console = console
        self._score = Score(rows)
        self._total = total
        self._begun = time.monotonic()
        self._shown = self._begun
        self._here = 0
        self._bar: Progress | None = None
        self._closed = False
        if console.is_terminal:
            self._bar = Progress(
                *columns(),
                TextColumn('{task.fields[score]}'),
                console=console,
            )
            self._task = self._bar.add_task(
                'episodes', total=total, completed=self._count(), score=str(self._score)
            )
            self._bar.start()

    def close(self) -> None:
        """Stop drawing."""
        if self._bar is not None:
            self._bar.stop()
        elif not self._closed:
            self._line()
        self._closed = True

    def show(self, row: Row) -> None:
        """Take one attempt in."""
        self._score.add(row)
        self._here += row.status != 'aborted'
        if row.status == 'aborted':
            self._console.print(
                shown(f'{row.run_id}/{row.arm} attempt {row.attempt} aborted: {row.reason}'),
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        if self._bar is not None:
            self._bar.update(self._task, completed=self._count(), score=str(self._score))
        elif time.monotonic() - self._shown >= LINE_EVERY_S:
            self._line()

    def _count(self) -> int:
        return sum(self._score.done.values())

    def _line(self) -> None:
        now = self._shown = time.monotonic()
        done, took = self._count(), now - self._begun
        left = (self._total - done) * took / self._here if self._here else None
        rest = '' if left is None or done >= self._total else f', about {left:.0f} s left'
        self._console.print(
            f'{done}/{self._total} episodes, {took:.0f} s{rest}: {self._score}',
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
