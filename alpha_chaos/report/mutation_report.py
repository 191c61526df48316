"""The report on mutants of golden plans: a table of operators, and what the engine got wrong."""

from collections.abc import Iterable, Sequence

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.trial import Trial

_HEAD = """\
# Mutants of the golden plans of `{world}`

{tasks} tasks, {count} mutants. Made by `alpha-chaos simmer mutate --world {world} --report FILE`; the same tasks and operators give the same page.

Each operator (`alpha_chaos/worldmodel/mutations/`) changes one thing in a golden plan and says beforehand whether that does harm. It decides by the words of the plan, by what the objects are and how they start, and
yields only mutants of which that is sure; the rules by which the world judges plans are no part of it. A mutant counts as flagged if its plan is not clean: a latent failure, an immediate one, or the goal missed.
"""  # noqa: E501


def mutation_report(world: str, trials: Sequence[Trial]) -> str:
    """Return the report as Markdown."""
    harmful = [trial for trial in trials if trial.operator.harmful]
    harmless = [trial for trial in trials if not trial.operator.harmful]
    tasks = len({trial.task for trial in trials})
    parts = [
        _HEAD.format(world=world, tasks=tasks, count=len(trials)),
        f'## Harmful: {_flagged(harmful)} of {len(harmful)} flagged{_share(harmful)}\n',
        'In the columns: how many there are and how many are flagged; by a rule of the family '
        'that is about such harm (or by the goal, where the harm is that it is missed); and the '
        'first of latent failure, immediate failure and missed goal that there is.\n',
        *_table(harmful, ('latent', 'immediate', 'goal')),
        '### Not flagged\n',
        *_wrong(harmful),
        f'## Harmless: {_flagged(harmless)} of {len(harmless)} flagged\n',
        *_table(harmless, ()),
        '### Flagged nevertheless\n',
        *_wrong(harmless),
    ]
    return '\n'.join(parts)


def _flagged(trials: Iterable[Trial]) -> int:
    return sum(not trial.verdict.clean for trial in trials)


def _share(trials: Sequence[Trial]) -> str:
    return f' ({_flagged(trials) / len(trials):.1%})' if trials else ''


def _table(trials: Sequence[Trial], kinds: Sequence[str]) -> list[str]:
    operators = {trial.operator.kind: trial.operator for trial in trials}
    columns = ['operator', 'what it does', 'mutants', 'flagged', *kinds]
    if kinds:
        columns.insert(4, 'by family')
    lines = [f'| {" | ".join(columns)} |', f'|{"---|" * 2}{"---:|" * (len(columns) - 2)}']
    for kind in sorted(operators):
        mine = [trial for trial in trials if trial.operator.kind == kind]
        cells = [f'`{kind}`', _summary(operators[kind]), str(len(mine)), str(_flagged(mine))]
        if kinds:
            cells.append(str(sum(trial.by_family for trial in mine)))
        cells += [str(sum(trial.seen_as == by for trial in mine)) for by in kinds]
        lines.append(f'| {" | ".join(cells)} |')
    return [*lines, '']


def _summary(operator: Operator) -> str:
    return (operator.__doc__ or '').split('\n', 1)[0].rstrip('.')


def _wrong(trials: Sequence[Trial]) -> list[str]:
    """Return a line for each mutant that the engine got wrong, and why if that is known."""
    lines = []
    for trial in trials:
        if not trial.right:
            seen = '; '.join(failure.message for failure in trial.verdict.failures)
            why = trial.operator.gap if trial.operator.harmful else seen or 'the goal was missed'
            told = f'- `{trial.task}`, step {trial.mutant.at}, `{trial.operator.kind}`'
            lines.append(f'{told}: {trial.mutant.note}. {why or "Reason not known"}.')
    return [*(lines or ['None.']), '']
