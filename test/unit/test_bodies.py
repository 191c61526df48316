"""What every body keeps to; a new one takes part by being a file."""

import math
import os
import subprocess
import sys
from itertools import zip_longest

import numpy as np
import pybullet
import pytest

from alpha_chaos import bodies
from alpha_chaos.bodies.base import BadCommand, Body, Nudge, StateDigest, Tabletop
from alpha_chaos.plugins import BadSetting, catalogue, parse

KNOWN = catalogue(bodies, Body)
TARGET_M = (0.5, 0.1, 0.9)


@pytest.fixture(params=sorted(KNOWN))
def body(request):
    """Return the example of each body in turn."""
    return KNOWN[request.param].example


@pytest.fixture
def world(body):
    """Return a fresh world of each body in turn."""
    with body.world() as fresh:
        yield fresh


def digests(body):
    """Yield the digest after every step of a short motion and grip."""
    digest = StateDigest()
    with body.world() as world:
        step = 0
        for steps in (
            lambda: 30,
            lambda: world.start_move(TARGET_M, None),
            lambda: world.start_grip(0.0, 40.0, world.object_names[0]),
            lambda: 30,
            lambda: world.start_grip(0.08, 40.0, ''),
            lambda: 30,
        ):
            for _ in range(steps()):
                world.step()
                step += 1
                digest.update(step, world.state())
                yield digest.hexdigest()


def last_digest(body):
    *_, last = digests(body)
    return last


def test_the_settings_of_a_body_survive_json(body):
    assert type(body).model_validate_json(body.model_dump_json()) == body


def test_a_misspelt_setting_is_refused(body):
    with pytest.raises(BadSetting, match='no_such_setting'):
        parse(KNOWN, {'kind': body.kind, 'no_such_setting': 1}, 'body')


def test_a_world_describes_what_its_states_hold(world):
    world.step()
    state = world.state()
    assert state.joint_position.shape == state.joint_velocity.shape == (len(world.joint_names),)
    assert state.object_pose.shape == (len(world.object_names), 7)
    assert len(world.object_sizes_m) == len(world.object_names)
    assert len(set(world.object_names)) == len(world.object_names)
    assert len(set(world.joint_names)) == len(world.joint_names)
    assert world.step_period_s == 1 / 240
    assert len(world.base_position_m) == 3
    assert state.held == -1
    for values, kind in (
        (state.joint_position, np.float64),
        (state.joint_velocity, np.float64),
        (state.object_pose, np.float64),
        (state.contact_force, np.float64),
        (state.contact_link, np.int32),
        (state.contact_object, np.int32),
    ):
        assert values.dtype == kind
    assert len(state.contact_link) == len(state.contact_object) == len(state.contact_force)
    lengths = np.linalg.norm(state.object_pose[:, 3:], axis=1)
    assert lengths == pytest.approx(1)


def test_a_state_does_not_change_when_the_world_goes_on(world):
    world.step()
    state = world.state()
    poses = state.object_pose.copy()
    for _ in range(10):
        world.step()
    assert np.array_equal(state.object_pose, poses)
    assert not np.array_equal(world.state().object_pose, poses)


def test_the_same_commands_give_the_same_bits_in_two_interleaved_worlds(body):
    alone = list(digests(body))
    first, second = zip(*zip_longest(digests(body), digests(body)), strict=True)
    assert list(first) == alone
    assert list(second) == alone


def test_the_same_commands_give_the_same_bits_beside_other_worlds_and_closed_ones(body):
    alone = last_digest(body)
    with body.world() as other:
        other.start_move(TARGET_M, None)
        other.step()
        assert last_digest(body) == alone


def test_the_same_commands_give_the_same_bits_in_another_process(body):
    answer = subprocess.run(
        [sys.executable, __file__, body.kind],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path), 'PYTHONHASHSEED': '7'},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.split()[-1] == last_digest(body)


NOT_FINITE = (math.nan, math.inf, -math.inf)
BAD_MOVES = [
    *(((bad, 0.1, 0.9), None) for bad in NOT_FINITE),
    ((0.5, 0.1, math.nan), None),
    ((0.5, 0.1), None),
    ((0.5, 0.1, 0.9, 0.0), None),
    (TARGET_M, (0.0, 0.0, 0.0, math.nan)),
    (TARGET_M, (0.0, 0.0, 0.0, 0.0)),
    (TARGET_M, (0.0, 0.0, 0.0, 2.0)),
    (TARGET_M, (0.0, 0.0, 1.0)),
]
BAD_GRIPS = [
    *((bad, 40.0, 'red') for bad in NOT_FINITE),
    *((0.0, bad, 'red') for bad in NOT_FINITE),
    (-0.01, 40.0, 'red'),
    (0.0, -0.01, 'red'),
    (0.0, 40.0, 'purple'),
    (0.0, 40.0, 'Red'),
    (0.0, 0.0, 'purple'),
    (0.08, 40.0, 'purple'),
]


def test_a_refused_command_changes_nothing(body):
    def run(disturb):
        with body.world() as world:
            digest = StateDigest()
            for step in range(world.start_move(TARGET_M, None)):
                if disturb and step % 20 == 5:
                    for position, orientation in BAD_MOVES:
                        with pytest.raises(BadCommand):
                            world.start_move(position, orientation)
                    for grip in BAD_GRIPS:
                        with pytest.raises(BadCommand):
                            world.start_grip(*grip)
                world.step()
                digest.update(step, world.state())
            return digest.hexdigest()

    assert run(disturb=True) == run(disturb=False)


