"""The commands about symbolic worlds: `alpha-chaos simmer ...`."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

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


class Llm(str, Enum):
    """Where the language model is."""

    auto = 'auto'
    ollama = 'ollama'
    embedded = 'embedded'


Data = Annotated[
    Path | None, typer.Option(help='Folder of the public release; without it, our own tasks.')
]
Strictness = Annotated[
    Mode,
    typer.Option(
        help='strict: a wrong step has no effect, what no step touched does not count, and '
        'the goal has to be reached. compat: as the public release judges; needs --data.'
    ),
]
WorldName = Annotated[
    str, typer.Option('--world', help='Our world whose tasks are taken: its name, or a folder.')
]
Folder = Annotated[Path, typer.Argument(help='Folder of a run.', metavar='DIR')]


@app.command()
def score(
    plans: Annotated[
        str,
        typer.Option(
            metavar='empty|golden|shuffled|truncated|DIR',
            help='A baseline, or a folder with plan_TASK.txt.',
        ),
    ],
    out: Annotated[
        Path | None, typer.Option('--json', help='File for every verdict.', metavar='OUT')
    ] = None,
    data: Data = None,
    mode: Strictness = Mode.strict,
    world: WorldName = 'kitchen',
) -> None:
    """Judge a plan for each task and print the sums, beside those of plans that nobody made."""
    # The command line imports this module, so not at the top.
    from alpha_chaos.cli import _checked

    _checked(lambda: _score(plans, out, data, mode, world))


def _score(plans: str, out: Path | None, data: Path | None, mode: Mode, world: str) -> None:
    from rich.console import Console

    from alpha_chaos.report.score_table import score_table
    from alpha_chaos.worldmodel.score import open_benchmark
    from alpha_chaos.worldmodel.score import score as judged

    benchmark = open_benchmark(data, mode.value, world)
    result = judged(benchmark.exams, plans)
    if out is not None:
        result.write(out)
    score_table(plans, result, benchmark.exams, Console())


@app.command()
def run(
    out: Annotated[Path, typer.Option('--out', '-o', help='Folder of the run.')],
    conditions: Annotated[
        str | None,
        typer.Option(
            help='How the model is asked, separated by commas: base, foresight, '
            'foresight-reasoning, foresight-safety, self-refine, react, inner-monologue. '
            'Default: base,foresight; with --plans, none.'
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(help='Names of tasks or patterns like "soup_*", separated by commas.'),
    ] = None,
    plans: Annotated[
        list[Path] | None,
        typer.Option(help='Folder with plan_TASK.txt to be judged as well; repeatable.'),
    ] = None,
    data: Data = None,
    mode: Strictness = Mode.strict,
    world: WorldName = 'kitchen',
    llm: Annotated[
        Llm, typer.Option(help='Where the model runs: auto is Ollama if it answers.')
    ] = Llm.auto,
    model: Annotated[
        str, typer.Option('--model', help='Model tag for Ollama, or a .gguf file.')
    ] = '',
    reply_tokens: Annotated[
        int, typer.Option(min=1, max=1_000_000, help='Length that ends a reply.')
    ] = 2048,
    context: Annotated[
        int,
        typer.Option(min=256, max=10_000_000, help='Tokens of prompt and reply together.'),
    ] = 8192,
    short_prompts: Annotated[
        bool,
        typer.Option(
            '--short-prompts/--whole-prompts',
            help='Only name actions with their roles, for models with little room.',
        ),
    ] = False,
    retries: Annotated[
        int, typer.Option(min=0, max=20, help='Further attempts where no answer came.')
    ] = 2,
    report: Annotated[
        bool, typer.Option('--report/--no-report', help='Build the report at the end.')
    ] = True,
) -> None:
    """Ask a language model for the plan of each task, judge it, and compare the conditions.

    The same command again goes on where an earlier one was stopped. Exit code: 0 done, 2 bad
    input, 3 the model did not answer, so some plans are missing.
    """
    from rich.console import Console

    from alpha_chaos.cli import _checked
    from alpha_chaos.run.benchmark import Options, run_benchmark
    from alpha_chaos.worldmodel.score import open_benchmark

    default = () if plans else ('base', 'foresight')
    options = Options(
        tasks=_listed(tasks),
        conditions=default if conditions is None else _listed(conditions),
        plans=plans or (),
        llm=llm.value,
        model=model,
        reply_tokens=reply_tokens,
        context_tokens=context,
        retries=retries,
    )
    raise typer.Exit(
        _checked(
            lambda: run_benchmark(
                open_benchmark(data, mode.value, world, short_prompts),
                out,
                options,
                Console(),
                report,
            )
        )
    )


def _listed(words: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (words or '').split(',') if word.strip())


@app.command()
def table(folder: Folder) -> None:
    """Print the result of a benchmark run again from its journal, and what plans are missing."""
    from rich.console import Console

    from alpha_chaos.cli import _checked
    from alpha_chaos.report.benchmark_table import print_table

    _checked(lambda: print_table(folder, Console()))


@app.command()
def report(folder: Folder) -> None:
    """Build the report of a benchmark run: one page, and its tables as csv and LaTeX."""
    from alpha_chaos.cli import _checked
    from alpha_chaos.report.benchmark_page import build

    print(f'report: {_checked(lambda: build(folder))}')


@app.command()
def mutate(
    world: WorldName = 'kitchen',
    sample: Annotated[
        int | None, typer.Option(min=1, help='Only so many mutants of each kind, drawn.')
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help='File for the report, as Markdown.', metavar='FILE')
    ] = None,
) -> None:
    """Change golden plans, for worse or harmlessly, and see which of them the world flags.

    Exit code: 0 if 95 % of the harmful ones are flagged and none of the harmless, else 1.
    """
    from rich.console import Console

    from alpha_chaos.cli import _checked
    from alpha_chaos.report.mutation_report import mutation_report
    from alpha_chaos.worldmodel.mutations.trial import good_enough, try_world

    trials = _checked(lambda: try_world(world, sample))
    text = mutation_report(world, trials)
    if report is None:
        Console().print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        path = report
        _checked(lambda: path.write_text(text, encoding='utf-8'))
        print(f'report: {path}')
    raise typer.Exit(0 if good_enough(trials) else 1)
