"""Which messages are lost, and what is said about it."""

import pytest
from fault_traffic import sample
from numpy.random import default_rng

from alpha_chaos.faults.scene_drop import SceneDrop


def test_the_messages_whose_draw_is_below_the_probability_are_lost() -> None:
    draws = default_rng(4).random(50)
    injector = SceneDrop(probability=0.4).injector(default_rng(4))
    came = [sample(number / 10, sequence=number + 1) for number in range(50)]
    passed = [list(injector.on_message(each)) for each in came]
    assert passed == [[] if draw < 0.4 else [each] for each, draw in zip(came, draws, strict=True)]
    decisions = injector.decisions()
    assert [decision.draw for decision in decisions] == draws.tolist()
    assert [decision.triggered for decision in decisions] == (draws < 0.4).tolist()


def test_the_share_that_is_lost_is_the_probability() -> None:
    injector = SceneDrop(probability=0.3).injector(default_rng(0))
    lost = sum(not list(injector.on_message(sample(0.0))) for _ in range(4000))
    # Five standard errors of a share.
    assert lost / 4000 == pytest.approx(0.3, abs=5 * (0.3 * 0.7 / 4000) ** 0.5)


class Scripted:
    """Draws given numbers."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = iter(numbers)

    def random(self) -> float:
        return next(self._numbers)


def test_the_evidence_counts_what_was_lost_in_a_row() -> None:
    injector = SceneDrop(probability=0.5).injector(Scripted(0.1, 0.9, 0.1, 0.2, 0.3, 0.7, 0.4))
    for _ in range(7):
        list(injector.on_message(sample(0.0)))
    runs = [decision.detail['lost_in_a_row'] for decision in injector.decisions()]
    assert runs == [1, 0, 1, 2, 3, 0, 1]
    evidence = injector.evidence()
    assert evidence.exercised
    assert evidence.detail == {
        'decided': 7,
        'struck': 5,
        'delivered': 2,
        'longest_run_lost': 3,
        'last_lost': True,
    }
