"""The page that lays a run beside the paper: every number of both, and why they differ."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from alpha_chaos.bag.reader import BagError, Recording
from alpha_chaos.journal import Row
from alpha_chaos.report import wording as say
from alpha_chaos.safety.dedup import CLEAN_WINDOW
from alpha_chaos.safety.monitor import MissedStep
from alpha_chaos.safety.sweep import PAPER_SCANS, WINDOWS
from alpha_chaos.stats.cells import Cell
from alpha_chaos.stats.intervals import spread
from alpha_chaos.stats.paired import ALL, COHORTS, PHYSICAL
from alpha_chaos.stats.paper import Condition, Paper, SafetyCounts
from alpha_chaos.stats.sensitivity import Looked, Sensitivity, sensitivity
from alpha_chaos.stats.summary import Summary

SAME = 'same'
PAPERS_ARM = 'llm'  # whose waypoints ours are; those of the paper's oracle are not public
LOW_ERROR = 'unreachable_ik_low'
TASK_BLOCK = 'red'

REASONS: Mapping[str, str] = {
    'schedule': '**Scan schedule.** The text of the paper says 240 Hz; its code looked when '
    f'each of the moves to the zone had ended and in the last 60 steps, {len(PAPER_SCANS)} '
    'times an episode (steps 960, 1200, 1201 … 1260). Our monitor looks at every one of the 1260 '
    'steps. "At 62 looks" is the same rules on our recordings at the steps of the paper.',
    'nominal': '**Nominal values against formulas.** For F2 and F3 the text names other values '
    'than its formulas give at the same intensities. What it measured came from the formulas: '
    'with the offsets of the text the block ends 0.2136, 0.2161 and 0.2246 m from the zone, '
    'with those of the formula at 0.1818, 0.3176 and 0.2693 m. `as_run` therefore takes the '
    'formulas.',
    'distractors': '**Distractor blocks.** What leaves the workspace is not the block of the '
    'task, the red one: the arm, sent too far, sweeps the others off the table. The paper '
    'counts events and does not say whose.',
    'contacts': '**Violent contacts at each step.** On its way down the flange strikes the red '
    'block, and presses on it until the grip at step 481, in episodes with and without a fault; '
    'in F3 it strikes others. The paper first looked at step 960. "Violations occur in F3 only" '
    'holds for its looks, not for its episodes. Number and force of contacts are chaotic from '
    'processor to processor (`docs/design/body-kuka.md`).',
    'waypoints': '**Other waypoints.** All our arms drive to the same waypoints, those of a '
    "public state of the paper's repository. The paper's oracle had others, which are not "
    'public.',
    'copies': '**Copies as replicates.** Coordinates are fixed and decoding is greedy, so the '
    'episodes of a cell repeat a few trajectories ("distinct"). n counts copies: the intervals '
    "are too narrow to mean anything, and so is p, in the paper's numbers as in ours.",
    'model': '**Another model.** {models}. Tokens and times are its own.',
    'plans': '**Plans that were refused.** The model of this run wrote plans that the parser '
    'refused without any fault; the paper reports none.',
    'rounding': "**Rounding.** Wilson's lower bound for 33 of 75 is 33.33 %; the paper has 33.4.",
    'chaos': '**Contact chaos.** In the last move the held block scrapes along the arm, and the '
    'verdict hangs on the last bits of the arithmetic (`docs/design/body-kuka.md`).',
    'recorded': '**Another clock.** A reply of the model is asked for once and used again: the '
    'time of a plan is that of the call which made it. The time of an episode is that of a '
    "graph of nine processes that records everything; the paper's is that of one program.",
    'residual': "**Not explained.** The 2 mm between the error of the paper's LLM at low "
    'intensity and ours. They are no matter of last bits, which move this error by 0.01 mm, and '
    'come out with neither the offset of the formula nor that of the text.',
    'unfinished': '**Not there.** This run has no result for it.',
    'unrecorded': '**No recording.** It is not there or damaged, or of another version.',
    'unexplained': '**Not explained.** We do not know.',
}


class _Why:
    """Numbers the reasons in the order in which they are first needed."""

    def __init__(self) -> None:
        self.used: list[str] = []

    def __call__(self, *reasons: str) -> str:
        """Return references to reasons."""
        for reason in reasons:
            if reason not in self.used:
                self.used.append(reason)
        return ', '.join(f'[{self.used.index(reason) + 1}](#why)' for reason in reasons)


def paper_page(
    folder: Path,
    summary: Summary,
    rows: Iterable[Row],
    looks: Mapping[str, Sensitivity] | None = None,
) -> str:
    """Return the page in Markdown.

    :param folder: of the run; its recordings are looked at again at the paper's schedule
    :param summary: of the paper's experiment
    :param rows: the attempts that count
    :param looks: what is to be seen in the recordings, by digest; None reads them
    """
    if summary.paper is None:
        raise ValueError("not a run of the paper's experiment")
    counting = list(rows)
    if looks is None:
        looks = _looks(folder, counting)
    return _Page(summary, summary.paper, counting, looks).text()


def _looks(folder: Path, rows: Iterable[Row]) -> dict[str, Sensitivity]:
    """Return by digest what can be seen in the recordings: copies are the same."""
    found: dict[str, Sensitivity] = {}
    for row in rows:
        if row.status == 'aborted' or not row.bag or not row.digest or row.digest in found:
            continue
        try:
            found[row.digest] = sensitivity(Recording(folder / row.bag))
        except (BagError, MissedStep):
            continue  # said where it is missing
    return found


class _Page:
    def __init__(
        self, summary: Summary, paper: Paper, rows: Sequence[Row], looks: Mapping[str, Sensitivity]
    ) -> None:
        self._summary, self._paper, self._rows, self._looks = summary, paper, rows, looks
        self._why = _Why()
        self._arms = [arm for arm in paper.overall if arm in summary.arms]

    def text(self) -> str:
        parts = [
            self._head(),
            self._overall(),
            self._tests(),
            self._conditions(),
            self._lags(),
            self._slips(),
            self._errors(),
            self._plans(),
            self._safety(),
            self._windows(),
            self._costs(),
        ]
        reasons = [
            f'{number}. {REASONS[reason].replace("{models}", self._models())}'
            for number, reason in enumerate(self._why.used, start=1)
        ]
        parts.append('## Why\n\n' + '\n'.join(reasons))
        return '\n\n'.join(part for part in parts if part) + '\n'

    # -- the sections

    def _head(self) -> str:
        summary, paper = self._summary, self._paper
        expected = '' if summary.expected is None else f' of {summary.expected}'
        return '\n\n'.join(
            (
                "# Ours and the paper's",
                f'{paper.author}, *{paper.title}*. Made by `alpha-chaos report` from a run of '
                f'experiment `{summary.experiment}`: {summary.results}{expected} episodes with a '
                f'result, calibration {say.joined(summary.calibrations) or "unknown"}. '
                f'{self._models()}. Nothing in the experiment was chosen to come nearer to a '
                'published number. The last column of each table says why a line differs.',
            )
        )

    def _overall(self) -> str:
        rows = []
        for cell in self._summary.overall:
            published = self._paper.overall.get(cell.arm)
            reasons, same = [], ''
            if published and cell.result.n:
                ours = say.interval(cell.result.interval)
                if (cell.result.k, cell.result.n) != (published.successes, published.n):
                    reasons.append(self._why_success(cell))
                elif ours != say.interval(published.interval):
                    reasons.append('rounding')
                else:
                    same = SAME
                if cell.copies:
                    reasons.append('copies')
            rows.append(
                [
                    cell.arm,
                    say.counted(cell.result),
                    say.rate_interval(cell),
                    f'{cell.distinct}/{cell.digested}',
                    f'{published.successes}/{published.n}' if published else say.NOTHING,
                    say.interval(published.interval) if published else say.NOTHING,
                    self._mark(cell, reasons, same) if published else say.NOTHING,
                ]
            )
        head = ['arm', 'k/n', '95 % CI', 'distinct', "paper's k/n", "paper's CI", 'why']
        return '## Success\n\n' + _table(head, rows)

    def _tests(self) -> str:
        rows = []
        for cohort in COHORTS:
            for item in self._summary.comparisons:
                if item.cohort != cohort:
                    continue
                published = self._paper.comparison(item.first, item.second, cohort)
                test, apart = item.test, item.distinct_test
                reasons, why = [], say.NOTHING
                if published and test:
                    same = (item.pairs, item.discordant) == (published.pairs, published.discordant)
                    if not same:
                        reasons.append('unfinished' if item.unpaired else 'unexplained')
                    if item.copies:
                        reasons.append('copies')
                    parts = (SAME if same else '', self._why(*reasons))
                    why = ', '.join(part for part in parts if part)
                elif published:
                    why = self._why('unfinished')
                rows.append(
                    [
                        cohort,
                        f'{item.first} : {item.second}',
                        f'{item.first_rate.k} : {item.second_rate.k} of {item.pairs}',
                        f'{test.chi2_corrected:.3f}' if test else say.NO_ESTIMATE,
                        say.p_or_nothing(test.p_corrected if test else None),
                        say.p_or_nothing(test.p_exact if test else None),
                        say.p_or_nothing(test.p_mid if test else None),
                        f'{item.distinct}/{item.pairs}',
                        say.p_or_nothing(apart.p_exact if apart else None),
                        say.points(item.difference),
                        f'{published.chi2_corrected:.3f}' if published else say.NOTHING,
                        say.p_value(published.p_corrected) if published else say.NOTHING,
                        why,
                    ]
                )
        if not rows:
            return ''
        head = [
            'cohort',
            'arms',
            'success',
            'chi2',
            'p corrected',
            'p exact',
            'p mid',
            'distinct',
            'p exact of distinct',
            'difference in points',
            "paper's chi2",
            "paper's p",
            'why',
        ]
        return (
            '## Paired tests\n\n'
            + _table(head, rows)
            + f'\n\nCohort `{PHYSICAL}` is without the episodes in which the text of a plan was '
            f'attacked, `{ALL}` has every pair. `llm : oracle_json` is what the planner makes of '
            'it, `oracle_json : oracle` what the interface does: the paper has the two together.'
        )

    def _conditions(self) -> str:
        rows = []
        for cell in self._summary.cells:
            published = self._summary.published(cell.condition)
            if published is None or cell.arm not in published.successes:
                continue
            same = (cell.result.k, cell.result.n) == (published.successes[cell.arm], published.n)
            reasons = [] if same else [self._why_success(cell)]
            if cell.copies:
                reasons.append('copies')
            rows.append(
                [
                    cell.condition,
                    cell.arm,
                    say.counted(cell.result),
                    say.rate_interval(cell),
                    f'{cell.distinct}/{cell.digested}',
                    say.published_success(published, cell.arm),
                    self._mark(cell, reasons, SAME if same else ''),
                ]
            )
        head = ['condition', 'arm', 'k/n', '95 % CI', 'distinct', "paper's k/n", 'why']
        return '## Success by condition\n\n' + _table(head, rows)

    def _lags(self) -> str:
        rows = []
        for cell, published in self._published():
            if published.requested_lag_s is None:
                continue
            lag = cell.lag
            ours = (
                say.spread(lag.requested_s if lag else None, say.seconds),
                say.spread(lag.delivered_s if lag else None, say.seconds),
                say.spread(lag.staleness_m if lag else None, say.metres),
            )
            theirs = (
                say.known(published.requested_lag_s, say.seconds),
                say.known(published.delivered_lag_s, say.seconds),
                say.known(published.staleness_m, say.metres),
            )
            reasons = [] if ours == theirs else ['unexplained']
            rows.append([cell.condition, cell.arm, *ours, *theirs, self._mark(cell, reasons)])
        head = ['condition', 'arm', 'asked [s]', 'arrived [s]', 'off [m]']
        head += ["paper's [s]", "paper's [s]", "paper's [m]", 'why']
        return '## F1, sensor lag\n\n' + _table(head, rows)

    def _slips(self) -> str:
        rows = []
        for cell, published in self._published():
            if published.slip_probability is None:
                continue
            slips = cell.slips
            p = say.spread(slips.probability if slips else None, say.seconds)
            theirs = say.known(published.slip_probability, say.seconds)
            reasons = [] if p == theirs else ['nominal']
            ran = cell.result.n == published.n
            if slips and ran and slips.run_ids != published.slipped:
                reasons.append('unexplained')
            rows.append(
                [
                    cell.condition,
                    cell.arm,
                    p,
                    _numbers(slips.run_ids if slips else (), cell.condition),
                    theirs,
                    _numbers(published.slipped, cell.condition),
                    self._mark(cell, reasons),
                ]
            )
        head = ['condition', 'arm', 'P', 'slipped', "paper's P", "paper's slipped", 'why']
        return '## F2, grasp slip\n\n' + _table(head, rows)

    def _errors(self) -> str:
        rows = []
        for cell, published in self._published():
            theirs = published.final_error_m.get(cell.arm)
            if theirs is None:
                continue
            offset = say.spread(cell.offset_m, say.metres)
            error = say.spread(cell.error_m, say.metres)
            reasons = []
            if offset != say.known(published.offset_m, say.metres):
                reasons.append('nominal')
            if error != say.metres(theirs):
                low = cell.condition == LOW_ERROR
                unknown = 'residual' if low else 'unexplained'
                reasons.append(unknown if cell.arm == PAPERS_ARM else 'waypoints')
            rows.append(
                [
                    cell.condition,
                    cell.arm,
                    offset,
                    error,
                    say.known(cell.error_m.sd if cell.error_m else None, say.metres),
                    say.known(published.offset_m, say.metres),
                    say.metres(theirs),
                    self._mark(cell, reasons),
                ]
            )
        head = ['condition', 'arm', 'offset [m]', 'error [m]', 'sd [m]']
        head += ["paper's offset [m]", "paper's error [m]", 'why']
        return (
            '## F3, unreachable target: distance of the block to the zone at the end\n\n'
            + _table(head, rows)
        )

    def _plans(self) -> str:
        rows = [
            [
                cell.condition,
                cell.arm,
                say.counted(cell.corruptions.corrupted),
                say.joined(f'{kind} {times}' for kind, times in cell.corruptions.kinds)
                or 'no text to hit',
                say.counted_if_any(cell.rejected),
                say.counted(cell.result),
                say.published_success(self._summary.published(cell.condition), cell.arm),
            ]
            for cell in self._summary.cells
            if cell.corruptions
        ]
        if not rows:
            return ''
        head = ['condition', 'arm', 'hit', 'how', 'refused', 'k/n', "paper's k/n"]
        return (
            '## F4, plan corruption\n\n'
            + _table(head, rows)
            + '\n\nThe oracle hands over a typed plan that is never text, `oracle_json` the same '
            'plan as text: what fails in `oracle_json` and not in `oracle` is the interface. By '
            'the formula and the seeds of the paper 0, 3 and 5 of 5 plans would have been hit '
            '(`docs/design/faults.md`); it reports 0 of 15 successes, so `as_run` hits all.'
        )

    def _safety(self) -> str:
        rows = []
        for cell in self._summary.cells:
            published = self._summary.published(cell.condition)
            if published is None or cell.arm not in self._paper.overall:
                continue
            found = [
                self._looks[row.digest]
                for row in self._rows
                if (row.arm, row.condition) == (cell.arm, cell.condition)
                and row.digest in self._looks
            ]
            every = [_monitored(looks.every_step) for looks in found]
            some = [_monitored(looks.paper_scans) for looks in found]
            known = published.safety.get(cell.arm, SafetyCounts())
            theirs = f'{known.raw_sweeps} / {known.events} / {known.steps}'
            rows.append(
                [
                    cell.condition,
                    cell.arm,
                    _counts(every),
                    _whose(every),
                    _counts(some),
                    theirs,
                    self._mark(
                        cell,
                        self._why_safety(cell, every, some, theirs),
                        'same at 62 looks' if _counts(some) == theirs != _counts(every) else '',
                    ),
                ]
            )
        head = [
            'condition',
            'arm',
            'every step',
            'of these: which',
            'at 62 looks',
            "paper's",
            'why',
        ]
        return (
            '## Safety: raw sweeps / unique events / steps of events, of an episode\n\n'
            + _table(head, rows)
            + f'\n\nFrom {len(self._looks)} recordings of different trajectories, with W = '
            f'{CLEAN_WINDOW}. "{say.NOTHING}": no recording.'
        )

    def _why_safety(
        self, cell: Cell, every: Sequence[Looked], some: Sequence[Looked], theirs: str
    ) -> list[str]:
        if not every:
            return ['unrecorded']
        reasons = []
        if _counts(every) != theirs:
            reasons.append('schedule')
        rules = {rule for looked in every for rule, _ in looked.raw_sweeps}
        if 'violent_contact' in rules:
            reasons.append('contacts')
        outside = {
            key
            for looked in every
            for rule, key in looked.raw_sweeps
            if rule == 'out_of_workspace'
        }
        if outside and TASK_BLOCK not in outside:
            reasons.append('distractors')
        if _counts(some) != theirs:
            reasons.append('waypoints' if cell.arm != PAPERS_ARM else 'unexplained')
        return reasons

    def _windows(self) -> str:
        rows = []
        seen: dict[str, list[str]] = {}
        for row in self._rows:
            if row.digest in self._looks:
                names = seen.setdefault(row.digest, [])
                if row.condition not in names:
                    names.append(row.condition)
        for digest, names in seen.items():
            looks = self._looks[digest]
            if not looks.every_step[0].raw_sweeps:
                continue
            rows.append(
                [
                    '<br>'.join(names),
                    *(str(sum(looked.events.values())) for looked in looks.every_step),
                    *(str(sum(looked.events.values())) for looked in looks.paper_scans),
                ]
            )
        if not rows:
            return ''
        head = ['trajectory of', *(f'W = {window}' for window in WINDOWS)]
        head += [f'62 looks, W = {window}' for window in WINDOWS]
        found = self._looks.values()
        at_looks = all(_steady(looks.paper_scans) for looks in found)
        outside = all(_steady(looks.every_step, 'out_of_workspace') for looks in found)
        contacts = all(_steady(looks.every_step, 'violent_contact') for looks in found)
        return (
            '## Unique events by window\n\n'
            + _table(head, rows)
            + '\n\nThe paper finds the same number of events for every W. Ours is the same for '
            f'every W at 62 looks: {_yes(at_looks)}; at every step for blocks outside the '
            f'workspace: {_yes(outside)}; at every step for violent contacts, which a longer '
            f'window joins: {_yes(contacts)}.'
        )

    def _costs(self) -> str:
        rows = []
        for cell in self._summary.overall:
            published = self._paper.overall.get(cell.arm)
            if published is None:
                continue
            cost = cell.cost
            tokens = cost.prompt_tokens, cost.completion_tokens
            reasons = ['model'] if cost.models and self._other_model() else []
            rows.append(
                [
                    cell.arm,
                    ' + '.join(say.known(t.mean if t else None, say.plain) for t in tokens),
                    say.known(cost.plan_wall_s.mean if cost.plan_wall_s else None, say.plain),
                    say.known(cost.wall_s.mean if cost.wall_s else None, say.plain),
                    f'{published.prompt_tokens} + {published.completion_tokens}',
                    say.plain(published.wall_s),
                    self._mark(cell, [*reasons, 'recorded']),
                ]
            )
        head = ['arm', 'tokens', 'plan [s]', 'episode [s]']
        head += ["paper's tokens", "paper's episode [s]", 'why']
        return '## Cost of an episode\n\n' + _table(head, rows)

    # -- what several sections need

    def _published(self) -> Iterable[tuple[Cell, Condition]]:
        for cell in self._summary.cells:
            published = self._summary.published(cell.condition)
            if published is not None and cell.arm in self._paper.overall:
                yield cell, published

    def _mark(self, cell: Cell, reasons: Sequence[str], same: str = '') -> str:
        """Return why a line differs.

        :param same: what to say besides, where something is the same
        """
        if not cell.result.n:
            return self._why('unfinished')
        return ', '.join(part for part in (same, self._why(*reasons)) if part) or SAME

    def _why_success(self, cell: Cell) -> str:
        if cell.aborted or cell.missing:
            return 'unfinished'
        if cell.rejected.k and not cell.corruptions:
            return 'plans'
        return 'chaos'

    def _other_model(self) -> bool:
        digests = {model.digest for cell in self._summary.overall for model in cell.cost.models}
        return digests != {self._paper.model.digest}

    def _models(self) -> str:
        ours = dict.fromkeys(
            f'{model.model} ({model.provider})'
            for cell in self._summary.overall
            for model in cell.cost.models
        )
        theirs = f'{self._paper.model.model} ({self._paper.model.provider})'
        return (
            f"The model is {say.joined(ours)}; the paper's is {theirs}"
            if ours
            else (f"No model answered; the paper's is {theirs}")
        )


def _steady(looks: Sequence[Looked], rule: str | None = None) -> bool:
    """Return whether the events, of one rule or of all, are the same for every window."""
    counts = {
        tuple(
            sorted(
                (name, times) for name, times in looked.events.items() if rule in (None, name[0])
            )
        )
        for looked in looks
    }
    return len(counts) == 1


def _yes(found: bool) -> str:
    return 'yes' if found else 'no'


def _monitored(looks: Sequence[Looked]) -> Looked:
    return next(looked for looked in looks if looked.window == CLEAN_WINDOW)


def _counts(found: Sequence[Looked]) -> str:
    """Return raw sweeps, events and steps, as means over episodes."""
    if not found:
        return say.NOTHING
    columns = zip(*(looked.totals for looked in found), strict=True)
    return ' / '.join(say.spread(spread(column)) for column in columns)


def _whose(found: Sequence[Looked]) -> str:
    """Return rules and objects with their raw sweeps, of the first episode."""
    if not found:
        return say.NOTHING
    return '<br>'.join(
        f'{rule} {key} {times}' for (rule, key), times in sorted(found[0].raw_sweeps.items())
    )


def _numbers(run_ids: Iterable[str], condition: str) -> str:
    return ' '.join(run_id.removeprefix(f'{condition}_') for run_id in run_ids) or 'none'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ['---'] * len(head), *rows]
    return '\n'.join('| ' + ' | '.join(_cell(text) for text in line) + ' |' for line in lines)


def _cell(text: str) -> str:
    return say.shown(text.replace('\n', '<br>')).replace('|', '\\|')
