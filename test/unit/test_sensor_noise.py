"""Positions that are a little off: by how much, which ones, and what is said about it."""

import math

import numpy as np
import pytest
from fault_traffic import SEEN, Message, sample, scene
from numpy.random import default_rng
from pydantic import ValidationError

from alpha_chaos.faults.base import Injector, Sample
from alpha_chaos.faults.sensor_noise import SensorNoise


def noise(seed: int = 0, **settings: object) -> Injector:
    return SensorNoise(**{'sigma_m': 0.01, **settings}).injector(default_rng(seed))


def positions(passed: Sample) -> list[list[float]]:
    fields = passed.fields()
    return [
        [fields.get(f'{path}.{axis}') for axis in 'xyz']
        for path in fields.each('blocks[*].pose.position')
    ]


def test_every_coordinate_gets_the_next_normal_number_times_sigma() -> None:
    draws = default_rng(5)
    draws.random()  # whether it strikes
    expected = np.array(list(SEEN.values())) + 0.01 * draws.standard_normal((2, 3))
    (passed,) = noise(5).on_message(sample(0.5))
    assert positions(passed) == expected.tolist()


def test_a_bias_alone_moves_every_block_by_the_same() -> None:
    injector = noise(sigma_m=0.0, bias_m=(0.25, 0.0, -0.125))
    for second in (0.0, 0.1):
        (passed,) = injector.on_message(sample(second))
        assert positions(passed) == [[0.75, -0.15, 0.525], [0.7, 0.125, 0.525]]
    (_, decision) = injector.decisions()
    assert decision.detail == {'positions': 2, 'largest_m': 0.25}
    detail = injector.evidence().detail
    assert detail['largest_m'] == 0.25
    # Of the four coordinates that were changed, twice 0.25 and 0.125.
    assert detail['rms_m'] == pytest.approx(math.sqrt((0.25**2 + 0.125**2) / 2))


def test_over_many_messages_the_noise_has_its_mean_and_deviation_on_each_axis() -> None:
    injector = noise(sigma_m=0.02, bias_m=(0.0, 0.01, 0.0))
    one = scene({'red': (0.0, 0.0, 0.0)})
    errors = np.array(
        [positions(next(iter(injector.on_message(sample(0.1, one)))))[0] for _ in range(4000)]
    )
    # Five standard errors: 0.02/sqrt(4000) of the mean, 0.02/sqrt(8000) of the deviation.
    assert errors.mean(axis=0) == pytest.approx([0.0, 0.01, 0.0], abs=5 * 0.02 / math.sqrt(4000))
    assert errors.std(axis=0) == pytest.approx([0.02] * 3, abs=5 * 0.02 / math.sqrt(8000))
    correlation = np.corrcoef(errors.T)
    assert np.abs(correlation - np.eye(3)).max() < 5 / math.sqrt(4000)


def test_twice_the_sigma_is_twice_the_error_of_the_same_seed() -> None:
    one = scene({'red': (0.0, 0.0, 0.0)})
    (weak,), (strong,) = (
        noise(3, sigma_m=sigma_m).on_message(sample(0.5, one)) for sigma_m in (0.01, 0.02)
    )
    assert positions(strong)[0] == [2 * error for error in positions(weak)[0]]


def test_only_positions_change() -> None:
    (passed,) = noise().on_message(sample(0.5, sequence=7))
    assert (passed.stamp_s, passed.sequence) == (0.5, 7)
    blocks = passed.fields().message.blocks
    assert [block.name for block in blocks] == ['red', 'green']
    assert blocks[0].pose.orientation == Message(x=0.0, y=0.0, z=0.0, w=1.0)


def test_no_noise_changes_not_one_bit_and_did_not_strike() -> None:
    came = sample(0.5, scene({'red': (-0.0, 0.1, 0.2)}))
    injector = noise(sigma_m=0.0)
    assert list(injector.on_message(came)) == [came]
    (decision,) = injector.decisions()
    assert not decision.triggered
    assert decision.detail == {'positions': 1, 'largest_m': 0.0}


def test_a_spared_message_uses_up_as_many_draws() -> None:
    after = []
    for probability in (0.0, 1.0):
        draws = default_rng(1)
        injector = SensorNoise(sigma_m=0.01, probability=probability).injector(draws)
        list(injector.on_message(sample(0.0)))
        after.append(draws.random())
    assert after[0] == after[1]


def test_a_coordinate_that_is_not_finite_stays() -> None:
    (passed,) = noise().on_message(sample(0.5, scene({'red': (float('nan'), 0.0, math.inf)})))
    x, y, z = positions(passed)[0]
    assert (math.isnan(x), z) == (True, math.inf)
    assert y != 0.0


def test_a_scene_without_blocks_says_nothing_about_the_fault() -> None:
    injector = noise()
    list(injector.on_message(sample(0.5, scene({}))))
    assert not injector.evidence().exercised
    list(injector.on_message(sample(0.6)))
    assert injector.evidence().exercised


def test_any_topic_with_positions_can_be_hit() -> None:
    injector = noise(sigma_m=0.0, bias_m=(1.0, 0.0, 0.0), positions='point')
    came = sample(0.5, Message(point=Message(x=1.0, y=2.0, z=3.0)))
    (passed,) = injector.on_message(came)
    assert passed.fields().message.point == Message(x=2.0, y=2.0, z=3.0)


def test_a_path_that_leads_nowhere_is_no_message_that_passes() -> None:
    with pytest.raises(AttributeError, match='blocs'):
        list(noise(positions='blocs[*]').on_message(sample(0.5)))


@pytest.mark.parametrize('sigma_m', [-1e-9, 1.1, float('nan')])
def test_a_sigma_that_is_none_is_refused(sigma_m: float) -> None:
    with pytest.raises(ValidationError, match='sigma_m'):
        SensorNoise(sigma_m=sigma_m)
