"""Experiment files, and the episodes they mean."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from alpha_chaos.catalogues import faults, recoveries
from alpha_chaos.experiment import Cell, Episode, Experiment
from alpha_chaos.plugins import BadSetting
from alpha_chaos.resources import config_folder

FOLDER = config_folder() / 'experiments'

SMALL = """\
description: a test
master_seed: 7
calibration: formula
body: {kind: kuka}
task: {kind: pick_place, block: red}
arms:
  oracle: {kind: oracle}
  text: {kind: oracle_json}
conditions:
  - name: control
    episodes: 2
  - name: lag
    faults: [{kind: sensor_lag}]
    labels: [low, high]
"""


def load(folder: Path, text: str = SMALL, name: str = 'small') -> Experiment:
    path = folder / f'{name}.yaml'
    path.write_text(text)
    return Experiment.load(str(path))


def small(condition: str) -> str:
    """Return the small experiment with this as its only condition."""
    head, _, _ = SMALL.partition('conditions:')
    return f'{head}conditions:\n  - {condition}\n'


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(BadSetting) as caught:
        load(folder, text)
    message = str(caught.value)
    assert '\n' not in message
    assert str(folder / 'small.yaml') in message
    return message


@pytest.mark.parametrize('path', sorted(FOLDER.glob('*.yaml')), ids=lambda path: path.stem)
def test_every_experiment_that_comes_with_the_package_expands(path: Path) -> None:
    experiment = Experiment.load(path.stem)
    assert experiment.name == path.stem
    episodes = experiment.episodes()
    assert len({episode.id for episode in episodes}) == len(episodes)
    for episode in episodes:
        assert Episode.from_json(episode.to_json()) == episode


def test_the_paper_has_75_episodes_an_arm_with_the_paper_s_run_ids() -> None:
    experiment = Experiment.load('paper')
    assert [arm.name for arm in experiment.arms] == ['oracle', 'oracle_json', 'llm']
    expected = [f'control_{number:03d}' for number in range(10)]
    for cell in ('sensor_lag', 'grip_slip', 'unreachable_ik', 'planner_output_corruption'):
        for label in ('low', 'medium', 'high'):
            expected += [f'{cell}_{label}_{number:03d}' for number in range(5)]
    expected += [f'concurrent_{number:03d}' for number in range(5)]
    for arm in experiment.arms:
        assert [episode.run_id for episode in experiment.episodes([arm.name])] == expected


def test_the_paper_runs_on_its_own_body_seeds_and_calibration() -> None:
    for episode in Experiment.load('paper').episodes():
        assert episode.body['kind'] == 'kuka'
        assert episode.task['block'] == 'red'
        assert episode.planner['kind'] == episode.arm
        assert episode.draws == 'mersenne_twister'
        assert episode.calibration == 'as_run'
        assert 42 <= episode.seed < 10_042


def test_the_arms_of_a_pair_stand_together_and_differ_in_the_planner_only() -> None:
    episodes = Experiment.load('paper').episodes()
    for start in range(0, len(episodes), 3):
        trio = episodes[start : start + 3]
        alike = [episode.model_dump(exclude={'arm', 'planner'}) for episode in trio]
        assert alike[0] == alike[1] == alike[2]
        assert [episode.arm for episode in trio] == ['oracle', 'oracle_json', 'llm']


def test_the_concurrent_cell_holds_both_faults_at_the_medium_intensity() -> None:
    episode = Experiment.load('paper').episode('concurrent_004', 'llm')
    assert [fault['kind'] for fault in episode.faults] == ['sensor_lag', 'grasp_slip']
    assert (episode.condition, episode.fault_class) == ('concurrent', 'concurrent')
    assert (episode.label, episode.intensity) == ('medium', 0.66)
    assert episode.faults[0]['lag_s'] == pytest.approx(1.024)
    assert episode.episode_index == 4


def test_cell_and_class_of_a_labelled_episode() -> None:
    episode = Experiment.load('paper').episode('grip_slip_low_003', 'oracle')
    assert episode.id == 'grip_slip_low_003/oracle'
    assert (episode.condition, episode.fault_class) == ('grip_slip_low', 'grip_slip')
    assert (episode.label, episode.intensity) == ('low', 0.33)


def test_the_smoke_experiment_meets_every_fault_and_every_arm_in_12_episodes() -> None:
    episodes = Experiment.load('smoke').episodes()
    assert len(episodes) <= 12
    kinds = Counter(str(fault['kind']) for episode in episodes for fault in episode.faults)
    assert set(kinds) == {'sensor_lag', 'grasp_slip', 'unreachable_target', 'plan_corruption'}
    assert {episode.arm for episode in episodes} == {'oracle', 'oracle_json', 'llm'}
    assert {episode.body['kind'] for episode in episodes} == {'kuka'}


# -- the experiments on body panda ----------------------------------------------------------------

TWINNED = ('randomized', 'recovery')


@pytest.mark.parametrize('name', TWINNED)
def test_beside_every_fault_stands_a_control_on_the_same_seeds_and_scenes(name: str) -> None:
    experiment = Experiment.load(name)
    episodes = {episode.run_id: episode for episode in experiment.episodes(['oracle'])}
    for episode in episodes.values():
        assert bool(episode.control) == bool(episode.faults)
        if episode.control:
            twin = episodes[f'{episode.control}_{episode.episode_index:03d}']
            assert not twin.faults
            assert (twin.seed, twin.body, twin.task) == (episode.seed, episode.body, episode.task)


@pytest.mark.parametrize('name', TWINNED)
def test_an_episode_has_the_same_scene_in_every_arm_and_another_one_than_the_next(
    name: str,
) -> None:
    experiment = Experiment.load(name)
    scenes: dict[str, set[str]] = {}
    for episode in experiment.episodes():
        scenes.setdefault(episode.run_id, set()).add(json.dumps(episode.body))
    assert {len(found) for found in scenes.values()} == {1}
    control = [scenes[f'control_{number:03d}'].pop() for number in range(10)]
    assert len(set(control)) == 10


def test_the_randomized_experiment_holds_every_fault_and_keeps_to_its_ranges() -> None:
    experiment = Experiment.load('randomized')
    kinds = {fault.kind for cell in experiment.cells for fault in cell.faults}
    assert kinds == set(faults())
    assert {cell.episodes for cell in experiment.cells} == {10}
    for episode in experiment.episodes(['oracle']):
        assert 0.8 <= episode.body['table_friction'] <= 1.2
        assert all(0.05 <= block['mass_kg'] <= 0.2 for block in episode.body['blocks'])
        red = episode.body['blocks'][0]
        assert abs(red['position_m'][0] - 0.5) <= 0.03
        assert abs(red['position_m'][1]) <= 0.03
        assert abs(red['yaw_rad']) <= 0.3


def test_the_recovery_experiment_compares_every_policy_with_the_bare_model() -> None:
    arms = {arm.name: arm for arm in Experiment.load('recovery').arms}
    assert {arm.recovery.kind for arm in arms.values()} == set(recoveries())
    assert arms['llm'].recovery.kind == 'none'
    retry = Experiment.load('recovery').episode('control_000', 'llm_retry')
    assert retry.recovery == {'kind': 'retry', 'tries': 2}
    assert 'recovery' not in retry.planner


def test_episode_number_n_draws_the_same_in_every_cell() -> None:
    experiment = Experiment.load('randomized')
    seeds = {
        number: {experiment.seed(cell.run_ids[number]) for cell in experiment.cells}
        for number in range(10)
    }
    assert {len(found) for found in seeds.values()} == {1}
    assert len(set.union(*seeds.values())) == 10
    assert max(set.union(*seeds.values())) < 2**63


floats = st.floats(allow_nan=False, allow_infinity=False)


@given(floats, st.floats(0, 1e6), st.integers(0, 2**63), st.text())
def test_an_episode_survives_json_to_the_last_bit(
    value: float, factor: float, seed: int, text: str
) -> None:
    episode = (
        Experiment.load('smoke')
        .episodes()[-1]
        .model_copy(
            update={
                'seed': seed,
                'intensity': value,
                'real_time_factor': factor,
                'faults': (
                    {'kind': 'new', 'value': value, 'text': text, 'list': [value, None, 1]},
                ),
            }
        )
    )
    again = Episode.from_json(episode.to_json())
    assert again == episode
    assert str(again.faults[0]['value']) == str(value)
    assert again.to_json() == episode.to_json()


def test_an_episode_cannot_be_changed_or_have_other_keys() -> None:
    episode = Experiment.load('smoke').episodes()[0]
    with pytest.raises(ValidationError):
        episode.seed = 1  # type: ignore[misc]
    with pytest.raises(ValidationError, match='sead'):
        Episode.from_json(json.dumps({**json.loads(episode.to_json()), 'sead': 1}))


def test_by_hash_every_run_id_has_a_large_seed_of_its_own(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    seeds = {experiment.seed(f'control_{number:03d}') for number in range(1000)}
    assert len(seeds) == 1000
    assert max(seeds) < 2**63
    other = load(tmp_path, SMALL.replace('master_seed: 7', 'master_seed: 8'))
    assert seeds.isdisjoint({other.seed(f'control_{number:03d}') for number in range(1000)})


def test_arms_are_chosen_by_name_and_keep_their_order(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    assert [each.arm for each in experiment.episodes(['text', 'oracle', 'text'])][:2] == [
        'oracle',
        'text',
    ]
    assert {each.arm for each in experiment.episodes(['text'])} == {'text'}
    with pytest.raises(BadSetting, match=r"unknown arm 'orakle', did you mean 'oracle'\?"):
        experiment.episodes(['oracle', 'orakle'])


def test_an_unknown_run_id_is_answered_with_the_closest(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"unknown run_id 'lag_lo_000', did you mean 'lag_low_0"):
        load(tmp_path).episode('lag_lo_000', 'text')


def test_settings_given_directly_need_no_calibration(tmp_path: Path) -> None:
    text = small('{name: slow, faults: [{kind: sensor_lag, lag_s: 0.25}]}')
    (episode, _) = load(tmp_path, text.replace('calibration: formula\n', '')).episodes()
    assert episode.faults[0]['lag_s'] == 0.25
    assert (episode.calibration, episode.label, episode.intensity) == ('', '', None)
    assert episode.run_id == 'slow_000'


def test_settings_given_directly_go_before_the_calibration_s(tmp_path: Path) -> None:
    faults = '[{kind: plan_corruption, cut_share: 1.0}]'
    (episode, _) = load(tmp_path, small(f'{{name: cut, faults: {faults}, label: low}}')).episodes()
    assert episode.faults[0]['cut_share'] == 1.0
    assert episode.faults[0]['probability'] == pytest.approx(0.464)


def test_an_intensity_needs_no_label(tmp_path: Path) -> None:
    text = small('{name: half, faults: [{kind: sensor_lag}], intensity: 0.5}')
    (episode, _) = load(tmp_path, text).episodes()
    assert episode.faults[0]['lag_s'] == pytest.approx(0.8)
    assert (episode.run_id, episode.label, episode.intensity) == ('half_000', '', 0.5)


def test_a_calibration_may_be_a_file_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / 'mine.yaml').write_text(
        'description: mine\nextends: formula\nparameters: {sensor_lag: {lag_s: 0.125}}'
    )
    experiment = load(tmp_path, SMALL.replace('calibration: formula', 'calibration: mine.yaml'))
    assert experiment.episode('lag_high_000', 'text').faults[0]['lag_s'] == 0.125


def test_another_setting_of_the_planner_reaches_its_arm_only(tmp_path: Path) -> None:
    text = SMALL.replace('text: {kind: oracle_json}', 'llm: {kind: llm}')
    experiment = load(tmp_path, text)
    changed = experiment.with_planner('llm', {'model': 'llama3:8b'})
    planners = {episode.arm: episode.planner for episode in changed.episodes()}
    assert planners['llm']['model'] == 'llama3:8b'
    assert planners['oracle'] == experiment.episodes()[0].planner
    assert changed.fingerprint() != experiment.fingerprint()
    with pytest.raises(BadSetting, match="unknown key 'modle', did you mean 'model'"):
        experiment.with_planner('llm', {'modle': 'x'})


def test_the_fingerprint_tells_experiments_apart_and_not_their_texts(tmp_path: Path) -> None:
    one = load(tmp_path).fingerprint()
    assert load(tmp_path).fingerprint() == one
    assert load(tmp_path, SMALL.replace('a test', 'another text # and more')).fingerprint() == one
    assert load(tmp_path, f'{SMALL}real_time_factor: 1\n').fingerprint() == one
    changes = [
        SMALL.replace('master_seed: 7', 'master_seed: 8'),
        SMALL.replace('[low, high]', '[low]'),
        SMALL.replace('episodes: 2', 'episodes: 3'),
        SMALL.replace('calibration: formula', 'calibration: nominal'),
        SMALL.replace('  text: {kind: oracle_json}\n', ''),
        SMALL.replace('block: red', 'block: blue'),
    ]
    others = {load(tmp_path, text).fingerprint() for text in changes}
    assert len(others | {one}) == len(changes) + 1


def test_the_manifest_holds_the_experiment_as_it_was_expanded(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    manifest = json.loads(json.dumps(experiment.manifest(), allow_nan=False))
    assert manifest == experiment.manifest()
    assert manifest['fingerprint'] == experiment.fingerprint()
    assert manifest['calibration']['parameters']['sensor_lag']
    assert [cell['name'] for cell in manifest['cells']] == ['control', 'lag_low', 'lag_high']
    assert manifest['cells'][2]['faults'][0]['lag_s'] == pytest.approx(1.5)
    assert manifest['cells'][0]['seeds'] == [experiment.seed(f'control_00{n}') for n in (0, 1)]
    bare = load(tmp_path, small('name: control').replace('calibration: formula\n', ''))
    assert bare.manifest()['calibration'] is None


# -- scenes, controls, grids, recoveries, replicates ----------------------------------------------

PANDA = """\
description: a test
master_seed: 7
seed_rule: episode_hash
calibration: formula
body: {kind: panda}
vary: {position_m: 0.03, mass_kg: [0.1, 0.2]}
task: {kind: pick_place, block: red}
arms:
  oracle: {kind: oracle}
  again: {kind: oracle_json, recovery: {kind: retry, tries: 1}}
