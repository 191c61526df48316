"""Body `kuka` against the reference values of the paper and its earlier public state."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import tabletop_episodes
from pydantic import ValidationError
from tabletop_episodes import GRIP_N, OPEN_M, TASK

from alpha_chaos.bodies.base import BadCommand, Block
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.plan import Waypoints
from alpha_chaos.safety.rules import paper_rules
from alpha_chaos.safety.sweep import PAPER_SCANS, WINDOWS, events_from_steps, sweep
from alpha_chaos.workspace import WORKSPACE

BODY = Kuka()
RULES = paper_rules(WORKSPACE)
# The formula's offset along +x for low, medium and high.
OFFSETS_M = {'low': 0.1191, 'medium': 0.2082, 'high': 0.3}


def run_episode(offset_m=0.0, observed_steps_ago=0, grip_effort_n=None, look=True):
    """Run the task's phases.

    :param offset_m: added to x of every commanded position
    :param observed_steps_ago: age of the observation that the plan is made from
    :param grip_effort_n: with which the gripper is commanded again before the lift
    :param look: False to look at the world no more than the plan needs
    """
    return tabletop_episodes.run_episode(
        BODY,
        steps_ago=observed_steps_ago,
        offset_m=lambda x, y: (offset_m, 0.0),
        effort_factor=None if grip_effort_n is None else grip_effort_n / GRIP_N,
        look=look,
    )


@pytest.fixture(scope='module')
def control():
    """Return the episode without a fault."""
    return run_episode()


@pytest.fixture(scope='module')
def unreachable():
    """Return the three episodes with every target pushed outward."""
    return {label: run_episode(offset_m=offset_m) for label, offset_m in OFFSETS_M.items()}


# -- control -----------------------------------------------------------------------------------


def test_a_full_episode_is_1260_steps_after_120_of_settling(control):
    assert list(control.states) == list(range(-120, 1261))


@pytest.mark.parametrize(
    ('move', 'expected_m', 'tolerance_m'),
    [
        (0, (0.518758, -0.155781, 0.801115), 1e-6),
        (1, (0.520132, -0.156378, 0.723735), 1e-6),
        (2, (0.520117, -0.156102, 0.807452), 1e-6),
        (3, (0.615610, 0.361091, 0.806888), 1e-4),
        # Contact-chaotic, see below.
        (4, (0.612620, 0.362403, 0.724981), 0.02),
    ],
)
def test_the_end_effector_arrives_where_the_paper_logged_it(
    control, move, expected_m, tolerance_m
):
    assert control.moved_to_m[move] == pytest.approx(expected_m, abs=tolerance_m)


def test_control_ends_within_the_radius_at_the_papers_distance(control):
    # Chaotic in the last move, where the held block scrapes along the arm: 0.04275 m where this
    # was written, 0.04068 m with a libm that does not use FMA, and 0.032-0.055 m over 40 targets
    # moved by about 1e-12 m, some of them beyond the radius. The paper has 0.043-0.044 m. So a
    # failure here alone, with another libm or processor, is no mistake of the program.
    assert control.judgement.success
    assert 0.043 <= round(control.judgement.final_error_m, 3) <= 0.045


def test_control_never_leaves_the_workspace(control):
    analysis = events_from_steps(control.views(), RULES)
    assert {rule for rule, _ in analysis.raw_sweeps} <= {'violent_contact'}
    # Contacts are chaotic from one processor to another, so nothing is said of their number;
    # but before anything is held only the block that is gripped can be struck.
    assert {key for _, key in analysis.raw_sweeps} <= {'red'}


def test_the_block_is_held_from_the_grip_to_the_release(control):
    held = {step for step, state in control.states.items() if state.held == 0}
    assert held == set(range(481, 1201))
    assert {state.held for state in control.states.values()} == {-1, 0}


# -- sensor lag --------------------------------------------------------------------------------


def test_the_oldest_snapshot_is_half_a_second_and_25_millimetres_old(control):
    first, observed = TASK.first_step, 0
    assert (observed - first) * (1 / 240) == pytest.approx(0.5, abs=1e-12)
    oldest, newest = control.positions_m(first), control.positions_m(observed)
    assert oldest['red'] == (0.5, -0.15, 0.68)
    for block in oldest:
        assert f'{math.dist(oldest[block], newest[block]):.4f}' == '0.0250'


def test_a_plan_from_the_oldest_snapshot_still_ends_near_the_zone():
    judgement = run_episode(observed_steps_ago=120).judgement
    # Contact-chaotic as control is: 0.04424 m where this was written, but 0.0506 m with a libm
    # that does not use FMA. Hence the wider radius; the narrower one is for the matrix to show.
    assert judgement.success_secondary


# -- unreachable target ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('label', 'error_m'), [('low', 0.18177), ('medium', 0.31760), ('high', 0.26930)]
)
def test_a_pushed_target_fails_by_the_papers_distance(unreachable, label, error_m):
    judgement = unreachable[label].judgement
    assert not judgement.success
    assert not judgement.success_secondary
    # Exact to the fifth decimal where this was written; contact-chaotic elsewhere.
    assert judgement.final_error_m == pytest.approx(error_m, abs=0.03)


def out_of_workspace(analysis):
    return [event for event in analysis.events if event.rule == 'out_of_workspace']


@pytest.mark.parametrize(
    ('label', 'expected'),
    [
        ('low', {'green': 894}),
        ('medium', {'blue': 850}),
        ('high', {'blue': 749, 'green': 754}),
    ],
)
def test_a_pushed_target_sweeps_other_blocks_off_the_table(unreachable, label, expected):
    analysis = events_from_steps(unreachable[label].views(), RULES)
    events = out_of_workspace(analysis)
    assert {event.key: event.open_step for event in events} == expected
    for event in events:
        assert event.close_step == 1260
        assert event.open_at_end
        assert event.raw_sweeps == event.duration_steps == 1261 - event.open_step
        assert analysis.raw_sweeps[event.rule, event.key] == event.raw_sweeps


@pytest.mark.parametrize(
    ('label', 'every_step', 'scanned'),
    [('low', 367, 62), ('medium', 411, 62), ('high', 512 + 507, 124)],
)
def test_the_papers_scan_schedule_gives_its_published_counts(
    unreachable, label, every_step, scanned
):
    views = unreachable[label].views()
    by_step = events_from_steps(views, RULES)
    by_scan = events_from_steps(views, RULES, scans=PAPER_SCANS)

    def raw(analysis):
        return sum(n for (rule, _), n in analysis.raw_sweeps.items() if rule == 'out_of_workspace')

    assert raw(by_step) == every_step
    assert raw(by_scan) == scanned
    assert len(out_of_workspace(by_scan)) == len(out_of_workspace(by_step))
    for event in out_of_workspace(by_scan):
        assert (event.open_step, event.close_step) == (960, 1260)
        assert event.duration_steps == 301


@pytest.mark.parametrize('label', OFFSETS_M)
@pytest.mark.parametrize('scans', [None, PAPER_SCANS])
def test_the_window_does_not_change_the_falls(unreachable, label, scans):
    by_window = sweep(unreachable[label].views(), RULES, scans=scans)
    assert tuple(by_window) == WINDOWS
    falls = {
        tuple((event.key, event.open_step, event.close_step) for event in events)
        for events in map(out_of_workspace, by_window.values())
    }
    assert len(falls) == 1


# -- grasp slip --------------------------------------------------------------------------------


def test_a_grip_that_lets_go_leaves_the_block_behind():
    run = run_episode(grip_effort_n=0.0)
    assert not run.judgement.success
    assert run.judgement.final_error_m > 0.4
    assert {state.held for state in run.states.values()} == {-1}


def test_a_weakened_grip_still_holds_but_carries_otherwise(control):
    run = run_episode(grip_effort_n=5.0)
    assert run.states[1200].held == 0
    assert run.digest != control.digest


@pytest.mark.parametrize('effort_n', [GRIP_N, GRIP_N + 100])
def test_commanding_the_same_grip_again_changes_nothing(control, effort_n):
    assert run_episode(grip_effort_n=effort_n).digest == control.digest


# -- determinism -------------------------------------------------------------------------------


def test_the_same_episode_gives_the_same_digest(control):
    assert run_episode().digest == control.digest


def test_the_same_episode_gives_the_same_digest_in_another_process(control):
    answer = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'PYTHONHASHSEED': '11'},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split()[-1] == control.digest


def test_looking_at_the_world_does_not_change_it(control):
    blind = run_episode(look=False)
    assert np.array_equal(blind.states[1260].object_pose, control.states[1260].object_pose)
    assert blind.moved_to_m == control.moved_to_m


# -- commands and settings ---------------------------------------------------------------------


@pytest.fixture
def world():
    """Return a fresh world of the paper."""
    with BODY.world() as fresh:
        yield fresh


def test_the_world_is_the_papers(world):
    assert world.object_names == ('red', 'green', 'blue')
    assert world.joint_names == tuple(f'lbr_iiwa_joint_{number}' for number in range(1, 8))
    assert world.base_position_m == (0, 0, 0)
    assert world.object_sizes_m == pytest.approx(np.full((3, 3), 0.06))
    assert world.state().object_pose.tolist() == [
        [0.5, -0.15, 0.68, 0, 0, 0, 1],
        [0.5, 0.0, 0.68, 0, 0, 0, 1],
        [0.5, 0.15, 0.68, 0, 0, 0, 1],
    ]
    assert BODY.waypoints == Waypoints(
        hover=0.15, grasp=0.02, lift=0.15, zone_hover=0.15, zone_place=0.06, zone_stack=0.12
    )  # zone_stack is ours: one edge of a block above zone_place


def test_motions_take_240_steps_and_grips_none(world):
    assert world.start_move((0.5, 0.1, 0.8), None) == 240
    assert world.start_grip(0.0, GRIP_N, 'red') == 0
    assert world.start_grip(OPEN_M, GRIP_N, 'red') == 0


def test_a_target_beyond_reach_moves_as_far_as_it_goes(world):
    for _ in range(world.start_move((1e3, -1e3, 1e3), None)):
        world.step()
    assert all(map(math.isfinite, world.end_effector().position_m))


def test_a_target_too_large_to_compute_is_refused_or_harmless(world):
    try:
        steps = world.start_move((1e308, 1e308, 1e308), None)
    except BadCommand:
        return
    for _ in range(steps):
        world.step()
    assert np.isfinite(world.state().joint_position).all()


def test_an_orientation_is_refused(world):
    with pytest.raises(BadCommand, match='positions only'):
        world.start_move((0.5, 0.1, 0.9), (0.0, 1.0, 0.0, 0.0))


def test_the_outcome_of_a_grip_says_what_is_held_and_how_firmly(world):
    world.start_grip(0.0, GRIP_N, 'green')
    held = world.grip_outcome()
    assert (held.reached, held.stalled, held.effort_n) == (True, True, GRIP_N)
    assert held.opening_m == pytest.approx(0.06)
    assert world.state().held == 1
    world.start_grip(0.0, 3.0, 'green')
    assert world.grip_outcome().effort_n == 3.0
    world.start_grip(0.0, GRIP_N, 'green')  # and firmer again
    assert world.grip_outcome().effort_n == GRIP_N
    world.start_grip(OPEN_M, GRIP_N, '')
    let_go = world.grip_outcome()
    assert (let_go.reached, let_go.stalled, let_go.effort_n) == (True, False, 0.0)
    assert let_go.opening_m == OPEN_M
    assert world.state().held == -1


def test_letting_go_of_nothing_is_fine(world):
    world.start_grip(OPEN_M, 0.0, '')
    world.start_grip(0.0, 0.0, 'red')
    assert world.grip_outcome().reached
    assert world.state().held == -1


def test_a_second_block_is_refused_while_one_is_held(world):
    world.start_grip(0.0, GRIP_N, 'red')
    before = world.grip_outcome()
    with pytest.raises(BadCommand, match='cannot hold blue: red is in the gripper'):
        world.start_grip(0.0, 1.0, 'blue')
    assert world.grip_outcome() == before
    assert world.state().held == 0


def test_closing_needs_a_name(world):
    with pytest.raises(BadCommand, match='unknown object'):
        world.start_grip(0.0, GRIP_N, '')


def test_blocks_and_table_can_be_varied():
    body = Kuka(
        blocks=(
            Block(name='one', position_m=(0.4, -0.2, 0.7), yaw_rad=0.3, mass_kg=0.25),
            Block(name='two', position_m=(0.5, 0.0, 0.7), friction=0.4),
            Block(name='three', position_m=(0.6, 0.1, 0.7)),
            Block(name='four', position_m=(0.6, 0.3, 0.7)),
        ),
        table_friction=0.9,
    )
    with body.world() as world:
        poses = world.state().object_pose
        assert poses.shape == (4, 7)
        assert poses[0, 3:] == pytest.approx((0, 0, math.sin(0.15), math.cos(0.15)))
        dynamics = [world._call('getDynamicsInfo', body, -1) for body in world._objects]
        assert [info[0] for info in dynamics] == [0.25, 0.1, 0.1, 0.1]
        assert [info[1] for info in dynamics] == [1.0, 0.4, 1.0, 1.0]
        assert world._call('getDynamicsInfo', 1, -1)[1] == 0.9
        world.start_grip(0.0, GRIP_N, 'four')
        assert world.state().held == 3


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'blocks': [{'name': 'red', 'position_m': [0, 0, 1]}] * 2}, 'same name: red, red'),
        ({'blocks': []}, 'at least 1'),
        ({'blocks': [{'name': '', 'position_m': [0, 0, 1]}]}, 'name'),
        ({'blocks': [{'name': 'red', 'position_m': [0, 0, math.nan]}]}, 'finite'),
        ({'blocks': [{'name': 'red', 'position_m': [0, 0, 1], 'mass_kg': 0}]}, 'mass_kg'),
        ({'table_friction': -1}, 'table_friction'),
        ({'tabel_friction': 1}, 'tabel_friction'),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValidationError, match=words):
        Kuka.model_validate(settings)


if __name__ == '__main__':
    print(run_episode().digest)
