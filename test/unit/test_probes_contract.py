"""What every probe must keep to. A new file in probes/ is tested by being there."""

import json
import tracemalloc

import pytest
from plugin_files import check_holds_plugin, kinds
from probe_traffic import show, unreadable

import alpha_chaos.probes
from alpha_chaos import catalogues
from alpha_chaos.faults.base import Fields
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.probes.base import GraphSource, Probe, ServiceSource, TopicSource

FRAME = {'__init__', 'base', 'config', 'trial'}  # files of the package that are no probes


@pytest.fixture(params=kinds(alpha_chaos.probes, FRAME))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def probe(kind: str) -> Probe:
    example: Probe = catalogues.probes()[kind].example
    return example


def test_a_file_holds_the_probe_of_its_name_and_an_example(kind: str) -> None:
    check_holds_plugin(kind, catalogues.probes(), 'probes')


def test_every_setting_says_what_it_is(probe: Probe) -> None:
    for name, field in type(probe).model_fields.items():
        assert name == 'kind' or field.description, f'{name} has no description'


def test_a_probe_looks_at_something_that_can_be_looked_at(probe: Probe) -> None:
    assert isinstance(probe.source, TopicSource | ServiceSource | GraphSource)
    assert 0 <= probe.shortest_s < 3600


def test_settings_survive_json_and_back(probe: Probe) -> None:
    text = probe.model_dump_json()
    assert parse(catalogues.probes(), json.loads(text), 'probe') == probe


def test_a_misspelt_setting_is_refused_with_the_right_one(probe: Probe) -> None:
    with pytest.raises(BadSetting, match="did you mean 'phases'"):
        parse(catalogues.probes(), {**probe.model_dump(), 'phasse': ['before']}, 'probe')


@pytest.mark.parametrize('phases', [[], ['durng'], 'during', 7])
def test_phases_that_there_are_not_are_refused(probe: Probe, phases: object) -> None:
    with pytest.raises(BadSetting, match='phases'):
        parse(catalogues.probes(), {**probe.model_dump(), 'phases': phases}, 'probe')


def test_who_has_seen_nothing_says_neither_held_nor_deviated(probe: Probe) -> None:
    finding = probe.watch(3.0).judge(3.0)
    assert finding.verdict == 'unknown'
    assert finding.reason


def test_two_watches_share_no_state(probe: Probe) -> None:
    alone = probe.watch(0.0)
    before = alone.judge(0.0)
    show(probe, probe.watch(0.0), 0.0, 5.0)
    assert alone.judge(0.0) == before


def test_what_has_deviated_stays_so_and_the_phase_before_does_not_matter(probe: Probe) -> None:
    watch = probe.watch(100.0)
    show(probe, watch, 100.0, 5.0, every_s=0.01)
    assert watch.judge(105.0).verdict == 'deviated'
    assert watch.judge(105.0).reason
    assert watch.judge(500.0).verdict == 'deviated'


def test_a_finding_is_json_without_nan(probe: Probe) -> None:
    watch = probe.watch(0.0)
    show(probe, watch, 0.0, 5.0)
    finding = watch.judge(5.0)
    assert json.loads(json.dumps(finding.measured, allow_nan=False)) == finding.measured


def test_what_cannot_be_read_never_crashes_and_is_never_taken_for_good(probe: Probe) -> None:
    watch = probe.watch(0.0)
    odd = [object(), 7, Fields, None]
    watch.on_message(0.1, unreadable)
    for number, thing in enumerate(odd):
        watch.on_message(0.1 * number, lambda thing=thing: Fields(thing))
        watch.on_answer(0.0, Fields(thing))
    watch.on_senders(1)
    watch.on_silence('no answer')
    watch.on_nodes([])
    finding = watch.judge(0.5)
    assert finding.verdict != 'held'
    assert finding.reason


def test_memory_does_not_grow_with_what_is_seen(probe: Probe) -> None:
    watch = probe.watch(0.0)
    tracemalloc.start()
    show(probe, watch, 0.0, 10.0, every_s=0.001)
    before = tracemalloc.get_traced_memory()[0]
    show(probe, watch, 10.0, 10.0, every_s=0.001)
    watch.judge(20.0)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    # 10 000 further sightings: one byte for each would already be seen.
    assert after - before < 10_000
