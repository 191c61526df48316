"""A run's result in the terminal, also in one of 80 columns without colours or UTF-8."""

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from alpha_chaos.report import wording as say
from alpha_chaos.stats.cells import Cell
from alpha_chaos.stats.intervals import Spread
from alpha_chaos.stats.notes import notes
from alpha_chaos.stats.paired import ALL, COHORTS, PHYSICAL, Comparison
from alpha_chaos.stats.paper import Condition
from alpha_chaos.stats.summary import Reason, Summary

WIDE = 100  # columns of a terminal from which on nothing is left out
LISTED = 10  # ids shown of a list that is also counted
COHORT_TITLES = {
    ALL: 'Paired comparison, all conditions',
    PHYSICAL: 'Paired comparison, physical cohort (without corrupted plans)',
}
_ASCII_RULE = box.Box('    \n    \n -- \n    \n    \n -- \n    \n    \n', ascii=True)


@dataclass(frozen=True)
class _Column:
    header: str
    justify: Literal['left', 'right'] = 'right'
    paper: bool = False  # only shown when there is a paper to compare with
    wide: bool = False  # only shown when there is room


@dataclass(frozen=True)
class _Line:
    """One line of a block: what a cell of an arm shows, and what the paper says there."""

    arm: str
    ours: tuple[str, ...]
    papers: tuple[str, ...] = ()


class _Screen:
    """Where it is printed, and how much that can show."""

    def __init__(self, summary: Summary, console: Console) -> None:
        self.summary = summary
        self._console = console

    def text(self, content: str, style: str = '') -> Text:
        return Text(say.shown(content, self._console.encoding), style=style, overflow='fold')

    def cell(self, content: str) -> Text:
        return Text('\n').join(self.text(line) for line in content.split('\n'))

    @property
    def wide(self) -> bool:
        return self._console.width >= WIDE

    def condition(self, name: str) -> str:
        if self._console.width >= WIDE + 20:
            return name
        return say.broken(name, 26 if self.wide else 17)

    def heading(self, content: str) -> None:
        self._console.print()
        self.line(content, style='bold')

    def line(self, content: str, indent: int = 0, style: str = '') -> None:
        width = max(20, min(self._console.width, WIDE)) - indent
        for part in self.text(content, style).wrap(self._console, width):
            part.rstrip()
            self._console.print(Text(' ' * indent) + part)

    def table(self, columns: Sequence[_Column], rows: Iterable[Sequence[str]]) -> None:
        kept = [
            index
            for index, column in enumerate(columns)
            if (self.summary.paper or not column.paper) and (self.wide or not column.wide)
        ]
        table = Table(
            box=_ASCII_RULE if self._console.options.ascii_only else box.SIMPLE,
            show_edge=False,
            pad_edge=False,
            padding=(0, 1 if self.wide else 0, 0, 0),
            header_style='bold',
        )
        for index in kept:
            column = columns[index]
            table.add_column(self.cell(column.header), justify=column.justify, overflow='fold')
        for row in rows:
            # A row for each line, so that what belongs together stays beside each other even if
            # one of the cells must be folded.
            for lines in zip(*(part.split('\n') for part in say.beside(*row)), strict=True):
                table.add_row(*(self.text(lines[index]) for index in kept))
        self._console.print(table)


def _counts(cell: Cell) -> tuple[str, str, str]:
    """Return k/n, percent and interval."""
    return (
        say.counted(cell.result),
        say.percent(cell.result.rate),
        say.interval(cell.result.interval),
    )


def _without_result(cell: Cell) -> str:
    parts = []
    if cell.aborted:
        parts.append(f'{cell.aborted} aborted')
    if cell.missing:
        parts.append(f'{cell.missing} missing')
    return say.joined(parts)


def _published(summary: Summary, condition: str) -> Condition | None:
    return summary.paper.conditions.get(condition) if summary.paper else None


def _success(published: Condition | None, arm: str) -> str:
    if published is None or arm not in published.successes:
        return say.NOTHING
    return f'{published.successes[arm]}/{published.n}'


def _of(value: float | None, spell: Callable[[float], str]) -> str:
    return say.NOTHING if value is None else spell(value)


def _mean(found: Spread | None) -> str:
    return _of(found.mean if found else None, say.plain)


def _title(screen: _Screen) -> None:
    summary = screen.summary
    total = '' if summary.expected is None else f' of {summary.expected}'
    name = f'Experiment {summary.experiment}: ' if summary.experiment else ''
    screen.line(f'{name}{summary.results}{total} episodes with a result', style='bold')
    if summary.calibrations:
        screen.line(f'Calibration {say.joined(summary.calibrations)}')


