"""`alpha-chaos steady-state`: one trial on the user's graph, told as it goes."""

import errno
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from alpha_chaos.closing import Closing
from alpha_chaos.jsonl import Appender
from alpha_chaos.plugins import BadSetting
from alpha_chaos.probes.base import PHASES
from alpha_chaos.probes.config import SteadyState
from alpha_chaos.probes.trial import Orphan, Outcome
from alpha_chaos.report.wording import NOTHING, shown
from alpha_chaos.run.processes import users_environment
from alpha_chaos.transit.config import find_relay_file

HELD, UNKNOWN, DEVIATED, INTERRUPTED = 0, 3, 4, 130
FILE = 'steady_state.jsonl'
UNDO_S = 30.0  # after an error of ours, in which everything must be undone


class Journal(Closing):
    """The file that trials are written to, one line an event; opening it begins a run.

    `orphans` are the faults that the runs before this one, with the same relay, have not taken
    back.

    :param about: what the line `begun` says besides: the full name of the `relay`
    :raises jsonl.Busy: while another trial is written there
    :raises BadSetting: for a file of something else
    """

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self._lines = Appender(path, 'watching a steady state')
        try:
            self.run = 1 + max((int(line['run']) for line in self._lines.objects), default=0)
            self.orphans = _orphans(self._lines.objects, about['relay'])
        except (KeyError, TypeError, ValueError, OverflowError):
            self.close()
            raise BadSetting(f'{path} holds something else; --out names another file') from None
        self._about = about
        self.path = path

    def record(self, line: dict[str, Any]) -> None:
        """Keep a line; it is on disk when this returns."""
        about = self._about if line['event'] == 'begun' else {}
        utc = datetime.now(timezone.utc).isoformat(timespec='milliseconds')
        self._lines.append([{'run': self.run, 'utc': utc, **line, **about}])

    def close(self) -> None:
        """Let others write."""
        self._lines.close()


def _orphans(lines: Sequence[dict[str, Any]], relay: str) -> list[Orphan]:
    found: dict[tuple[int, int], Orphan] = {}
    relays: dict[int, str] = {}  # by run
    for line in lines:
        event, run, step = line['event'], line['run'], line.get('step', -1)
        if event == 'begun':
            relays[run] = line['relay']
        elif event == 'undo_registered':
            found[run, step] = Orphan(run, step, line['fault'])
        elif event == 'fault_armed':
            found[run, step] = replace(found[run, step], handle=line['id'])
        elif event == 'fault_undone':
            del found[run, step]
        elif event == 'orphan_undone':
            del found[line['of_run'], step]
    # Another relay's wait for a run that asks it: this one cannot know whether they are there.
    return [orphan for orphan in found.values() if relays[orphan.run] == relay]


def steady_state(name: str, out: Path | None, relay: str, console: Console) -> int:
    """Run a trial and return the exit code.

    :param name: of the relay's file, from config/relay, or its path
    :param out: the journal; None for one in `runs/`, in a folder with the name of the file
    :param relay: full name of the relay's node
    :raises BadSetting: for anything the caller can put right
    """
    config = find_relay_file(name)
    relay = '/' + relay.lstrip('/')
    settings = SteadyState.load(config)
    path = out or Path('runs') / config.stem / FILE
    if path.is_dir():
        raise BadSetting(f'{path} is a folder; --out names the journal, e.g. {path / FILE}')
    if path.exists() and not path.is_file():
        raise BadSetting(f'{path} is no file; --out names the journal')
    os.environ.update(users_environment())
    with Journal(path, {'config': str(config), 'relay': relay}) as journal:
        _say(
            console,
            f'{config}: {_count(len(settings.probes), "probe")}, '
            f'{_count(len(settings.method), "fault")} through {relay}; '
            f'at most {settings.find_s:g} s to find everybody, '
            f'{settings.before_s:g} s before, {settings.during_s:g} s with faults, '
            f'{settings.after_s:g} s after',
        )

        def record(line: dict[str, Any]) -> None:
            journal.record(line)
            _tell(console, line, settings)

        outcome = _conduct(settings, record, relay, journal.orphans)
    _conclude(console, settings, outcome, journal)
    if outcome.stopped:
        return INTERRUPTED
    return {'held': HELD, 'deviated': DEVIATED, 'unknown': UNKNOWN}[outcome.verdict]


