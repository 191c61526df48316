"""Random numbers of the faults, and the paper's slips."""

import random
from pathlib import Path

import pytest
from fault_traffic import Recorder, done, grip, move
from hypothesis import given
from hypothesis import strategies as st

from alpha_chaos import catalogues
from alpha_chaos.experiment import Episode, Experiment
from alpha_chaos.faults.draws import draws_for, generator
from alpha_chaos.plugins import parse
from alpha_chaos.resources import config_folder

# The episodes in which the paper reports a slip.
SLIPS = {
    'grip_slip_low': {2, 3},
    'grip_slip_medium': {0, 1, 3},
    'grip_slip_high': {0, 1, 2, 3},
}
CONCURRENT_SLIPS = 3


@given(st.one_of(st.integers(0, 100_000), st.integers(0, 2**200)))
def test_the_mersenne_twister_draws_what_cpython_draws(seed: int) -> None:
    reference = random.Random(seed)
    draws = generator('mersenne_twister', seed, 'grasp_slip', 0)
    assert [draws.random() for _ in range(5)] == [reference.random() for _ in range(5)]


@pytest.mark.parametrize('seed', [0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**64])
def test_seeds_of_any_number_of_words_are_cpython_s(seed: int) -> None:
    draws = generator('mersenne_twister', seed, 'sensor_lag', 3)
    assert draws.random() == random.Random(seed).random()


def test_by_seed_sequence_kind_occurrence_and_seed_each_give_another_stream() -> None:
    streams = {
        generator('seed_sequence', seed, kind, occurrence).random()
        for seed in (0, 1, 2**32, 2**62)
        for kind in ('sensor_lag', 'grasp_slip')
        for occurrence in (0, 1)
    }
    assert len(streams) == 16


def slipped(episode: Episode) -> bool:
    """Grasp and lift once, under the grasp slip of this episode."""
    index = [fault['kind'] for fault in episode.faults].index('grasp_slip')
    fault = parse(catalogues.faults(), episode.faults[index], 'fault')
    recorder = Recorder(fault, fault.injector(draws_for(episode, index)))
    recorder.call('arm/move_to', move(0.5, -0.15, 0.675), done())
    recorder.call('gripper/command', grip(500.0), done())
    recorder.call('arm/move_to', move(0.5, -0.15, 0.805), done())
    (decision,) = recorder.finish().decisions
    return decision.triggered


def paper(calibration: str, folder: Path) -> Experiment:
    """Return the paper's experiment under another calibration."""
    text = (config_folder() / 'experiments' / 'paper.yaml').read_text()
    changed = folder / 'paper.yaml'
    changed.write_text(text.replace('calibration: as_run', f'calibration: {calibration}'))
    experiment = Experiment.load(str(changed))
    assert experiment.calibration is not None
    assert experiment.calibration.name == calibration
    return experiment


@pytest.mark.parametrize('calibration', ['formula', 'nominal', 'as_run'])
@pytest.mark.parametrize('arm', ['oracle', 'oracle_json', 'llm'])
def test_every_published_slip_comes_out(calibration: str, arm: str, tmp_path: Path) -> None:
    found: dict[str, set[int]] = {}
    for episode in paper(calibration, tmp_path).episodes([arm]):
        if any(fault['kind'] == 'grasp_slip' for fault in episode.faults):
            cell = found.setdefault(episode.condition, set())
            if slipped(episode):
                cell.add(episode.episode_index)
    assert len(found.pop('concurrent')) == CONCURRENT_SLIPS
    assert found == SLIPS


def test_by_the_formula_the_paper_s_seeds_would_have_spared_plans(tmp_path: Path) -> None:
    # The paper reports 0 of 15: its corruption cannot have read the probability.
    corrupted = dict.fromkeys(('low', 'medium', 'high'), 0)
    for episode in paper('formula', tmp_path).episodes(['llm']):
        if episode.fault_class == 'planner_output_corruption':
            probability = episode.faults[0]['probability']
            assert isinstance(probability, float)
            corrupted[episode.label] += draws_for(episode, 0).random() < probability
    assert corrupted == {'low': 0, 'medium': 3, 'high': 5}


@pytest.mark.parametrize('rule', ['mersenne_twister', 'seed_sequence'])
def test_a_fault_draws_the_same_alone_and_beside_others(rule: str) -> None:
    example = Episode(
        experiment='pairs',
        run_id='a_000',
        arm='oracle',
        planner={'kind': 'oracle'},
        condition='a',
        fault_class='a',
        calibration='',
        episode_index=0,
        seed=12345,
        draws=rule,
        body={'kind': 'kuka'},
        task={'kind': 'pick_place'},
        faults=({'kind': 'grasp_slip'},),
    )
    beside = example.model_copy(
        update={'arm': 'llm', 'faults': ({'kind': 'sensor_lag'}, {'kind': 'grasp_slip'})}
    )
    assert draws_for(example, 0).random() == draws_for(beside, 1).random()


def test_two_faults_of_one_kind_draw_apart_by_seed_sequence() -> None:
    first, second = (generator('seed_sequence', 1, 'sensor_lag', n).random() for n in (0, 1))
    assert first != second
