"""The course of an attempt: the order of its phases, and what recovery makes of a failure."""

import math

from alpha_chaos.course import Course, known_facts
from alpha_chaos.episode import EpisodeRecord
from alpha_chaos.experiment import Episode, Experiment
from alpha_chaos.recovery.base import Facts
from alpha_chaos.tasks.base import Execute
from alpha_chaos.tasks.pick_place import PickPlace

TASK = PickPlace()
LOST = Facts(goal_error_m=0.3, tolerance_m=0.05)
THERE = Facts(goal_error_m=0.01, tolerance_m=0.05)


def record(recovery: dict[str, object]) -> EpisodeRecord:
    episode: Episode = Experiment.load('smoke').episode('control_000', 'oracle')
    return EpisodeRecord(episode.model_copy(update={'recovery': recovery}), 1)


def test_without_recovery_a_course_is_the_tasks_phases() -> None:
    course = Course(TASK, record({'kind': 'none'}))
    names = []
    for phase in course:
        names.append(phase.name)
        course.passed(phase, LOST)
    assert names == [phase.name for phase in TASK.phases]


def test_what_a_policy_adds_comes_before_the_rest_of_the_task() -> None:
    kept = record({'kind': 'regrasp', 'tries': 1})
    course = Course(TASK, kept)
    names = []
    for phase in course:
        names.append(phase.name)
        course.passed(phase, LOST)
    assert names == [
        'settle',
        'observe',
        'plan',
        'execute',
        'wait',
        'look',
        'plan',
        'execute',
        'rest',
    ]
    assert kept.rounds == 1


def test_only_a_round_of_recovery_forgets_a_failure() -> None:
    kept = record({'kind': 'regrasp', 'tries': 1})
    kept.failed('execution: action 2 GRIP red: refused by the driver')
    course = Course(TASK, kept)
    for phase in course:
        course.passed(phase, THERE)
        if isinstance(phase, Execute):  # a look was added, and puts nothing right
            assert kept.failure.startswith('execution: ')
    assert kept.failure.startswith('execution: ')
    course = Course(TASK, kept)
    for phase in course:
        course.passed(phase, LOST)
    assert kept.failure == ''


def test_facts_say_how_old_and_how_far_off_what_is_seen_is() -> None:
    seen = {'red': (TASK.zone[0], TASK.zone[1] - 0.03, TASK.zone[2])}
    facts = known_facts(TASK, record({'kind': 'none'}), seen, 0.25, 0.75, completed=True)
    assert facts.age_s == 0.5
    assert math.isclose(facts.goal_error_m, 0.03)
    assert facts.completed
    unseen = known_facts(TASK, record({'kind': 'none'}), None, math.nan, 0.75, completed=False)
    assert (unseen.age_s, unseen.seen) == (None, {})
