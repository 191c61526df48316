"""Intensities in physical units."""

from pathlib import Path

import pytest

from alpha_chaos import calibration
from alpha_chaos.calibration import Calibration
from alpha_chaos.plugins import BadSetting
from alpha_chaos.resources import config_folder

FOLDER = config_folder() / 'calibrations'
LABELS = ('low', 'medium', 'high')


def load(name: str, folder: Path = FOLDER) -> Calibration:
    return calibration.load(name, folder, folder)


def write(folder: Path, name: str, text: str) -> None:
    (folder / f'{name}.yaml').write_text(f'description: a test\n{text}')


def values(name: str, kind: str, key: str) -> list[object]:
    found = load(name)
    return [found.settings(kind, label, found.intensity(label)).get(key) for label in LABELS]


@pytest.mark.parametrize('path', sorted(FOLDER.glob('*.yaml')), ids=lambda path: path.stem)
def test_every_calibration_that_comes_with_the_package_loads(path: Path) -> None:
    assert load(path.stem).name == path.stem
    assert load(str(path)) == load(path.stem)


@pytest.mark.parametrize('name', ['formula', 'nominal', 'as_run'])
def test_the_intensities_are_the_paper_s(name: str) -> None:
    assert load(name).intensities == {'low': 0.33, 'medium': 0.66, 'high': 1.0}


@pytest.mark.parametrize('name', ['formula', 'nominal', 'as_run'])
def test_formula_and_text_agree_about_the_lag(name: str) -> None:
    assert values(name, 'sensor_lag', 'lag_s') == pytest.approx([0.562, 1.024, 1.5])


@pytest.mark.parametrize('name', ['formula', 'as_run'])
def test_the_formulas_give_slips_and_offsets(name: str) -> None:
    assert values(name, 'grasp_slip', 'probability') == pytest.approx([0.3805, 0.661, 0.95])
    assert values(name, 'unreachable_target', 'offset_m') == pytest.approx([0.1191, 0.2082, 0.3])


def test_the_text_gives_other_slips_and_offsets() -> None:
    assert values('nominal', 'grasp_slip', 'probability') == [0.270, 0.525, 0.865]
    assert values('nominal', 'unreachable_target', 'offset_m') == [0.0705, 0.1380, 0.2595]


@pytest.mark.parametrize(
    ('name', 'probabilities', 'direction'),
    [
        ('formula', [0.464, 0.728, 1.0], None),
        ('nominal', [0.464, 0.728, 1.0], None),
        ('as_run', [1.0, 1.0, 1.0], [1, 0, 0]),
    ],
)
def test_the_paper_ran_along_x_and_corrupted_every_plan(
    name: str, probabilities: list[float], direction: list[int] | None
) -> None:
    assert values(name, 'plan_corruption', 'probability') == pytest.approx(probabilities)
    assert values(name, 'plan_corruption', 'cut_share') == [0.0, 0.5, 0.5]
    assert values(name, 'unreachable_target', 'direction') == [direction] * 3


def test_a_number_is_calibrated_between_the_labels_too() -> None:
    assert load('formula').settings('sensor_lag', '', 0.5) == {'lag_s': pytest.approx(0.8)}


def test_a_value_by_label_has_none_between() -> None:
    with pytest.raises(BadSetting, match=r'grasp_slip.probability for the labels low, medium, h'):
        load('nominal').settings('grasp_slip', '', 0.5)


def test_a_fault_the_calibration_does_not_know_has_no_settings() -> None:
    assert load('formula').settings('duplicate', 'low', 0.33) == {}


def test_the_record_of_a_calibration_holds_what_it_extends() -> None:
    record = load('as_run').as_json()
    assert record['parameters']['sensor_lag'] == {'lag_s': {'intercept': 0.1, 'slope': 1.4}}
    assert record['parameters']['unreachable_target']['direction'] == [1, 0, 0]


def test_an_extension_changes_only_what_it_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        'base',
        'intensities: {low: 0.25, high: 1}\n'
        'parameters: {sensor_lag: {lag_s: {intercept: 1, slope: 2}, route: camera}}\n',
    )
    write(
        tmp_path,
        'changed',
        'extends: base\nintensities: {middle: 0.5}\nparameters: {sensor_lag: {lag_s: 3.0}}\n',
    )
    found = load('changed', tmp_path)
    assert found.intensities == {'low': 0.25, 'middle': 0.5, 'high': 1}
    assert found.settings('sensor_lag', 'low', 0.25) == {'lag_s': 3.0, 'route': 'camera'}
    base = load('base', tmp_path).settings('sensor_lag', 'low', 0.25)
    assert base == {'lag_s': 1.5, 'route': 'camera'}


@pytest.mark.parametrize(
    ('text', 'complaint'),
    [
        ('intensities: {low: 1.5}', 'line 2: intensities.low: .*less than or equal to 1'),
        (
            'parameters:\n  sensor_lagg: {lag_s: 1}',
            "line 3: unknown fault 'sensor_lagg', did you ",
        ),
        (
            'parameters:\n  sensor_lag:\n    lags: 1',
            "line 4: sensor_lag: unknown key 'lags', did you mean 'lag_s'",
        ),
        (
            'parameters: {sensor_lag: {lag_s: {intercept: 1}}}',
            "parameters.sensor_lag.lag_s.linear: the key 'slope' is missing",
        ),
        ('extends: test', 'line 2: .*circle'),
        ('extends: formla', "unknown calibration 'formla'"),
        ('parametres: {}', "line 2: unknown key 'parametres', did you mean 'parameters'"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    write(tmp_path, 'test', text)
    with pytest.raises(BadSetting, match=complaint) as caught:
        load('test', tmp_path)
    assert 'test.yaml' in str(caught.value) or 'formla' in text
    assert '\n' not in str(caught.value)


def test_an_unknown_label_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadSetting, match="unknown label 'med', did you mean 'medium'"):
        load('formula').intensity('med')
