"""A run's result in the terminal, also in one of 80 columns without colours or UTF-8."""

from collections import Counter
from collections.abc import Iterable, Mapping

from rich.console import Console

from alpha_chaos.report import fault_blocks
from alpha_chaos.report import wording as say
from alpha_chaos.report.screen import Column, Screen
from alpha_chaos.stats.cells import Cell
from alpha_chaos.stats.intervals import Spread
from alpha_chaos.stats.notes import notes
from alpha_chaos.stats.paired import ALL, COHORTS, PHYSICAL, Comparison, Paired
from alpha_chaos.stats.summary import Reason, Summary

LISTED = 10  # ids shown of a list that is also counted
COHORT_TITLES = {
    ALL: 'Paired comparison, all conditions',
    PHYSICAL: 'Paired comparison, physical cohort (without corrupted plans)',
}

PAIRED_COLUMNS = (
    Column('distinct'),
    Column('difference'),
    Column('p\nexact'),
    Column('sees'),
    Column('80 %'),
)


def _counts(cell: Cell) -> tuple[str, str, str]:
    """Return k/n, percent and interval."""
    return (
        say.counted(cell.result),
        say.percent(cell.result.rate),
        say.rate_interval(cell),
    )


def _without_result(cell: Cell) -> str:
    parts = []
    if cell.aborted:
        parts.append(f'{cell.aborted} aborted')
    if cell.missing:
        parts.append(f'{cell.missing} missing')
    return say.joined(parts)


def _mean(found: Spread | None) -> str:
    return say.known(found.mean if found else None, say.plain)


def _title(screen: Screen) -> None:
    summary = screen.summary
    total = '' if summary.expected is None else f' of {summary.expected}'
    name = f'Experiment {summary.experiment}: ' if summary.experiment else ''
    screen.line(f'{name}{summary.results}{total} episodes with a result', style='bold')
    if summary.calibrations:
        screen.line(f'Calibration {say.joined(summary.calibrations)}')


def _headline(screen: Screen) -> None:
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
            Column('arm', 'left'),
            Column('k/n'),
            Column('%'),
            Column('95 % CI'),
            Column('paper', paper=True),
            Column('%', paper=True, wide=True),
            Column("paper's CI", paper=True),
            Column('distinct'),
            Column('no result'),
        ],
        rows,
    )
    larger = [
        f'{cell.arm} {say.counted(cell.secondary)}' for cell in summary.overall if cell.secondary.n
    ]
    if larger:
        screen.line(f'Within the secondary radius: {say.joined(larger)}')


def _comparisons(screen: Screen, cohort: str) -> None:
    found = [item for item in screen.summary.comparisons if item.cohort == cohort]
    if not found:
        return
    if cohort == PHYSICAL and not screen.summary.text_attacked:
        return
    screen.heading(COHORT_TITLES[cohort])
    rows = []
    for item in found:
        paper = screen.summary.paper
        published = paper.comparison(item.first, item.second, cohort) if paper else None
        tests = (say.NO_ESTIMATE, say.NOTHING, say.NOTHING, say.NOTHING)
        if item.test:
            tests = (
                f'{item.test.chi2_corrected:.3f}',
                say.p_value(item.test.p_corrected),
                say.p_value(item.test.p_exact),
                say.p_value(item.test.p_mid),
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
            Column('arms', 'left'),
            Column('pairs'),
            Column('success'),
            Column('alone'),
            Column('chi2', wide=True),
            Column('p\ncorr.'),
            Column('p\nexact'),
            Column('p\nmid'),
            Column('paper\nchi2', paper=True, wide=True),
            Column('paper\np', paper=True),
        ],
        rows,
    )


def _differences(screen: Screen) -> None:
    """Print how large the difference between the arms is, with copies counted once."""
    found = [item for item in screen.summary.comparisons if item.cohort == ALL]
    screen.heading('Difference of success in points, first less second, copies counted once')
    screen.table(
        [Column('arms', 'left'), *PAIRED_COLUMNS],
        [[f'{item.first} : {item.second}', *_paired(item)] for item in found],
    )
    _no_interval(screen, found)
    screen.line(
        'sees: no smaller difference can be significant (exact p of 0.05) with so many pairs; '
        '80 %: a true difference that is found in four of five such experiments.'
    )


def _paired(item: Paired) -> list[str]:
    return [
        f'{item.distinct}/{item.pairs}',
        say.points(item.difference),
        say.p_or_nothing(item.distinct_test.p_exact if item.distinct_test else None),
        *say.least(item.detectable),
    ]