def _headline(screen: _Screen) -> None:
    summary = screen.summary
    screen.heading('Success of each arm, with 95 % Wilson interval')
    rows = []
    for cell in summary.overall:
        published = summary.paper.overall.get(cell.arm) if summary.paper else None
        papers = (say.NOTHING, say.NOTHING, say.NOTHING)
        if published:
            papers = (
                f'{published.successes}/{published.n}',
                say.percent(published.successes / published.n),
                say.interval(published.interval),
            )
        rows.append(
            [
                cell.arm,
                *_counts(cell),
                *papers,
                _distinct(cell),
                _without_result(cell).replace(', ', '\n') or say.NOTHING,
            ]
        )
    screen.table(
        [
            _Column('arm', 'left'),
            _Column('k/n'),
            _Column('%'),
            _Column('95 % CI'),
            _Column('paper', paper=True),
            _Column('%', paper=True, wide=True),
            _Column("paper's CI", paper=True),
            _Column('distinct'),
            _Column('no result'),
        ],
        rows,
    )
    larger = [
        f'{cell.arm} {say.counted(cell.secondary)}' for cell in summary.overall if cell.secondary.n
    ]
    if larger:
        screen.line(f'Within the secondary radius: {say.joined(larger)}')


def _comparisons(screen: _Screen, cohort: str) -> None:
    found = [item for item in screen.summary.comparisons if item.cohort == cohort]
    if not found:
        return
    screen.heading(COHORT_TITLES[cohort])
    rows = []
    for item in found:
        paper = screen.summary.paper
        published = paper.comparison(item.first, item.second, cohort) if paper else None
        tests = (say.NO_ESTIMATE, say.NOTHING, say.NOTHING)
        if item.test:
            tests = (
                f'{item.test.chi2_corrected:.3f}',
                say.p_value(item.test.p_corrected),
                say.p_value(item.test.p_exact),
            )
        rows.append(
            [
                f'{item.first} : {item.second}',
                str(item.pairs),
                f'{item.first_rate.k} : {item.second_rate.k}',
                f'{len(item.first_only)} : {len(item.second_only)}',
                *tests,
                f'{published.chi2_corrected:.3f}' if published else say.NOTHING,
                say.p_value(published.p_corrected) if published else say.NOTHING,
            ]
        )
    screen.table(
        [
            _Column('arms', 'left'),
            _Column('pairs'),
            _Column('success'),
            _Column('alone'),
            _Column('chi2'),
            _Column('p corr.'),
            _Column('p exact'),
            _Column('paper\nchi2', paper=True),
            _Column('paper\np', paper=True),
        ],
        rows,
    )


def _disagreements(screen: _Screen) -> None:
    screen.heading('Pairs in which one arm succeeded and the other did not')
    found = [item for item in screen.summary.comparisons if item.cohort == ALL]
    for item in found:
        if not item.discordant:
            screen.line(f'{item.first} : {item.second}: none of {item.pairs}')
        for arm, run_ids in ((item.first, item.first_only), (item.second, item.second_only)):
            if run_ids:
                screen.line(f'{item.first} : {item.second}: only {arm} succeeded, {len(run_ids)}:')
                screen.line(say.joined(run_ids), indent=2)
        _not_compared(screen, item)


def _not_compared(screen: _Screen, comparison: Comparison) -> None:
    by_reason: dict[str, list[str]] = {}
    for item in comparison.unpaired:
        by_reason.setdefault(item.why, []).append(item.run_id)
    for why, run_ids in by_reason.items():
        screen.line(
            f'{comparison.first} : {comparison.second}: {len(run_ids)} not compared, {why}:'
        )
        screen.line(say.first_few(run_ids, LISTED), indent=2)


def _conditions(screen: _Screen) -> None:
    for arm in screen.summary.arms:
        screen.heading(f'Arm {arm} by condition')
        rows = []
        for cell in screen.summary.of_arm(arm):
            published = _published(screen.summary, cell.condition)
            name = screen.condition(cell.condition)
            if absent := _without_result(cell):
                name += f'\n({absent})'.replace(', ', ',\n')
            rows.append(
                [
                    name,
                    *_counts(cell),
                    _success(published, arm),
                    _distinct(cell),
                    say.counted_if_any(cell.exercised),
                    _mean_and_range(cell),
                ]
            )
        screen.table(
            [
                _Column('condition', 'left'),
                _Column('k/n'),
                _Column('%', wide=True),
                _Column('95 % CI'),
                _Column('paper', paper=True),
                _Column('distinct'),
                _Column('exercised'),
                _Column('error\n[m]'),
            ],
            rows,
        )