conditions:
  - name: control
    episodes: 2
  - name: lag
    faults: [{kind: sensor_lag}]
    labels: [low, high]
    episodes: 2
  - name: moved
    body: {nudge: {block: red, step: 60, displacement_m: [0, 0.05]}}
  - name: moved_lag
    body: {nudge: {block: red, step: 60, displacement_m: [0, 0.05]}}
    faults: [{kind: sensor_lag, lag_s: 0.4}]
"""


def panda(condition: str) -> str:
    """Return the experiment on body panda with one condition more."""
    return f'{PANDA}  - {condition}\n'


def cells(folder: Path, text: str) -> dict[str, Cell]:
    return {cell.name: cell for cell in load(folder, text).cells}


def test_a_control_is_the_first_fault_free_condition_on_the_same_body(tmp_path: Path) -> None:
    found = {name: cell.control for name, cell in cells(tmp_path, PANDA).items()}
    assert found == {
        'control': '',
        'lag_low': 'control',
        'lag_high': 'control',
        'moved': '',
        'moved_lag': 'moved',
    }


def test_a_control_may_be_named_also_one_on_another_body(tmp_path: Path) -> None:
    text = panda('{name: other, control: moved, faults: [{kind: sensor_lag, lag_s: 0.1}]}')
    assert cells(tmp_path, text)['other'].control == 'moved'


def test_a_fault_on_a_body_without_a_control_has_none(tmp_path: Path) -> None:
    text = PANDA.replace(
        'displacement_m: [0, 0.05]}}\n    faults', 'displacement_m: [0, 0.06]}}\n    faults'
    )
    assert cells(tmp_path, text)['moved_lag'].control == ''


def test_under_other_seed_rules_no_condition_has_the_seeds_of_another(tmp_path: Path) -> None:
    text = PANDA.replace('seed_rule: episode_hash\n', '')
    assert {cell.control for cell in load(tmp_path, text).cells} == {''}


def test_a_grid_has_a_cell_for_every_combination(tmp_path: Path) -> None:
    text = panda('{name: both, grid: {sensor_lag: [low, high], grasp_slip: [low, medium]}}')
    found = cells(tmp_path, text)
    names = [name for name in found if name.startswith('both')]
    assert names == ['both_low_low', 'both_low_medium', 'both_high_low', 'both_high_medium']
    cell = found['both_high_low']
    assert (cell.fault_class, cell.label, cell.intensity) == ('both', 'high_low', None)
    lag, slip = cell.faults
    assert (lag.kind, slip.kind) == ('sensor_lag', 'grasp_slip')
    assert lag.model_dump()['lag_s'] == pytest.approx(1.5)
    assert slip.probability == pytest.approx(0.10 + 0.85 * 0.33)
    assert cell.control == 'control'


def test_a_condition_changes_the_body_it_names_and_no_other(tmp_path: Path) -> None:
    experiment = load(tmp_path, PANDA)
    moved = experiment.episode('moved_000', 'oracle').body
    still = experiment.episode('control_000', 'oracle').body
    assert moved['nudge'] == {'block': 'red', 'step': 60, 'displacement_m': [0.0, 0.05]}
    assert still['nudge'] is None
    assert {**moved, 'nudge': None} == still


def test_a_scene_hangs_on_the_seed_alone(tmp_path: Path) -> None:
    one = load(tmp_path, PANDA)
    more = load(tmp_path, panda('{name: later, episodes: 9}'))
    assert more.episode('later_001', 'again').body == one.episode('lag_high_001', 'oracle').body
    other = load(tmp_path, PANDA.replace('master_seed: 7', 'master_seed: 8'))
    assert other.episode('control_000', 'oracle').body != one.episode('control_000', 'oracle').body


def test_the_recovery_of_an_arm_is_no_setting_of_its_planner(tmp_path: Path) -> None:
    experiment = load(tmp_path, PANDA)
    again = experiment.episode('control_000', 'again')
    assert again.recovery == {'kind': 'retry', 'tries': 1}
    assert again.planner == {'kind': 'oracle_json'}
    assert experiment.episode('control_000', 'oracle').recovery['kind'] == 'none'


def test_replicates_are_further_episodes_and_leave_the_first_ones_as_they_were(
    tmp_path: Path,
) -> None:
    experiment = load(tmp_path, PANDA)
    more = experiment.with_replicates(5)
    assert {cell.episodes for cell in more.cells} == {5}
    known = {episode.id: episode for episode in more.episodes()}
    for episode in experiment.episodes():
        assert known[episode.id] == episode
    assert more.fingerprint() != experiment.fingerprint()
    for count in (0, 1001):
        with pytest.raises(BadSetting, match=f'replicates: {count} is not between 1 and 1000'):
            experiment.with_replicates(count)


def test_the_manifest_says_what_is_drawn_and_what_is_compared(tmp_path: Path) -> None:
    experiment = load(tmp_path, PANDA)
    manifest = json.loads(json.dumps(experiment.manifest(), allow_nan=False))
    assert manifest['vary']['mass_kg'] == [0.1, 0.2]
    assert manifest['recoveries']['again'] == {'kind': 'retry', 'tries': 1}
    assert [cell['control'] for cell in manifest['cells']][-1] == 'moved'
    assert manifest['cells'][-1]['body']['nudge']['step'] == 60
    assert load(tmp_path).manifest()['vary'] is None


@pytest.mark.parametrize(
    ('wrong', 'right', 'said'),
    [
        ('episode_hsh', 'episode_hash', 'line 3: seed_rule: Input should be'),
        ('positon_m', 'position_m', "line 6: vary: unknown key 'positon_m', did you mean 'positi"),
        ('[0.2, 0.1]', '[0.1, 0.2]', 'line 6: vary.mass_kg: a range is [lowest, hig'),
        ('{position_m: 0.09', '{position_m: 0.03', 'line 6: position_m 0.09 can put red and gr'),
        ('{kind: rety,', '{kind: retry,', "line 10: unknown recovery 'rety', did you mean 'retry"),
        ('trys: 1', 'tries: 1', "line 10: recovery 'retry': unknown key 'trys', did you mean 'tr"),
        ('recovery: retry}', 'recovery: {kind: retry, tries: 1}}', 'line 10: a recovery is setti'),
        (
            'recovry: {',
            'recovery: {',
            "line 10: planner 'oracle_json': unknown key 'recovry'",
        ),
        (
            'red, displ',
            'red, step: 60, displ',
            "line 19: body 'panda': nudge.step: Field required",
        ),
        ('nugde:', 'nudge:', "line 19: body 'panda': unknown key 'nugde', did you mean 'nudge'?"),
        (
            '{block: pink,',
            '{block: red,',
            "line 19: body 'panda': nudge: there is no",
        ),
    ],
)
def test_a_mistake_about_scenes_and_arms_is_named_too(
    tmp_path: Path, wrong: str, right: str, said: str
) -> None:
    assert said in complaint(tmp_path, PANDA.replace(right, wrong, 1))


@pytest.mark.parametrize(
    ('condition', 'said'),
    [
        ('{name: a, grid: {sensorlag: [low]}}', "line 23: unknown fault 'sensorlag', did you me"),
        ('{name: a, grid: {sensor_lag: [hihg]}}', "unknown label 'hihg', did you mean 'high'?"),
        ('{name: a, grid: {sensor_lag: []}}', 'conditions[4].grid.sensor_lag: Tuple should have'),
        ('{name: a, grid: {sensor_lag: [low, low]}}', "there are two conditions 'a_low'"),
        ('{name: a, grid: {sensor_lag: [low]}, label: low}', 'give either grid or label'),
        (
            '{name: a, grid: {sensor_lag: [low]}, faults: [{kind: grasp_slip}]}',
            'give either grid or faults',
        ),
        (
            '{name: a, control: contrl, faults: [{kind: sensor_lag, lag_s: 1}]}',
            "unknown condition 'contrl', did you mean 'control'?",
        ),
        (
            '{name: a, control: lag_low, faults: [{kind: sensor_lag, lag_s: 1}]}',
            "a control is another condition, without faults; 'lag_low' is not",
        ),
        ('{name: a, control: a}', "a control is another condition, without faults; 'a' is not"),
        (
            '{name: a, episodes: 3, faults: [{kind: sensor_lag, lag_s: 1}]}',
            "control 'control' has 2 episodes, so some of these 3 would have nothing to be comp",
        ),
        ('{name: a, body: {kind: kuka, blocks: []}}', 'blocks: Tuple should have at least 1'),
        (
            '{name: a, body: {blocks: [{name: green, position_m: [0.5, 0, 0.7]}]}}',
            "the body has no block 'red'; it has green",
        ),
        (
            '{name: a, body: {blocks: [{name: red, position_m: [0.5, 0, 0.7]}, {name: blue, '
            'position_m: [0.5, 0.1, 0.7]}]}}',
            'can put red and blue into each other',
        ),
    ],
)
def test_a_condition_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, condition: str, said: str
) -> None:
    message = complaint(tmp_path, panda(condition))
    assert said in message
    assert 'line 23: ' in message


def test_a_control_needs_seeds_that_are_shared(tmp_path: Path) -> None:
    text = panda('{name: a, control: moved}').replace('seed_rule: episode_hash\n', '')
    assert 'line 22: a control has the same seeds only under' in complaint(tmp_path, text)


def test_an_unknown_experiment_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        BadSetting, match=r"unknown experiment 'papre', did you mean 'paper'\?.*sm"
    ):
        Experiment.load('papre')


@pytest.mark.parametrize(
    ('wrong', 'right', 'said'),
    [
        ('arm:', 'arms:', "line 6: unknown key 'arm', did you mean 'arms'?"),
        ('formla', 'formula', "line 3: unknown calibration 'formla', did you mean 'formula'?"),
        ('{kind: kuca}', '{kind: kuka}', "line 4: unknown body 'kuca', did you mean 'kuka'?"),
        ('pick_palce', 'pick_place', "line 5: unknown task 'pick_palce', did you mean 'pick_pla"),
        ('blok: red', 'block: red', "line 5: task 'pick_place': unknown key 'blok', did you mean"),
        ('purple', 'red', "line 5: the body has no block 'purple'; it has red, green, blue"),
        ('{kind: orcle}', '{kind: oracle}', "line 7: unknown planner 'orcle', did you mean 'orac"),
        ('episods', 'episodes', "line 11: conditions[0]: unknown key 'episods', did you mean"),
        ('sensorlag', 'sensor_lag', "line 13: unknown fault 'sensorlag', did you mean 'sensor_l"),
        (
            '{kind: sensor_lag, lag: 1}',
            '{kind: sensor_lag}',
            "line 13: fault 'sensor_lag': unknow",
        ),
        ('[low, hihg]', '[low, high]', "line 14: unknown label 'hihg', did you mean 'high'?"),
        ('[low, low]', '[low, high]', "line 12: there are two conditions 'lag_low'"),
        ('name: la g', 'name: lag', 'line 12: conditions[1].name: String should match'),
        ('episodes: 0', 'episodes: 2', 'line 11: conditions[0].episodes: Input should be greater'),
        ('episodes: 1001', 'episodes: 2', 'line 11: conditions[0].episodes: Input should be less'),
        ('master_seed: -1', 'master_seed: 7', 'line 2: master_seed: Input should be greater'),
        ('[low]\n    label: low', '[low, high]', 'line 15: give either labels or label'),
        ('{kind: [1]}', '{kind: oracle}', 'line 7: unknown planner [1]; known: '),
    ],
)
def test_a_mistake_is_named_with_file_line_and_remedy(
    tmp_path: Path, wrong: str, right: str, said: str
) -> None:
    assert said in complaint(tmp_path, SMALL.replace(right, wrong, 1))


@pytest.mark.parametrize(
    ('condition', 'said'),
    [
        ('{name: a, label: low}', 'has none of the faults of this condition'),
        ('{name: a, faults: [{}]}', 'no fault is named; known: '),
        ('{name: a, faults: [{kind: sensor_lag}]}', "fault 'sensor_lag': lag_s: Field required"),
        (
            '{name: a, faults: [{kind: sensor_lag, lag_s: .nan}]}',
            'conditions[0].faults[0].lag_s: Input should be a finite number',
        ),
        ('{name: a, faults: [{kind: sensor_lag}], intensity: 2}', 'less than or equal to 1'),
    ],
)
def test_a_condition_that_means_nothing_is_refused(
    tmp_path: Path, condition: str, said: str
) -> None:
    assert said in complaint(tmp_path, small(condition))


def test_an_intensity_without_a_calibration_is_refused(tmp_path: Path) -> None:
    text = SMALL.replace('calibration: formula\n', '')
    assert 'an intensity means nothing without a calibration' in complaint(tmp_path, text)


def test_a_value_by_label_is_missed_where_an_intensity_has_none(tmp_path: Path) -> None:
    text = small('{name: a, faults: [{kind: grasp_slip}], intensity: 0.5}')
    said = complaint(tmp_path, text.replace('calibration: formula', 'calibration: nominal'))
    assert re.search(r'line 10: .*grasp_slip.probability for the labels low, medium, high', said)
