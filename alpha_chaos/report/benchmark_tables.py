"""The tables of a benchmark, for screen, page, csv and LaTeX; the baselines stand in each."""

from collections.abc import Iterable, Iterator, Sequence

from alpha_chaos.report import wording as say
from alpha_chaos.report.export_tables import Data, Shown, TableOut
from alpha_chaos.stats.benchmark import (
    COUNTS,
    BenchmarkSummary,
    Comparison,
    PlanSet,
    Rule,
    Technique,
)
from alpha_chaos.stats.difference import Difference
from alpha_chaos.stats.intervals import Estimate, Spread

NO_GOLDEN = 'no golden plans'


def tables(summary: BenchmarkSummary) -> list[TableOut]:
    """Return every table, also those without a line."""
    return [
        plan_sets(summary),
        tasks_with(summary),
        compared(summary),
        costs(summary),
        rules(summary, 'latent'),
        rules(summary, 'immediate'),
        techniques(summary),
    ]


def plan_sets(summary: BenchmarkSummary) -> TableOut:
    """Return what became of each set of plans."""
    lines = []
    for item in summary.sets:
        data: Data = {'plans': item.name, 'origin': item.origin, 'tasks': item.n}
        shown: Shown = {'plans': item.name, 'tasks': str(item.n)}
        for count in COUNTS:
            found = item.counts[count]
            data |= {f'{count}_total': found.total, **_ends(count, found.mean)}
            shown[count] = _mean(found.mean)
        data |= {**_share('goal_reached', item.goal), **_share('clean', item.clean)}
        shown |= {'goal': _counted(item.goal), 'clean': _counted(item.clean)}
        data['no_answer'] = item.aborted
        shown['no answer'] = str(item.aborted) if item.aborted else ''
        lines.append((data, shown))
    caption = (
        'Failures of a task (mean, 95 percent bootstrap interval over tasks), goals reached and '
        'clean plans (of the tasks judged).'
    )
    return TableOut('plan_sets', caption, [*lines, *_missing(summary, lines)], names=1)


def tasks_with(summary: BenchmarkSummary) -> TableOut:
    """Return how many tasks have failures of each kind, with Wilson intervals."""
    lines = []
    for item in summary.sets:
        data: Data = {'plans': item.name, 'tasks': item.n}
        shown: Shown = {'plans': item.name, 'tasks': str(item.n)}
        for count in COUNTS:
            found = item.counts[count].tasks
            data |= _share(f'tasks_with_{count}', found)
            shown[f'with {count}'] = _rate(found)
        data |= {**_share('goal_reached', item.goal), **_share('clean', item.clean)}
        shown |= {'goal': _rate(item.goal), 'clean': _rate(item.clean)}
        lines.append((data, shown))
    caption = 'Tasks with such failures, in percent, with 95 percent Wilson intervals.'
    return TableOut('tasks_with_failures', caption, [*lines, *_missing(summary, lines)], names=1)


def compared(summary: BenchmarkSummary) -> TableOut:
    """Return each set against the reference, task by task."""
    lines = [_compared(item) for item in summary.comparisons]
    reference = summary.comparisons[0].reference if summary.comparisons else ''
    caption = (
        f'Against {reference} on the same tasks: plans that are clean here only and there only, '
        "McNemar's exact and mid-p, Holm's correction over the sets (the baselines among "
        'themselves), and failures of a task less those of the reference.'
    )
    return TableOut('comparisons', caption, [*lines, *_missing(summary, lines)], names=1)


def _compared(item: Comparison) -> tuple[Data, Shown]:
    test = item.test
    data: Data = {
        'plans': item.name,
        'reference': item.reference,
        'pairs': item.n,
        'clean_only_here': test.c if test else None,
        'clean_only_there': test.b if test else None,
        'p_exact': test.p_exact if test else None,
        'p_mid': test.p_mid if test else None,
        'p_holm': item.p_holm,
    }
    shown: Shown = {
        'plans': item.name,
        'pairs': str(item.n),
        'clean here : there': f'{test.c} : {test.b}' if test else say.NOTHING,
        'p': say.p_or_nothing(test.p_exact if test else None),
        'mid-p': say.p_or_nothing(test.p_mid if test else None),
        'Holm': say.p_or_nothing(item.p_holm),
    }
    for count in COUNTS:
        found = item.differences[count]
        data |= _ends(f'{count}_difference', found)
        shown[count] = say.more(found).replace('\n', ' ')
    return data, shown