def _distinct(cell: Cell) -> str:
    return f'{cell.distinct}/{cell.digested}' if cell.digested else say.NOTHING


def _mean_and_range(cell: Cell) -> str:
    return say.stacked(say.spread(cell.error_m, say.metres))


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
    screen: _Screen,
    heading: str,
    columns: Sequence[_Column],
    line_of: Callable[[Cell, Condition | None], _Line | None],
) -> bool:
    """Print one line a condition and arm, where `line_of` has something to show."""
    rows: list[list[str]] = []
    for condition in screen.summary.conditions:
        published = _published(screen.summary, condition)
        found = [line_of(cell, published) for cell in screen.summary.of_condition(condition)]
        lines = [line for line in found if line is not None]
        for number, row in enumerate(_merged(lines, screen.summary.arms)):
            rows.append(['' if number else screen.condition(condition), *row])
    if rows:
        screen.heading(heading)
        screen.table([_Column('condition', 'left'), _Column('arms', 'left'), *columns], rows)
    return bool(rows)


def _lag(screen: _Screen) -> None:
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
                _of(published.requested_lag_s if published else None, say.seconds),
                _of(published.delivered_lag_s if published else None, say.seconds),
                _of(published.staleness_m if published else None, say.metres),
            ),
        )

    _block(
        screen,
        'F1 sensor lag: what was asked for, what arrived, how far off the block was seen',
        [
            _Column('asked\n[s]'),
            _Column('arrived\n[s]'),
            _Column('off\n[m]'),
            _Column('k/n'),
            _Column('paper\n[s]', paper=True),
            _Column('paper\n[s]', paper=True),
            _Column('paper\n[m]', paper=True),
        ],
        line_of,
    )


def _numbers(run_ids: Iterable[str], condition: str) -> str:
    """Return the run ids of one condition without its name before each."""
    short = [run_id.removeprefix(f'{condition}_') for run_id in run_ids]
    return '\n'.join(textwrap.wrap(' '.join(short), 11)) or 'none'


def _slip(screen: _Screen) -> None:
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
                _of(published.slip_probability if published else None, say.seconds),
                _success(published, cell.arm),
                _numbers(published.slipped, cell.condition)
                if published and known
                else say.NOTHING,
            ),
        )

    _block(
        screen,
        'F2 grasp slip: probability, slips, success, and the episodes that slipped',
        [
            _Column('P'),
            _Column('slips'),
            _Column('k/n'),
            _Column('slipped', 'left'),
            _Column('paper\nP', paper=True),
            _Column('paper\nk/n', paper=True),
            _Column('paper\nslipped', 'left', paper=True),
        ],
        line_of,
    )


def _reach(screen: _Screen) -> None:
    def line_of(cell: Cell, published: Condition | None) -> _Line | None:
        if cell.offset_m is None:
            return None
        error = cell.error_m
        return _Line(
            cell.arm,
            (
                say.spread(cell.offset_m, say.metres),
                _of(error.mean if error else None, say.metres),
                _of(error.low if error else None, say.metres),
                _of(error.high if error else None, say.metres),
                _of(error.sd if error else None, say.metres),
                say.counted(cell.result),
            ),
            (_of(published.final_error_m.get(cell.arm) if published else None, say.metres),),
        )

    _block(
        screen,
        'F3 unreachable target: offset, and distance block to zone at the end [m]',
        [
            _Column('offset'),
            _Column('mean'),
            _Column('min'),
            _Column('max'),
            _Column('sd'),
            _Column('k/n'),
            _Column('paper', paper=True),
        ],
        line_of,
    )


def _corruption(screen: _Screen) -> None:
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
            (_success(published, cell.arm),),
        )

    _block(
        screen,
        'F4 plan corruption: texts hit, plans the parser refused, success',
        [
            _Column('P'),
            _Column('hit'),
            _Column('refused'),
            _Column('k/n'),
            _Column('how', 'left'),
            _Column('paper', paper=True),
        ],
        line_of,
    )


def _safety(screen: _Screen) -> None:
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
            _Column('raw'),
            _Column('rule', 'left'),
            _Column('events'),
            _Column('steps'),
            _Column('blocks', 'left'),
            _Column('paper\nraw/ev/steps', paper=True),
        ],
        line_of,
    )
    if not printed:
        screen.heading('Safety: no violation in any episode')
        return
    screen.line('Not listed: episodes without a violation, or without a result.')
    if screen.summary.paper:
        screen.line(
            'The paper looked 62 times an episode, this monitor at every step: counts differ.'
        )


