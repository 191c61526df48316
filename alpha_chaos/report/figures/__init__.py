"""Figures of a run, each as svg and png."""

from collections.abc import Iterator, Sequence

from alpha_chaos.journal import Row
from alpha_chaos.report.figures.account import attempts, cost
from alpha_chaos.report.figures.base import Draw, EpisodeSafety, Picture, Safety
from alpha_chaos.report.figures.measured import error, lag
from alpha_chaos.report.figures.paired import pairs, recoveries, twins
from alpha_chaos.report.figures.paths import paths
from alpha_chaos.report.figures.success import slip, success
from alpha_chaos.report.figures.watched import events, scans, window
from alpha_chaos.stats.summary import Summary

__all__ = ['EpisodeSafety', 'Picture', 'pictures']

FIGURES: tuple[Draw, ...] = (
    success,
    pairs,
    twins,
    recoveries,
    lag,
    slip,
    error,
    paths,
    events,
    window,
    scans,
    cost,
    attempts,
)


def pictures(summary: Summary, rows: Sequence[Row], safety: Safety) -> Iterator[Picture]:
    """Yield the figures for which there is something to show.

    :param rows: the attempts that count, as `journal.final` gives them
    :param safety: of each (run_id, arm), what windows and schedules make of its recording
    """
    left_out = set(summary.unexpected)
    known = [row for row in rows if row.key not in left_out]
    for draw in FIGURES:
        found = draw(summary, known, safety)
        if found is not None:
            yield found
