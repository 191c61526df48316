"""The results of a run as files for other people's tools: csv, LaTeX, Parquet, Markdown."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from alpha_chaos.journal import Part, Row, final
from alpha_chaos.printable import printable
from alpha_chaos.report import wording as say
from alpha_chaos.report.export_tables import TableOut, tables
from alpha_chaos.report.paper_page import paper_page
from alpha_chaos.stats.agreement import last_verdict
from alpha_chaos.stats.sensitivity import Sensitivity
from alpha_chaos.stats.summary import Summary

TABLES = Path('report') / 'tables'
PAPER_PAGE = Path('report') / 'paper.md'
EPISODES = 'episodes.parquet'
_LONG = 30  # lines from which on a LaTeX table breaks over pages


def export(
    folder: Path,
    summary: Summary,
    rows: Iterable[Row],
    looks: Mapping[str, Sensitivity] | None = None,
) -> list[Path]:
    """Write the tables of a run, its episodes, and, if it is the paper's, how it compares.

    :param folder: of the run
    :param rows: its journal
    :param looks: what is to be seen in the recordings, by digest; None reads them
    :return: what was written
    :raises OSError: where it cannot be written
    """
    found = counting(summary, rows)
    written = [path for table in tables(summary) for path in write_table(folder / TABLES, table)]
    written.append(write_episodes(folder / EPISODES, found))
    if summary.paper:
        page = folder / PAPER_PAGE
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(paper_page(folder, summary, found, looks), 'utf-8')
        written.append(page)
    return written


def counting(summary: Summary, rows: Iterable[Row]) -> list[Row]:
    """Return the attempts that count, also aborted ones, in the order of arms and conditions."""
    left_out = set(summary.unexpected)
    arms = {arm: place for place, arm in enumerate(summary.arms)}
    conditions = {name: place for place, name in enumerate(summary.conditions)}
    return sorted(
        (row for key, row in final(rows).items() if key not in left_out),
        key=lambda row: (conditions[row.condition], row.episode_index, arms[row.arm]),
    )


def write_table(folder: Path, table: TableOut) -> list[Path]:
    """Write one table as csv and as LaTeX (booktabs); one without a line is removed instead."""
    csv_path, tex = folder / f'{table.name}.csv', folder / f'{table.name}.tex'
    if not table.lines:
        csv_path.unlink(missing_ok=True)  # of an earlier state of the run
        tex.unlink(missing_ok=True)
        return []
    folder.mkdir(parents=True, exist_ok=True)
    with csv_path.open('w', encoding='utf-8', newline='') as file:
        writer = csv.DictWriter(file, list(table.lines[0][0]), lineterminator='\n')
        writer.writeheader()
        for line, _ in table.lines:
            writer.writerow(
                {key: _one_line(v) if isinstance(v, str) else v for key, v in line.items()}
            )
    # Not at the top: it takes a second to import, and most commands write no table.
    import pandas as pd

    # ASCII: what a model or an error said may be in any script, and LaTeX has no fonts for it.
    shown = [
        {key: _one_line(value, 'ascii') for key, value in line.items()} for _, line in table.lines
    ]
    columns = len(shown[0])
    tex.write_text(
        pd.DataFrame.from_records(shown).to_latex(
            index=False,
            escape=True,
            caption=table.caption,
            label=f'tab:{table.name.replace("_", "-")}',
            longtable=len(shown) >= _LONG,
            column_format='l' * table.names + 'r' * (columns - table.names),
        ),
        'utf-8',
    )
    return [csv_path, tex]


def _one_line(text: str, encoding: str = 'utf-8') -> str:
    return say.shown(printable(text.replace('\n', ' ')), encoding)


def write_episodes(path: Path, rows: Iterable[Row]) -> Path:
    """Write one line an episode, what is not known being null; also of no episodes.

    Times are in s, lengths in m; faults and safety events are lists of JSON objects.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        'text': pa.string(),
        'texts': pa.list_(pa.string()),
        'yes': pa.bool_(),
        'count': pa.int64(),
        'number': pa.float64(),
    }
    schema = pa.schema([(name, types[kind]) for name, kind, _ in _EPISODE])
    lines = [{name: _storable(of(row)) for name, _, of in _EPISODE} for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(lines, schema=schema), path, compression='zstd')
    return path


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, tuple):
        return [printable(str(item)) for item in value]
    return value


def _as_json(parts: Iterable[Part]) -> tuple[str, ...]:
    return tuple(json.dumps(part.model_dump(), sort_keys=True) for part in parts)


