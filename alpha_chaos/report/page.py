"""The report as one page: what a run showed, in the order in which a researcher reads it."""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from alpha_chaos import __version__
from alpha_chaos.journal import Row
from alpha_chaos.printable import printable
from alpha_chaos.report import wording as say
from alpha_chaos.report.export_tables import Data, Shown, TableOut, lies, tables
from alpha_chaos.report.recordings import Filmed, Looked
from alpha_chaos.safety.dedup import CLEAN_WINDOW
from alpha_chaos.safety.sweep import PAPER_SCANS, WINDOWS
from alpha_chaos.stats.cells import OVERALL
from alpha_chaos.stats.intervals import spread
from alpha_chaos.stats.notes import COPIES, notes
from alpha_chaos.stats.paired import ALL, Comparison
from alpha_chaos.stats.sensitivity import Looked as LookedAt
from alpha_chaos.stats.sensitivity import Sensitivity
from alpha_chaos.stats.summary import Summary

if TYPE_CHECKING:  # it draws, and this does not
    from alpha_chaos.report.figures import Picture

TEMPLATE = 'page.html.jinja'
TABLES, FIGURES, FILMS = 'tables', 'figures', 'films'  # folders beside the page
# Tables that nobody has to unfold.
OPEN = frozenset(
    {
        'success_by_condition',
        'comparisons',
        'faults_against_controls',
        'guard_agreement',
        'recoveries',
    }
)
LONG = 30  # lines from which on another table has to be unfolded
WIDE = 48  # characters of a cell that is better broken
SHORT = 28  # characters that fit into a column without a break

# Faults that have a section and a table of their own: heading, table, and name of the fault.
OWN_SECTION = (
    ('Sensor lag', 'sensor_lag', 'sensor_lag'),
    ('Grasp slip', 'grasp_slip', 'grasp_slip'),
    ('Unreachable target', 'unreachable_target', 'unreachable_target'),
    ('Plan corruption', 'plan_corruption', 'plan_corruption'),
)
LOOKS = (
    f'{len(PAPER_SCANS)} looks: only the steps in which the code of the paper looked, 960 and '
    '1200 to 1260; its episodes have 1260 steps.'
)

# The section of each picture, and the tables that hold its numbers.
PICTURES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    'success': ('success', ('success_by_condition',)),
    'error': ('success', ('placement_error',)),
    'pairs': ('comparisons', ('comparisons_by_condition',)),
    'twins': ('twins', ()),  # whose numbers stand open below
    'recoveries': ('recoveries', ()),
    'lag': ('fault-sensor_lag', ('sensor_lag',)),
    'slip': ('fault-grasp_slip', ('grasp_slip',)),
    'paths': ('fault-plan_corruption', ('plan_corruption',)),
    'events': ('safety', ('safety',)),
    'window': ('safety', ('safety_windows',)),
    'scans': ('safety', ('safety_scans',)),
    'cost': ('costs', ('costs', 'costs_by_condition')),
    'attempts': ('attempts', ('attempts', 'reasons')),
}


@dataclass(frozen=True)
class CellOut:
    """One cell of a table on the page.

    :param look: class for the style sheet, empty for an ordinary one
    :param anchor: id, where something links to it
    """

    text: str
    href: str = ''
    look: str = ''
    anchor: str = ''


@dataclass(frozen=True)
class Grid:
    """One table on the page.

    :param names: how many columns from the left hold names rather than numbers
    :param files: (what, address) of the same as files
    :param open: whether it is unfolded, where it is to be folded
    """

    title: str
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[CellOut]]
    names: int = 1
    files: Sequence[tuple[str, str]] = ()
    open: bool = False

    @property
    def long(self) -> bool:
        """Whether it has to be unfolded wherever it stands."""
        return len(self.rows) > LONG and not self.open


@dataclass(frozen=True)
class Shot:
    """A picture on the page.

    :param source: data address
    :param files: (what, address) of the same as files
    :param grids: the same as tables
    :param film: whether it has a ground of its own
    """

    title: str
    caption: str
    alt: str
    source: str
    files: Sequence[tuple[str, str]] = ()
    grids: Sequence[Grid] = ()
    film: bool = False


