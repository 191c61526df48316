"""The relay's file: what it may say, and what is said about mistakes in it."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from alpha_chaos.catalogues import transit_faults
from alpha_chaos.plugins import BadSetting
from alpha_chaos.resources import config_folder
from alpha_chaos.transit.config import (
    RelayConfig,
    RelayFile,
    TopicFile,
    default_output,
    find_relay_file,
    parse_fault,
)
from alpha_chaos.transit.lag import Lag


def read(folder: Path, text: str) -> RelayConfig:
    path = folder / 'relay.yaml'
    path.write_text(text, encoding='utf-8')
    return RelayConfig.load(path)


@pytest.mark.parametrize('path', sorted((config_folder() / 'relay').glob('*.yaml')))
def test_every_file_that_comes_along_can_be_read(path: Path) -> None:
    assert RelayConfig.load(path).routes
    assert find_relay_file(path.stem) == path


def test_the_example_shows_every_key_there_is() -> None:
    shown = yaml.safe_load((config_folder() / 'relay' / 'example.yaml').read_text())
    keys = {name for name in RelayFile.model_fields if name in shown}
    assert keys >= {'seed', 'allow', 'hold', 'topics', 'services', 'actions'}
    assert set(shown['topics']['/chatter']) == set(TopicFile.model_fields)


def test_a_route_needs_no_more_than_its_name(tmp_path: Path) -> None:
    config = read(tmp_path, 'topics: {/scan: }\nservices: {add: {}}\nactions: {~/go: }\n')
    assert [(route.kind, route.name, route.output) for route in config.routes] == [
        ('topic', '/scan', '/relay/scan'),
        ('service', 'add', 'relay/add'),
        ('action', '~/go', '~/relay/go'),
    ]
    assert (config.seed, config.allow) == (0, ())


def test_faults_are_read_with_their_settings(tmp_path: Path) -> None:
    text = 'topics: {/a: {faults: [{kind: lag, lag_s: 1}, {kind: lag, lag_s: 2}]}}'
    (route,) = read(tmp_path, text).routes
    assert route.faults == (Lag(lag_s=1.0), Lag(lag_s=2.0))


FAULT = 'topics:\n  /a:\n    faults:\n      - kind: lag\n        lag_s: 1\n'


@pytest.mark.parametrize(
    ('text', 'line', 'words'),
    [
        ('', None, 'the file is empty'),
        ('- topics', 1, 'expected keys: seed, allow'),
        ('topic: {/a: }', 1, "unknown key 'topic', did you mean 'topics'?"),
        ('seed: 1\ntopics:\n  /a:\n    faluts: []\n', 4, "did you mean 'faults'?"),
        ('seed: 1\ntopics:\n  /a b:\n', 3, "'/a b' is no ROS name"),
        (
            'topics:\n  /a:\n    type: Strng\n',
            3,
            "'Strng' is no interface",
        ),
        ('topics:\n  /a:\n    type: a_msgs/srv/Go\n', 3, 'a_msgs/srv/Go is no type of a topic'),
        (
            'topics:\n  /a:\n    qos: {depth: 0}\n',
            3,
            'topics./a.qos.depth: Input should be greater',
        ),
        ('topics: {/a: }\ntopics: {/b: }\n', 2, "the key 'topics' is given twice"),
        ('topics:\n  /a: {output: /c}\n  /b: {output: /c}\n', 3, 'same output /c'),
        ('topics:\n  /a: {output: /b}\n  /b: \n', 3, 'topics./b.output: /a and /b make a chain'),
        (
            'allow: [/odom, /scam]\ntopics: {/odom: , /scan: }\n',
            1,
            "allow[1]: unknown route '/scam', did you mean '/scan'?",
        ),
        (FAULT.replace('lag\n', 'lga\n'), 4, "unknown fault 'lga', did you mean 'lag'?"),
        (FAULT.replace('kind', 'knd'), 4, 'no fault is named; known: '),
        (FAULT.replace('lag_s', 'lag_ms'), 5, "unknown key 'lag_ms', did you mean 'lag_s'?"),
        (
            FAULT.replace('1', '-1'),
            5,
            'faults[0].lag_s: Input should be greater than or equal to 0',
        ),
        (FAULT.replace('1', '.nan'), 5, 'faults[0].lag_s: Input should be'),
        (FAULT.replace('1', '1e999'), 5, 'faults[0].lag_s: Input should be'),
        (FAULT.replace('lag_s: 1', 'probability: 0.5'), 4, "the key 'lag_s' is missing"),
        (FAULT + '        side: request\n', 6, 'faults[0].side: `side` of fault'),
        (
            FAULT + '        schedule:\n          after: 3\n',
            7,
            "schedule: unknown key 'after', did you mean 'after_s'?",
        ),
        (
            FAULT + '        schedule: {when: {topic: /b, field: x}}\n',
            6,
            'a condition has either `above` or `below`',
        ),
        (
            FAULT + '        schedule: {when: {topic: b c, field: x, above: 0}}\n',
            6,
            "when.topic: 'b c' is no ROS name; it looks like /robot/scan or scan",
        ),
        (
            'topics:\n  /a:\n    faults:\n' + '      - {kind: drop}\n' * 101,
            3,
            'topics./a.faults: List should have at most 100 items after validation, not 101',
        ),
        ('topics: {/a: {faults: [7]}}', 1, 'faults[0]: Input should be a valid dictionary'),
        ('hold: {messages: 0}', 1, 'hold.messages: Input should be greater than or equal to 1'),
        ('topics: {/a: *b}', 1, 'aliases (*name) are not taken'),
        ('topics: [', 1, 'while parsing'),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    with pytest.raises(BadSetting) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    assert said.startswith(f'{tmp_path / "relay.yaml"}' + (f', line {line}: ' if line else ': '))
    assert words in said


def test_a_service_needs_to_know_which_side_is_struck(tmp_path: Path) -> None:
    text = FAULT.replace('topics', 'services')
    with pytest.raises(BadSetting, match=r'line 4.*one of request, response; none is given'):
        read(tmp_path, text)
    (route,) = read(tmp_path, text + '        side: response\n').routes
    assert route.faults == (Lag(lag_s=1.0, side='response'),)


def test_a_fault_that_is_added_later_is_checked_in_the_same_way() -> None:
    assert parse_fault({'kind': 'lag', 'lag_s': 1}, 'topic') == Lag(lag_s=1.0)
    with pytest.raises(BadSetting, match=r'one of goal, .*; none is given'):
        parse_fault({'kind': 'lag', 'lag_s': 1}, 'action')


def test_outputs_lie_beside_what_they_relay() -> None:
    assert [default_output(name) for name in ('/a/b', 'a', '~/a')] == [
        '/relay/a/b',
        'relay/a',
        '~/relay/a',
    ]


# -- whatever stands in it

KEYS = st.sampled_from(
    [
        *RelayFile.model_fields,
        *TopicFile.model_fields,
        *('/a', 'kind', 'lag_s', 'field', 'side', 'schedule', 'when', 'above', 'depth', 'x'),
    ]
)
WORDS = st.sampled_from(
    [*transit_faults(), 'message', '/a', '/b', 'std_msgs/msg/String', 'keep_all', 'reliable', '']
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.dates()
    | st.binary(max_size=4)
    | WORDS
    | st.text(max_size=8)
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | LEAVES, inner, max_size=4),
    max_leaves=12,
)
FAULTS = st.dictionaries(KEYS, LEAVES | TREES, max_size=4).flatmap(
    lambda rest: st.sampled_from(sorted(transit_faults())).map(lambda kind: {**rest, 'kind': kind})
)


def loads_or_is_refused(folder: Path, data: bytes) -> None:
    path = folder / 'random.yaml'
    path.write_bytes(data)
    refusal = ''
    try:
        RelayConfig.load(path)
    except BadSetting as error:
        refusal = str(error)
    assert not refusal or refusal.startswith(str(path))


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp('relay')


@given(st.dictionaries(KEYS, TREES, max_size=4))
def test_any_yaml_is_read_or_refused_by_name(folder: Path, content: object) -> None:
    loads_or_is_refused(folder, yaml.dump(content, allow_unicode=True).encode())


@given(st.lists(FAULTS, max_size=3))
def test_any_faults_are_read_or_refused_by_name(folder: Path, faults: object) -> None:
    loads_or_is_refused(folder, yaml.dump({'topics': {'/a': {'faults': faults}}}).encode())


@given(st.binary() | st.text().map(lambda text: text.encode('utf-8', 'surrogatepass')))
def test_any_bytes_are_read_or_refused_by_name(folder: Path, data: bytes) -> None:
    loads_or_is_refused(folder, data)
