"""A camera that hangs: what the consumer gets instead, and how old it is."""

import pytest
from fault_traffic import AlwaysDraw, sample
from numpy.random import default_rng

from alpha_chaos.faults.base import Injector
from alpha_chaos.faults.scene_freeze import SceneFreeze


def deliver(injector: Injector, *stamps_s: float) -> list[float]:
    """Return the stamp of what is delivered for each message."""
    return [
        passed.stamp_s
        for number, stamp_s in enumerate(stamps_s)
        for passed in injector.on_message(sample(stamp_s, sequence=number + 1))
    ]


def freeze(after_s: float, **settings: float) -> Injector:
    return SceneFreeze(after_s=after_s, **settings).injector(default_rng(0))


TENTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def test_from_its_time_on_the_last_message_before_it_is_repeated() -> None:
    injector = freeze(0.25)
    assert deliver(injector, *TENTHS) == [0.0, 0.1, 0.2, 0.2, 0.2, 0.2]
    details = [decision.detail for decision in injector.decisions()]
    assert [detail['delivered_sequence'] for detail in details] == [1, 2, 3, 3, 3, 3]
    assert [detail['staleness_s'] for detail in details] == pytest.approx(
        [0.0, 0.0, 0.0, 0.1, 0.2, 0.3]
    )
    evidence = injector.evidence()
    assert evidence.exercised
    assert evidence.detail == {
        'decided': 6,
        'struck': 3,
        'after_s': 0.25,
        'oldest_s': pytest.approx(0.3),
    }


@pytest.mark.parametrize(
    ('after_s', 'last'), [(0.3, 0.2), (0.3 + 1e-9, 0.3), (0.3 - 1e-9, 0.2), (0.2, 0.1)]
)
def test_a_message_of_that_very_time_is_not_delivered_any_more(
    after_s: float, last: float
) -> None:
    assert deliver(freeze(after_s), *TENTHS)[-1] == last


@pytest.mark.parametrize('step', range(0, 241, 7))
def test_a_time_of_whole_steps_is_met_by_the_step(step: int) -> None:
    stamps = [number / 240 for number in range(242)]
    assert deliver(freeze(step / 240), *stamps)[-1] == max(step - 1, 0) / 240


def test_what_hangs_before_its_first_message_repeats_that() -> None:
    injector = freeze(0.0)
    assert deliver(injector, *TENTHS) == [0.0] * 6
    assert [decision.triggered for decision in injector.decisions()] == [False] + [True] * 5


def test_the_message_that_is_repeated_is_the_same_to_the_last_byte() -> None:
    injector = freeze(0.05)
    first, second = sample(0.0, sequence=1), sample(0.1, sequence=2)
    assert next(iter(injector.on_message(first))) is first
    assert next(iter(injector.on_message(second))) is first


def test_an_episode_that_ends_before_it_says_nothing_about_the_fault() -> None:
    injector = freeze(5.0)
    assert deliver(injector, *TENTHS) == list(TENTHS)
    assert not injector.evidence().exercised


def test_whether_it_hangs_is_one_draw_for_the_whole_episode() -> None:
    fault = SceneFreeze(after_s=0.25, probability=0.5)
    for draw, last in ((0.5, 0.5), (0.5 - 1e-9, 0.2)):
        injector = fault.injector(AlwaysDraw(draw))
        assert deliver(injector, *TENTHS)[-1] == last
        assert {decision.draw for decision in injector.decisions()} == {draw}
        assert injector.evidence().exercised  # also when it lost the draw