@dataclass
class Section:
    """A part of the page with a heading of its own.

    :param text: paragraphs
    :param folded: tables that are unfolded by hand
    """

    anchor: str
    title: str
    text: list[str] = field(default_factory=list)
    shots: list[Shot] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    folded: list[Grid] = field(default_factory=list)
    parts: list['Section'] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see in it."""
        return not (self.text or self.shots or self.grids or self.folded or self.parts)


@dataclass(frozen=True)
class Material:
    """Everything that the page is made of.

    :param rows: the attempts that count, in the order of conditions, episodes and arms
    :param exported: tables that are there as files, by name
    """

    summary: Summary
    rows: Sequence[Row]
    looked: Looked
    pictures: 'Sequence[Picture]'
    filmed: Filmed
    exported: Sequence[str]


def page(material: Material) -> str:
    """Return the page as HTML."""
    return environment().get_template(TEMPLATE).render(_Page(material).content())


def environment() -> Environment:
    """Return what renders pages: every text is escaped, also what cannot be seen."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / 'templates'),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {'shown': _shown, 'breakable': _breakable}
    return made


def episode_anchor(run_id: str, arm: str) -> str:
    """Return the id of an episode on the page; no two are the same, whatever they are called."""
    return f'episode:{quote(run_id, safe="")}:{quote(arm, safe="")}'


def cell_anchor(condition: str, arm: str) -> str:
    """Return the id of the episodes of a cell."""
    return f'cell:{quote(condition, safe="")}:{quote(arm, safe="")}'


def _shown(text: str) -> str:
    """Return text with what cannot be seen escaped, line by line."""
    return '\n'.join(say.shown(printable(line)) for line in str(text).split('\n'))


def _breakable(text: str) -> Markup:
    """Return the same for HTML, where a line may also break behind an underscore."""
    return Markup('_<wbr>').join(escape(part) for part in _shown(text).split('_'))


def verdict(summary: Summary) -> str:
    """Return what the run says, in one sentence."""
    if not summary.results:
        return 'No episode has a result: nothing can be concluded.'
    unfinished = ''
    if summary.expected is not None and summary.results < summary.expected:
        unfinished = f'So far, with {summary.results} of {summary.expected} episodes: '
    rates = [
        f'{cell.arm} succeeded in {say.counted(cell.result)} ({say.percent(cell.result.rate)} %)'
        for cell in summary.overall
        if cell.result.n
    ]
    text = say.joined(rates)
    found = [item for item in summary.comparisons if item.cohort == ALL and item.pairs]
    if found:
        text += f'; {_conclusion(found[0])}'
    elif len(summary.arms) == 1:
        text += '; there is no second arm to compare it with'
    return f'{unfinished}{text}.'


def _conclusion(item: Comparison) -> str:
    """Return what a comparison allows to say."""
    p = item.distinct_test.p_exact if item.distinct_test else None
    by = (
        f'{say.points(item.difference)} points over {item.distinct} distinct '
        f'pair{"" if item.distinct == 1 else "s"}, exact p = {say.p_or_nothing(p)}'
    )
    if p is not None and p <= 0.05:
        better, worse = item.first, item.second
        if (item.difference.value or 0.0) < 0:
            better, worse = worse, better
        return f'{better} does better than {worse} ({item.first} less {item.second}: {by})'
    return f'no difference between {item.first} and {item.second} is shown ({by})'


def more_tables(summary: Summary, rows: Sequence[Row], looked: Looked) -> list[TableOut]:
    """Return the tables that need more than the summary of a run."""
    return [
        _placement(summary, rows),
        _costs(summary),
        _windows(summary, rows, looked),
        _scans(summary, rows, looked),
    ]


