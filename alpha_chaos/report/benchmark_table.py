"""The result of a benchmark in the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from alpha_chaos.plugins import BadSetting
from alpha_chaos.report.benchmark_tables import heads, tables
from alpha_chaos.report.export_tables import TableOut
from alpha_chaos.report.wording import shown
from alpha_chaos.stats.benchmark import summarize
from alpha_chaos.worldmodel import answers
from alpha_chaos.worldmodel.benchmark_manifest import MANIFEST, BenchmarkManifest, read_manifest

LONGEST = 12  # lines of a table that are printed; the rest is in the report
TITLES: Mapping[str, str] = {
    'plan_sets': 'Failures of a task, goals reached, clean plans',
    'tasks_with_failures': 'Tasks with failures [%]',
    'comparisons': 'Compared task by task',
    'costs': 'Cost of a task',
    'rules_latent': 'Latent failures by rule',
    'rules_immediate': 'Immediate failures by rule',
    'techniques': 'By technique',
}
ON_THE_PAGE = ('ended', 'recorded')  # columns that a terminal has no room for
PRINTED = ('plan_sets', 'comparisons', 'costs', 'rules_latent')


def print_table(folder: Path, console: Console) -> None:
    """Print the result of a run from its record, and how many plans are missing.

    :raises BadSetting: where there is no run, or a manifest that cannot be read
    :raises jsonl.CorruptLine: when the record cannot be read, naming file and line
    """
    if not (folder / answers.FILE).is_file():
        raise BadSetting(f'{folder}: there is no {answers.FILE}, so it is no benchmark run')
    found = answers.read(folder)
    left = missing(read_manifest(folder), found) if (folder / MANIFEST).is_file() else ''
    print_tables(tables(summarize(found)), PRINTED, console)
    if left:
        console.print(f'\n{left}', highlight=False, soft_wrap=True)


def missing(manifest: BenchmarkManifest, found: Iterable[answers.Answer]) -> str:
    """Say how many of a model's plans are not there yet; empty if all are."""
    planned = manifest.planned()
    left = len(planned - {answer.key for answer in found if answer.status == 'done'})
    if not left:
        return ''
    verb = 'is' if left == 1 else 'are'
    return f'{left} of {len(planned)} plans {verb} missing; the same command goes on'


def print_tables(found: Iterable[TableOut], names: Sequence[str], console: Console) -> None:
    """Print some of the tables."""
    for item in found:
        if item.name in names and item.lines:
            console.print()
            console.print(Text(TITLES[item.name], style='bold'))
            console.print(_table(item, console))


def _table(item: TableOut, console: Console) -> Table:
    table = Table(box=None, pad_edge=False, header_style='dim')
    columns = [head for head in heads(item.lines) if head not in ON_THE_PAGE]
    for place, head in enumerate(columns):
        side: Literal['left', 'right'] = 'left' if place < item.names else 'right'
        table.add_column(_cell(head, console), justify=side, overflow='fold')
    for _, line in item.lines[:LONGEST]:
        table.add_row(*(_cell(line[head], console) for head in columns))
    left = len(item.lines) - LONGEST
    if left > 0:
        table.add_row(f'and {left} more')
    return table


def _cell(text: str, console: Console) -> Text:
    """Return the text of a cell, an interval on a line of its own."""
    return Text('\n').join(
        Text(shown(line, console.encoding)) for line in text.replace(' [', '\n[').split('\n')
    )