def _papers_safety(summary: Summary, published: Condition | None, arm: str) -> str:
    if summary.paper is None or published is None or arm not in summary.paper.overall:
        return say.NOTHING
    found = published.safety.get(arm)
    return f'{found.raw_sweeps}/{found.events}/{found.steps}' if found else '0/0/0'


def _cost(screen: _Screen) -> None:
    summary = screen.summary
    screen.heading('Planners: mean tokens and wall time of an episode')
    rows = []
    for cell in summary.overall:
        cost = cell.cost
        published = summary.paper.overall.get(cell.arm) if summary.paper else None
        rows.append(
            [
                cell.arm,
                _mean(cost.prompt_tokens),
                _mean(cost.completion_tokens),
                _mean(cost.plan_wall_s),
                say.counted(cost.cached),
                _mean(cost.wall_s),
                f'{published.prompt_tokens} + {published.completion_tokens}'
                if published
                else say.NOTHING,
                _of(published.wall_s if published else None, say.plain),
            ]
        )
    screen.table(
        [
            _Column('arm', 'left'),
            _Column('prompt'),
            _Column('reply'),
            _Column('plan\n[s]'),
            _Column('cached'),
            _Column('episode\n[s]'),
            _Column('paper\ntokens', paper=True),
            _Column('paper\n[s]', paper=True),
        ],
        rows,
    )
    for cell in summary.overall:
        for model in cell.cost.models:
            screen.line(f'{cell.arm}: {model.provider} {model.model} {model.digest}'.rstrip())


def _attempts(screen: _Screen) -> None:
    summary = screen.summary
    screen.heading('Attempts: every one is a result or an infrastructure abort')
    screen.table(
        [
            _Column('arm', 'left'),
            _Column('attempts'),
            _Column('done'),
            _Column('task failed'),
            _Column('aborted'),
            _Column('superseded'),
        ],
        [
            [
                account.arm,
                str(account.total),
                str(account.done),
                str(account.task_failed),
                str(account.aborted),
                str(account.superseded),
            ]
            for account in summary.attempts
        ],
    )
    for account in summary.attempts:
        for reason in account.failures:
            screen.line(f'{account.arm}: {reason.attempts} task failed, {reason.type}')
        for reason in account.aborts:
            screen.line(f'{account.arm}: {reason.attempts} aborted, {reason.type}')
            _texts(screen, reason)
    names = [f'{run_id}/{arm}' for run_id, arm in summary.unresolved]
    if names:
        screen.line(f'Still without a result: {say.first_few(names, 2 * LISTED)}')


def _texts(screen: _Screen, reason: Reason) -> None:
    """Print the full reasons, unless they say no more than their type."""
    if [text for text, _ in reason.texts] == [reason.type]:
        return
    for text, times in reason.texts[:LISTED]:
        screen.line(f'{times} x {text}', indent=2)
    if (more := len(reason.texts) - LISTED) > 0:
        screen.line(f'and {more} other texts', indent=2)


def _notes(screen: _Screen) -> None:
    found = notes(screen.summary)
    if found:
        screen.heading('Before believing the numbers')
    for note in found:
        screen.line(f'! {note}', style='yellow')


def _verdict(screen: _Screen) -> None:
    summary = screen.summary
    parts = [f'{cell.arm} {say.counted(cell.result)}' for cell in summary.overall]
    tests: Mapping[str, str] = {
        item.cohort: f'{item.first} : {item.second} p = {say.p_value(item.test.p_corrected)}'
        f' ({item.discordant} of {item.pairs} pairs differ)'
        for item in reversed(summary.comparisons)
        if item.test
    }
    if ALL in tests:
        parts.append(tests[ALL])
    if PHYSICAL in tests:
        parts.append(f'without corrupted plans {tests[PHYSICAL]}')
    if parts:
        screen.heading('; '.join(parts))


def render(summary: Summary, console: Console) -> None:
    """Print a summary.

    Names and reasons are printed as they are, never as markup; what the console's encoding does
    not have is escaped.
    """
    screen = _Screen(summary, console)
    _title(screen)
    if summary.overall:
        _headline(screen)
        for cohort in COHORTS:
            _comparisons(screen, cohort)
        if summary.comparisons:
            _disagreements(screen)
        _conditions(screen)
        _lag(screen)
        _slip(screen)
        _reach(screen)
        _corruption(screen)
        _safety(screen)
        _cost(screen)
        _attempts(screen)
    _notes(screen)
    _verdict(screen)