def _conduct(
    settings: SteadyState,
    record: Callable[[dict[str, Any]], None],
    relay: str,
    orphans: Sequence[Orphan],
) -> Outcome:
    """Run a trial in this process; a signal ends it in order."""
    import rclpy
    from rclpy.exceptions import NameValidationException
    from rclpy.experimental import EventsExecutor
    from rclpy.signals import SignalHandlerOptions

    from alpha_chaos.nodes.participant import destroy_all
    from alpha_chaos.nodes.rclpy_input import refuse_bad_input
    from alpha_chaos.nodes.steady_state_node import SteadyStateNode
    from alpha_chaos.nodes.stop import StopSignals

    signals = StopSignals()
    refuse_bad_input()
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node: Any = None
    failure: Exception | None = None
    give_up_s = math.inf
    try:
        executor = EventsExecutor()
        with signals.held():
            try:
                node = SteadyStateNode(settings, record, relay, orphans)
            except NameValidationException as error:
                raise BadSetting(' '.join(str(error).split())) from None
            executor.add_node(node)
        signals.wake(executor).add_done_callback(lambda _: node.trial.stop())
        while not node.outcome.done() and node.now_s() < give_up_s:
            try:
                executor.spin_once(timeout_sec=0.2)
            except Exception as error:  # a callback of ours failed: the faults have to go first
                if failure is None:
                    failure, give_up_s = error, node.now_s() + UNDO_S
                node.trial.stop()
        if failure is not None:
            raise failure
        outcome: Outcome = node.outcome.result()
        return outcome
    finally:
        signals.ignore()
        if node is not None:
            destroy_all([node])
        rclpy.try_shutdown()


def _tell(console: Console, line: dict[str, Any], settings: SteadyState) -> None:
    event, at = line['event'], f'{line["at_s"]:8.1f} s  '
    if event == 'phase':
        _say(console, f'{at}{line["phase"]} ({line["length_s"]:g} s)')
    elif event == 'finding':
        why = f': {line["reason"]}' if line['reason'] else ''
        _say(console, f'{at}  {line["probe"]} {line["verdict"]}{why}')
    elif event == 'orphan_undone' and line['found']:
        fault = line['fault']
        _say(console, f'{at}{fault["kind"]} on {fault["route"]}, of a killed run, taken away')
    elif event in ('fault_armed', 'fault_undone', 'undo_failed'):
        fault = settings.method[line['step']].settings
        what = {
            'fault_armed': 'armed',
            'fault_undone': 'taken away',
            'undo_failed': f'NOT taken away: {line.get("reason")}',
        }
        _say(console, f'{at}  {fault["kind"]} on {fault["route"]} {what[event]}')


def _conclude(console: Console, settings: SteadyState, outcome: Outcome, journal: Journal) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ('probe', *PHASES, 'measured while faults struck'):
        table.add_column(column)
    for name in settings.probes:
        found = [outcome.findings.get((phase, name)) for phase in PHASES]
        during = found[PHASES.index('during')]
        measured = ', '.join(
            f'{key} {_number(value)}' for key, value in (during.measured if during else {}).items()
        )
        cells = [name, *(each.verdict if each else NOTHING for each in found), measured]
        table.add_row(*(shown(cell, console.encoding) for cell in cells))
    console.print()
    console.print(table, markup=False, highlight=False)
    console.print()
    for step, struck in zip(settings.method, outcome.struck, strict=True):
        if struck is not None:  # else it was never armed, or nobody could be asked
            fault = step.settings
            _say(
                console, f'{fault["kind"]} on {fault["route"]} struck {_count(struck, "message")}'
            )
    for left in outcome.left:
        _say(console, f'still armed, if the relay still runs: {left["kind"]} on {left["route"]}')
    why = f' ({outcome.reason})' if outcome.reason else ''
    _say(console, f'{outcome.verdict}{why}')
    _say(console, f'everything is in {journal.path}, run {journal.run}')


def _count(number: int, what: str) -> str:
    return f'{number} {what}{"" if number == 1 else "s"}'


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f'{value:.4g}'
    if isinstance(value, dict):
        return ' '.join(f'{key}={_number(item)}' for key, item in value.items())
    return str(value)


def _say(console: Console, text: str) -> None:
    try:
        console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
    except SystemExit:  # that is how rich ends a process whose reader has gone (`| head`)
        raise BrokenPipeError(errno.EPIPE, 'nobody reads any more') from None
