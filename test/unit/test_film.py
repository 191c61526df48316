"""A film shows what was recorded, and nothing else is needed for it."""

import builtins
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from recorded_episodes import MSG, Recorder, header, made, point, stamp

from alpha_chaos.bag.definitions import typestore
from alpha_chaos.bag.reader import BagError, MissingBag, TornBag
from alpha_chaos.bag.writer import METADATA
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.bodies.panda import Panda
from alpha_chaos.report.film import HEIGHT, VIEW, WIDTH, NoFilm, chosen, film

PERIOD_NS = 1_000_000_000 // 240


def describe(recorder, body, world):
    recorder.write(
        '/world',
        0,
        made(
            MSG + 'WorldDescription',
            header=header(0),
            body=body.kind,
            step_period=1 / 240,
            first_step=-2,
            joint_names=list(world.joint_names),
            object_names=list(world.object_names),
            object_size=np.ravel(world.object_sizes_m),
            workspace_min=point(0.15, -0.45, 0.55),
            workspace_max=point(0.95, 0.55, 1.25),
            zone=point(0.6, 0.35, 0.65),
            success_radius=0.05,
        ),
    )


def order(recorder, time_ns, kind, stage, **fields):
    message = made(f'alpha_chaos/action/{kind}', **fields)
    recorder.write(
        '/exchanges',
        time_ns,
        made(
            MSG + 'Exchange',
            stamp=stamp(time_ns),
            route='arm/move_to',
            sequence=1,
            stage=stage,
            side='client',
            origin='consumer',
            type=message.__msgtype__,
            payload=np.frombuffer(
                bytes(typestore().serialize_cdr(message, message.__msgtype__)), np.uint8
            ),
            text='{}',
        ),
    )


def record(folder: Path, body, *, orders=True, steps=60) -> Path:
    """Record a robot that moves while its red block is carried over to the zone."""
    recorder = Recorder(folder)
    with body.world() as world:
        describe(recorder, body, world)
        world.start_move((0.55, 0.2, 0.9), None)
        if orders:
            begin_ns = 2 * PERIOD_NS
            order(recorder, begin_ns, 'MoveTo_Goal', 'request')
            order(recorder, begin_ns + 30 * PERIOD_NS, 'MoveTo_Result', 'response')
            order(
                recorder, begin_ns + 30 * PERIOD_NS, 'GripperCommand_Goal', 'request', opening=0.0
            )
            order(recorder, begin_ns + 40 * PERIOD_NS, 'GripperCommand_Result', 'response')
        for step in range(-2, steps):
            state = world.state()
            state.object_pose[0, :3] = (0.5 + 0.1 * step / steps, 0.35 * step / steps, 0.75)
            held = 0 if step > 35 else -1
            recorder.state(
                step,
                (step + 2) * PERIOD_NS,
                type(state)(
                    state.joint_position,
                    state.joint_velocity,
                    state.object_pose,
                    held,
                    state.contact_link,
                    state.contact_object,
                    state.contact_force,
                ),
            )
            world.step()
    recorder.close()
    return folder


@pytest.fixture(scope='module', params=[Kuka, Panda])
def body(request):
    """Return each body that can be drawn."""
    return request.param()


@pytest.fixture(scope='module')
def bag(body, tmp_path_factory):
    """Return a short recording of it."""
    return record(tmp_path_factory.mktemp(body.kind) / 'bag', body)


def pixels(png: bytes):
    return np.asarray(Image.open(io.BytesIO(png)).convert('RGB')).astype(int)


def redness(picture):
    """Return how many pixels are as red as the red block and nothing else."""
    return int(((picture[..., 0] > 120) & (picture[..., 1:] < 60).all(-1)).sum())


def test_a_strip_has_six_pictures_and_says_when_and_what(bag, body):
    found = film(bag, body, 'control_000, llm: success')
    strip = Image.open(io.BytesIO(found.strip))
    assert strip.format == 'PNG'
    assert strip.width == 6 * WIDTH + 5 * 4
    assert strip.height > HEIGHT
    assert found.alt.startswith(
        'control_000, llm: success: observe, plan at 0.00 s, holds nothing'
    )
    assert found.alt.count(' at ') == 6
    assert 'move 1 at' in found.alt
    assert 'grip at 0.17 s, holds red' in found.alt  # 40 steps of 1/240 s
    assert found.alt.endswith('rest at 0.25 s, holds red.')  # 59 steps of 1/240 s