def test_a_halted_arm_stays_where_it_is_and_moves_on_when_told_to(world):
    for _ in range(30):
        world.step()
    start_m = world.end_effector().position_m
    steps = world.start_move(TARGET_M, None)
    while math.dist(world.end_effector().position_m, start_m) < 0.02:
        world.step()
    world.halt()
    for _ in range(24):  # to brake: 0.1 s
        world.step()
    halted_m = world.end_effector().position_m
    assert math.dist(halted_m, TARGET_M) > 0.1  # it was on its way
    for _ in range(steps):
        world.step()
        assert math.dist(world.end_effector().position_m, halted_m) < 0.002
    for _ in range(world.start_move(TARGET_M, None)):
        world.step()
    assert math.dist(world.end_effector().position_m, TARGET_M) < 0.1


def test_an_unknown_object_is_refused_with_the_known_ones(world):
    with pytest.raises(BadCommand, match=r'purple.*known: red, green, blue'):
        world.start_grip(0.0, 40.0, 'purple')


def test_a_closed_world_cannot_reach_into_the_next_one(body):
    closed = body.world()
    closed.close()
    closed.close()
    alone = last_digest(body)
    with body.world():
        for use in (closed.step, closed.state, lambda: closed.start_move(TARGET_M, None)):
            with pytest.raises(Exception, match=r'[Nn]ot connected'):
                use()
    assert last_digest(body) == alone


def test_worlds_that_are_closed_leave_no_client_behind(body):
    def lowest_free_client():
        client = pybullet.connect(pybullet.DIRECT)
        pybullet.disconnect(client)
        return client

    before = lowest_free_client()
    for _ in range(30):
        world = body.world()
        world.start_move(TARGET_M, None)
        world.close()
    assert lowest_free_client() == before


# -- a block that is nudged --------------------------------------------------------------------

NUDGE_STEP = 60
NUDGED = sorted(kind for kind, known in KNOWN.items() if issubclass(known, Tabletop))


@pytest.fixture(params=NUDGED)
def tabletop(request):
    """Return the example of each body with a table in turn."""
    return KNOWN[request.param].example


def way_of(body, name, displacement_m=None, steps=180):
    """Return where a block is after each step."""
    if displacement_m is not None:
        nudge = Nudge(block=name, step=NUDGE_STEP, displacement_m=displacement_m)
        body = body.model_copy(update={'nudge': nudge})
    way = []
    with body.world() as world:
        index = world.object_names.index(name)
        for _ in range(steps):
            world.step()
            way.append(world.state().object_pose[index])
    return np.array(way)


@pytest.mark.parametrize('displacement_m', [(0.0, 0.08), (-0.04, 0.03), (0.02, 0.0)])
def test_a_nudged_block_lies_where_it_was_pushed_to(tabletop, displacement_m):
    still, way = way_of(tabletop, 'blue'), way_of(tabletop, 'blue', displacement_m)
    assert np.array_equal(way[:NUDGE_STEP], still[:NUDGE_STEP])
    # Friction takes up to g / 240^2 (0.17 mm) from the last step of the push.
    moved = way[-1] - still[-1]
    assert moved[:2] == pytest.approx(displacement_m, abs=5e-4)
    assert moved[2:] == pytest.approx(0, abs=1e-3)
    after = way[NUDGE_STEP + 30 :]
    assert np.abs(after - after[-1]).max() < 1e-3


def test_a_nudge_of_one_block_leaves_the_others_alone(tabletop):
    nudge = Nudge(block='blue', step=NUDGE_STEP, displacement_m=(0.0, 0.03))
    poses = []
    for body in (tabletop, tabletop.model_copy(update={'nudge': nudge})):
        with body.world() as world:
            for _ in range(150):
                world.step()
            poses.append(world.state().object_pose)
    assert poses[0][:2] == pytest.approx(poses[1][:2], abs=1e-4)
    assert np.linalg.norm(poses[0][2, :3] - poses[1][2, :3]) > 0.02


def test_a_nudge_repeats_bit_for_bit(tabletop):
    way = way_of(tabletop, 'red', (0.01, 0.02))
    assert np.array_equal(way_of(tabletop, 'red', (0.01, 0.02)), way)


def test_a_block_is_nudged_in_the_fall_and_in_the_first_step_too(tabletop):
    nudge = Nudge(block='blue', step=0, displacement_m=(0.0, 0.03))
    with tabletop.model_copy(update={'nudge': nudge}).world() as world:
        start = world.state().object_pose[2, 1]
        for _ in range(120):
            world.step()
        assert world.state().object_pose[2, 1] - start == pytest.approx(0.03, abs=5e-4)


def test_a_digest_depends_on_every_part_of_a_state(world):
    world.step()
    state = world.state()

    def digest(step=1, **changes):
        parts = {name: getattr(state, name) for name in state.__slots__} | changes
        result = StateDigest()
        result.update(step, type(state)(**parts))
        return result.hexdigest()

    contact = {
        'contact_link': np.array([3], np.int32),
        'contact_object': np.array([0], np.int32),
        'contact_force': np.array([5.0]),
    }
    different = [
        digest(),
        digest(step=2),
        digest(held=0),
        digest(joint_position=np.nextafter(state.joint_position, 1)),
        digest(joint_velocity=np.nextafter(state.joint_velocity, 1)),
        digest(object_pose=np.nextafter(state.object_pose, 1)),
        digest(**contact),
        digest(**contact | {'contact_link': np.array([4], np.int32)}),
        digest(**contact | {'contact_object': np.array([1], np.int32)}),
        digest(**contact | {'contact_force': np.array([5.5])}),
    ]
    assert len(set(different)) == len(different)
    # Byte order and width as they arrive from a recording do not matter.
    assert digest(object_pose=state.object_pose.astype('>f8')) == digest()
    assert digest(**contact | {'contact_link': np.array([3], np.int64)}) == digest(**contact)


if __name__ == '__main__':
    print(last_digest(KNOWN[sys.argv[1]].example))
