"""`alpha-chaos report`: the page, tables, figures, films and episodes of a run."""

import os
import webbrowser
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console

from alpha_chaos.analysis.quiet import unheard
from alpha_chaos.journal import Row
from alpha_chaos.report.wording import shown
from alpha_chaos.stats.run_folder import Loaded, load
from alpha_chaos.stats.sensitivity import Sensitivity

FOLDER = 'report'
PAGE = 'index.html'


def report(folder: Path, console: Console, *, show: bool = False) -> None:
    """Build the report of a run and say where it is.

    :param show: open it in a browser
    :raises BadSetting: where there is no run
    :raises jsonl.CorruptLine: when the journal cannot be read, naming file and line
    :raises OSError: where it cannot be written
    """
    path = build(folder, console)
    _say(console, f'report: {path}')
    if show and not webbrowser.open(path.resolve().as_uri()):
        _say(console, 'no browser could be opened')


def build(
    folder: Path, console: Console, workers: int | None = None, run: Loaded | None = None
) -> Path:
    """Build the report of a run from journal, manifest and recordings; return its page.

    :param workers: processes; None for one per core
    :param run: the same run as `load` gives it, for who has it already
    :raises BadSetting: where there is no run
    :raises jsonl.CorruptLine: when the journal cannot be read, naming file and line
    :raises OSError: where it cannot be written
    """
    # Not at the top: drawing takes seconds to import, and the engine greets whoever loads it.
    with unheard():
        from alpha_chaos.report.exports import TABLES, counting, export, write_table
        from alpha_chaos.report.figures import pictures
        from alpha_chaos.report.page import FIGURES, FILMS, Material, film_name, more_tables, page
        from alpha_chaos.report.recordings import choose, look, shoot

    summary, journal = run or load(folder)
    rows = counting(summary, journal)
    looked = look(folder, rows, console, workers)
    filmed = shoot(folder, choose(summary.conditions, rows, looked.safety), console, workers)
    target = folder / FOLDER
    with console.status('tables and figures') if console.is_terminal else console:
        written = export(folder, summary, journal, _by_digest(rows, looked.safety))
        for table in more_tables(summary, rows, looked):
            written += write_table(folder / TABLES, table)
        drawn = list(pictures(summary, rows, looked.safety))
        figures = {f'{item.name}.svg': item.svg.encode() for item in drawn}
        figures |= {f'{item.name}.png': item.png for item in drawn}
        fill(target / FIGURES, figures)
        films = {film_name(name): film.gif for name, (_, film) in filmed.films.items()}
        fill(target / FILMS, films)
        exported = [path.stem for path in written if path.suffix == '.csv']
        text = page(Material(summary, rows, looked, drawn, filmed, exported))
    target.mkdir(parents=True, exist_ok=True)
    replace(target / PAGE, text.encode())
    return target / PAGE


def _by_digest(
    rows: Iterable[Row], safety: Mapping[tuple[str, str], Sensitivity]
) -> dict[str, Sensitivity]:
    """Return what is to be seen by trajectory: copies are the same."""
    return {row.digest: safety[row.key] for row in rows if row.digest and row.key in safety}


def fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """Let a folder hold these files and no others."""
    if not files and not folder.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.is_file() and old.name not in files:
            old.unlink()  # of an earlier state of the run
    for name, content in files.items():
        replace(folder / name, content)


def replace(path: Path, content: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile sees the old one or the new one."""
    draft = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _say(console: Console, text: str) -> None:
    console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
