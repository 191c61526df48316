"""What each fault did, and what the safety monitor saw: one line a condition and arm."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from alpha_chaos.report import wording as say
from alpha_chaos.report.screen import Column, Screen
from alpha_chaos.stats.cells import Cell
from alpha_chaos.stats.paper import Condition
from alpha_chaos.stats.summary import Summary


@dataclass(frozen=True)
class _Line:
    """One line of a block: what a cell of an arm shows, and what the paper says there."""

    arm: str
    ours: tuple[str, ...]
    papers: tuple[str, ...] = ()


def _merged(lines: Iterable[_Line], everyone: Sequence[str]) -> list[list[str]]:
    """Return the lines with arms that show the same put together, the paper's numbers beside.

    Where the paper differs between the arms of a line, it is said for each.
    """
    groups: dict[tuple[str, ...], list[_Line]] = {}
    for line in lines:
        groups.setdefault(line.ours, []).append(line)
    rows = []
    for ours, members in groups.items():
        arms = [line.arm for line in members]
        papers = []
        for values in zip(*(line.papers for line in members), strict=True):
            said = {
                arm: value for arm, value in zip(arms, values, strict=True) if value != say.NOTHING
            }
            if len(set(said.values())) > 1:
                papers.append('\n'.join(f'{value} {arm}' for arm, value in said.items()))
            else:
                papers.append(next(iter(said.values()), say.NOTHING))
        whole = len(arms) > 1 and len(arms) == len(everyone)
        rows.append(['all arms' if whole else '\n'.join(arms), *ours, *papers])
    return rows


def _block(
    screen: Screen,
    heading: str,
    columns: Sequence[Column],
    line_of: Callable[[Cell, Condition | None], _Line | None],
) -> bool:
    """Print one line a condition and arm, where `line_of` has something to show."""
    rows: list[list[str]] = []
    for condition in screen.summary.conditions:
        published = screen.summary.published(condition)
        found = [line_of(cell, published) for cell in screen.summary.of_condition(condition)]
        lines = [line for line in found if line is not None]
        for number, row in enumerate(_merged(lines, screen.summary.arms)):
            rows.append(['' if number else screen.condition(condition), *row])
    if rows:
        screen.heading(heading)
        screen.table([Column('condition', 'left'), Column('arms', 'left'), *columns], rows)
    return bool(rows)


def lag(screen: Screen) -> None:
    """Print the lag asked for, the lag that arrived, and the error it made."""

    def line_of(cell: Cell, published: Condition | None) -> _Line | None:
        if cell.lag is None:
            return None
        return _Line(
            cell.arm,
            (
                say.spread(cell.lag.requested_s, say.seconds),
                say.spread(cell.lag.delivered_s, say.seconds),
                say.spread(cell.lag.staleness_m, say.metres),
                say.counted(cell.result),
            ),
            (
                say.known(published.requested_lag_s if published else None, say.seconds),
                say.known(published.delivered_lag_s if published else None, say.seconds),
                say.known(published.staleness_m if published else None, say.metres),
            ),
        )

    _block(
        screen,
        'F1 sensor lag: what was asked for, what arrived, how far off the block was seen',
        [
            Column('asked\n[s]'),
            Column('arrived\n[s]'),
            Column('off\n[m]'),
            Column('k/n'),
            Column('paper\n[s]', paper=True),
            Column('paper\n[s]', paper=True),
            Column('paper\n[m]', paper=True),
        ],
        line_of,
    )


def _numbers(run_ids: Iterable[str], condition: str) -> str:
    """Return the run ids of one condition without its name before each."""
    short = [run_id.removeprefix(f'{condition}_') for run_id in run_ids]
    return '\n'.join(textwrap.wrap(' '.join(short), 11)) or 'none'


def slip(screen: Screen) -> None:
    """Print how often and in which episodes the grasp slipped."""

    def line_of(cell: Cell, published: Condition | None) -> _Line | None:
        if cell.slips is None:
            return None
        known = published is not None and published.slip_probability is not None
        return _Line(
            cell.arm,
            (
                say.spread(cell.slips.probability, say.seconds),
                say.counted(cell.slips.slipped),
                say.counted(cell.result),
                _numbers(cell.slips.run_ids, cell.condition),
            ),
            (
                say.known(published.slip_probability if published else None, say.seconds),
                say.published_success(published, cell.arm),
                _numbers(published.slipped, cell.condition)
                if published and known
                else say.NOTHING,
            ),
        )

    _block(
        screen,
        'F2 grasp slip: probability, slips, success, and the episodes that slipped',
        [
            Column('P'),
            Column('slips'),
            Column('k/n'),
            Column('slipped', 'left'),
            Column('paper\nP', paper=True),
            Column('paper\nk/n', paper=True),
            Column('paper\nslipped', 'left', paper=True),
        ],
        line_of,
    )


def reach(screen: Screen) -> None:
    """Print where the block ended when targets were moved."""

    def line_of(cell: Cell, published: Condition | None) -> _Line | None:
        if cell.offset_m is None:
            return None
        error = cell.error_m
        return _Line(
            cell.arm,
            (
                say.spread(cell.offset_m, say.metres),
                say.known(error.mean if error else None, say.metres),
                say.known(error.low if error else None, say.metres),
                say.known(error.high if error else None, say.metres),
                say.known(error.sd if error else None, say.metres),
                say.counted(cell.result),
            ),
            (say.known(published.final_error_m.get(cell.arm) if published else None, say.metres),),
        )

    _block(
        screen,
        'F3 unreachable target: offset, and distance block to zone at the end [m]',
        [
            Column('offset'),
            Column('mean'),
            Column('min'),
            Column('max'),
            Column('sd'),
            Column('k/n'),
            Column('paper', paper=True),
        ],
        line_of,
    )


def corruption(screen: Screen) -> None:
    """Print which plans were hit and which were refused."""
    exposed = {cell.condition for cell in screen.summary.cells if cell.corruptions}

    def line_of(cell: Cell, published: Condition | None) -> _Line | None:
        if not cell.result.n or not (cell.condition in exposed or cell.rejected.k):
            return None
        found = cell.corruptions
        return _Line(
            cell.arm,
            (
                say.spread(found.probability if found else None, say.seconds),
                say.counted(found.corrupted) if found else say.NOTHING,
                say.counted_if_any(cell.rejected),
                say.counted(cell.result),
                say.joined(f'{kind} {times}' for kind, times in found.kinds) if found else '',
            ),
            (say.published_success(published, cell.arm),),
        )

    _block(
        screen,
        'F4 plan corruption: texts hit, plans the parser refused, success',
        [
            Column('P'),
            Column('hit'),
            Column('refused'),
            Column('k/n'),
            Column('how', 'left'),
            Column('paper', paper=True),
        ],
        line_of,
    )


def safety(screen: Screen) -> None:
    """Print what the monitor saw, each rule apart."""

    def line_of(cell: Cell, published: Condition | None) -> _Line | None:
        safety = cell.safety
        if safety is None or not safety.events.high:
            return None
        rules = [
            say.beside(
                rule.rule if screen.wide else say.broken(rule.rule, 9),
                say.stacked(say.spread(rule.events)),
                say.stacked(say.spread(rule.steps)),
                '\n'.join(key for key, _ in rule.keys),
            )
            for rule in safety.rules
        ]
        return _Line(
            cell.arm,
            (
                say.stacked(say.spread(safety.raw_sweeps)),
                *('\n'.join(column) for column in zip(*rules, strict=True)),
            ),
            (_papers_safety(screen.summary, published, cell.arm),),
        )

    if not any(cell.safety for cell in screen.summary.cells):
        return
    printed = _block(
        screen,
        'Safety: of an episode, raw sweeps, and unique events and steps of each rule',
        [
            Column('raw'),
            Column('rule', 'left'),
            Column('events'),
            Column('steps'),
            Column('blocks', 'left'),
            Column('paper\nraw/ev/steps', paper=True),
        ],
        line_of,
    )
    if not printed:
        screen.heading('Safety: no violation in any episode')
        return
    screen.line('Not listed: episodes without a violation, or without a result.')
    if screen.summary.paper:
        screen.line(
            "The paper's code looked 62 times an episode, this monitor each step: counts differ."
        )


def _papers_safety(summary: Summary, published: Condition | None, arm: str) -> str:
    if summary.paper is None or published is None or arm not in summary.paper.overall:
        return say.NOTHING
    found = published.safety.get(arm)
    return f'{found.raw_sweeps}/{found.events}/{found.steps}' if found else '0/0/0'
