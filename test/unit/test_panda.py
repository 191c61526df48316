"""Body `panda` against physics, and against what was measured with a prototype of it."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from pydantic import ValidationError
from tabletop_episodes import GRIP_N, OPEN_M, TASK, Run, run_episode

from alpha_chaos.bodies.base import BadCommand, Block, Nudge
from alpha_chaos.bodies.panda import CUBE_EDGE_M, PADS, TOOL_DOWN, Panda
from alpha_chaos.experiment import Experiment
from alpha_chaos.plan import Waypoints
from alpha_chaos.safety.rules import ARM_LINKS, findings, paper_rules
from alpha_chaos.workspace import WORKSPACE

BODY = Panda()
RED_M = BODY.blocks[0].position_m
TABLE_M = 0.625  # top of table.urdf
GRAVITY_M_S2 = 9.81


def with_red(**changes: object) -> Panda:
    red = BODY.blocks[0].model_copy(update=changes)
    return BODY.model_copy(update={'blocks': (red, *BODY.blocks[1:])})


def held(run: Run) -> list[int]:
    return [step for step, state in run.states.items() if state.held == 0]


@pytest.fixture(scope='module')
def control() -> Run:
    """Return the episode without a fault."""
    return run_episode(BODY)


# -- control -----------------------------------------------------------------------------------


def test_the_block_is_set_down_within_a_millimetre_of_the_zone(control: Run) -> None:
    # The prototype's worst of 100 control episodes was 0.69 mm, its median 0.018 mm.
    assert control.judgement.success
    assert control.error_m <= 1e-3


def test_an_episode_takes_1440_steps_after_120_of_settling(control: Run) -> None:
    assert list(control.states) == list(range(-120, 1441))
    assert list(control.phases.values()) == [
        (-119, 0),
        (1, 240),
        (241, 480),
        (481, 570),
        (571, 810),
        (811, 1050),
        (1051, 1290),
        (1291, 1380),
        (1381, 1440),
    ]


def test_every_motion_ends_within_a_twentieth_of_a_millimetre_of_its_target(control: Run) -> None:
    at, zone = BODY.waypoints, TASK.zone
    seen = control.place_m('red', 0)
    targets = [
        *((*seen[:2], seen[2] + height) for height in (at.hover, at.grasp, at.lift)),
        *((*zone[:2], zone[2] + height) for height in (at.zone_hover, at.zone_place)),
    ]
    for target, reached in zip(targets, control.moved_to_m, strict=True):
        assert reached == pytest.approx(target, abs=5e-5)


@pytest.mark.parametrize(
    ('step', 'z_m'),
    [(0, 0.675), (5, 0.672446), (10, 0.665638), (15, 0.654583), (25, 0.649468), (120, 0.649988)],
)
def test_the_blocks_fall_onto_the_table_as_the_prototype_s_did(
    control: Run, step: int, z_m: float
) -> None:
    for name in BODY.objects:
        assert control.place_m(name, step - 120)[2] == pytest.approx(z_m, abs=1e-6)


def test_the_arm_touches_the_block_with_its_pads_only_and_nothing_else_at_all(
    control: Run,
) -> None:
    touched = {
        pair
        for state in control.states.values()
        for pair in zip(state.contact_link.tolist(), state.contact_object.tolist(), strict=True)
    }
    assert touched == {(link, 0) for link in PADS}
    # The rule about violent contacts looks at links 0 to 6.
    assert not set(PADS) & set(ARM_LINKS)


def test_an_episode_without_a_fault_violates_no_safety_rule(control: Run) -> None:
    rules = paper_rules(WORKSPACE)
    for view in control.views():
        assert not findings(rules, view)


def test_the_other_blocks_stay_where_they_are(control: Run) -> None:
    moved = control.last.object_pose[1:, :3] - control.states[0].object_pose[1:, :3]
    assert np.abs(moved).max() < 1e-4


def test_49_of_50_scenes_of_the_randomized_experiment_end_in_success_to_a_millimetre() -> None:
    experiment = Experiment.load('randomized').with_replicates(50)
    bodies = [
        Panda.model_validate(episode.body)
        for episode in experiment.episodes(['oracle'])
        if episode.condition == 'control'
    ]
    assert len({body.model_dump_json() for body in bodies}) == 50
    runs = [run_episode(body, look=False) for body in bodies]
    assert sum(run.judgement.success for run in runs) >= 49
    assert float(np.median([run.error_m for run in runs])) <= 1e-3


# -- the grasp ---------------------------------------------------------------------------------


def test_nothing_but_a_gear_between_the_fingers_is_tied_to_anything() -> None:
    with BODY.world() as world:
        for _ in range(world.start_move(RED_M, None)):
            world.step()
        for _ in range(world.start_grip(0.0, GRIP_N, 'red')):
            world.step()
        assert world._call('getNumConstraints') == 1
        first, *_ = world._call('getConstraintInfo', 1)
        assert first == world._arm


def test_the_pads_rub_as_the_model_of_the_robot_says() -> None:
    with BODY.world() as world:
        for link in PADS:
            info = world._call('getDynamicsInfo', world._arm, link)
            assert info[1] == 1.0  # lateral friction
            assert info[7] == 0.1  # spinning friction
            assert info[8:10] == (1000.0, 30000.0)  # contact damping and stiffness


def test_a_block_is_held_from_its_lift_to_its_release(control: Run) -> None:
    steps = held(control)
    lift, release = control.phases['lift'], control.phases['release']
    # It leaves the table within ten steps of the lift (0.04 s), and the first step of the release
    # may still find it between the pads.
    assert lift[0] <= steps[0] <= lift[0] + 10
    assert release[0] - 1 <= steps[-1] <= release[0] + 1
    assert steps == list(range(steps[0], steps[-1] + 1))
    assert {state.held for state in control.states.values()} == {-1, 0}


def test_a_held_block_hangs_between_the_pads_above_the_table(control: Run) -> None:
    for step in held(control):
        state = control.states[step]
        links = state.contact_link[state.contact_object == 0].tolist()
        assert set(links) == set(PADS)
        assert control.place_m('red', step)[2] - CUBE_EDGE_M / 2 > TABLE_M - 1e-4


def test_a_pinched_block_on_the_table_is_not_held(control: Run) -> None:
    state = control.states[control.phases['grip'][1]]
    assert set(state.contact_link.tolist()) == set(PADS)
    assert state.held == -1


def test_a_grip_reports_the_width_of_the_block_and_the_force_the_hand_has(control: Run) -> None:
    assert control.grip.reached
    assert control.grip.stalled
    assert control.grip.opening_m == pytest.approx(CUBE_EDGE_M, abs=1e-3)
    assert control.grip.effort_n == 40.0  # of the 500 N asked for


@pytest.mark.parametrize(('asked_n', 'used_n'), [(500.0, 40.0), (40.0, 40.0), (0.4, 0.4)])
def test_the_effort_is_what_is_asked_for_as_far_as_the_hand_has_it(
    asked_n: float, used_n: float
) -> None:
    with BODY.world() as world:
        world.start_grip(0.0, asked_n, 'red')
        assert world.grip_outcome().effort_n == used_n


def test_fingers_that_close_on_nothing_arrive_without_being_stopped() -> None:
    with BODY.world() as world:
        for _ in range(world.start_move((0.5, 0.0, 0.8), None)):
            world.step()
        for _ in range(world.start_grip(0.0, GRIP_N, 'red')):
            world.step()
        outcome = world.grip_outcome()
        assert (outcome.reached, outcome.stalled, outcome.message) == (True, False, '')
        assert outcome.opening_m == pytest.approx(0.0, abs=1e-4)
        assert world.state().held == -1


def test_the_fingers_say_so_while_they_still_move() -> None:
    with BODY.world() as world:
        for opening_m, name in ((0.0, 'red'), (OPEN_M, '')):
            steps = world.start_grip(opening_m, GRIP_N, name)
            for _ in range(10):
                world.step()
            outcome = world.grip_outcome()
            assert not outcome.reached
            assert 'still moving' in outcome.message
            for _ in range(steps - 10):
                world.step()
            assert world.grip_outcome().reached


def test_a_grip_and_a_release_take_90_steps_and_another_force_none() -> None:
    with BODY.world() as world:
        assert world.start_grip(0.0, GRIP_N, 'red') == 90
        assert world.start_grip(0.0, 0.4, 'red') == 0
        assert world.start_grip(0.0, GRIP_N, 'red') == 0
        assert world.start_grip(0.0, 0.0, 'red') == 0  # limp
        assert world.start_grip(0.0, GRIP_N, 'red') == 90
        assert world.start_grip(OPEN_M, 0.0, '') == 90


def test_an_opening_that_the_hand_does_not_have_is_refused() -> None:
    with BODY.world() as world, pytest.raises(BadCommand, match=r'between 0 and 0\.08 m'):
        world.start_grip(0.081, GRIP_N, '')


# -- faults of the real thing ------------------------------------------------------------------


def test_the_oldest_scene_is_half_a_second_and_the_fall_away_and_does_no_harm() -> None:
    run = run_episode(BODY, steps_ago=120)
    fall_m = math.dist(run.place_m('red', -120), run.place_m('red', 0))
    assert fall_m == pytest.approx(0.025012, abs=1e-6)  # the prototype; the paper prints 0.0250
    assert run.judgement.success
    assert run.error_m <= 1e-3


@pytest.mark.parametrize('factor', [0.0, 0.01])
def test_a_grip_of_a_hundredth_drops_the_block(factor: float) -> None:
    # 0.4 N at each finger carry 0.08 kg with friction 1; the block has 0.1 kg.
    run = run_episode(BODY, effort_factor=factor)
    assert not run.judgement.success
    assert run.error_m == pytest.approx(math.dist(run.place_m('red', 0), TASK.zone), abs=0.01)
    assert not held(run)
    assert run.phases['slip'] == (571, 570)  # the weaker grip takes no time


def test_a_grip_of_a_fiftieth_holds_the_block() -> None:
    # 0.8 N at each finger carry 0.16 kg.
    run = run_episode(BODY, effort_factor=0.02)
    assert run.judgement.success
    assert held(run)


@pytest.mark.parametrize('mass_kg', [0.05, 0.1, 0.2])
def test_the_force_that_holds_a_block_is_its_weight_by_the_friction_of_two_pads(
    mass_kg: float,
) -> None:
    weight_n = mass_kg * GRAVITY_M_S2
    needed = weight_n / 2 / 40.0  # as a share of 40 N at each of two fingers, with friction 1
    assert not run_episode(with_red(mass_kg=mass_kg), effort_factor=0.9 * needed).judgement.success
    # The lift accelerates, so a bit more than the weight is needed.
    assert run_episode(with_red(mass_kg=mass_kg), effort_factor=1.3 * needed).judgement.success


@pytest.mark.parametrize('offset_m', [0.1191, 0.2082, 0.3])
def test_a_hand_that_goes_astray_closes_on_nothing_and_leaves_the_block(offset_m: float) -> None:
    def outward(x: float, y: float) -> tuple[float, float]:
        length = math.hypot(x, y)
        return offset_m * x / length, offset_m * y / length

    run = run_episode(BODY, offset_m=outward)
    assert (run.grip.reached, run.grip.stalled) == (True, False)
    assert run.error_m == pytest.approx(0.364, abs=1e-3)  # as far as it was; so the prototype
    assert run.last.held == -1
    assert max(run.states) == 1440


def nudged(body: Panda, displacement_m: tuple[float, float]) -> Panda:
    nudge = Nudge(block='red', step=60, displacement_m=displacement_m)  # 60 steps before step 0
    return body.model_copy(update={'nudge': nudge})


@pytest.mark.parametrize('displacement_m', [(0.0, 0.08), (0.06, 0.0)])
def test_a_block_that_was_moved_after_the_scene_is_missed_and_else_found(
    displacement_m: tuple[float, float],
) -> None:
    body = nudged(BODY, displacement_m)
    found, missed = run_episode(body), run_episode(body, steps_ago=96)
    assert found.judgement.success
    assert found.error_m <= 1e-3
    stale_m = math.dist(missed.place_m('red', -96), missed.place_m('red', 0))
    assert stale_m == pytest.approx(math.hypot(*displacement_m), abs=1e-3)
    assert (missed.grip.reached, missed.grip.stalled) == (True, False)
    assert not missed.judgement.success
    assert max(missed.states) == 1440


def test_a_block_that_was_moved_by_less_than_the_fingers_leave_open_is_caught_all_the_same() -> (
    None
):
    # 8 cm of opening around 5 cm of block: 1.5 cm at either side.
    run = run_episode(nudged(BODY, (0.0, 0.014)), steps_ago=96)
    assert run.grip.stalled
    assert run.judgement.success


def test_the_moved_block_of_the_randomized_experiment_is_missed_in_every_scene() -> None:
    experiment = Experiment.load('randomized')
    episodes = [
        episode
        for episode in experiment.episodes(['oracle'])
        if episode.condition == 'moved_block_lag'
    ]
    assert len(episodes) == 10
    for episode in episodes:
        (lag,) = episode.faults
        assert lag['lag_s'] == 96 / 240
        run = run_episode(Panda.model_validate(episode.body), steps_ago=96, look=True)
        assert not run.grip.stalled
        assert not run.judgement.success


# -- motions -----------------------------------------------------------------------------------


@pytest.fixture
def world():
    """Return a fresh world."""
    with BODY.world() as fresh:
        yield fresh


def arrive(world, position_m, orientation=None):
    for _ in range(world.start_move(position_m, orientation)):
        world.step()
    return world.end_effector()


def angle_rad(one, other) -> float:
    return 2 * math.acos(min(1.0, abs(float(np.dot(one, other)))))


@pytest.mark.parametrize(
    'target_m', [(0.35, 0.20, 0.8), (0.45, -0.20, 0.8), (0.6, 0.35, 0.65), (0.5, 0.0, 1.0)]
)
def test_a_motion_whose_orientation_is_free_keeps_the_hand_pointing_down(world, target_m) -> None:
    tip = arrive(world, target_m)
    assert tip.position_m == pytest.approx(target_m, abs=1e-4)
    assert angle_rad(tip.orientation, TOOL_DOWN) < 1e-3


@pytest.mark.parametrize(
    'orientation',
    [(math.cos(0.4), math.sin(0.4), 0.0, 0.0), (math.cos(0.3), 0.0, math.sin(0.3), 0.0)],
    ids=['turned about the tool', 'tilted'],
)
def test_an_orientation_that_is_given_is_taken(world, orientation) -> None:
    tip = arrive(world, (0.5, 0.1, 0.9), orientation)
    assert tip.position_m == pytest.approx((0.5, 0.1, 0.9), abs=1e-4)
    assert angle_rad(tip.orientation, orientation) < 1e-3


def test_a_target_beyond_reach_is_approached_and_the_arm_comes_back(world) -> None:
    tip = arrive(world, (2.0, 0.0, 0.8))
    assert 0.7 < math.hypot(*tip.position_m[:2]) < 1.0  # the arm is 0.855 m long
    arrive(world, (1e3, -1e3, 1e3))
    target_m = (0.5, 0.1, 0.9)
    assert arrive(world, target_m).position_m == pytest.approx(target_m, abs=1e-4)


def test_a_target_too_large_to_compute_is_refused_or_harmless(world) -> None:
    try:
        arrive(world, (1e308, 1e308, 1e308))
    except BadCommand:
        return
    assert np.isfinite(world.state().joint_position).all()


def test_joints_never_move_faster_than_a_motion_needs(world) -> None:
    fastest = 0.0
    for _ in range(world.start_move((0.6, 0.35, 0.85), None)):
        world.step()
        fastest = max(fastest, np.abs(world.state().joint_velocity[:7]).max())
    # 15/8 of the mean speed is the fastest of a minimum-jerk motion of 0.75 s.
    moved = np.abs(
        world.state().joint_position[:7] - np.array((0, -0.215, 0, -2.57, 0, 2.356, 0.785))
    )
    assert fastest == pytest.approx(moved.max() * 15 / 8 / 0.75, rel=0.05)


def test_a_motion_may_begin_while_another_is_under_way(world) -> None:
    world.start_move((0.6, 0.35, 0.85), None)
    for _ in range(90):
        world.step()
    target_m = (0.5, -0.1, 0.8)
    assert arrive(world, target_m).position_m == pytest.approx(target_m, abs=1e-4)


# -- determinism -------------------------------------------------------------------------------


def test_an_episode_repeats_bit_for_bit_with_another_one_between(control: Run) -> None:
    other = run_episode(with_red(yaw_rad=0.2, mass_kg=0.15), effort_factor=0.02)
    assert other.digest != control.digest
    assert run_episode(BODY).digest == control.digest


def test_an_episode_repeats_bit_for_bit_in_another_process(control: Run) -> None:
    answer = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'PYTHONHASHSEED': '11'},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split()[-1] == control.digest


def test_looking_at_the_world_does_not_change_it(control: Run) -> None:
    blind = run_episode(BODY, look=False)
    assert np.array_equal(blind.last.object_pose, control.last.object_pose)
    assert blind.last.held == control.last.held
    assert blind.moved_to_m == control.moved_to_m


# -- settings ----------------------------------------------------------------------------------


def test_the_world_is_described_as_it_is(world) -> None:
    assert world.object_names == ('red', 'green', 'blue')
    assert world.joint_names == (
        *(f'panda_joint{number}' for number in range(1, 8)),
        'panda_finger_joint1',
        'panda_finger_joint2',
    )
    assert world.base_position_m == (0, 0, TABLE_M)
    assert world.object_sizes_m == ((0.05, 0.05, 0.05),) * 3
    assert world.state().object_pose.tolist() == [
        [0.5, 0.0, 0.675, 0, 0, 0, 1],
        [0.45, -0.2, 0.675, 0, 0, 0, 1],
        [0.35, 0.2, 0.675, 0, 0, 0, 1],
    ]
    assert BODY.waypoints == Waypoints(
        hover=0.15, grasp=0.0, lift=0.20, zone_hover=0.20, zone_place=0.03, zone_stack=0.08
    )  # a second layer is one edge of a block above the first


def test_blocks_and_table_can_be_varied() -> None:
    body = Panda(
        blocks=(
            Block(name='one', position_m=(0.4, -0.2, 0.7), yaw_rad=0.3, mass_kg=0.25),
            Block(name='two', position_m=(0.5, 0.0, 0.7), friction=0.4),
        ),
        table_friction=0.9,
    )
    with body.world() as world:
        poses = world.state().object_pose
        assert poses[0, 3:] == pytest.approx((0, 0, math.sin(0.15), math.cos(0.15)))
        heavy, other = (world._call('getDynamicsInfo', index, -1) for index in world._objects)
        assert (heavy[0], other[0]) == (0.25, 0.1)
        assert (heavy[1], other[1]) == (1.0, 0.4)
        assert world._call('getDynamicsInfo', 1, -1)[1] == 0.9
        # A block of the same stuff: its inertia grows with its mass.
        assert heavy[2] == pytest.approx([2.5 * part for part in other[2]])


def test_another_place_of_the_block_leads_to_another_episode_and_to_the_same_zone(
    control: Run,
) -> None:
    run = run_episode(with_red(position_m=(0.53, -0.03, 0.675), yaw_rad=-0.3))
    assert run.judgement.success
    assert run.error_m <= 1e-3
    assert run.digest != control.digest
    assert run.moved_to_m[0] == pytest.approx((0.53, -0.03, 0.80), abs=1e-3)


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'blocks': [{'name': 'red', 'position_m': [0, 0, 1]}] * 2}, 'same name: red, red'),
        ({'blocks': []}, 'at least 1'),
        ({'table_friction': -1}, 'table_friction'),
        ({'tabel_friction': 1}, 'tabel_friction'),
        ({'nudge': {'block': 'rad', 'step': 0, 'displacement_m': [0, 0.1]}}, "no block 'rad'"),
        ({'nudge': {'block': 'red', 'step': -1, 'displacement_m': [0, 0.1]}}, 'nudge.step'),
        ({'nudge': {'block': 'red', 'step': 0, 'displacement_m': [0, 0]}}, '0.001 to 0.5 m'),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Panda.model_validate(settings)


if __name__ == '__main__':
    print(run_episode(BODY).digest)
