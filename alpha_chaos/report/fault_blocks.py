"""What each fault did, and what the safety monitor saw: one line a condition and arm."""

import textwrap
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from alpha_chaos.report import wording as say
from alpha_chaos.report.screen import Column, Screen
from alpha_chaos.stats.cells import Cell, RuleTotals, SafetyTotals
from alpha_chaos.stats.paper import Condition

# Faults whose rows have fields of their own, and so a block that says more.
OWN_BLOCK = ('sensor_lag', 'grasp_slip', 'unreachable_target', 'plan_corruption')
T = TypeVar('T', bound=Hashable)


@dataclass(frozen=True)
class _Line:
    """One line of a block: what a cell of an arm shows, and what the paper says there."""

    arm: str
    ours: tuple[str, ...]
    papers: tuple[str, ...] = ()


def _alike(found: Iterable[tuple[str, T]], everyone: Sequence[str]) -> list[tuple[str, T]]:
    """Return what the arms show, those that show the same put together under all their names."""
    groups: dict[T, list[str]] = {}
    for arm, shown in found:
        groups.setdefault(shown, []).append(arm)
    return [
        ('all arms' if 1 < len(arms) == len(everyone) else '\n'.join(arms), shown)
        for shown, arms in groups.items()
    ]


def _merged(lines: Sequence[_Line], everyone: Sequence[str]) -> list[list[str]]:
    """Return the lines with arms that show the same put together, the paper's numbers beside.

    Where the paper differs between the arms of a line, it is said for each.
    """
    rows = []
    for arms, ours in _alike(((line.arm, line.ours) for line in lines), everyone):
        members = [line for line in lines if line.ours == ours]
        papers = []
        for values in zip(*(line.papers for line in members), strict=True):
            said = {
                line.arm: value
                for line, value in zip(members, values, strict=True)
                if value != say.NOTHING
            }
            if len(set(said.values())) > 1:
                papers.append('\n'.join(f'{value} {arm}' for arm, value in said.items()))
            else:
                papers.append(next(iter(said.values()), say.NOTHING))
        rows.append([arms, *ours, *papers])
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
            rows.append(['' if number else condition, *row])
    if rows:
        screen.heading(heading)
        screen.table(
            [Column('condition', 'left', name=True), Column('arms', 'left'), *columns], rows
        )
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
            Column('min', wide=True),
            Column('max', wide=True),
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
                '\n'.join(f'{kind} {times}' for kind, times in found.kinds) if found else '',
            ),
            (say.published_success(published, cell.arm),),
        )

    _block(
        screen,
        'F4 plan corruption: texts hit, plans the parser refused, success',
        [
            Column('P'),
            Column('hit'),
            Column('re-\nfused'),
            Column('k/n', wide=True),
            Column('how', 'left'),
            Column('paper', paper=True),
        ],
        line_of,
    )


def other(screen: Screen) -> None:
    """Print what every fault did that has no block of its own, from its evidence."""
    kinds = dict.fromkeys(
        effect.fault
        for cell in screen.summary.cells
        for effect in cell.effects
        if effect.fault not in OWN_BLOCK
    )
    for kind in kinds:

        def line_of(cell: Cell, published: Condition | None, kind: str = kind) -> _Line | None:
            found = next((effect for effect in cell.effects if effect.fault == kind), None)
            if found is None:
                return None
            numbers = [
                f'{key} {say.spread(value)}' for key, value in found.numbers if key != 'struck'
            ]
            words = [
                f'{key} {say.joined(f"{word} {times}" for word, times in values)}'
                for key, values in found.words
            ]
            return _Line(
                cell.arm,
                (
                    say.counted(found.exercised),
                    say.stacked(say.spread(found.struck)),
                    say.counted(cell.result),
                    '\n'.join(numbers + words) or say.NOTHING,
                ),
            )

        _block(
            screen,
            f'Fault {kind}: episodes with a chance, strikes and evidence of an episode, success',
            [
                Column('exer-\ncised'),
                Column('struck'),
                Column('k/n'),
                Column('evidence', 'left'),
            ],
            line_of,
        )


def safety(screen: Screen) -> None:
    """Print what the monitor saw, in all and by each rule; what the paper saw stands apart."""
    summary = screen.summary
    if not any(cell.safety for cell in summary.cells):
        return
    rows = []
    for condition in summary.conditions:
        lines = [
            (cell.arm, _monitored(cell.safety))
            for cell in summary.of_condition(condition)
            if cell.safety and cell.safety.events.high
        ]
        for number, (arms, (total, *rules)) in enumerate(_alike(lines, summary.arms)):
            rows.append(['' if number else condition, arms, *total, ''])
            rows += [[f'  {rule}', '', *counts] for rule, *counts in rules]
    if not rows:
        screen.heading('Safety: no violation in any episode')
        return
    screen.heading('Safety, of an episode: violating steps, unique events and their steps')
    screen.table(
        [
            Column('condition, rule', 'left', name=True),
            Column('arms', 'left'),
            Column('raw'),
            Column('events'),
            Column('steps'),
            Column('blocks', 'left'),
        ],
        rows,
    )
    screen.line('Not listed: episodes without a violation, or without a result.')
    _papers_safety(screen)


def _monitored(safety: SafetyTotals) -> tuple[tuple[str, ...], ...]:
    """Return the counts of all rules together, then of each one between its name and blocks."""

    def counts(found: SafetyTotals | RuleTotals) -> tuple[str, ...]:
        lies = (found.raw_sweeps, found.events, found.steps)
        return tuple(say.stacked(say.spread(value)) for value in lies)

    return (
        counts(safety),
        *(
            (rule.rule, *counts(rule), say.joined(key for key, _ in rule.keys))
            for rule in safety.rules
        ),
    )


def _papers_safety(screen: Screen) -> None:
    paper = screen.summary.paper
    if paper is None:
        return
    rows = [
        [condition, arm, *map(str, (found.raw_sweeps, found.events, found.steps))]
        for condition in screen.summary.conditions
        if (published := screen.summary.published(condition))
        for arm, found in published.safety.items()
    ]
    screen.heading('Safety in the paper, whose code looked 62 times an episode, not at each step')
    screen.table(
        [
            Column('condition', 'left', name=True),
            Column('arm', 'left'),
            Column('raw'),
            Column('events'),
            Column('steps'),
        ],
        rows,
    )
    screen.line('Everywhere else it reports none.')
