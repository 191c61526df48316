"""The command line, thin: it reads arguments, calls one function and prints."""

import errno
import os
import signal
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from alpha_chaos import __version__
from alpha_chaos.jsonl import LinesError
from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.command import app as simmer

BAD_INPUT = 2
HARNESS_ERRORS = 3
INTERRUPTED = 130
NOBODY_READS = 141  # as a shell reports a program ended by SIGPIPE

app = typer.Typer(
    name='alpha-chaos',
    help='Break LLM-driven robots on purpose, and say where they broke.',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode='markdown',  # paragraphs fill the line
    context_settings={'help_option_names': ['-h', '--help']},
)
app.add_typer(simmer, name='simmer')


class Llm(str, Enum):
    """Where the language model is."""

    auto = 'auto'
    ollama = 'ollama'
    embedded = 'embedded'


class Isolation(str, Enum):
    """What an episode shares with the one before."""

    episode = 'episode'
    worker = 'worker'


ExperimentName = Annotated[
    str, typer.Option('--experiment', '-e', help='Name of a shipped experiment, or a .yaml file.')
]
LlmChoice = Annotated[
    Llm | None,
    typer.Option(
        help='Where the model runs: auto is Ollama if it answers, else embedded. '
        "Default: as the experiment's arm says."
    ),
]
ModelTag = Annotated[str, typer.Option('--model', help='Model tag, for Ollama.')]
DriverName = Annotated[
    str | None,
    typer.Option(
        '--driver',
        help="What takes the robot's place: sim, mock_driver or one of your own. "
        'Default: as the experiment says.',
    ),
]
Composition = Annotated[
    bool, typer.Option('--composition', help='All nodes of a graph in one process.')
]


@app.command()
def matrix(
    experiment: ExperimentName = 'paper',
    arms: Annotated[
        str | None, typer.Option(help='Planner arms, separated by commas; all by default.')
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option('--out', '-o', help='Folder of the run; runs/EXPERIMENT by default.'),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help='Graphs side by side; one per core by default.'),
    ] = None,
    llm: LlmChoice = None,
    model: ModelTag = '',
    driver: DriverName = None,
    isolation: Annotated[
        Isolation,
        typer.Option(help='Fresh processes for each episode, or the same ones again (worker).'),
    ] = Isolation.episode,
    composition: Composition = False,
    retries: Annotated[
        int, typer.Option(min=0, max=20, help='Further attempts at an aborted episode.')
    ] = 2,
    replicates: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help='Episodes of every cell; as the experiment says.'),
    ] = None,
    report: Annotated[
        bool, typer.Option('--report/--no-report', help='Build the report at the end.')
    ] = True,
) -> None:
    """Run every episode of an experiment, print the paired result and build the report.

    The same command again goes on where an earlier one was stopped. Exit code: 0 done, 2 bad
    input, 3 some episodes have no result because the harness failed.
    """
    from alpha_chaos.run.command import run_experiment

    wanted = None if arms is None else [arm.strip() for arm in arms.split(',') if arm.strip()]
    code = _checked(
        lambda: run_experiment(
            experiment,
            arms=wanted,
            out=out,
            workers=workers,
            llm=None if llm is None else llm.value,
            model=model,
            isolation=isolation.value,
            composed=composition,
            retries=retries,
            replicates=replicates,
            driver=driver,
            report=report,
            console=Console(),
        )
    )
    raise typer.Exit(code)


@app.command()
def episode(
    run_id: Annotated[str, typer.Option(help='Scenario of the experiment, e.g. control_000.')],
    arm: Annotated[str, typer.Option(help='Planner arm of the experiment, e.g. oracle.')],
    out: Annotated[Path, typer.Option('--out', '-o', help='Folder for the bag and the journal.')],
    experiment: ExperimentName = 'paper',
    llm: LlmChoice = None,
    model: ModelTag = '',
    driver: DriverName = None,
    composition: Composition = False,
    speed: Annotated[
        float,
        typer.Option(min=0, help='1 shows the episode at its own pace, 0 as fast as possible.'),
    ] = 0.0,
    view: Annotated[
        bool,
        typer.Option('--view', help='Publish markers and the robot for RViz and Foxglove, too.'),
    ] = False,
) -> None:
    """Run one episode, show what happens, and keep it beside earlier ones."""
    from alpha_chaos.run.command import run_one

    code = _checked(
        lambda: run_one(
            experiment,
            run_id=run_id,
            arm=arm,
            out=out,
            llm=None if llm is None else llm.value,
            model=model,
            composed=composition,
            speed=speed,
            view=view,
            driver=driver,
            console=Console(),
        )
    )
    raise typer.Exit(code)


