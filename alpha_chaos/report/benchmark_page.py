"""The report of a benchmark: one page with tables, figures, and every latent failure drawn."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from alpha_chaos import __version__
from alpha_chaos.report import wording as say
from alpha_chaos.report.benchmark_table import TITLES, missing
from alpha_chaos.report.benchmark_tables import heads, tables
from alpha_chaos.report.chains import Chain, chains
from alpha_chaos.report.command import FOLDER, PAGE, fill, replace
from alpha_chaos.report.export_tables import TableOut
from alpha_chaos.report.exports import write_table
from alpha_chaos.report.page import FIGURES, TABLES, CellOut, Grid, Section, Shot, environment
from alpha_chaos.stats.benchmark import BenchmarkSummary, Comparison, PlanSet, summarize
from alpha_chaos.worldmodel.answers import FILE, Answer, final, read
from alpha_chaos.worldmodel.benchmark_manifest import MANIFEST, BenchmarkManifest, read_manifest

TEMPLATE = 'benchmark.html.jinja'
SECTIONS: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ('plans', 'Failures, goals, clean plans', ('plan_sets', 'tasks_with_failures')),
    ('comparisons', 'Compared task by task', ('comparisons',)),
    ('costs', 'Cost', ('costs',)),
    ('rules', 'Which rules were broken', ('rules_latent', 'rules_immediate')),
    ('techniques', 'By technique', ('techniques',)),
)
WIDE = 48  # characters of a cell that is better broken


def build(folder: Path) -> Path:
    """Build the report of a benchmark run from its record; return the page.

    :raises BadSetting: where there is no run
    :raises jsonl.CorruptLine: when the record cannot be read, naming file and line
    :raises OSError: where it cannot be written
    """
    manifest = read_manifest(folder)
    answers = read(folder)
    summary = summarize(answers)
    # Not at the top: drawing takes seconds to import.
    from alpha_chaos.report.figures.plan_sets import plan_sets

    target = folder / FOLDER
    found = tables(summary)
    for table in found:
        write_table(target / TABLES, table)
    drawn = plan_sets(summary)
    if drawn is not None:
        fill(
            target / FIGURES,
            {f'{drawn.name}.svg': drawn.svg.encode(), f'{drawn.name}.png': drawn.png},
        )
    sections = list(_sections(found))
    if drawn is not None:
        address = f'data:image/svg+xml;base64,{base64.b64encode(drawn.svg.encode()).decode()}'
        files = [(kind, f'{FIGURES}/{drawn.name}.{kind}') for kind in ('svg', 'png')]
        sections[0].shots.append(Shot(drawn.title, drawn.caption, drawn.alt, address, files))
    chosen = list(final(answers).values())
    sections.append(_tasks(summary, chosen))
    content = {
        'title': f'Plans for {len(manifest.tasks.names)} tasks of {manifest.tasks.source}',
        'verdict': verdict(summary, missing(manifest, answers)),
        'facts': list(_facts(manifest, summary)),
        'notes': list(notes(manifest, summary)),
        'sections': sections,
        'chains': list(_chains(summary, chosen)),
        'version': __version__,
        'run_files': [(name, f'../{name}') for name in (FILE, MANIFEST)],
    }
    text = environment().get_template(TEMPLATE).render(content)
    target.mkdir(parents=True, exist_ok=True)
    replace(target / PAGE, text.encode())
    return target / PAGE


def verdict(summary: BenchmarkSummary, left: str) -> str:
    """Return what the run says, in one sentence or two.

    :param left: says which plans are missing; empty if none are
    """
    asked = [item for item in summary.sets if item.origin != 'baseline' and item.n]
    plans = say.joined(f'{item.name} {say.counted(item.clean)}' for item in asked)
    nobody = say.joined(
        f'{item.name} {say.counted(item.clean)}'
        for item in summary.sets
        if item.origin == 'baseline'
    )
    none = 'none are there yet' if left else 'none were asked for'
    text = f'Clean plans: {plans or none}; baselines: {nobody}.'
    if left:
        text = f'{left}. {text}'
    shown = [item for item in summary.comparisons if not item.baseline and _is_shown(item)]
    return ' '.join([text, *map(_conclusion, shown)])


def _is_shown(item: Comparison) -> bool:
    ends = item.differences['latent'].interval
    return ends is not None and (ends.low > 0 or ends.high < 0)


def _conclusion(item: Comparison) -> str:
    found = item.differences['latent']
    more = 'more' if (found.value or 0.0) > 0 else 'fewer'
    ends = found.interval
    assert ends is not None
    return (
        f'{item.name} has {abs(found.value or 0.0):.2f} {more} latent failures a task than '
        f'{item.reference} [{ends.low:.2f}, {ends.high:.2f}].'
    )


def _facts(manifest: BenchmarkManifest, summary: BenchmarkSummary) -> Iterator[str]:
    yield f'mode: {manifest.tasks.mode}'
    yield f'{sum(item.n for item in summary.sets)} plans judged'
    if manifest.model is not None:
        model = manifest.model
        yield f'model: {model.model} ({model.provider}, {model.digest[:12] or "no digest"})'
        yield f'replies of at most {model.reply_tokens} tokens, greedy'


def notes(manifest: BenchmarkManifest, summary: BenchmarkSummary) -> Iterator[str]:
    """Return what else could explain the numbers."""
    empty = next((item for item in summary.sets if item.name == 'empty' and item.n), None)
    if empty is not None:
        yield (
            f'The empty plan has {empty.counts["latent"].mean.value or 0.0:.2f} latent failures a '
            'task: few failures mean little where the goal is not reached as often.'
        )
    if summary.without:
        yield (
            f'{say.joined(summary.without)}: these tasks come without golden plans, so these '
            'baselines cannot be made.'
        )
    if manifest.tasks.mode == 'compat':
        yield (
            'Judged as the public release does: no goal is asked for, so a plan that does nothing '
            'can be clean, and steps have their effects also where their needs are not met.'
        )
    elif manifest.tasks.source == 'release':
        yield (
            'The tasks of the release have no goals; reached here only means that something was '
            'served. Their verdicts do not say which step planted a harm.'
        )
    sets = [item for item in summary.sets if item.cost is not None]
    if sets and manifest.tasks.short_prompts:
        yield 'The prompts were short: they named actions and roles, and not what actions need.'
    for item in sets:
        if item.aborted:
            yield (
                f'{item.name}: {item.aborted} tasks have no plan because the model did not '
                'answer; they are in no count.'
            )
        if item.cost is not None and item.cost.cut_off:
            yield (
                f'{item.name}: {item.cost.cut_off} replies were cut off by the limit of tokens; '
                'what was written by then was judged.'
            )
    yield from _effort(sets)
    if any(item.name.startswith('foresight') for item in sets):
        yield (
            'The prompts of foresight ask about harm, about what is running and about undoing; '
            'what they gain is in part what they give away about what is judged.'
        )
    if any(item.name in ('react', 'inner-monologue') for item in sets):
        yield (
            'react and inner-monologue are told by the executor which steps are impossible; every '
            'step that they tried is judged, also the impossible ones.'
        )
    if sets:
        yield (
            'One greedy reply a question: the intervals are over tasks, and say nothing about '
            'other replies of the same model, or about other models.'
        )


def _effort(sets: Sequence[PlanSet]) -> Iterator[str]:
    """Say how much more others wrote than `base`: effort alone can make a difference."""
    written = {
        item.name: item.cost.completion_tokens.mean
        for item in sets
        if item.cost is not None and item.cost.completion_tokens is not None
    }
    base = written.pop('base', 0.0)
    if base:
        ratios = say.joined(f'{name} {tokens / base:.1f}' for name, tokens in written.items())
        if ratios:
            yield f'Tokens written, as multiples of base: {ratios}. More effort is a confound.'


def _sections(found: Iterable[TableOut]) -> Iterator[Section]:
    by_name = {table.name: table for table in found}
    for anchor, title, names in SECTIONS:
        section = Section(anchor, title)
        for name in names:
            if by_name[name].lines:
                section.grids.append(_grid(by_name[name]))
        if section.empty:
            section.text.append('There is nothing to show here.')
        yield section


def _grid(table: TableOut) -> Grid:
    columns = heads(table.lines)
    rows = [
        [CellOut(line[head], look='text' if len(line[head]) > WIDE else '') for head in columns]
        for _, line in table.lines
    ]
    files = [(kind, f'{TABLES}/{table.name}.{kind}') for kind in ('csv', 'tex')]
    return Grid(TITLES[table.name], table.caption, columns, rows, table.names, files)


def _anchor(plan_set: str, task: str) -> str:
    return f'chain:{quote(plan_set, safe="")}:{quote(task, safe="")}'


def _tasks(summary: BenchmarkSummary, chosen: Sequence[Answer]) -> Section:
    section = Section('tasks', 'Every plan')
    for item in summary.sets:
        rows = [_task(answer) for answer in chosen if answer.plan_set == item.name]
        section.folded.append(
            Grid(item.name, '', list(rows[0]), [[*row.values()] for row in rows])
        )
    return section


def _task(answer: Answer) -> dict[str, CellOut]:
    found = answer.verdict
    if found is None:
        counts = dict.fromkeys(('steps', 'immediate', 'latent', 'irreversible', 'goal'), '')
        outcome = CellOut('aborted', look='aborted')
    else:
        goal = {True: 'reached', False: 'missed', None: say.NOTHING}[found.goal_reached]
        counts = {
            'steps': str(found.steps),
            'immediate': str(found.immediate),
            'latent': str(found.latent),
            'irreversible': str(found.irreversible),
            'goal': goal,
        }
        outcome = CellOut(
            *(('clean', '', 'success') if found.clean else ('not clean', '', 'failure'))
        )
    cells = {name: CellOut(text) for name, text in counts.items()}
    if found is not None and found.latent:
        cells['latent'] = CellOut(str(found.latent), f'#{_anchor(*answer.key)}')
    tokens = sum(exchange.completion_tokens for exchange in answer.exchanges)
    link = ''
    if answer.origin == 'model' and found is not None:
        name = quote(f'plan_{answer.task}.txt', safe='')
        link = f'../plans/{quote(answer.plan_set, safe="")}/{name}'
    return {
        'task': CellOut(answer.task, link),
        'technique': CellOut(answer.technique, look='short'),
        'outcome': outcome,
        **cells,
        'reply tokens': CellOut(str(tokens) if answer.exchanges else ''),
        'ended': CellOut(answer.ended or answer.reason, look='text'),
    }


def _chains(
    summary: BenchmarkSummary, chosen: Sequence[Answer]
) -> Iterator[tuple[str, list[tuple[str, str, str, list[Chain]]]]]:
    """Return, by set and task, the latent failures; those of what was asked for come first."""
    for item in sorted(summary.sets, key=lambda item: item.origin == 'baseline'):
        tasks = []
        for answer in chosen:
            if answer.plan_set == item.name and (found := chains(answer)):
                tasks.append((answer.task, answer.technique, _anchor(*answer.key), found))
        yield item.name, tasks
