"""What stands in the tables that are exported: each line once as data and once as printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alpha_chaos.report import wording as say
from alpha_chaos.stats.cells import Cell
from alpha_chaos.stats.difference import Difference
from alpha_chaos.stats.intervals import Interval, Spread
from alpha_chaos.stats.notes import COPIES, notes
from alpha_chaos.stats.paired import Paired
from alpha_chaos.stats.paper import SafetyCounts
from alpha_chaos.stats.summary import Summary

Data = dict[str, Any]  # a line of csv: numbers as they are, units in the names
Shown = dict[str, str]  # a line of LaTeX: as it is printed

MARKED = f'An interval marked {COPIES} is not meaningful: its n counts copies of a trajectory.'
PAIRED = (
    'Difference in points, first less second, over distinct pairs; sees: no smaller difference '
    'can be significant with so many pairs; 80 percent: a true difference that is found in four '
    'of five such experiments.'
)


@dataclass(frozen=True)
class TableOut:
    """One table, twice: for machines and for print.

    :param name: of its files
    :param caption: without anything that means something to LaTeX
    :param lines: of each line, what goes into csv and what into LaTeX
    :param names: how many columns of LaTeX from the left hold names rather than numbers
    """

    name: str
    caption: str
    lines: Sequence[tuple[Data, Shown]]
    names: int = 2


def tables(summary: Summary) -> list[TableOut]:
    """Return every table of a summary, also those without a line."""
    return [
        _arms(summary),
        _conditions(summary),
        _comparisons(summary),
        _comparisons_by_condition(summary),
        _discordant(summary),
        _unpaired(summary),
        _twins(summary),
        _recoveries(summary),
        _agreements(summary),
        _disagreements(summary),
        _lags(summary),
        _slips(summary),
        _offsets(summary),
        _corruptions(summary),
        _faults(summary),
        _safety(summary),
        _costs(summary),
        _attempts(summary),
        _reasons(summary),
        _replacements(summary),
        _notes(summary),
    ]


# -- parts of lines


def _ends(name: str, found: Interval | tuple[float, float] | None) -> Data:
    if found is None:
        return {f'{name}_low': None, f'{name}_high': None}
    low, high = (found.low, found.high) if isinstance(found, Interval) else found
    return {f'{name}_low': low, f'{name}_high': high}


def lies(name: str, found: Spread | None) -> Data:
    """Return where values lie, for csv."""
    if found is None:
        return {f'{name}_{part}': None for part in ('mean', 'min', 'max', 'sd')}
    return {
        f'{name}_mean': found.mean,
        f'{name}_min': found.low,
        f'{name}_max': found.high,
        f'{name}_sd': found.sd,
    }


def _differs(name: str, found: Difference) -> Data:
    return {
        name: found.value,
        **_ends(name, found.interval),
        f'{name}_method': found.method,
        f'{name}_without_interval': found.why,
    }


def _paired(item: Paired, first: str, second: str) -> tuple[Data, Shown]:
    test, apart = item.test, item.distinct_test
    sees, with_power = say.least(item.detectable)
    data = {
        'pairs': item.pairs,
        'distinct_pairs': item.distinct,
        f'{first}_successes': item.first_rate.k,
        f'{second}_successes': item.second_rate.k,
        'both': item.both,
        'neither': item.neither,
        f'{first}_only': len(item.first_only),
        f'{second}_only': len(item.second_only),
        **_differs('difference_of_distinct', item.difference),
        'chi2_corrected': test.chi2_corrected if test else None,
        'p_corrected': test.p_corrected if test else None,
        'p_exact': test.p_exact if test else None,
        'p_mid': test.p_mid if test else None,
        'p_exact_of_distinct': apart.p_exact if apart else None,
        'least_significant_difference': item.detectable.difference,
        'difference_found_with_80_percent': item.detectable.with_power,
    }
    shown = {
        'distinct/pairs': f'{item.distinct}/{item.pairs}',
        'success': f'{item.first_rate.k} : {item.second_rate.k}',
        'alone': f'{len(item.first_only)} : {len(item.second_only)}',
        'difference': say.points(item.difference),
        'p corr.': say.p_or_nothing(test.p_corrected if test else None),
        'p exact': say.p_or_nothing(test.p_exact if test else None),
        'p mid': say.p_or_nothing(test.p_mid if test else None),
        'sees': sees,
        '80 percent': with_power,
    }
    return data, shown


def _rate(cell: Cell) -> tuple[Data, Shown]:
    result = cell.result
    data = {
        'successes': result.k,
        'n': result.n,
        'rate': result.rate,
        **_ends('wilson_95', result.interval),
        'interval_is_meaningful': None if result.interval is None else not cell.copies,
        'distinct_trajectories': cell.distinct,
        'with_digest': cell.digested,
    }
    shown = {
        'k/n': say.counted(result),
        '%': say.percent(result.rate),
        '95 % CI': say.rate_interval(cell),
        'distinct': f'{cell.distinct}/{cell.digested}',
    }
    return data, shown


# -- tables


def _arms(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.overall:
        data, shown = _rate(cell)
        paper = summary.paper.overall.get(cell.arm) if summary.paper else None
        if summary.paper:
            data |= {
                'paper_successes': paper.successes if paper else None,
                'paper_n': paper.n if paper else None,
                **_ends('paper_wilson_95', paper.interval if paper else None),
            }
            shown['paper'] = f'{paper.successes}/{paper.n}' if paper else say.NOTHING
        data |= {'aborted': cell.aborted, 'missing': cell.missing}
        shown |= {'aborted': str(cell.aborted), 'missing': str(cell.missing)}
        lines.append(({'arm': cell.arm, **data}, {'arm': cell.arm, **shown}))
    return TableOut(
        'success_by_arm', f'Success of each arm, with Wilson intervals. {MARKED}', lines, 1
    )


def _conditions(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.cells:
        data, shown = _rate(cell)
        published = summary.published(cell.condition)
        if summary.paper:
            known = published is not None and cell.arm in published.successes
            data |= {
                'paper_successes': published.successes[cell.arm] if known and published else None,
                'paper_n': published.n if known and published else None,
            }
            shown['paper'] = say.published_success(published, cell.arm)
        data |= {
            'secondary_successes': cell.secondary.k,
            'secondary_judged': cell.secondary.n,
            'exercised': cell.exercised.k,
            'exercised_known': cell.exercised.n,
            'plans_rejected': cell.rejected.k,
            'plans_parsed': cell.rejected.n,
            **lies('final_error_m', cell.error_m),
            'aborted': cell.aborted,
            'missing': cell.missing,
        }
        shown |= {
            'exercised': say.counted_if_any(cell.exercised),
            'error [m]': say.spread(cell.error_m, say.metres),
        }
        names = {'arm': cell.arm, 'condition': cell.condition}
        lines.append(({**names, **data}, {**names, **shown}))
    return TableOut(
        'success_by_condition',
        f'Success by arm and condition, with Wilson intervals. {MARKED}',
        lines,
    )


def _comparisons(summary: Summary) -> TableOut:
    lines = []
    for item in summary.comparisons:
        data, shown = _paired(item, 'first', 'second')
        published = (
            summary.paper.comparison(item.first, item.second, item.cohort)
            if summary.paper
            else None
        )
        if summary.paper:
            data |= {
                'paper_chi2_corrected': published.chi2_corrected if published else None,
                'paper_p_corrected': published.p_corrected if published else None,
            }
        names = {'cohort': item.cohort, 'first': item.first, 'second': item.second}
        lines.append(
            (
                {**names, **data, 'unpaired': len(item.unpaired)},
                {'cohort': item.cohort, 'arms': f'{item.first} : {item.second}', **shown},
            )
        )
    return TableOut('comparisons', f'Arms compared pair by pair. {PAIRED}', lines)


def _comparisons_by_condition(summary: Summary) -> TableOut:
    lines = []
    for item in summary.comparisons:
        for condition in item.conditions:
            data, shown = _paired(condition, 'first', 'second')
            names = {
                'cohort': item.cohort,
                'first': item.first,
                'second': item.second,
                'condition': condition.condition,
            }
            lines.append(
                (
                    {**names, **data, 'p_holm': condition.p_holm},
                    {
                        'arms': f'{item.first} : {item.second}',
                        'condition': condition.condition,
                        **shown,
                        'Holm': say.p_or_nothing(condition.p_holm),
                    },
                )
            )
    kept = [line for line in lines if line[0]['cohort'] == 'all' or summary.text_attacked]
    return TableOut(
        'comparisons_by_condition',
        f'Arms compared in each condition; Holm: for the number of conditions. {PAIRED}',
        kept,
    )


def _discordant(summary: Summary) -> TableOut:
    return TableOut(
        'discordant_pairs',
        'Pairs in which one arm succeeded and the other did not.',
        [
            (
                {
                    'first': item.first,
                    'second': item.second,
                    'run_id': run_id,
                    'succeeded': arm,
                },
                {
                    'arms': f'{item.first} : {item.second}',
                    'scenario': run_id,
                    'succeeded': arm,
                },
            )
            for item in summary.comparisons
            if item.cohort == 'all'
            for arm, run_ids in ((item.first, item.first_only), (item.second, item.second_only))
            for run_id in run_ids
        ],
        3,
    )


def _unpaired(summary: Summary) -> TableOut:
    return TableOut(
        'not_compared',
        'Scenarios that make no pair, and why.',
        [
            (
                {
                    'first': item.first,
                    'second': item.second,
                    'run_id': gone.run_id,
                    'why': gone.why,
                },
                {
                    'arms': f'{item.first} : {item.second}',
                    'scenario': gone.run_id,
                    'why': gone.why,
                },
            )
            for item in summary.comparisons
            if item.cohort == 'all'
            for gone in item.unpaired
        ],
        3,
    )


def _twins(summary: Summary) -> TableOut:
    lines = []
    for twin in summary.twins:
        data, shown = _paired(twin, 'faulty', 'control')
        names = {'arm': twin.arm, 'condition': twin.condition}
        lines.append(
            (
                {
                    **names,
                    'control': twin.control,
                    **data,
                    'p_holm': twin.p_holm,
                    'unpaired': len(twin.unpaired),
                    'why_none': twin.why,
                },
                {**names, **shown, 'Holm': say.p_or_nothing(twin.p_holm)},
            )
        )
    return TableOut(
        'faults_against_controls',
        f'Each fault against the same episodes without it. {PAIRED}',
        lines,
    )


def _recoveries(summary: Summary) -> TableOut:
    lines = []
    for item in summary.recoveries:
        data, shown = _paired(item, 'recovering', 'base')
        condition = item.condition or 'all'
        costs = {
            'rounds': item.rounds,
            'calls': item.calls,
            'tokens': item.tokens,
            'plan_s': item.plan_s,
            'wall_s': item.wall_s,
        }
        more: Data = {}
        for name, found in costs.items():
            more |= _differs(f'{name}_more', found)
        names = {
            'arm': item.arm,
            'base': item.base,
            'recovery': item.kind,
            'condition': condition,
        }
        lines.append(
            (
                {**names, **data, **more},
                {
                    'arms': f'{item.arm} : {item.base}',
                    'condition': condition,
                    'success': shown['success'],
                    'gain': shown['difference'],
                    **{name.replace('_s', ' [s]'): say.more(cost) for name, cost in costs.items()},
                },
            )
        )
    return TableOut(
        'recoveries',
        'What recovery buys in points of success, and what it costs in an episode; 95 percent '
        'intervals over distinct pairs.',
        lines,
    )


def _agreements(summary: Summary) -> TableOut:
    lines = []
    for item in summary.agreements:
        names = {'arm': item.arm, 'condition': item.condition or 'all'}
        data: Data = {
            **names,
            'agreed': item.agreed.k,
            'carried_out': item.agreed.n,
            'kappa': item.kappa,
        }
        for outcome in item.outcomes:
            said = 'clean' if outcome.clean else 'flagged'
            came = 'success' if outcome.success else 'failure'
            data[f'{said}_{came}_{"quiet" if outcome.quiet else "events"}'] = outcome.episodes
        data |= {'blocked': item.blocked, 'unchecked': item.unchecked}
        lines.append((data, {**names, **say.agreement(item)}))
    return TableOut(
        'guard_agreement',
        'What the guard said of the plan (clean, flagged) and what came of it: success or failure '
        'by physics, with events where the safety monitor saw any. Agreed: clean and a success '
        'without an event, or neither. Kappa: beyond chance.',
        lines,
    )


def _disagreements(summary: Summary) -> TableOut:
    lines = []
    for item in summary.disagreements:
        names = {'arm': item.arm, 'condition': item.condition}
        data: Data = {
            **names,
            'run_id': item.run_id,
            'kind': item.kind,
            'guard': '; '.join(item.said),
            'outcome': item.outcome,
            'safety_events': '; '.join(item.events),
            'faults': ' '.join(item.faults),
            'bag': item.bag,
        }
        shown = {
            'arm': item.arm,
            'scenario': item.run_id,
            'kind': item.kind,
            'guard': say.joined(item.said) or 'clean',
            'outcome': item.outcome or 'success',
            'safety events': say.joined(item.events) or say.NOTHING,
            'faults': say.joined(item.faults) or say.NOTHING,
            'recording': item.bag or say.NOTHING,
        }
        lines.append((data, shown))
    return TableOut(
        'guard_disagreements',
        'Episodes of which the guard said something else than came of them. Missed: a clean plan '
        'that failed, or with a safety event; false alarm: a flagged one that did not.',
        lines,
        2,
    )


def _names(cell: Cell) -> Data:
    return {'arm': cell.arm, 'condition': cell.condition}


def _lags(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.cells:
        if cell.lag is None:
            continue
        published = summary.published(cell.condition)
        data = {
            **lies('requested_lag_s', cell.lag.requested_s),
            **lies('delivered_lag_s', cell.lag.delivered_s),
            **lies('staleness_m', cell.lag.staleness_m),
        }
        shown = {
            'asked [s]': say.spread(cell.lag.requested_s, say.seconds),
            'arrived [s]': say.spread(cell.lag.delivered_s, say.seconds),
            'off [m]': say.spread(cell.lag.staleness_m, say.metres),
        }
        if summary.paper:
            data |= {
                'paper_requested_lag_s': published.requested_lag_s if published else None,
                'paper_delivered_lag_s': published.delivered_lag_s if published else None,
                'paper_staleness_m': published.staleness_m if published else None,
            }
        lines.append(({**_names(cell), **data}, {**_names(cell), **shown}))
    return TableOut(
        'sensor_lag', 'Lag asked for, lag that arrived, and how far off the block was seen.', lines
    )


def _slips(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.cells:
        if cell.slips is None:
            continue
        published = summary.published(cell.condition)
        data = {
            **lies('probability', cell.slips.probability),
            'slipped': cell.slips.slipped.k,
            'drawn': cell.slips.slipped.n,
            'run_ids': ' '.join(cell.slips.run_ids),
        }
        shown = {
            'P': say.spread(cell.slips.probability, say.seconds),
            'slips': say.counted(cell.slips.slipped),
            'k/n': say.counted(cell.result),
        }
        if summary.paper:
            data |= {
                'paper_probability': published.slip_probability if published else None,
                'paper_run_ids': ' '.join(published.slipped) if published else '',
            }
        lines.append(({**_names(cell), **data}, {**_names(cell), **shown}))
    return TableOut('grasp_slip', 'How often the grasp was to slip, and did.', lines)


def _offsets(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.cells:
        if cell.offset_m is None:
            continue
        published = summary.published(cell.condition)
        data = {**lies('offset_m', cell.offset_m), **lies('final_error_m', cell.error_m)}
        shown = {
            'offset [m]': say.spread(cell.offset_m, say.metres),
            'error [m]': say.spread(cell.error_m, say.metres),
            'sd [m]': say.known(cell.error_m.sd if cell.error_m else None, say.metres),
        }
        if summary.paper:
            known = published.final_error_m.get(cell.arm) if published else None
            data['paper_final_error_m'] = known
            shown['paper'] = say.known(known, say.metres)
        lines.append(({**_names(cell), **data}, {**_names(cell), **shown}))
    return TableOut(
        'unreachable_target', 'How far targets were pushed, and where the block ended.', lines
    )


def _corruptions(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.cells:
        found = cell.corruptions
        if found is None:
            continue
        data = {
            **lies('probability', found.probability),
            'corrupted': found.corrupted.k,
            'drawn': found.corrupted.n,
            'plans_rejected': cell.rejected.k,
            'plans_parsed': cell.rejected.n,
            'how': ' '.join(f'{kind}={times}' for kind, times in found.kinds),
        }
        shown = {
            'hit': say.counted(found.corrupted),
            'refused': say.counted_if_any(cell.rejected),
            'k/n': say.counted(cell.result),
            'how': say.joined(f'{kind} {times}' for kind, times in found.kinds) or say.NOTHING,
        }
        lines.append(({**_names(cell), **data}, {**_names(cell), **shown}))
    return TableOut('plan_corruption', 'Texts that were hit, and plans that were refused.', lines)


def _faults(summary: Summary) -> TableOut:
    """Return what every fault of any kind did: a line for each key of its evidence."""
    lines = []
    for cell in summary.cells:
        for effect in cell.effects:
            head = {**_names(cell), 'fault': effect.fault}
            chance = {'exercised': effect.exercised.k, 'exercised_known': effect.exercised.n}
            shown = {**head, 'exercised': say.counted(effect.exercised)}
            for key, value in effect.numbers:
                data = {**head, **chance, 'key': key, **lies('value', value), 'words': ''}
                lines.append((data, {**shown, 'evidence': key, 'value': say.spread(value)}))
            for key, counts in effect.words:
                words = say.joined(f'{word} {times}' for word, times in counts)
                data = {**head, **chance, 'key': key, **lies('value', None), 'words': words}
                lines.append((data, {**shown, 'evidence': key, 'value': words}))
            if not effect.numbers and not effect.words:
                data = {**head, **chance, 'key': '', **lies('value', None), 'words': ''}
                lines.append((data, {**shown, 'evidence': say.NOTHING, 'value': say.NOTHING}))
    return TableOut('faults', 'What each fault did, by its evidence, in an episode.', lines, 3)


def _safety(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.cells:
        if cell.safety is None:
            continue
        published = summary.published(cell.condition)
        totals = ('all', cell.safety.raw_sweeps, cell.safety.events, cell.safety.steps, ())
        rules = ((r.rule, r.raw_sweeps, r.events, r.steps, r.keys) for r in cell.safety.rules)
        for rule, raw, events, steps, keys in (totals, *rules):
            data = {
                **_names(cell),
                'rule': rule,
                **lies('raw_sweeps', raw),
                **lies('events', events),
                **lies('event_steps', steps),
                'objects': ' '.join(f'{key}={times}' for key, times in keys),
            }
            if summary.paper:
                known = None
                if published and rule == 'all' and cell.arm in summary.paper.overall:
                    known = published.safety.get(cell.arm, SafetyCounts())
                data |= {
                    'paper_raw_sweeps': known.raw_sweeps if known else None,
                    'paper_events': known.events if known else None,
                    'paper_event_steps': known.steps if known else None,
                }
            shown = {
                **_names(cell),
                'rule': rule,
                'raw': say.spread(raw),
                'events': say.spread(events),
                'steps': say.spread(steps),
                'objects': say.joined(key for key, _ in keys) or say.NOTHING,
            }
            lines.append((data, shown))
    return TableOut(
        'safety',
        'What the monitor saw in an episode, looking at every step: violating steps, unique '
        'events, and the steps of those. The numbers of the paper come from 62 looks.'
        if summary.paper
        else 'What the monitor saw in an episode: violating steps, unique events, their steps.',
        lines,
        3,
    )


def _costs(summary: Summary) -> TableOut:
    lines = []
    for cell in summary.overall:
        cost = cell.cost
        data = {
            'arm': cell.arm,
            'models': ' '.join(f'{item.model}@{item.digest}' for item in cost.models),
            **lies('prompt_tokens', cost.prompt_tokens),
            **lies('completion_tokens', cost.completion_tokens),
            **lies('plan_wall_s', cost.plan_wall_s),
            **lies('episode_wall_s', cost.wall_s),
            'recorded_replies': cost.cached.k,
            'tokens_per_success': cost.tokens_per_success,
            'plan_s_per_success': cost.plan_s_per_success,
        }
        shown = {
            'arm': cell.arm,
            'prompt': say.known(
                cost.prompt_tokens.mean if cost.prompt_tokens else None, say.plain
            ),
            'reply': say.known(
                cost.completion_tokens.mean if cost.completion_tokens else None, say.plain
            ),
            'plan [s]': say.known(cost.plan_wall_s.mean if cost.plan_wall_s else None, say.plain),
            'episode [s]': say.known(cost.wall_s.mean if cost.wall_s else None, say.plain),
            'tokens per success': say.known(cost.tokens_per_success, say.plain),
            'plan [s] per success': say.known(cost.plan_s_per_success, say.plain),
        }
        lines.append((data, shown))
    return TableOut('costs', 'What planning and running took: means of an episode.', lines, 1)


def _attempts(summary: Summary) -> TableOut:
    lines = []
    for item in summary.attempts:
        counts = {
            'attempts': item.total,
            'accepted': item.accepted,
            'successes': item.successes,
            'aborted': item.aborted,
            'repeated': item.repeated,
            'superseded': item.superseded,
        }
        shown = {key: str(value) for key, value in counts.items()}
        lines.append(({'arm': item.arm, **counts}, {'arm': item.arm, **shown}))
    return TableOut(
        'attempts', 'Every attempt: accepted, aborted by the harness, or repeated.', lines, 1
    )


def _reasons(summary: Summary) -> TableOut:
    return TableOut(
        'reasons',
        'Why attempts failed or were aborted.',
        [
            (
                {'arm': item.arm, 'status': status, 'type': reason.type, 'reason': text}
                | {'attempts': times},
                {'arm': item.arm, 'status': status, 'reason': text, 'attempts': str(times)},
            )
            for item in summary.attempts
            for status, reasons in (('task_failed', item.failures), ('aborted', item.aborts))
            for reason in reasons
            for text, times in reason.texts
        ],
        3,
    )


def _replacements(summary: Summary) -> TableOut:
    return TableOut(
        'replaced_attempts',
        'Attempts that do not count, and those of the same episode that do.',
        [
            (
                {
                    'arm': item.arm,
                    'run_id': gone.run_id,
                    'attempt': gone.attempt,
                    'outcome': gone.what,
                    'replaced_by': gone.by,
                    'its_outcome': gone.instead,
                },
                {
                    'arm': item.arm,
                    'scenario': gone.run_id,
                    'attempt': f'{gone.attempt} ({gone.what})',
                    'replaced by': f'{gone.by} ({gone.instead})',
                },
            )
            for item in summary.attempts
            for gone in item.replacements
        ],
        4,
    )


def _notes(summary: Summary) -> TableOut:
    return TableOut(
        'notes',
        'What must be known before the numbers are believed.',
        [({'note': note}, {'note': note}) for note in notes(summary)],
        1,
    )
