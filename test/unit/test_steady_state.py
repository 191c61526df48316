"""The section `steady_state:` of a relay's file, and what is said about mistakes in it."""

import re
import textwrap
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from alpha_chaos.jsonl import seal
from alpha_chaos.plugins import BadSetting
from alpha_chaos.probes.config import SteadyState, SteadyStateFile, StepFile
from alpha_chaos.probes.topic_rate import TopicRate
from alpha_chaos.probes.trial import Orphan
from alpha_chaos.resources import config_folder
from alpha_chaos.run.steady_state import Journal, steady_state

GOOD = """\
topics:
  /scan:
    type: sensor_msgs/msg/LaserScan
services:
  /plan:
steady_state:
  probes:
    scan rate:
      kind: topic_rate
      topic: /relay/scan
      min_hz: 8
    planner: {kind: service_answers, service: /plan, phases: [before, after], expects: {ok: 1}}
  method:
    - route: /scan
      fault: {kind: drop, probability: 0.5}
      for_s: 10
    - {route: /plan, fault: {kind: lag, lag_s: 2, side: response}, start_s: 4, for_s: 8}
  after_s: 3
"""


def load(tmp_path, text):
    path = tmp_path / 'relay.yaml'
    path.write_text(textwrap.dedent(text))
    return SteadyState.load(path)


def test_what_is_not_given_has_its_default(tmp_path):
    made = load(tmp_path, GOOD)
    assert made.probes['scan rate'] == TopicRate(topic='/relay/scan', min_hz=8)
    assert made.probes['planner'].phases == ('before', 'after')
    assert (made.before_s, made.settle_s, made.after_s, made.find_s) == (5, 1, 3, 10)
    assert made.undo_at_once
    assert made.during_s == 12
    first, second = made.method
    assert (first.start_s, first.for_s) == (0, 10)
    assert (second.start_s, second.for_s) == (4, 8)
    assert first.settings['route'] == '/scan'
    assert first.settings['kind'] == 'drop'


def test_the_relay_ends_a_fault_itself_if_nobody_is_left_to_do_it(tmp_path):
    made = load(tmp_path, GOOD)
    assert [step.settings['schedule']['for_s'] for step in made.method] == [10, 8]
    shorter = GOOD.replace('probability: 0.5', 'schedule: {for_s: 2}')
    assert load(tmp_path, shorter).method[0].settings['schedule']['for_s'] == 2
    when = GOOD.replace(
        'probability: 0.5', 'schedule: {when: {topic: x, field: data, above: 1.0}}'
    )
    assert load(tmp_path, when).method[0].settings['schedule']['for_s'] is None


def test_the_example_shows_every_key_there_is():
    path = config_folder() / 'relay' / 'example.yaml'
    assert SteadyState.load(path).probes
    shown = yaml.safe_load(path.read_text())['steady_state']
    assert set(shown) == set(SteadyStateFile.model_fields)
    assert set(shown['method'][0]) == set(StepFile.model_fields)


