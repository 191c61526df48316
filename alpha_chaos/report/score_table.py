"""The sums of a score on the screen, beside those of plans that nobody made."""

from collections.abc import Mapping

from rich.console import Console

from alpha_chaos.report.benchmark_table import print_tables
from alpha_chaos.report.benchmark_tables import tables
from alpha_chaos.report.wording import shown
from alpha_chaos.stats.benchmark import summarize
from alpha_chaos.worldmodel.answers import Answer, Origin, VerdictRecord
from alpha_chaos.worldmodel.baselines import BASELINES
from alpha_chaos.worldmodel.exam import Exam
from alpha_chaos.worldmodel.score import Score, judged_baseline

PRINTED = ('plan_sets', 'tasks_with_failures', 'rules_latent', 'rules_immediate')


def score_table(plans: str, score: Score, exams: Mapping[str, Exam], console: Console) -> None:
    """Print failures, goals, clean plans and broken rules, of the plans and of every baseline.

    :param plans: what was scored; judged already
    """
    answers = _answers(plans, 'baseline' if plans in BASELINES else 'files', score, exams)
    for kind in BASELINES:
        able = {name: exam for name, exam in exams.items() if kind == 'empty' or exam.golden}
        if kind != plans and able:
            answers += _answers(kind, 'baseline', judged_baseline(able, kind), exams)
    print_tables(tables(summarize(answers)), PRINTED, console)
    if score.missing:
        text = f'{len(score.missing)} tasks are without a plan: {", ".join(score.missing[:5])}'
        console.print(shown(text, console.encoding), markup=False, highlight=False)


def _answers(plans: str, origin: Origin, score: Score, exams: Mapping[str, Exam]) -> list[Answer]:
    return [
        Answer(
            plan_set=plans,
            task=name,
            technique=exams[name].technique,
            origin=origin,
            status='done',
            verdict=VerdictRecord.of(verdict),
        )
        for name, verdict in score.verdicts.items()
    ]
