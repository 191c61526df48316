"""The page of the relay's keys and faults is what the code gives."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from alpha_chaos.catalogues import probes, transit_faults
from alpha_chaos.transit.config import RelayConfig, parse_fault

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope='module')
def reference() -> ModuleType:
    path = ROOT / 'scripts/relay_reference.py'
    spec = importlib.util.spec_from_file_location('relay_reference', path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_the_relay_is_what_the_code_gives(reference: ModuleType) -> None:
    assert reference.PAGE.read_text('utf-8') == reference.page(), 'run `make reference`'


def test_every_fault_has_its_section_and_every_key_a_meaning(reference: ModuleType) -> None:
    text = reference.PAGE.read_text('utf-8')
    assert set(re.findall(r'^### (\w+)$', text, re.MULTILINE)) == set(transit_faults())
    assert set(re.findall(r'^### `(\w+)`$', text, re.MULTILINE)) == set(probes())
    rows = [line.split(' | ') for line in text.splitlines() if line.startswith('| `')]
    assert [row for row in rows if not row[-1].strip(' |')] == []


def test_the_guide_names_every_fault_and_every_probe() -> None:
    guide = (ROOT / 'docs/relay.md').read_text('utf-8')
    missing = [kind for kind in transit_faults() if f'`{kind}`' not in guide]
    missing += [kind for kind in probes() if f'kind: {kind}' not in guide]
    assert missing == []


def test_the_examples_of_the_guide_are_taken(tmp_path: Path) -> None:
    guide = (ROOT / 'docs/relay.md').read_text('utf-8')
    examples = re.findall(r'```yaml\n(.*?)```', guide, re.DOTALL)
    assert len(examples) >= 3
    for text in examples:
        if isinstance(content := yaml.safe_load(text), list):
            assert [parse_fault(settings, 'topic').kind for settings in content]
        else:
            path = tmp_path / 'example.yaml'
            path.write_text(text, 'utf-8')
            assert RelayConfig.load(path)