def _no_interval(screen: Screen, found: Iterable[Paired]) -> None:
    """Print why there is no interval, each reason once."""
    reasons = dict.fromkeys(item.difference.why for item in found if item.difference.why)
    for why in reasons:
        screen.line(f'No interval: {why}.')


def _differing_conditions(screen: Screen) -> None:
    """Print the conditions in which the arms differ, with p for so many conditions."""
    found = [item for item in screen.summary.comparisons if item.cohort == ALL]
    rows: list[list[str]] = []
    for item in found:
        differing = [condition for condition in item.conditions if condition.discordant]
        if differing:
            rows.append([f'{item.first} : {item.second}', *[''] * 5])
        rows += [
            [
                f'  {condition.condition}',
                f'{len(condition.first_only)} : {len(condition.second_only)}',
                *_paired(condition)[:2],
                say.p_or_nothing(condition.test.p_exact if condition.test else None),
                say.p_or_nothing(condition.p_holm),
            ]
            for condition in differing
        ]
    if not rows:
        return
    screen.heading('Conditions in which arms differ; Holm: p for the number of conditions')
    screen.table(
        [
            Column('arms, condition', 'left', name=True),
            Column('alone'),
            Column('dis-\ntinct'),
            Column('difference'),
            Column('p\nexact'),
            Column('Holm'),
        ],
        rows,
    )
    screen.line('All other conditions: not one pair of which only one arm succeeded.')


def _twins(screen: Screen) -> None:
    """Print each faulty cell beside its control, arm by arm."""
    summary = screen.summary
    if not any(twin.pairs for twin in summary.twins):
        return
    for arm in summary.arms:
        found = [twin for twin in summary.twins if twin.arm == arm]
        if not found:
            continue
        screen.heading(f'Arm {arm}: each fault against the same episodes without it, in points')
        screen.table(
            [
                Column('condition', 'left', name=True),
                Column('fault :\ncontrol'),
                *PAIRED_COLUMNS[:2],
                Column('p\nexact'),
                Column('p\nmid', wide=True),
                Column('Holm'),
                Column('sees'),
                Column('80 %', wide=True),
            ],
            [
                [
                    twin.condition,
                    f'{twin.first_rate.k} : {twin.second_rate.k}' if twin.pairs else twin.why,
                    *_paired(twin)[:2],
                    say.p_or_nothing(twin.test.p_exact if twin.test else None),
                    say.p_or_nothing(twin.test.p_mid if twin.test else None),
                    say.p_or_nothing(twin.p_holm),
                    *say.least(twin.detectable),
                ]
                for twin in found
            ],
        )
        _no_interval(screen, found)
        if absent := sum(len(twin.unpaired) for twin in found):
            screen.line(f'{absent} without a twin.')


def _recoveries(screen: Screen) -> None:
    """Print what each recovery buys and costs, where it did anything."""
    found = screen.summary.recoveries
    rows = [
        [
            f'{item.arm} : {item.base}' if not item.condition else f'  {item.condition}',
            f'{item.first_rate.k} : {item.second_rate.k}',
            say.points(item.difference).replace(' [', '\n['),
            say.more(item.rounds),
            say.more(item.calls),
            say.more(item.tokens),
            say.more(item.plan_s),
            say.more(item.wall_s),
        ]
        for item in found
        if not item.condition or item.discordant or item.rounds.value
    ]
    if not rows:
        return
    screen.heading('Recovery: what it buys in points of success, and costs in an episode')
    screen.table(
        [
            Column('arm : base, condition', 'left', name=True),
            Column('success'),
            Column('gain'),
            Column('rounds'),
            Column('calls', wide=True),
            Column('tokens'),
            Column('plan\n[s]'),
            Column('episode\n[s]', wide=True),
        ],
        rows,
    )
    screen.line('Conditions without a round and without a difference are not listed.')


def _guard(screen: Screen) -> None:
    """Print guard, physics and safety monitor side by side, where plans were checked."""
    found = screen.summary.agreements
    if not found:
        return
    screen.heading('Guard, physics and safety monitor: what was foreseen of plans, and what came')
    columns = say.agreement(found[0])
    screen.table(
        [
            Column('arm, condition', 'left', name=True),
            *(Column(name.replace(' ', '\n'), wide=name == 'no plan') for name in columns),
        ],
        [
            [
                f'  {item.condition}' if item.condition else item.arm,
                *(text.replace(' + ', '\n+ ') for text in say.agreement(item).values()),
            ]
            for item in found
        ],
    )
    for kind, times in Counter(item.kind for item in screen.summary.disagreements).items():
        names = [
            f'{item.run_id}/{item.arm}'
            for item in screen.summary.disagreements
            if item.kind == kind
        ]
        screen.line(f'{kind}, {times}:')
        screen.line(say.first_few(names, LISTED), indent=2)