@app.command()
def table(
    folder: Annotated[Path, typer.Argument(help='Folder of a run.', metavar='DIR')],
) -> None:
    """Print the result of a run again, from its journal alone."""
    from alpha_chaos.run.command import print_table

    _checked(lambda: print_table(folder, Console()))


@app.command()
def audit(
    folder: Annotated[
        Path | None, typer.Argument(help='Folder of a run.', metavar='DIR', show_default=False)
    ] = None,
    paper: Annotated[
        bool, typer.Option('--paper', help="The attempts of the paper's pilot, as published.")
    ] = False,
) -> None:
    """Print the account of every attempt: accepted, aborted and why, replaced by which."""
    from alpha_chaos.report.audit import audit as run

    _checked(lambda: run(folder, Console(), paper=paper))


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help='Folder of a run.', metavar='DIR')],
    show: Annotated[bool, typer.Option('--open', help='Open it in a browser.')] = False,
) -> None:
    """Build the report of a run: one page, tables, figures, films and episodes as data.

    It is made from journal, manifest and recordings alone: the same run gives the same bytes.
    """
    from alpha_chaos.report.command import report as run

    _checked(lambda: run(folder, Console(), show=show))


PlayRate = Annotated[
    float | None,
    typer.Option(min=0.001, max=1000, help='Seconds of the recording in a second; 1 by default.'),
]
PlayLoop = Annotated[bool, typer.Option('--loop', help='Begin again at the end.')]
PlayPaused = Annotated[
    bool,
    typer.Option(
        '--paused',
        help='Wait for ros2 service call /bag_player/pause std_srvs/srv/SetBool "{data: false}".',
    ),
]
PlayBegin = Annotated[
    float | None, typer.Option(min=0, help='Where to begin, in s from the first message.')
]
PlayEnd = Annotated[
    float | None, typer.Option(min=0, help='Where to end, in s from the first message.')
]
Workers = Annotated[
    int | None, typer.Option(min=1, max=64, help='Processes; one per core by default.')
]


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help='Folder of a run.', metavar='DIR')],
    workers: Workers = None,
    limit: Annotated[
        int, typer.Option(min=1, help='Differences of each kind that are listed.')
    ] = 10,
) -> None:
    """Compute the results of a run again, from its recordings alone, and compare.

    Verdicts, plans, safety events, lags, draws, digests and every number of the table are
    compared with journal and ledger, and the first differences of each kind are named with file,
    episode and field. Exit code: 0 all agree, 2 bad input, 4 something differs.
    """
    from alpha_chaos.analysis.verify import verify as run

    raise typer.Exit(_checked(lambda: run(folder, Console(), workers=workers, limit=limit)))


@app.command()
def replay(
    folder: Annotated[
        Path, typer.Argument(help='Folder of a run, or of a recording.', metavar='DIR')
    ],
    run_id: Annotated[
        str | None, typer.Argument(help='Scenario; every episode without it.', metavar='RUN_ID')
    ] = None,
    arm: Annotated[
        str | None, typer.Argument(help='Planner arm; every arm without it.', metavar='ARM')
    ] = None,
    workers: Workers = None,
    limit: Annotated[int, typer.Option(min=1, help='Differences that are listed.')] = 10,
    ros: Annotated[
        bool,
        typer.Option(
            '--ros', help='Publish the recording instead, for RViz, Foxglove and others.'
        ),
    ] = False,
    rate: PlayRate = None,
    loop: PlayLoop = False,
    paused: PlayPaused = False,
    begin: PlayBegin = None,
    end: PlayEnd = None,
) -> None:
    """Run episodes again from their recordings, and compare bit for bit.

    What passed the relay is passed through the same faults again: draws, decisions, and what went
    on must be the recorded ones. The commands of the recording are executed on a new world: every
    state must be the recorded one. Exit code: 0 the same, 2 bad input, 4 something differs.

    With --ros nothing is computed: the recorded messages are published again, with the clock, the
    pace and the QoS that they were recorded with, to the end or to Ctrl-C. DIR may then be the
    folder of any rosbag2 recording.
    """
    played = {'rate': rate, 'loop': loop, 'paused': paused, 'begin': begin, 'end': end}
    if ros:
        from alpha_chaos.run.playback import play

        raise typer.Exit(_checked(lambda: play(folder, run_id, arm, **played)))
    if given := [f'--{name}' for name, value in played.items() if value]:
        _fail(f'{given[0]} is about publishing: add --ros')
    from alpha_chaos.analysis.replay import replay as run

    code = _checked(
        lambda: run(folder, Console(), run_id=run_id, arm=arm, workers=workers, limit=limit)
    )
    raise typer.Exit(code)