def _placement(summary: Summary, rows: Sequence[Row]) -> TableOut:
    """Return how far from the zone each episode ended."""
    lines = []
    for cell in summary.cells:
        if cell.error_m is None:
            continue
        errors_m = [
            row.final_error_m
            for row in rows
            if (row.arm, row.condition) == (cell.arm, cell.condition)
            and row.status != 'aborted'
            and row.final_error_m is not None
        ]
        names = {'arm': cell.arm, 'condition': cell.condition}
        sd = cell.error_m.sd
        lines.append(
            (
                {
                    **names,
                    'n': cell.error_m.n,
                    'final_error_m_mean': cell.error_m.mean,
                    'final_error_m_sd': sd,
                    'final_error_m': ' '.join(map(str, errors_m)),
                },
                {
                    **names,
                    'n': str(cell.error_m.n),
                    'mean [m]': say.metres(cell.error_m.mean),
                    'sd [m]': say.known(sd, say.metres),
                    'every episode [m]': ' '.join(map(say.metres, errors_m)),
                },
            )
        )
    return TableOut('placement_error', 'Distance of the block from the zone at the end.', lines)


def _costs(summary: Summary) -> TableOut:
    """Return what a success took in each cell."""
    lines = []
    for cell in summary.cells:
        cost = cell.cost
        names = {'arm': cell.arm, 'condition': cell.condition}
        tokens, plan_s = cost.tokens_per_success, cost.plan_s_per_success
        lines.append(
            (
                {
                    **names,
                    'successes': cell.result.k,
                    'tokens_per_success': tokens,
                    'plan_s_per_success': plan_s,
                },
                {
                    **names,
                    'successes': str(cell.result.k),
                    'tokens per success': say.known(tokens, say.plain),
                    'plan [s] per success': say.known(plan_s, say.plain),
                },
            )
        )
    return TableOut(
        'costs_by_condition',
        'What a success took, failures included; nothing where there is none, or where some '
        'episodes do not say what they took.',
        lines,
    )


def _recorded(
    summary: Summary, rows: Iterable[Row], looked: Looked
) -> Iterator[tuple[Data, Shown, Sequence[Sensitivity]]]:
    """Return the head of a line, and what can be seen, of each arm and each of its cells."""
    by_cell: dict[tuple[str, str], list[Sensitivity]] = {}
    for row in rows:
        if row.key in looked.safety:
            for condition in (OVERALL, row.condition):
                by_cell.setdefault((row.arm, condition), []).append(looked.safety[row.key])
    for arm in summary.arms:
        for condition in (OVERALL, *summary.conditions):
            if found := by_cell.get((arm, condition)):
                names = {'arm': arm, 'condition': condition or 'all'}
                yield (
                    {**names, 'recordings': len(found)},
                    {**names, 'bags': str(len(found))},
                    found,
                )


def _windows(summary: Summary, rows: Iterable[Row], looked: Looked) -> TableOut:
    """Return how many events each window makes of the same recordings."""
    lines = []
    for data, shown, found in _recorded(summary, rows, looked):
        for name, schedule in (('', 'every_step'), ('62 looks, ', 'paper_scans')):
            suffix = '_at_62_looks' if name else ''
            for place, window in enumerate(WINDOWS):
                events = spread(getattr(item, schedule)[place].totals[1] for item in found)
                data |= lies(f'events_w{window}{suffix}', events)
                shown[f'{name}W = {window}'] = say.spread(events)
        lines.append((data, shown))
    return TableOut(
        'safety_windows',
        'Unique events of an episode by window W: so many looks without a violation end one. '
        f'{LOOKS}',
        lines,
    )


def _scans(summary: Summary, rows: Iterable[Row], looked: Looked) -> TableOut:
    """Return what is seen at every step, and what the schedule of the paper sees."""
    lines = []
    for data, shown, found in _recorded(summary, rows, looked):
        for name, schedule in (('', 'every_step'), ('62 looks, ', 'paper_scans')):
            suffix = '_at_62_looks' if name else ''
            looks = [_monitored(getattr(item, schedule)).totals for item in found]
            counts = zip(
                ('raw_sweeps', 'events', 'event_steps'), zip(*looks, strict=True), strict=True
            )
            for (count, values), short in zip(counts, ('raw', 'events', 'steps'), strict=True):
                value = spread(values)
                data |= lies(f'{count}{suffix}', value)
                shown[f'{name}{short}'] = say.spread(value)
        lines.append((data, shown))
    return TableOut(
        'safety_scans',
        'Violating looks, unique events and their steps, of an episode, from the recordings, with '
        f'W = {CLEAN_WINDOW}. {LOOKS}',
        lines,
    )