def test_the_moving_version_is_small_and_ends_with_a_rest(bag, body):
    moving = Image.open(io.BytesIO(film(bag, body, '').gif))
    assert moving.format == 'GIF'
    assert moving.size == (WIDTH, HEIGHT)
    assert 2 <= moving.n_frames <= 24
    assert len(film(bag, body, '').gif) <= 300_000
    moving.seek(moving.n_frames - 1)
    assert moving.info['duration'] >= 1500


def test_every_picture_shows_the_red_block(bag, body):
    strip = pixels(film(bag, body, '').strip)
    for place in range(6):
        left = place * (WIDTH + 4)
        assert redness(strip[22 : 22 + HEIGHT, left : left + WIDTH]) > 10, place


def test_the_same_recording_gives_the_same_film(bag, body):
    assert film(bag, body, 'one') == film(bag, body, 'one')


def test_without_orders_the_strip_says_so(tmp_path):
    found = film(record(tmp_path / 'bag', Kuka(), orders=False, steps=3), Kuka(), 'waits')
    assert found.alt.startswith('waits: no order at 0.00 s')


def test_a_title_in_any_script_is_drawn(tmp_path):
    bag = record(tmp_path / 'bag', Kuka(), steps=3)
    assert film(bag, Kuka(), '漢字 \ud800\x1b[31m').strip


def test_no_recording_is_a_typed_error(tmp_path):
    with pytest.raises(MissingBag):
        film(tmp_path / 'none', Kuka(), '')


def test_a_torn_recording_is_a_typed_error(tmp_path):
    bag = record(tmp_path / 'bag', Kuka(), steps=3)
    (bag / METADATA).unlink()
    with pytest.raises(TornBag):
        film(bag, Kuka(), '')


def test_a_recording_without_a_step_is_a_typed_error(tmp_path):
    recorder = Recorder(tmp_path / 'bag')
    recorder.world()
    recorder.close()
    with pytest.raises(BagError, match='no step'):
        film(tmp_path / 'bag', Kuka(), '')


def test_another_body_than_the_recorded_one_is_a_typed_error(tmp_path):
    bag = record(tmp_path / 'bag', Kuka(), steps=3)
    with pytest.raises(NoFilm, match="'panda' has other joints"):
        film(bag, Panda(), '')


def test_without_the_engine_there_is_a_typed_error(tmp_path, monkeypatch):
    bag = record(tmp_path / 'bag', Kuka(), steps=3)
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == 'pybullet':
            raise ImportError('no pybullet')
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, '__import__', without)
    with pytest.raises(NoFilm, match='cannot be drawn: no pybullet'):
        film(bag, Kuka(), '')


@pytest.mark.parametrize(
    ('boundaries', 'count', 'expected'),
    [
        ((0, 100), 5, [0, 25, 50, 75, 100]),
        ((0, 10, 100), 4, [0, 10, 55, 100]),
        ((0, 1, 2, 3, 4, 5, 6, 7, 8), 5, [0, 2, 4, 6, 8]),
        ((0, 2), 6, [0, 1, 2]),
        ((7,), 6, [7]),
    ],
)
def test_pictures_are_taken_at_boundaries_and_then_evenly(boundaries, count, expected):
    assert chosen(boundaries, count) == expected


def test_a_shown_state_is_the_state_of_the_world(body):
    with body.world() as world:
        before = world.state()
        joints = (before.joint_position + 0.01).tolist()
        poses = before.object_pose.copy()
        poses[:, 0] += 0.1
        world.show(joints, poses.tolist())
        after = world.state()
    assert after.joint_position.tolist() == pytest.approx(joints)
    assert after.object_pose == pytest.approx(poses)


def test_an_image_has_the_colours_of_the_blocks_and_the_zone(body):
    with body.world() as world:
        world.paint((0.6, 0.35, 0.65), 0.05)
        picture = world.image(VIEW, WIDTH, HEIGHT).astype(int)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    red, green, blue = picture[..., 0], picture[..., 1], picture[..., 2]
    assert redness(picture) > 20
    assert ((blue > 100) & (red < 60) & (green < 110)).sum() > 20
    assert ((green > 80) & (red < 60) & (blue < 80)).sum() > 20
    assert ((red > 150) & (green > 110) & (blue < 40)).sum() > 20