@app.command('check-driver')
def check_driver(
    node: Annotated[
        str, typer.Option(help='Name of the node; by default the one that serves the arm.')
    ] = '',
    arm_action: Annotated[str, typer.Option(help='Action of the arm.')] = 'arm/move_to',
    gripper_action: Annotated[
        str, typer.Option(help='Action of the gripper.')
    ] = 'gripper/command',
    workspace: Annotated[
        str,
        typer.Option(
            help='Where targets may lie, in m, as x,y,z,X,Y,Z: lower corner, upper corner. '
            'Motions go well inside, refusals are asked for 0.05 m outside.'
        ),
    ] = '0.15,-0.45,0.55,0.95,0.55,1.25',
    frame: Annotated[str, typer.Option(help='Frame of every position.')] = 'world',
    max_goal_age: Annotated[
        float, typer.Option(min=0.001, help='A goal older than this many seconds must be refused.')
    ] = 10.0,
    tolerance: Annotated[
        float, typer.Option(min=0, help='How near a motion that is done must have come, in m.')
    ] = 0.1,
    patience: Annotated[
        float, typer.Option(min=0.1, help='Seconds within which everything must end.')
    ] = 30.0,
    experiment: ExperimentName = 'smoke',
) -> None:
    """Hold the driver contract (docs/drivers.md) against a running node. The robot will move.

    A driver that takes part in episodes begins attempts of an experiment, with its body and task.
    Run it beside nothing but the driver; on real hardware first without the hardware. Exit code:
    0 the contract is kept, 1 it is broken and the clauses are named, 2 no such node or bad input,
    3 it could not be tried out.
    """
    from alpha_chaos.driver_contract import command

    code = _checked(
        lambda: command.check_driver(
            Console(file=sys.stdout),  # what pytest prints meanwhile goes elsewhere
            node=node,
            arm=arm_action,
            gripper=gripper_action,
            workspace=command.workspace(workspace),
            frame=frame,
            max_goal_age_s=max_goal_age,
            tolerance_m=tolerance,
            patience_s=patience,
            experiment=experiment,
        )
    )
    raise typer.Exit(code)


@app.command('steady-state')
def steady_state(
    config: Annotated[
        str,
        typer.Argument(help="The relay's file, with a section steady_state.", metavar='FILE'),
    ],
    out: Annotated[
        Path | None,
        typer.Option('--out', '-o', help='The journal; runs/NAME/steady_state.jsonl by default.'),
    ] = None,
    relay: Annotated[str, typer.Option(help="Full name of the relay's node.")] = '/fault_relay',
) -> None:
    """Watch a running graph before, while and after faults strike: whether it stays as it was.

    Probes, faults and their times are in the relay's file (docs/relay.md). What is armed is taken
    away again whatever happens, also after Ctrl-C. Exit code: 0 held, 2 bad input, 3 unknown,
    4 deviated, 130 stopped.
    """
    # Python loses an exception that comes in some moments of an import, and the trial would begin.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from alpha_chaos.run.steady_state import steady_state as run

    raise typer.Exit(_checked(lambda: run(config, out, relay, Console())))


@app.command()
def graph(
    without: Annotated[
        str, typer.Option(help='Nodes that are left out, separated by commas: /recorder.')
    ] = '',
    quiet: Annotated[
        float, typer.Option(min=0.2, help='Seconds without a new node, after which all are known.')
    ] = 4.0,  # Fast DDS announces a participant again, for whom it was lost, after three
) -> None:
    """Print the graph that runs on this ROS_DOMAIN_ID as a picture, in the language of Graphviz.

    What rqt_graph shows, with services and actions: `alpha-chaos graph | dot -Tsvg`.
    """
    from alpha_chaos.graph_picture import dot
    from alpha_chaos.run.live_graph import look

    typer.echo(f'listens until {quiet:g} s bring nothing new', err=True)
    names, wires = _checked(lambda: look(quiet))
    left_out = [name.strip() for name in without.split(',') if name.strip()]
    typer.echo(dot(names, wires, left_out), nl=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f'alpha_chaos {__version__}')
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option('--version', callback=_version, is_eager=True, help='Show the version.')
    ] = False,
) -> None:
    """Break LLM-driven robots on purpose, and say where they broke."""


def _checked(call: Any) -> Any:
    """Return what `call` returns; bad input becomes one line and exit code 2."""
    try:
        return call()
    except (BadSetting, LinesError) as error:
        _fail(str(error))
    except KeyboardInterrupt:  # before there was anything to end in order, or after it
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:  # `| head`: nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(NOBODY_READS) from None
    except OSError as error:
        where = f'{error.filename}: ' if error.filename is not None else ''
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE)
        _fail(f'{where}{error.strerror}', HARNESS_ERRORS if full else BAD_INPUT)


def _fail(text: str, code: int = BAD_INPUT) -> NoReturn:
    print(f'error: {text}', file=sys.stderr)
    raise typer.Exit(code)


def main() -> None:
    """Run the command line."""
    app(prog_name='alpha-chaos')


if __name__ == '__main__':
    main()
