"""What is learned in the course of an attempt, as a row of the journal."""

from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.experiment import Experiment
from alpha_chaos.tasks.base import Judgement

LOST = Judgement(success=False, success_secondary=False, final_error_m=0.38)


def record() -> EpisodeRecord:
    return EpisodeRecord(Experiment.load('smoke').episode('control_000', 'llm'), 1)


def test_a_planner_that_was_never_asked_cost_nothing() -> None:
    unseen = record()
    unseen.judgement = LOST
    unseen.failed('no_observation: no scene came through')
    planner = unseen.row(1.0).planner
    assert (planner.prompt_tokens, planner.completion_tokens, planner.calls) == (0, 0, 0)


def test_what_an_aborted_attempt_cost_is_not_known() -> None:
    assert record().row(1.0, Abort('timeout', 'plan')).planner.prompt_tokens is None


def test_tokens_and_time_add_up_over_all_answers() -> None:
    asked = record()
    asked.judgement = LOST
    for cached in (True, False):
        asked.asked(
            {'prompt_tokens': 700, 'completion_tokens': 90, 'wall_s': 1.5, 'cached': cached}
        )
    planner = asked.row(1.0).planner
    assert (planner.prompt_tokens, planner.completion_tokens, planner.wall_s) == (1400, 180, 3.0)
    assert (planner.calls, planner.cached) == (2, False)