def _said(row: Row, what: str) -> bool | None:
    """Return what the guard said of the last plan that reached it."""
    verdict = last_verdict(row)
    return None if verdict is None else bool(getattr(verdict, what))


Kind = Literal['text', 'texts', 'yes', 'count', 'number']

# Columns of `episodes.parquet`: name, kind, and where it is in a row of the journal.
_EPISODE: tuple[tuple[str, Kind, Callable[[Row], Any]], ...] = (
    ('run_id', 'text', lambda row: row.run_id),
    ('arm', 'text', lambda row: row.arm),
    ('condition', 'text', lambda row: row.condition),
    ('fault_class', 'text', lambda row: row.fault_class),
    ('label', 'text', lambda row: row.label),
    ('intensity', 'number', lambda row: row.intensity),
    ('calibration', 'text', lambda row: row.calibration),
    ('episode_index', 'count', lambda row: row.episode_index),
    ('seed', 'count', lambda row: row.seed),
    ('control', 'text', lambda row: row.control),
    ('attempt', 'count', lambda row: row.attempt),
    ('status', 'text', lambda row: row.status),
    ('reason_type', 'text', lambda row: row.reason_type),
    ('reason', 'text', lambda row: row.reason),
    ('success', 'yes', lambda row: row.success),
    ('secondary_success', 'yes', lambda row: row.secondary_success),
    ('final_error_m', 'number', lambda row: row.final_error_m),
    ('steps', 'count', lambda row: row.steps),
    ('digest', 'text', lambda row: row.digest),
    ('requested_lag_s', 'number', lambda row: row.observation.requested_lag_s),
    ('delivered_lag_s', 'number', lambda row: row.observation.delivered_lag_s),
    ('staleness_m', 'number', lambda row: row.observation.staleness_m),
    ('slip_probability', 'number', lambda row: row.slip.probability),
    ('slip_draw', 'number', lambda row: row.slip.draw),
    ('slipped', 'yes', lambda row: row.slip.slipped),
    ('offset_m', 'number', lambda row: row.offset_m),
    ('corruption_probability', 'number', lambda row: row.corruption.probability),
    ('corruption_draw', 'number', lambda row: row.corruption.draw),
    ('corruption', 'text', lambda row: row.corruption.kind),
    ('plan_valid', 'yes', lambda row: row.plan.valid),
    ('plan_actions', 'count', lambda row: row.plan.n_actions),
    ('plan_reasons', 'texts', lambda row: row.plan.reasons),
    ('plan_text', 'text', lambda row: row.plan.text),
    ('raw_sweeps', 'count', lambda row: row.safety.raw_sweeps),
    ('safety_events', 'texts', lambda row: _as_json(row.safety.events)),
    ('planner', 'text', lambda row: row.planner.planner),
    ('provider', 'text', lambda row: row.planner.provider),
    ('model', 'text', lambda row: row.planner.model),
    ('model_digest', 'text', lambda row: row.planner.digest),
    ('prompt_sha256', 'text', lambda row: row.planner.prompt_sha256),
    ('prompt_tokens', 'count', lambda row: row.planner.prompt_tokens),
    ('completion_tokens', 'count', lambda row: row.planner.completion_tokens),
    ('plan_wall_s', 'number', lambda row: row.planner.wall_s),
    ('plan_recorded', 'yes', lambda row: row.planner.cached),
    ('planner_calls', 'count', lambda row: row.planner.calls),
    ('recovery', 'text', lambda row: row.recovery.kind),
    ('recovery_rounds', 'count', lambda row: row.recovery.tries),
    ('observations', 'count', lambda row: row.recovery.observations),
    ('faults', 'texts', lambda row: _as_json(row.faults)),
    ('guard', 'text', lambda row: row.guard.mode if row.guard else 'off'),
    ('guard_clean', 'yes', lambda row: _said(row, 'clean')),
    ('guard_blocked', 'yes', lambda row: _said(row, 'blocked')),
    ('guard_goal_reached', 'yes', lambda row: _said(row, 'goal_reached')),
    ('guard_verdicts', 'texts', lambda row: _as_json(row.guard.verdicts if row.guard else ())),
    ('messages', 'count', lambda row: row.recording.messages),
    ('messages_lost', 'count', lambda row: row.recording.lost),
    ('bag_bytes', 'count', lambda row: row.recording.bytes),
    ('bag', 'text', lambda row: row.bag),
    ('wall_s', 'number', lambda row: row.wall_s),
)
