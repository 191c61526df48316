"""Every example of docs/extending.md is put in its place and keeps the contract of its kind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / 'docs/extending.md'
BLOCK = re.compile(
    r'^```python\n# alpha_chaos/([\w/]+)/(\w+)\.py\n(.*?)^```$', re.DOTALL | re.MULTILINE
)
# Folder: file of the contract, and which of its tests say enough in little time.
CONTRACTS = {
    'bodies': ('test_bodies.py', '(survive or misspelt or describes or changes_nothing)'),
    'faults': ('test_faults_contract.py', ''),
    'planners': ('test_oracle.py', ''),
    'probes': ('test_probes_contract.py', ''),
    'recovery': ('test_recovery.py', ''),
    'tasks': ('test_tasks.py', ''),
    'transit': ('test_transit_contract.py', ''),
    'worldmodel/mutations': ('test_worldmodel_mutations.py', ''),
    'worldmodel/prompting': ('test_prompting_contract.py', ''),
}
PLACE = """
import importlib
from pathlib import Path

for folder in Path(__file__).parent.iterdir():
    if folder.is_dir():
        importlib.import_module(f'alpha_chaos.{folder.name}').__path__.append(str(folder))
"""


@pytest.fixture(scope='module')
def examples():
    """Return folder, kind and text of every example on the page."""
    return BLOCK.findall(PAGE.read_text('utf-8'))


def test_there_is_an_example_of_every_kind_of_plug_in(examples):
    assert sorted(folder for folder, _, _ in examples) == sorted(CONTRACTS)


@pytest.mark.parametrize('command', [['format', '--check'], ['check']])
def test_every_example_is_formatted_and_without_a_complaint_of_the_linter(
    examples, tmp_path, command
):
    for folder, kind, text in examples:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f'{kind}.py').write_text(text)
    done = subprocess.run(
        [sys.executable, '-m', 'ruff', *command, '--config', ROOT / 'pyproject.toml', tmp_path],
        **{'text': True, 'capture_output': True},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_keeps_its_contract(examples, tmp_path):
    (tmp_path / 'placed.py').write_text(PLACE)
    for folder, kind, text in examples:
        place = tmp_path / folder.replace('/', '.')  # named as the package is imported
        place.mkdir()
        (place / f'{kind}.py').write_text(text)
    chosen = [
        f'({kind} and {some})' if (some := CONTRACTS[folder][1]) else kind
        for folder, kind, _ in examples
    ]
    done = subprocess.run(
        [
            *[sys.executable, '-m', 'pytest', '-p', 'placed', '-p', 'no:cacheprovider', '-v'],
            *['-k', ' or '.join(chosen)],
            *[str(Path(__file__).with_name(file)) for file, _ in CONTRACTS.values()],
        ],
        env={**os.environ, 'PYTHONPATH': str(tmp_path)},
        **{'cwd': ROOT, 'text': True, 'capture_output': True},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for folder, kind, _ in examples:
        file = CONTRACTS[folder][0]
        assert re.search(rf'{file}::\S+\[[^]]*\b{kind}\b[^]]*\] PASSED', done.stdout), kind