def _monitored(looks: Sequence[LookedAt]) -> LookedAt:
    return next(item for item in looks if item.window == CLEAN_WINDOW)


class _Page:
    """Puts the page together."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._summary = material.summary
        self._rows = material.rows
        found = [*tables(self._summary), *more_tables(self._summary, self._rows, material.looked)]
        self._tables = {table.name: table for table in found}
        self._by_condition()
        self._cells = {(cell.condition, cell.arm) for cell in self._summary.cells}
        self._here = {row.key for row in self._rows}
        self._shown: set[str] = set()  # tables that stand under a picture

    def content(self) -> Mapping[str, Any]:
        """Return what the template shows."""
        summary = self._summary
        sections = [
            self._success(),
            self._comparisons(),
            self._twins(),
            self._faults(),
            self._safety(),
            *self._guard(),
            self._recoveries(),
            self._costs(),
            self._attempts(),
            self._films(),
            self._episodes(),
        ]
        total = '' if summary.expected is None else f' of {summary.expected}'
        facts = [f'{summary.results}{total} episodes with a result']
        facts.append(f'arms: {say.joined(summary.arms) or "none"}')
        facts.append(f'{len(summary.conditions)} conditions')
        if summary.calibrations:
            facts.append(f'calibration: {say.joined(summary.calibrations)}')
        models = dict.fromkeys(
            f'{item.model} ({item.provider}, {item.digest[:12]})'
            for cell in summary.overall
            for item in cell.cost.models
        )
        if models:
            facts.append(f'model: {say.joined(models)}')
        return {
            'title': summary.experiment or 'unnamed experiment',
            'facts': facts,
            'verdict': verdict(summary),
            'notes': self._notes(),
            'sections': sections,
            'version': __version__,
            'paper': summary.paper,
            'run_files': [
                ('episodes.parquet', '../episodes.parquet'),
                ('journal.jsonl', '../journal.jsonl'),
                ('manifest.json', '../manifest.json'),
            ],
        }

    # -- the sections

    def _notes(self) -> list[str]:
        found = list(notes(self._summary))
        if unread := self._material.looked.unread:
            reasons = dict.fromkeys(unread.values())
            found.append(
                f'{len(unread)} recording{"" if len(unread) == 1 else "s"} could not be used; '
                'what is computed from recordings is without them. The first says: '
                f'{next(iter(reasons))}'
            )
        return found

    def _success(self) -> Section:
        section = Section('success', 'Success')
        section.grids += self._grids('success_by_arm')
        section.text.append(
            'k/n are successes of the episodes with a result, with the 95 % Wilson interval; '
            'distinct: different trajectories. Every number leads to the episodes behind it.'
        )
        self._place(section)
        section.folded += self._grids('success_by_condition', 'placement_error')
        return section

    def _by_condition(self) -> None:
        """Turn a table, so that the arms of a condition stand together."""
        table = self._tables['success_by_condition']
        arms = {name: place for place, name in enumerate(self._summary.arms)}
        conditions = {name: place for place, name in enumerate(self._summary.conditions)}
        lines = sorted(
            table.lines,
            key=lambda line: (conditions[line[0]['condition']], arms[line[0]['arm']]),
        )
        turned = [(data, {'condition': shown['condition'], **shown}) for data, shown in lines]
        self._tables[table.name] = replace(table, lines=turned)

    def _comparisons(self) -> Section:
        section = Section('comparisons', 'Arms compared pair by pair')
        self._place(section)
        section.grids += self._grids('comparisons')
        section.folded += self._grids(
            'comparisons_by_condition', 'discordant_pairs', 'not_compared'
        )
        if section.empty:
            section.text.append('There is nothing to compare: it takes two arms.')
        return section

    def _twins(self) -> Section:
        section = Section('twins', 'Faults against the same episodes without them')
        self._place(section)
        section.grids += self._grids('faults_against_controls')
        if section.empty:
            section.text.append(
                'Here no scene was run with a fault and without it: their seeds differ, or one of '
                'them has not run yet. The experiment `randomized` has such pairs.'
            )
        return section

    def _faults(self) -> Section:
        section = Section('faults', 'What each fault did')
        evidence = self._tables['faults']
        kinds = dict.fromkeys(_kind(data['fault']) for data, _ in evidence.lines)
        for title, name, kind in OWN_SECTION:
            part = Section(f'fault-{name}', title)
            self._place(part)
            part.grids += self._grids(name)
            part.folded += self._evidence(kind)
            if not part.empty:
                section.parts.append(part)
        for kind in kinds:
            if kind not in {own for _, _, own in OWN_SECTION}:
                part = Section(
                    f'fault-{quote(kind, safe="")}', kind.replace('_', ' ').capitalize()
                )
                part.grids += self._evidence(kind)
                section.parts.append(part)
        if not section.parts:
            section.text.append('No episode with a result says anything about a fault.')
        return section

    def _evidence(self, kind: str) -> list[Grid]:
        table = self._tables['faults']
        lines = [line for line in table.lines if _kind(line[0]['fault']) == kind]
        return self._grid(
            replace(table, lines=lines, caption=f'What {kind} says of itself, of an episode.'),
            title='Evidence',
        )

    def _safety(self) -> Section:
        section = Section('safety', 'Safety')
        self._place(section)
        section.grids += self._grids('safety', 'safety_windows', 'safety_scans')
        if section.empty:
            section.text.append('No episode was watched by the safety monitor.')
        return section

    def _guard(self) -> Iterator[Section]:
        """Return the section about the guard, where plans were checked."""
        section = Section('guard', 'What the guard foresaw')
        self._place(section)
        section.grids += self._grids('guard_agreement', 'guard_disagreements')
        if not section.empty:
            yield section

    def _recoveries(self) -> Section:
        section = Section('recoveries', 'What recovery buys and costs')
        self._place(section)
        section.grids += self._grids('recoveries')
        if section.empty:
            section.text.append('No arm of this run recovers, or has an arm to compare it with.')
        return section

    def _costs(self) -> Section:
        section = Section('costs', 'Cost')
        self._place(section)
        section.grids += self._grids('costs', 'costs_by_condition')
        return section

    def _attempts(self) -> Section:
        section = Section('attempts', 'Every attempt accounted for')
        self._place(section)
        section.grids += self._grids('attempts')
        section.folded += self._grids('reasons', 'replaced_attempts')
        return section

    def _films(self) -> Section:
        section = Section('films', 'One episode of each condition')
        filmed = self._material.filmed
        for condition, (row, film) in filmed.films.items():
            section.shots.append(
                Shot(
                    title=condition,
                    caption=f'{row.run_id}, {row.arm}: {_outcome(row)}',
                    alt=film.alt,
                    source=_data_address('image/png', film.strip),
                    film=True,
                    files=(
                        ('moving picture', f'{FILMS}/{quote(film_name(condition))}'),
                        ('episode', f'#{episode_anchor(*row.key)}'),
                    ),
                )
            )
        for condition, why in filmed.unfilmed.items():
            section.text.append(f'{condition}: no film, because {why}')
        if section.empty:
            section.text.append('There is no recording to show.')
        return section

    def _episodes(self) -> Section:
        section = Section('episodes', 'Every episode')
        by_cell: dict[tuple[str, str], list[Row]] = {}
        for row in self._rows:
            by_cell.setdefault((row.condition, row.arm), []).append(row)
        for condition in self._summary.conditions:
            for cell in self._summary.of_condition(condition):
                rows = by_cell.get((condition, cell.arm), [])
                counts = [
                    f'{say.counted(cell.result)} succeeded' if cell.result.n else 'no result'
                ]
                if cell.aborted:
                    counts.append(f'{cell.aborted} aborted')
                if cell.missing:
                    counts.append(f'{cell.missing} not attempted yet')
                part = Section(cell_anchor(condition, cell.arm), f'{condition}, {cell.arm}')
                part.text.append(say.joined(counts))
                if rows:
                    part.grids.append(self._of_episodes(rows, part.title))
                section.parts.append(part)
        if section.empty:
            section.text.append('The run has no episode.')
        return section

    def _of_episodes(self, rows: Sequence[Row], title: str) -> Grid:
        lines = [self._episode(row) for row in rows]
        # A column that nobody of the cell has something in is left out.
        heads = [head for head in lines[0] if any(line[head].text for line in lines)]
        for head in heads:
            longest = max(len(line[head].text) for line in lines)
            for line in lines:
                if line[head].look == 'text' and longest <= SHORT:
                    line[head] = replace(line[head], look='short')
        return Grid(
            title='',
            caption=f'Episodes of {title}',
            head=heads,
            rows=[[line[head] for head in heads] for line in lines],
            open=True,
        )

    def _episode(self, row: Row) -> dict[str, CellOut]:
        unread = self._material.looked.unread.get(row.key, '')
        if unread:
            bag = CellOut(f'not usable: {unread}', look='text')
        elif row.bag:
            bag = CellOut('recording', f'../{quote(row.bag)}/')
        else:
            bag = CellOut('none')
        used, safety = row.planner, row.safety
        tokens = (
            ''
            if used.prompt_tokens is None or used.completion_tokens is None or not used.model
            else f'{used.prompt_tokens} + {used.completion_tokens}'
        )
        outcome = {'done': 'success', 'task_failed': 'failure'}.get(row.status, row.status)
        return {
            'episode': CellOut(row.run_id, anchor=episode_anchor(*row.key)),
            'outcome': CellOut(outcome, look=outcome),
            'bag': bag,
            'reason': CellOut(row.reason, look='text'),
            'error [m]': CellOut(_known(row.final_error_m, say.metres)),
            'steps': CellOut(_known(row.steps, say.plain)),
            'faults': CellOut(_struck(row), look='text'),
            'plan': CellOut(_plan(row), look='text'),
            'guard': CellOut(_guard(row), look='text'),
            'recovery': CellOut(
                f'{row.recovery.tries} rounds' if row.recovery.kind != 'none' else ''
            ),
            'raw / events': CellOut(
                '' if safety.raw_sweeps is None else f'{safety.raw_sweeps} / {len(safety.events)}'
            ),
            'tokens': CellOut(tokens),
            'plan [s]': CellOut(_known(used.wall_s, say.plain) if used.model else ''),
            'episode [s]': CellOut(_known(row.wall_s, say.plain)),
            'attempt': CellOut(str(row.attempt)),
            'trajectory': CellOut(row.digest[:8]),
        }

    # -- what several sections need

    def _grids(self, *names: str) -> list[Grid]:
        """Return tables, without those that stand under a picture already."""
        return [
            grid
            for name in names
            if name not in self._shown
            for grid in self._grid(self._tables[name])
        ]

    def _grid(self, table: TableOut, title: str = '') -> list[Grid]:
        if not table.lines:
            return []
        files = []
        if table.name in self._material.exported:
            files = [(kind, f'{TABLES}/{table.name}.{kind}') for kind in ('csv', 'tex')]
        head = list(table.lines[0][1])
        rows = []
        for data, shown in table.lines:
            rows.append([self._cell(table, data, key, text) for key, text in shown.items()])
        return [
            Grid(
                title=title or table.name.replace('_', ' ').capitalize(),
                caption=table.caption,
                head=head,
                rows=rows,
                names=table.names,
                files=files,
                open=table.name in OPEN,
            )
        ]

    def _cell(self, table: TableOut, data: Data, key: str, text: str) -> CellOut:
        look = 'copies' if text.endswith(f']{COPIES}') else 'text' if len(text) > WIDE else ''
        href = ''
        if key == 'scenario':
            href = self._scenario(data)
        elif key == 'recording' and data['bag']:
            href = f'../{quote(data["bag"])}/'
        elif table.name == 'guard_disagreements':
            href = ''
        elif {'arm', 'condition'} <= data.keys() and key not in ('fault', 'rule', 'evidence'):
            if key in ('condition', 'arm') and table.name != 'success_by_condition':
                href = ''
            elif (
                text not in (say.NOTHING, '')
                and key != 'paper'
                and (data['condition'], data['arm']) in self._cells
            ):
                href = f'#{cell_anchor(data["condition"], data["arm"])}'
        return CellOut(text, href, look)

    def _scenario(self, data: Data) -> str:
        arms = (data.get(key) for key in ('succeeded', 'arm', 'first', 'second'))
        for arm in arms:
            if (data['run_id'], arm) in self._here:
                return f'#{episode_anchor(data["run_id"], str(arm))}'
        return ''

    def _place(self, section: Section) -> None:
        """Put the pictures into a section that belong there, each with its tables under it."""
        for picture in self._material.pictures:
            anchor, names = PICTURES.get(picture.name, ('success', ()))
            if anchor == section.anchor:
                section.shots.append(self._shot(picture, names))

    def _shot(self, picture: 'Picture', names: Sequence[str]) -> Shot:
        grids = self._grids(*names)
        self._shown.update(names)
        return Shot(
            title=picture.title,
            caption=picture.caption,
            alt=picture.alt,
            source=_data_address('image/svg+xml', picture.svg.encode()),
            files=[(kind, f'{FIGURES}/{quote(picture.name)}.{kind}') for kind in ('svg', 'png')],
            grids=grids,
        )


def film_name(condition: str) -> str:
    """Return the name of the file with the film of a condition."""
    return f'{quote(condition, safe="")}.gif'


def _data_address(kind: str, content: bytes) -> str:
    return f'data:{kind};base64,{base64.b64encode(content).decode()}'


def _kind(fault: str) -> str:
    """Return the kind of a fault, which has a number behind it where there are several."""
    return fault.partition(' ')[0]


def _outcome(row: Row) -> str:
    outcome = {'done': 'success', 'task_failed': 'failure'}.get(row.status, row.status)
    return f'{outcome} ({row.reason})' if row.reason else outcome


def _known(value: float | None, spell: Callable[[float], str]) -> str:
    return '' if value is None else spell(value)


def _struck(row: Row) -> str:
    """Return what the faults did in an episode."""
    parts = []
    lag, slip, hit = row.observation, row.slip, row.corruption
    if lag.requested_lag_s is not None:
        arrived = _known(lag.delivered_lag_s, say.seconds) or '?'
        off = _known(lag.staleness_m, say.metres) or '?'
        parts.append(
            f'lag {say.seconds(lag.requested_lag_s)} s asked, {arrived} s arrived, {off} m off'
        )
    if slip.probability is not None:
        drawn = '' if slip.draw is None else f', drawn {say.seconds(slip.draw)}'
        what = 'slipped' if slip.slipped else 'no slip'
        parts.append(f'{what} (P {say.seconds(slip.probability)}{drawn})')
    if row.offset_m is not None:
        parts.append(f'target pushed {say.metres(row.offset_m)} m')
    if hit.probability is not None:
        parts.append(f'text: {hit.kind or "not hit"} (P {say.seconds(hit.probability)})')
    for proof in row.faults:
        struck, decided = proof.evidence.get('struck'), proof.evidence.get('decided')
        of = '' if struck is None or decided is None else f' struck {struck} of {decided}'
        parts.append(f'{proof.fault}{of}' if proof.exercised else f'{proof.fault} had no chance')
    return '; '.join(parts)


def _guard(row: Row) -> str:
    """Return what the guard said of each plan."""
    if row.guard is None:
        return ''
    return '; then '.join(
        f'{"stopped: " if verdict.blocked else ""}{say.joined(verdict.objections) or "clean"}'
        for verdict in row.guard.verdicts
    )


def _plan(row: Row) -> str:
    if row.plan.valid is None:
        return ''
    if row.plan.valid:
        return f'{row.plan.n_actions} actions'
    return 'refused: ' + '; '.join(row.plan.reasons)
