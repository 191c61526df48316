"""What every fault must keep to. A new file in faults/ is tested by being there."""

import json

import pytest
from fault_traffic import AlwaysDraw, Nothing, Recorder, episode, run
from numpy.random import default_rng
from plugin_files import check_holds_plugin, kinds

import alpha_chaos.faults
from alpha_chaos import catalogues
from alpha_chaos.faults.base import Fault
from alpha_chaos.plugins import BadSetting, parse

# Files of the package that are no faults.
FRAME = {'__init__', 'answer', 'base', 'draws'}


@pytest.fixture(params=kinds(alpha_chaos.faults, FRAME))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def fault(kind: str) -> Fault:
    example: Fault = catalogues.faults()[kind].example
    return example


def test_a_file_holds_the_fault_of_its_name_and_an_example(kind: str) -> None:
    check_holds_plugin(kind, catalogues.faults(), 'faults')
    assert all(catalogues.faults()[kind].example.routes)


def test_the_same_seed_gives_the_same_episode(fault: Fault) -> None:
    assert run(fault, seed=11) == run(fault, seed=11)


def test_two_injectors_share_no_state(fault: Fault) -> None:
    alone = run(fault)
    recorders = [Recorder(fault, fault.injector(default_rng(7))) for _ in range(3)]
    recorders[0].sample(0.0, b'seen by the first only')
    episode(recorders[0])
    assert episode(recorders[1]) == alone
    assert episode(recorders[2]) == alone


def test_settings_survive_json_and_back(fault: Fault) -> None:
    text = fault.model_dump_json()
    assert parse(catalogues.faults(), json.loads(text), 'fault') == fault
    assert fault.model_dump(mode='json') == json.loads(text)


def test_a_misspelt_setting_is_refused_with_the_right_one(fault: Fault) -> None:
    with pytest.raises(BadSetting, match="did you mean 'probability'"):
        parse(catalogues.faults(), {**fault.model_dump(), 'probabilty': 0.5}, 'fault')


@pytest.mark.parametrize('probability', [-1e-9, 1 + 1e-9, float('nan')])
def test_a_probability_outside_0_to_1_is_refused(fault: Fault, probability: float) -> None:
    with pytest.raises(BadSetting, match='probability'):
        parse(catalogues.faults(), {**fault.model_dump(), 'probability': probability}, 'fault')


def test_probability_0_passes_everything_unchanged_and_still_decides(fault: Fault) -> None:
    never = run(fault.model_copy(update={'probability': 0.0}))
    passed = episode(Recorder(fault, Nothing(listens_to=fault.routes).injector(None)))
    assert never.samples == passed.samples
    assert never.messages == passed.messages
    assert never.commands == []
    assert never.decisions
    assert not any(decision.triggered for decision in never.decisions)


def test_probability_1_strikes_and_shows_it(fault: Fault) -> None:
    always = run(fault.model_copy(update={'probability': 1.0}))
    assert any(decision.triggered for decision in always.decisions)
    assert always.evidence.exercised


def test_it_strikes_exactly_when_the_draw_is_below_the_probability(fault: Fault) -> None:
    struck = []
    for probability in (0.5 - 1e-9, 0.5, 0.5 + 1e-9, 1.0):
        settings = fault.model_copy(update={'probability': probability})
        record = episode(Recorder(settings, settings.injector(AlwaysDraw(0.5))))
        struck.append([decision.triggered for decision in record.decisions])
    assert not any(struck[0])
    assert struck[1] == struck[0]
    assert any(struck[2])
    assert struck[3] == struck[2]


def test_the_draws_do_not_depend_on_the_probability(fault: Fault) -> None:
    never, always = (
        run(fault.model_copy(update={'probability': probability})) for probability in (0.0, 1.0)
    )
    assert [each.draw for each in never.decisions] == [each.draw for each in always.decisions]


def test_every_decision_names_the_fault_and_is_json(fault: Fault) -> None:
    record = run(fault)
    for decision in record.decisions:
        assert decision.fault == fault.kind
        assert decision.probability == fault.probability
        assert decision.draw is None or 0 <= decision.draw < 1
        assert json.loads(json.dumps(decision.detail, allow_nan=False)) == decision.detail
    json.dumps(record.evidence.detail, allow_nan=False)


def test_bytes_that_are_no_message_pass_or_are_lost_and_never_crash(fault: Fault) -> None:
    recorder = Recorder(fault, fault.injector(default_rng(7)))
    recorder.sample(0.0)
    for junk in (b'', b'{"blocks": [', b'\xff\xfe'):
        recorder.sample(0.5, junk)


def test_without_traffic_a_fault_was_not_exercised(fault: Fault) -> None:
    assert not fault.injector(default_rng(7)).evidence().exercised