def _disagreements(screen: Screen) -> None:
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


def _not_compared(screen: Screen, comparison: Comparison) -> None:
    by_reason: dict[str, list[str]] = {}
    for item in comparison.unpaired:
        by_reason.setdefault(item.why, []).append(item.run_id)
    for why, run_ids in by_reason.items():
        screen.line(
            f'{comparison.first} : {comparison.second}: {len(run_ids)} not compared, {why}:'
        )
        screen.line(say.first_few(run_ids, LISTED), indent=2)


def _conditions(screen: Screen) -> None:
    for arm in screen.summary.arms:
        screen.heading(f'Arm {arm} by condition')
        rows = []
        for cell in screen.summary.of_arm(arm):
            published = screen.summary.published(cell.condition)
            name = cell.condition
            if absent := _without_result(cell):
                name += f'\n({absent})'.replace(', ', ',\n')
            rows.append(
                [
                    name,
                    *_counts(cell),
                    say.published_success(published, arm),
                    _distinct(cell),
                    say.counted_if_any(cell.exercised),
                    _mean_and_range(screen, cell),
                ]
            )
        screen.table(
            [
                Column('condition', 'left', name=True),
                Column('k/n'),
                Column('%', wide=True),
                Column('95 % CI'),
                Column('paper', paper=True),
                Column('dis-\ntinct'),
                Column('exer-\ncised'),
                Column('error\n[m]'),
            ],
            rows,
        )


def _distinct(cell: Cell) -> str:
    return f'{cell.distinct}/{cell.digested}' if cell.digested else say.NOTHING


def _mean_and_range(screen: Screen, cell: Cell) -> str:
    found = say.stacked(say.spread(cell.error_m, say.metres))
    return found if screen.wide or cell.error_m is None else found.replace('-', '-\n')


def _cost(screen: Screen) -> None:
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
                say.known(published.wall_s if published else None, say.plain),
            ]
        )
    screen.table(
        [
            Column('arm', 'left'),
            Column('prompt'),
            Column('reply'),
            Column('plan\n[s]'),
            Column('cached'),
            Column('episode\n[s]'),
            Column('paper\ntokens', paper=True),
            Column('paper\n[s]', paper=True),
        ],
        rows,
    )
    for cell in summary.overall:
        for model in cell.cost.models:
            screen.line(f'{cell.arm}: {model.provider} {model.model} {model.digest}'.rstrip())


def _attempts(screen: Screen) -> None:
    summary = screen.summary
    screen.heading('Attempts: every one is a result or an infrastructure abort')
    screen.table(
        [
            Column('arm', 'left'),
            Column('attempts'),
            Column('done'),
            Column('task failed'),
            Column('aborted'),
            Column('superseded'),
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


def _texts(screen: Screen, reason: Reason) -> None:
    """Print the full reasons, unless they say no more than their type."""
    if [text for text, _ in reason.texts] == [reason.type]:
        return
    for text, times in reason.texts[:LISTED]:
        screen.line(f'{times} x {text}', indent=2)
    if (more := len(reason.texts) - LISTED) > 0:
        screen.line(f'and {more} other texts', indent=2)


def _notes(screen: Screen) -> None:
    found = notes(screen.summary)
    if found:
        screen.heading('Before believing the numbers')
    for note in found:
        screen.line(f'! {note}', style='yellow')


def _verdict(screen: Screen) -> None:
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
    if PHYSICAL in tests and summary.text_attacked:
        parts.append(f'without corrupted plans {tests[PHYSICAL]}')
    if parts:
        screen.heading('; '.join(parts))


def render(summary: Summary, console: Console) -> None:
    """Print a summary.

    Names and reasons are printed as they are, never as markup; what the console's encoding does
    not have is escaped.
    """
    screen = Screen(summary, console)
    _title(screen)
    if summary.overall:
        _headline(screen)
        for cohort in COHORTS:
            _comparisons(screen, cohort)
        if summary.comparisons:
            _differences(screen)
            _differing_conditions(screen)
            _disagreements(screen)
        _conditions(screen)
        _twins(screen)
        _guard(screen)
        _recoveries(screen)
        fault_blocks.lag(screen)
        fault_blocks.slip(screen)
        fault_blocks.reach(screen)
        fault_blocks.corruption(screen)
        fault_blocks.other(screen)
        fault_blocks.safety(screen)
        _cost(screen)
        _attempts(screen)
    _notes(screen)
    _verdict(screen)
