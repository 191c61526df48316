"""What the commands do, with words for people around it."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from alpha_chaos import journal
from alpha_chaos.experiment import Experiment
from alpha_chaos.journal import Row
from alpha_chaos.report.wording import shown
from alpha_chaos.run import manifest
from alpha_chaos.run.language_model import decide, replies_folder, with_model
from alpha_chaos.run.matrix import Isolation, Options, Outcome, run_matrix
from alpha_chaos.run.progress import Display
from alpha_chaos.run.single import one_episode

if TYPE_CHECKING:
    from alpha_chaos.stats.run_folder import Loaded

DONE = 0
HARNESS_ERRORS = 3
INTERRUPTED = 130


def run_experiment(
    name: str,
    *,
    arms: Sequence[str] | None,
    out: Path | None,
    workers: int | None,
    llm: str | None,
    model: str,
    isolation: Isolation,
    composed: bool,
    retries: int,
    replicates: int | None = None,
    driver: str | None = None,
    report: bool = True,
    console: Console,
) -> int:
    """Run a matrix, print its result, and return the exit code.

    :param replicates: episodes of every cell; None for what the experiment says
    :param driver: what takes the robot's place; None likewise
    :param report: whether to build the report at the end
    :raises BadSetting: for anything the caller can put right
    """
    experiment = Experiment.load(name)
    if replicates is not None:
        experiment = experiment.with_replicates(replicates)
    if driver is not None:
        experiment = experiment.with_driver(driver)
    folder = out or Path('runs') / experiment.name
    experiment = with_model(experiment, llm, model)
    decided, about = decide(experiment, arms, partial(_say, console))
    episodes = decided.episodes(arms)
    all_arms = manifest.settle(folder, experiment, arms, about)
    options = Options(
        workers=workers or os.cpu_count() or 1,
        isolation=isolation,
        composed=composed,
        retries=retries,
        replies=replies_folder(folder),
    )
    rows = journal.read(folder).rows
    done = len(episodes) - len(journal.missing(episodes, rows))
    _say(
        console,
        f'{experiment.name}: {len(episodes)} episode{"s" if len(episodes) != 1 else ""}, '
        f'arms {", ".join(arms or all_arms)}' + (f'; {done} are there already' if done else ''),
    )
    mine = {(episode.run_id, episode.arm) for episode in episodes}
    before = [row for row in rows if row.key in mine]
    with Display(console, len(episodes), before) as display:
        outcome = run_matrix(episodes, folder, options, display.show)
    if not outcome.stopped:
        run = print_table(folder, console)
        if report:
            _report(folder, console, run)
    return _conclude(outcome, folder, console)


def _report(folder: Path, console: Console, run: 'Loaded | None' = None) -> None:
    """Build the report; that it fails changes nothing about a run, which is complete."""
    try:
        from alpha_chaos.report.command import build

        _say(console, f'report: {build(folder, console, run=run)}')
    except KeyboardInterrupt:
        _say(console, f'no report: stopped; `alpha-chaos report {folder}` makes it')
    except Exception as error:  # whatever it is: the run is done, and its exit code stands
        _say(
            console,
            f'no report: {type(error).__name__}: {error}; everything else is in {folder}, and '
            f'`alpha-chaos report {folder}` tries again',
        )


def run_one(
    name: str,
    *,
    run_id: str,
    arm: str,
    out: Path,
    llm: str | None,
    model: str,
    composed: bool,
    speed: float,
    view: bool = False,
    driver: str | None = None,
    console: Console,
) -> int:
    """Run one episode and tell what happened; return the exit code.

    :raises BadSetting: for anything the caller can put right
    """
    episode = one_episode(
        name,
        run_id,
        arm,
        out,
        driver=driver,
        llm=llm,
        model=model,
        speed=speed,
        say=partial(_say, console),
    )
    options = Options(
        workers=1,
        composed=composed,
        replies=replies_folder(out),
        again=True,
        view=view,
        tell=partial(_say, console),
    )
    told: list[Row] = []
    outcome = run_matrix([episode], out, options, told.append)
    for row in told:
        _tell(row, out, console)
    return _conclude(outcome, out, console)


def print_table(folder: Path, console: Console) -> 'Loaded':
    """Print the result of a run from its journal; return what it was made from.

    :raises BadSetting: where there is no run
    """
    from alpha_chaos.report.table import render
    from alpha_chaos.stats.run_folder import load

    run = load(folder)
    render(run[0], console)
    return run


def _conclude(outcome: Outcome, folder: Path, console: Console) -> int:
    if outcome.stopped:
        _say(console, 'stopped; the same command goes on where this one ended')
        return INTERRUPTED
    if outcome.left:
        names = ', '.join(episode.id for episode in outcome.left[:5])
        more = f' and {len(outcome.left) - 5} more' if len(outcome.left) > 5 else ''
        _say(
            console,
            f'{len(outcome.left)} episodes have no result because the harness failed: '
            f'{names}{more}. The reasons are above, and in {folder / "nodes.log"}; '
            'the same command tries them again.',
        )
        return HARNESS_ERRORS
    _say(console, f'everything is in {folder}: journal.jsonl, ledger.jsonl, bags/')
    return DONE


def _tell(row: Row, out: Path, console: Console) -> None:
    why = f' ({row.reason})' if row.reason else ''
    _say(console, f'{row.run_id}/{row.arm}: {row.status}{why}')
    lag = row.observation
    if lag.delivered_lag_s is not None:
        _say(
            console,
            f'  observation  {lag.delivered_lag_s:.3f} s old'
            + (f' ({lag.requested_lag_s:.3f} s asked for)' if lag.requested_lag_s else '')
            + (f', block {lag.staleness_m:.4f} m off' if lag.staleness_m is not None else ''),
        )
    if row.planner.planner:
        about = row.planner
        tokens = (
            f', {about.prompt_tokens} + {about.completion_tokens} tokens in {about.wall_s:.1f} s'
            f'{" (recorded reply)" if about.cached else ""}'
            if about.model
            else ''
        )
        _say(console, f'  planner      {about.planner} ({about.model or "no model"}){tokens}')
    if row.plan.valid is not None:
        _say(console, f'  plan         {row.plan.n_actions} actions')
        for reason in row.plan.reasons:
            _say(console, f'               {reason}')
    for verdict in row.guard.verdicts if row.guard else ():
        stopped = ', so it was not carried out' if verdict.blocked else ''
        _say(console, f'  guard        {"clean" if verdict.clean else "objects"}{stopped}')
        for objection in verdict.objections:
            _say(console, f'               {objection}')
    for proof in row.faults:
        had = 'had its chance' if proof.exercised else 'had nothing to strike'
        struck, decided = proof.evidence.get('struck', 0), proof.evidence.get('decided', 0)
        _say(console, f'  fault        {proof.fault} {had}, struck {struck} of {decided} times')
    if row.final_error_m is not None:
        _say(console, f'  final error  {row.final_error_m:.4f} m after {row.steps} steps')
    for event in row.safety.events:
        _say(
            console,
            f'  safety       {event.rule} {event.key}, steps {event.open_step} to '
            f'{event.close_step}, peak {event.peak:.4g}',
        )
    _say(console, f'  recording    {out / row.bag}')


def _say(console: Console, text: str) -> None:
    console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