def costs(summary: BenchmarkSummary) -> TableOut:
    """Return what the plans took; baselines and files took nothing that is known."""
    lines: list[tuple[Data, Shown]] = []
    for item in summary.sets if any(item.cost for item in summary.sets) else ():
        cost = item.cost
        data: Data = {'plans': item.name, 'tasks': item.n + item.aborted}
        shown: Shown = {'plans': item.name, 'tasks': str(item.n + item.aborted)}
        measured: dict[str, Spread | None] = {
            'calls': cost.calls if cost else None,
            'prompt_tokens': cost.prompt_tokens if cost else None,
            'reply_tokens': cost.completion_tokens if cost else None,
            'wall_s': cost.wall_s if cost else None,
        }
        for name, found in measured.items():
            data |= _range(name, found)
            shown[name.replace('_s', ' [s]').replace('_', ' ')] = say.spread(found)
        data |= {
            'cut_off': cost.cut_off if cost else None,
            'cached': cost.cached if cost else None,
        }
        shown |= {
            'cut off': str(cost.cut_off) if cost else say.NOTHING,
            'recorded': str(cost.cached) if cost else say.NOTHING,
            'ended': _ended(item),
        }
        lines.append((data, shown))
    caption = (
        'What a task took, mean (range), attempts without an answer included; replies that the '
        'limit of tokens cut off; replies recorded before, which count with their first cost.'
    )
    return TableOut('costs', caption, [*lines, *_missing(summary, lines)], names=1)


def _ended(item: PlanSet) -> str:
    if item.cost is None:
        return say.NOTHING
    return say.joined(
        f'{why.replace("_", " ")} {count}' for why, count in sorted(item.cost.ended.items())
    )


def rules(summary: BenchmarkSummary, kind: str) -> TableOut:
    """Return how often each rule was broken in each set.

    :param kind: latent, or immediate with mistakes of syntax
    """
    found = [rule for rule in summary.rules if (rule.kind == 'latent') == (kind == 'latent')]
    lines = [_rule(rule, summary) for rule in found]
    caption = f'Failures of each rule ({kind}), in each set of plans.'
    return TableOut(f'rules_{kind}', caption, lines, names=2)


def _rule(rule: Rule, summary: BenchmarkSummary) -> tuple[Data, Shown]:
    undone = 'yes' if rule.reversible else 'no'
    data: Data = {'rule': rule.name, 'kind': rule.kind, 'family': rule.family}
    data |= {'reversible': rule.reversible, **rule.failures}
    shown: Shown = {'rule': rule.name, 'family': rule.family or rule.kind, 'can be undone': undone}
    shown |= dict.fromkeys(summary.without, say.NOTHING)
    shown |= {name: str(count) if count else '' for name, count in rule.failures.items()}
    return data, shown


def techniques(summary: BenchmarkSummary) -> TableOut:
    """Return what became of the tasks of each technique in each set."""
    lines = [
        _technique(technique, item)
        for technique in summary.techniques
        for item in technique.sets.values()
        if item.n
    ]
    caption = 'Failures of a task, goals reached and clean plans by technique of the task.'
    return TableOut('techniques', caption, lines, names=2)


def _technique(technique: Technique, item: PlanSet) -> tuple[Data, Shown]:
    data: Data = {'technique': technique.name, 'plans': item.name, 'tasks': item.n}
    shown: Shown = {'technique': technique.name, 'plans': item.name, 'tasks': str(item.n)}
    for count in COUNTS:
        found = item.counts[count]
        data |= {f'{count}_total': found.total, **_ends(count, found.mean)}
        shown[count] = say.known(found.mean.value, say.plain)
    data |= {**_share('goal_reached', item.goal), **_share('clean', item.clean)}
    shown |= {'goal': _counted(item.goal), 'clean': _counted(item.clean)}
    return data, shown


def _missing(
    summary: BenchmarkSummary, lines: Sequence[tuple[Data, Shown]]
) -> Iterator[tuple[Data, Shown]]:
    """Return a line for each baseline that cannot be, so that nobody takes it for forgotten."""
    if not lines:
        return
    data, shown = lines[0]
    for name in summary.without:
        blank = {head: say.NOTHING for head in shown if head != 'no answer'}
        yield (
            {**dict.fromkeys(data), 'plans': name},
            {**dict.fromkeys(shown, ''), **blank, 'plans': f'{name} ({NO_GOLDEN})'},
        )


def _ends(name: str, found: Difference) -> Data:
    ends = found.interval
    return {
        f'{name}_mean': found.value,
        f'{name}_low': ends.low if ends else None,
        f'{name}_high': ends.high if ends else None,
    }


def _share(name: str, found: Estimate | None) -> Data:
    return {name: found.k if found else None, f'{name}_of': found.n if found else None}


def _range(name: str, found: Spread | None) -> Data:
    return {
        f'{name}_mean': found.mean if found else None,
        f'{name}_low': found.low if found else None,
        f'{name}_high': found.high if found else None,
    }


def _mean(found: Difference) -> str:
    if found.value is None:
        return say.NOTHING
    value = f'{found.value:.2f}'
    if found.interval is None:
        return value
    return f'{value} [{found.interval.low:.2f}, {found.interval.high:.2f}]'


def _counted(found: Estimate | None) -> str:
    return say.counted(found) if found and found.n else say.NOTHING


def _rate(found: Estimate | None) -> str:
    if found is None or not found.n:
        return say.NOTHING
    return f'{say.counted(found)} {say.interval(found.interval)}'


def heads(lines: Iterable[tuple[Data, Shown]]) -> list[str]:
    """Return the columns of a table, without those that nobody has anything in."""
    every = [shown for _, shown in lines]
    return [head for head in every[0] if any(shown.get(head) for shown in every)] if every else []
