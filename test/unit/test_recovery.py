"""Recovery policies: which phases they add, and when they give up."""

import math

import pytest

from alpha_chaos.catalogues import recoveries
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.recovery.base import Facts
from alpha_chaos.recovery.regrasp import Regrasp
from alpha_chaos.recovery.replan import Replan
from alpha_chaos.recovery.retry import Retry
from alpha_chaos.tasks.base import Advance, Execute, MakePlan, Observe

REJECTED = Facts(rejected=('missing_key: target',))
MOVED = {'red': (0.5, 0.0, 0.65)}
EARLIER = {'red': (0.4, 0.0, 0.65)}


def late(seen, sampled_s, age_s=0.5):
    return Facts(seen=seen, sampled_s=sampled_s, age_s=age_s)


@pytest.mark.parametrize('kind', sorted(recoveries()))
def test_every_policy_can_be_written_down_and_read_again(kind):
    example = recoveries()[kind].example
    assert parse(recoveries(), example.model_dump(mode='json'), 'recovery') == example


@pytest.mark.parametrize('kind', sorted(recoveries()))
def test_every_policy_lets_a_perfect_episode_be_planned_once(kind):
    policy = recoveries()[kind].example.policy()
    seen = Facts(seen=MOVED, sampled_s=0.5, age_s=0.0, goal_error_m=0.0, tolerance_m=0.05)
    for phase in (Advance(steps=120, name='settle'), Observe(), MakePlan()):
        assert policy.after(phase, seen) == ()
    assert policy.rounds == 0


@pytest.mark.parametrize('kind', sorted(recoveries()))
def test_every_policy_ends_though_nothing_ever_gets_better(kind):
    policy = recoveries()[kind].example.policy()
    worst = Facts(rejected=('not_json',), goal_error_m=math.nan)
    due, asked = [Observe(), MakePlan(), Execute()], 0
    while due:
        phase = due.pop(0)
        asked += isinstance(phase, MakePlan)
        due[:0] = policy.after(phase, worst)
        assert asked <= 1 + recoveries()[kind].example.tries


def test_no_recovery_has_no_tries():
    with pytest.raises(BadSetting, match='tries'):
        parse(recoveries(), {'kind': 'none', 'tries': 1}, 'recovery')


def test_retry_hands_the_reasons_on_and_stops_after_its_tries():
    policy = Retry(tries=2).policy()
    for _ in range(2):
        assert policy.after(MakePlan(), REJECTED) == (MakePlan(reasons=('missing_key: target',)),)
    assert policy.after(MakePlan(), REJECTED) == ()
    assert policy.rounds == 2


def test_retry_leaves_an_accepted_plan_alone():
    assert Retry().policy().after(MakePlan(), Facts()) == ()


def test_regrasp_looks_after_every_plan_and_acts_only_on_what_is_missing():
    policy = Regrasp(tries=2, wait_steps=60).policy()
    look = policy.after(Execute(), Facts())
    assert look == (Advance(steps=60, name='wait'), Observe(name='look'))
    there = Facts(seen=MOVED, goal_error_m=0.05, tolerance_m=0.05)
    assert policy.after(look[1], there) == ()
    assert policy.rounds == 0
    lost = Facts(seen=MOVED, goal_error_m=0.051, tolerance_m=0.05)
    assert policy.after(look[1], lost) == (MakePlan(), Execute())
    assert policy.rounds == 1


def test_regrasp_takes_a_block_that_nobody_sees_for_lost():
    policy = Regrasp().policy()
    assert policy.after(Observe(name='look'), Facts(tolerance_m=0.05)) == (MakePlan(), Execute())


def test_replan_waits_for_a_fresh_scene():
    policy = Replan(wait_steps=24).policy()
    assert policy.after(Observe(), late(MOVED, 0.0)) == (
        Advance(steps=24, name='wait'),
        Observe(),
    )
    assert policy.after(Observe(), late(MOVED, 0.6, age_s=0.0)) == ()


def test_replan_trusts_two_late_scenes_that_agree():
    policy = Replan().policy()
    assert policy.after(Observe(), late(EARLIER, 0.0))
    assert policy.after(Observe(), late(MOVED, 0.5))
    assert policy.after(Observe(), late(MOVED, 1.0)) == ()
    assert policy.rounds == 2


def test_replan_does_not_take_a_frozen_camera_for_a_still_world():
    policy = Replan(tries=3).policy()
    rounds = [policy.after(Observe(), late(MOVED, 0.0, age_s=0.5 * n)) for n in range(1, 5)]
    assert [bool(added) for added in rounds] == [True, True, True, False]
