"""The commands about symbolic worlds: `alpha-chaos simmer ...`."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from alpha_chaos.plugins import BadSetting

app = typer.Typer(
    name='simmer',
    help='Judge plans in a symbolic kitchen: what fails at its step, and what only shows later.',
    no_args_is_help=True,
)


class Mode(str, Enum):
    """How strictly plans are judged."""

    strict = 'strict'
    compat = 'compat'


@app.callback()
def simmer() -> None:
    """Judge plans in a symbolic kitchen: what fails at its step, and what only shows later."""


@app.command()
def score(
    plans: Annotated[
        str,
        typer.Option(
            metavar='empty|golden|shuffled|truncated|DIR',
            help='A baseline, or a folder with plan_<task id>.txt.',
        ),
    ],
    out: Annotated[
        Path | None, typer.Option('--json', help='File for every verdict.', metavar='OUT')
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help='Folder of the public release; without it, our own tasks.'),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help='strict: a wrong step has no effect, what no step touched does not count, and '
            'the goal has to be reached. compat: as the public release judges; needs --data.'
        ),
    ] = Mode.strict,
) -> None:
    """Judge a plan for each task and print the sums."""
    # The command line imports this module, so not at the top.
    from alpha_chaos.cli import _checked

    _checked(lambda: _score(plans, out, data, mode))


def _score(plans: str, out: Path | None, data: Path | None, mode: Mode) -> None:
    from rich.console import Console

    from alpha_chaos.worldmodel import score as scoring
    from alpha_chaos.worldmodel.score_table import score_table

    if data is not None:
        tasks = scoring.release_tasks(data, mode is Mode.strict)
    elif mode is Mode.compat:
        raise BadSetting('--mode compat judges as the public release does, so it needs --data DIR')
    else:
        tasks = scoring.own_tasks()
    result = scoring.score(tasks, plans)
    if out is not None:
        result.write(out)
    Console().print(score_table(result))
