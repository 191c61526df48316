"""What takes the robot's place: the plug-ins, their limits, and the world without physics."""

import math

import numpy as np
import pytest

from alpha_chaos.bodies.base import BadCommand, Nudge
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.bodies.panda import Panda
from alpha_chaos.catalogues import drivers
from alpha_chaos.drivers.base import Limits
from alpha_chaos.drivers.mock_driver import MockDriver
from alpha_chaos.experiment import Experiment
from alpha_chaos.graph import EXECUTABLES, episode_graph
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.workspace import WORKSPACE, Box

ABOVE_RED = (0.5, -0.15, 0.8)


@pytest.fixture
def world():
    with MockDriver().world(Kuka()) as made:
        yield made


def run(world, steps):
    for _ in range(steps):
        world.step()
    return steps


# -- plug-ins


@pytest.mark.parametrize('kind', sorted(drivers()))
def test_a_driver_survives_json_and_has_an_executable(kind):
    example = drivers()[kind].example
    assert type(example).model_validate_json(example.model_dump_json()) == example
    assert example.kind == kind == type(example).__module__.rpartition('.')[2]
    assert kind in EXECUTABLES


@pytest.mark.parametrize('kind', [kind for kind, one in drivers().items() if one.takes_episodes])
def test_a_driver_that_takes_episodes_repeats_bit_for_bit(kind):
    def states():
        with drivers()[kind].example.world(Panda()) as world:
            run(world, 30)
            run(world, world.start_move(ABOVE_RED, None) // 2)
            world.halt()
            run(world, world.start_grip(0.0, 10.0, 'red') + 10)
            state = world.state()
            return [state.joint_position.tobytes(), state.object_pose.tobytes()]

    assert states() == states()


def test_a_driver_for_hardware_builds_no_world_and_takes_no_episodes():
    hardware = parse(drivers(), {'kind': 'joint_trajectory_driver'}, 'driver')
    with pytest.raises(BadSetting, match='no world to build'):
        hardware.world(Kuka())
    with pytest.raises(BadSetting, match=r'takes part in no episodes.*mock_driver, sim'):
        Experiment.load('smoke').with_driver('joint_trajectory_driver')


def test_the_driver_is_part_of_an_experiment():
    smoke = Experiment.load('smoke')
    mock = smoke.with_driver('mock_driver')
    assert {episode.driver['kind'] for episode in smoke.episodes()} == {'sim'}
    assert {episode.driver['kind'] for episode in mock.episodes()} == {'mock_driver'}
    assert mock.manifest()['driver']['kind'] == 'mock_driver'
    assert mock.fingerprint() != smoke.fingerprint()
    assert mock.with_driver('sim').fingerprint() == smoke.fingerprint()
    assert mock.with_driver('mock_driver') is mock
    with pytest.raises(BadSetting, match=r"unknown driver 'moc'.*known: "):
        smoke.with_driver('moc')


def test_an_experiment_file_can_choose_a_driver_and_its_settings(tmp_path):
    file = tmp_path / 'slow.yaml'
    text = (
        'description: x\nmaster_seed: 1\nbody: {kind: kuka}\ntask: {kind: pick_place}\n'
        'arms: {oracle: {kind: oracle}}\nconditions: [{name: control}]\n'
    )
    file.write_text(f'{text}driver: {{kind: mock_driver, speed_m_s: 0.1}}\n')
    experiment = Experiment.load(str(file))
    assert experiment.driver == MockDriver(speed_m_s=0.1)
    assert experiment.with_driver('mock_driver').driver.speed_m_s == 0.1
    file.write_text(f'{text}driver: {{kind: mock_driver, sped_m_s: 0.1}}\n')
    with pytest.raises(BadSetting, match=r"line 7.*did you mean 'speed_m_s'"):
        Experiment.load(str(file))


def test_a_graph_is_made_around_its_driver():
    graph = episode_graph(['oracle_planner'], driver='mock_driver')
    assert 'mock_driver' in graph.names
    assert 'sim' not in graph.names
    assert {topic.publisher for topic in graph.topics if topic.name == 'objects'} == {
        'mock_driver'
    }
    (supervisor,) = (node for node in graph.nodes if node.name == 'supervisor')
    assert supervisor.parameters['driver'] == 'mock_driver'
    assert 'mock_driver step_state' in supervisor.parameters['recorded']


# -- limits


@pytest.mark.parametrize(
    ('limits', 'position', 'age', 'why'),
    [
        (Limits(workspace=WORKSPACE), (0.5, 0.0, 1.26), None, 'outside the workspace'),
        (Limits(workspace=WORKSPACE), (0.5, 0.0, 1.25), None, ''),
        (Limits(workspace=WORKSPACE), (0.5, 0.0, math.nan), None, ''),  # for the world to refuse
        (Limits(max_goal_age_s=2.0), (9.0, 0.0, 0.0), 2.0, ''),
        (Limits(max_goal_age_s=2.0), (0.0, 0.0, 0.0), 2.001, 'stale goal: stamped 2.001 s ago'),
        (Limits(max_goal_age_s=2.0), (0.0, 0.0, 0.0), None, ''),
        (Limits(), (9.0, 9.0, 9.0), 1e9, ''),
    ],
)
def test_what_a_driver_does_not_even_try(limits, position, age, why):
    if not why:
        limits.check(position, age)
        return
    with pytest.raises(BadCommand, match=why):
        limits.check(position, age)


def test_the_sim_tries_everything_unless_told_otherwise():
    # What becomes of a target pushed out of reach is what the fault is for.
    assert drivers()['sim'].example.limits == Limits()
    assert MockDriver().limits.workspace == WORKSPACE
    sim = parse(
        drivers(),
        {'kind': 'sim', 'limits': {'workspace': {'min': [0, 0, 0], 'max': [1, 1, 1]}}},
        'driver',
    )
    assert sim.limits.workspace == Box((0, 0, 0), (1, 1, 1))


# -- the world of mock_driver


def test_the_hand_goes_straight_at_its_speed_and_ends_on_the_target(world):
    start = np.array(world.end_effector().position_m)
    steps = world.start_move(ABOVE_RED, None)
    way = np.array(ABOVE_RED) - start
    assert steps == math.ceil(np.linalg.norm(way) / 0.25 * 240)
    for step in range(1, steps + 1):
        world.step()
        at = np.array(world.end_effector().position_m)
        assert np.allclose(at, start + way * step / steps, atol=1e-12)
        assert np.linalg.norm(world.state().joint_velocity[:3]) <= 0.25 + 1e-9
    assert world.end_effector().position_m == ABOVE_RED
    assert world.start_move(ABOVE_RED, None) == 0


def test_a_way_of_whole_steps_takes_so_many(world):
    x, y, z = world.end_effector().position_m
    assert world.start_move((x, y, z - 0.25), None) == 240


def test_a_halted_hand_stays(world):
    run(world, world.start_move(ABOVE_RED, None) // 2)
    world.halt()
    before = world.end_effector()
    run(world, 100)
    assert world.end_effector() == before


def test_blocks_sink_to_the_table_and_turn_as_told():
    turned = Kuka(blocks=({'name': 'red', 'position_m': (0.5, 0.0, 0.68), 'yaw_rad': 0.6},))
    with MockDriver().world(turned) as world:
        run(world, 60)
        x, y, z, *turn = world.state().object_pose[0]
    assert (x, y) == (0.5, 0.0)
    assert z == pytest.approx(0.625 + 0.03)  # the table's top and half a block
    assert turn == pytest.approx([0, 0, math.sin(0.3), math.cos(0.3)])


def test_a_block_within_reach_is_gripped_carried_and_let_go(world):
    run(world, 60)
    red = world.state().object_pose[0, :3]
    run(world, world.start_move(red, None))
    run(world, world.start_grip(0.0, 20.0, 'red'))
    outcome = world.grip_outcome()
    assert (outcome.reached, outcome.stalled, outcome.effort_n) == (True, True, 20.0)
    assert outcome.opening_m == pytest.approx(0.06)  # a block's edge
    run(world, world.start_move(ABOVE_RED, None))
    assert world.state().held == 0
    assert world.state().object_pose[0, :3] == pytest.approx(ABOVE_RED)
    run(world, world.start_grip(0.08, 0.0, ''))
    assert world.state().held == -1
    run(world, 60)
    assert world.state().object_pose[0, 2] == pytest.approx(0.655)


def test_a_grip_out_of_reach_closes_on_nothing_and_says_so(world):
    run(world, 60)
    run(world, world.start_grip(0.0, 20.0, 'red'))
    outcome = world.grip_outcome()
    assert (outcome.reached, outcome.stalled, outcome.opening_m) == (True, False, 0.0)
    # Fingers that are closed already get nothing between them on the way past.
    run(world, world.start_move(world.state().object_pose[0, :3], None) + 20)
    assert world.state().held == -1


def test_a_grip_without_force_lets_go(world):
    run(world, 60)
    run(world, world.start_move(world.state().object_pose[0, :3], None))
    run(world, world.start_grip(0.0, 20.0, 'red'))
    assert world.start_grip(0.0, 5.0, 'red') == 0  # a weaker grip is there at once, and holds
    world.step()
    assert world.state().held == 0
    assert world.start_grip(0.0, 0.0, 'red') == 0
    assert world.state().held == -1


def test_a_nudged_block_goes_where_it_was_pushed():
    nudge = Nudge(block='green', step=10, displacement_m=(0.02, 0.05))
    with MockDriver().world(Kuka(nudge=nudge)) as world:
        before = world.state().object_pose[1, :2]
        run(world, 10 + 24)
        assert world.state().object_pose[1, :2] - before == pytest.approx((0.02, 0.05))
        run(world, 10)
        assert world.state().object_pose[1, :2] - before == pytest.approx((0.02, 0.05))


@pytest.mark.parametrize(
    ('command', 'why'),
    [
        (lambda world: world.start_move((0.5, math.nan, 0.8), None), 'finite'),
        (lambda world: world.start_move(ABOVE_RED, (0, 0, 0, 1)), 'orientation'),
        (lambda world: world.start_grip(0.09, 1.0, ''), 'between 0 and 0.08'),
        (lambda world: world.start_grip(0.0, -1.0, 'red'), 'negative'),
        (lambda world: world.start_grip(0.0, 1.0, 'mauve'), 'red, green, blue'),
        (lambda world: world.start_grip(math.inf, 1.0, ''), 'finite'),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(world, command, why):
    before = world.state()
    with pytest.raises(BadCommand, match=why):
        command(world)
    world.step()
    assert world.state().joint_position.tolist() == before.joint_position.tolist()
