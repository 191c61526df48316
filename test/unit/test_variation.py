"""What is drawn for each episode."""

import math
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from alpha_chaos.bodies.base import Block
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.bodies.panda import Panda
from alpha_chaos.plugins import BadSetting
from alpha_chaos.variation import Variation

ALL = Variation(position_m=0.03, yaw_rad=0.3, table_friction=(0.8, 1.2), mass_kg=(0.05, 0.2))
BODY = Panda()

seeds = st.integers(0, 2**63 - 1)
ranges = st.tuples(st.floats(0.01, 10), st.floats(0, 10)).map(lambda it: (it[0], it[0] + it[1]))
variations = st.builds(
    Variation,
    position_m=st.floats(0, 0.05),
    yaw_rad=st.floats(0, math.pi),
    table_friction=st.none() | ranges,
    mass_kg=st.none() | ranges,
)


def numbers(body: Any) -> dict[str, list[float]]:
    return {
        'position': [value for block in body.blocks for value in block.position_m],
        'yaw': [block.yaw_rad for block in body.blocks],
        'mass': [block.mass_kg for block in body.blocks],
        'table': [body.table_friction],
    }


@given(variations, seeds)
def test_what_is_drawn_is_in_its_range_and_the_rest_as_it_was(
    variation: Variation, seed: int
) -> None:
    drawn = variation.drawn(BODY, seed)
    assert Panda.model_validate(drawn.model_dump()) == drawn
    for block, before in zip(drawn.blocks, BODY.blocks, strict=True):
        for axis in range(2):
            moved = abs(block.position_m[axis] - before.position_m[axis])
            assert moved <= variation.position_m + 1e-12
        assert block.position_m[2] == before.position_m[2]
        assert abs(block.yaw_rad - before.yaw_rad) <= variation.yaw_rad
        if variation.mass_kg is None:
            assert block.mass_kg is before.mass_kg
        else:
            assert variation.mass_kg[0] <= block.mass_kg <= variation.mass_kg[1]
        assert (block.name, block.friction) == (before.name, before.friction)
    if variation.table_friction is None:
        assert drawn.table_friction is None
    else:
        low, high = variation.table_friction
        assert low <= drawn.table_friction <= high
    assert drawn.nudge == BODY.nudge


@given(variations, seeds)
def test_a_seed_always_draws_the_same_and_another_seed_something_else(
    variation: Variation, seed: int
) -> None:
    assert variation.drawn(BODY, seed) == variation.drawn(BODY, seed)
    assert ALL.drawn(BODY, seed) != ALL.drawn(BODY, seed ^ 1)


@given(variations, seeds)
def test_what_else_is_varied_changes_no_draw(variation: Variation, seed: int) -> None:
    alone = numbers(Variation(position_m=0.03).drawn(BODY, seed))['position']
    wide = variation.model_copy(update={'position_m': 0.03})
    assert numbers(wide.drawn(BODY, seed))['position'] == alone


@given(seeds, st.integers(1, 5))
def test_another_block_changes_no_draw_of_the_ones_before_it(seed: int, more: int) -> None:
    extra = tuple(
        Block(name=f'extra_{number}', position_m=(0.7, 0.1 * number, 0.675))
        for number in range(more)
    )
    larger = BODY.model_copy(update={'blocks': BODY.blocks + extra})
    assert ALL.drawn(larger, seed).blocks[:3] == ALL.drawn(BODY, seed).blocks
    assert ALL.drawn(larger, seed).table_friction == ALL.drawn(BODY, seed).table_friction


def test_nothing_to_vary_leaves_every_number_as_it_was() -> None:
    assert Variation().drawn(BODY, 7) == BODY


def test_the_draws_are_spread_evenly_and_each_on_its_own() -> None:
    drawn = [ALL.drawn(BODY, seed) for seed in range(2000)]
    columns = np.array([list(chain(*numbers(body).values())) for body in drawn])
    columns = columns[:, columns.std(axis=0) > 1e-9]  # the height of a block stays
    assert columns.shape[1] == 3 * 4 + 1
    low, high = columns.min(axis=0), columns.max(axis=0)
    shares = (columns - low) / (high - low)
    # Of 2000 uniform numbers: mean 1/2 and deviation 1/sqrt(12), each within five standard errors.
    assert shares.mean(axis=0) == pytest.approx(0.5, abs=5 * 0.289 / math.sqrt(2000))
    assert shares.std(axis=0) == pytest.approx(1 / math.sqrt(12), rel=0.06)
    correlation = np.corrcoef(columns.T) - np.eye(columns.shape[1])
    assert np.abs(correlation).max() < 5 / math.sqrt(2000)


def test_the_ranges_are_used_to_their_ends() -> None:
    bodies = [ALL.drawn(BODY, seed) for seed in range(2000)]
    masses = [block.mass_kg for body in bodies for block in body.blocks]
    assert min(masses) == pytest.approx(0.05, abs=1e-3)
    assert max(masses) == pytest.approx(0.2, abs=1e-3)
    offsets = [body.blocks[0].position_m[1] for body in bodies]
    assert (min(offsets), max(offsets)) == pytest.approx((-0.03, 0.03), abs=1e-4)


def test_the_body_of_the_paper_can_be_varied_too() -> None:
    drawn = ALL.drawn(Kuka(), 7)
    assert isinstance(drawn, Kuka)
    assert drawn != Kuka()
    ALL.check(Kuka())


@pytest.mark.parametrize(
    ('variation', 'fits'),
    [
        # The blocks nearest to each other are green and red: 0.05 and 0.2 m apart.
        (Variation(position_m=0.07), True),
        (Variation(position_m=0.08), False),
        (Variation(position_m=0.07, yaw_rad=0.1), False),
        (Variation(position_m=0.06, yaw_rad=0.1), True),
    ],
)
def test_a_range_that_puts_blocks_into_each_other_is_refused(
    variation: Variation, fits: bool
) -> None:
    if fits:
        variation.check(BODY)
    else:
        with pytest.raises(BadSetting, match='can put red and green into each other; their cent'):
            variation.check(BODY)


@given(st.floats(0, 0.2), st.booleans(), seeds)
def test_no_scene_of_a_range_that_is_taken_has_blocks_in_each_other(
    position_m: float, turned: bool, seed: int
) -> None:
    variation = Variation(position_m=position_m, yaw_rad=0.3 if turned else 0.0)
    try:
        variation.check(BODY)
    except BadSetting:
        return
    blocks = variation.drawn(BODY, seed).blocks
    for index, one in enumerate(blocks):
        for other in blocks[index + 1 :]:
            apart = math.dist(one.position_m, other.position_m)
            assert apart >= 0.05 * (math.sqrt(2) if turned else 1)


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'position_m': -0.1}, 'position_m'),
        ({'position_m': math.nan}, 'position_m'),
        ({'yaw_rad': 4}, 'yaw_rad'),
        ({'table_friction': [1.2, 0.8]}, r'a range is \[lowest, highest\]'),
        ({'table_friction': [1.0]}, 'table_friction'),
        ({'table_friction': 1.0}, 'table_friction'),
        ({'mass_kg': [0, 0.1]}, 'mass_kg'),
        ({'mass_kg': [0.1, math.inf]}, 'mass_kg'),
        ({'mas_kg': [0.1, 0.2]}, 'mas_kg'),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(settings: object, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Variation.model_validate(settings)
