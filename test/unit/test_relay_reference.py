"""The page of the relay's keys and faults is what the code gives."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from alpha_chaos.catalogues import probes, transit_faults

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