def test_it_goes_into_the_journal_as_it_is(tmp_path):
    text = load(tmp_path, GOOD).as_json()
    assert text['probes']['scan rate']['min_hz'] == 8
    assert text['method'][1]['start_s'] == 4
    assert text['settle_s'] == 1


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('kind: topic_rate', 'kind: topic_rat', ['line 9', "did you mean 'topic_rate'"]),
        ('min_hz: 8', 'min_hz: fast', ['line 11', 'min_hz', 'number']),
        ('min_hz: 8', 'min_hertz: 8', ['line 11', "did you mean 'min_hz'"]),
        ('min_hz: 8', 'max_hz: .nan', ['line 11', 'max_hz', 'finite']),
        ('min_hz: 8', 'min_hz: 0', ['line 8', 'min_hz or max_hz is needed']),
        ('- route: /scan', '- route: /scam', ['line 14', "did you mean '/scan'"]),
        ('kind: drop', 'kind: dropp', ['line 15', "did you mean 'drop'"]),
        ('probability: 0.5', 'probability: 2', ['line 15', 'probability']),
        ('      for_s: 10\n', '', ['for_s', 'missing']),
        ('for_s: 10', 'for_s: -1', ['line 16', 'for_s']),
        ('side: response', 'side: goal', ['line 17', 'request, response']),
        ('after_s: 3', 'after_s: 0.5', ['line 8', 'scan rate', 'after takes 0.5 s', '1 s']),
        ('after_s: 3', 'afer_s: 3', ['line 18', "did you mean 'after_s'"]),
        ('steady_state:', 'steady_stat:', ['line 6', "did you mean 'steady_state'"]),
        ('phases: [before, after]', 'phases: [bevor]', ['line 12', 'phases']),
        ('topic: /relay/scan', 'topic: relay//scan', ['line 10', 'is no ROS name']),
        ('expects: {ok: 1}', 'type: /srv/Go', ['line 12', 'is no interface']),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_would_be_right(tmp_path, old, new, words):
    assert old in GOOD
    with pytest.raises(BadSetting) as error:
        load(tmp_path, GOOD.replace(old, new))
    for word in ['relay.yaml', *words]:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ('section', 'words'),
    [
        ('', 'steady_state'),
        ('steady_state: 7', 'line 2'),
        ('steady_state: {probes: {}, method: []}', 'probes'),
        ('steady_state: {probes: {a: 7}, method: [{}]}', 'line 2'),
        ('steady_state: {probes: {a: {kind: [1]}}, method: [{}]}', 'line 2'),
    ],
)
def test_a_section_that_is_none_is_refused(tmp_path, section, words):
    with pytest.raises(BadSetting, match=words):
        load(tmp_path, f'topics: {{/scan: {{}}}}\n{section}\n')


def test_what_is_left_at_one_relay_waits_for_a_run_with_that_relay(tmp_path):
    path, fault = tmp_path / 'found.jsonl', {'route': '/scan', 'kind': 'drop'}
    with Journal(path, {'relay': '/a/relay'}) as killed:
        killed.record({'event': 'begun'})
        killed.record({'event': 'undo_registered', 'step': 0, 'fault': fault})
        killed.record({'event': 'fault_armed', 'step': 0, 'id': 3})
    with Journal(path, {'relay': '/b/relay'}) as elsewhere:
        assert elsewhere.orphans == []
        elsewhere.record({'event': 'begun'})
    with Journal(path, {'relay': '/a/relay'}) as again:
        assert again.orphans == [Orphan(run=1, step=0, settings=fault, handle=3)]


@pytest.mark.parametrize('line', ['{"run": 1e400, "event": "begun"}', '{"run": 1}', '{}'])
def test_lines_of_something_else_are_no_journal(tmp_path, line):
    path = tmp_path / 'found.jsonl'
    path.write_text(line + '\n')
    with pytest.raises(BadSetting, match='holds something else'):
        Journal(path, {'relay': '/relay'})
    assert path.read_text() == line + '\n'


def test_a_device_is_no_journal(tmp_path):
    (tmp_path / 'relay.yaml').write_text(GOOD)
    with pytest.raises(BadSetting, match='/dev/zero is no file'):
        steady_state(str(tmp_path / 'relay.yaml'), Path('/dev/zero'), '/relay', Console())


def test_a_number_that_no_journal_could_hold_is_refused(tmp_path):
    with pytest.raises(BadSetting, match='line 12'):
        load(tmp_path, GOOD.replace('expects: {ok: 1}', 'expects: {ok: .nan}'))


def broken_text():
    """Return files that were good before one value in them became something else."""
    places = re.findall(r'(?<=: )[^\s{}\[\],]+', GOOD)
    junk = st.one_of(
        st.sampled_from(['~', '[]', '{}', '.nan', '.inf', '-1', '1e999', '"', '!!binary x', '*a']),
        st.text(max_size=8),
        st.integers(-(10**30), 10**30).map(str),
    )

    def spoil(choice):
        place, value = choice
        return GOOD.replace(f': {place}', f': {value}', 1)

    return st.tuples(st.sampled_from(places), junk).map(spoil)


@settings(max_examples=150)
@given(text=st.one_of(st.text(), st.binary(), broken_text()))
def test_whatever_a_file_holds_it_is_read_or_refused(text, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / 'spoilt.yaml'
    path.write_bytes(text if isinstance(text, bytes) else text.encode('utf-8', 'surrogatepass'))
    try:
        made = SteadyState.load(path)
    except BadSetting:
        return
    assert seal({'settings': made.as_json()})
