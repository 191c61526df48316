"""What an installation consists of, in a virtual environment as in a colcon workspace."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from alpha_chaos.graph import EXECUTABLES, PLANNERS, episode_graph

ROOT = Path(__file__).parents[2]
NODES = sorted(EXECUTABLES)
KINDS = ('action', 'msg', 'srv')


@pytest.fixture(scope='module')
def prefix() -> Path:
    """Return the prefix that holds the package's index entry."""
    known = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for place in (*map(Path, filter(None, known)), Path(sys.prefix)):
        if (place / 'share/ament_index/resource_index/packages/alpha_chaos').is_file():
            return place
    pytest.fail('alpha_chaos is in no prefix: run `make setup`, or source the workspace')


def names(folder: Path, pattern: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob(pattern) if path.is_file()}


@pytest.mark.parametrize('folder', ['config', 'launch', *KINDS])
def test_the_share_folder_holds_what_the_source_holds(prefix: Path, folder: str) -> None:
    shared = prefix / 'share/alpha_chaos'
    assert names(ROOT / folder, '*[a-z]')  # not a folder that was lost
    assert names(ROOT / folder, '*[a-z]') <= names(shared / folder, '*')
    assert (shared / 'package.xml').read_text() == (ROOT / 'package.xml').read_text()


def test_the_index_lists_every_interface(prefix: Path) -> None:
    index = prefix / 'share/ament_index/resource_index/rosidl_interfaces/alpha_chaos'
    sources = {f'{kind}/{path.name}' for kind in KINDS for path in (ROOT / kind).iterdir()}
    assert sources <= set(index.read_text().split())


@pytest.mark.filterwarnings('ignore:module .sre:DeprecationWarning')  # of rosidl_generator_py
def test_every_interface_reaches_its_library() -> None:
    for kind in KINDS:
        made = import_module(f'alpha_chaos.{kind}')
        for path in (ROOT / kind).iterdir():
            interface: Any = type(getattr(made, path.stem))
            interface.__import_type_support__()
            assert interface._TYPE_SUPPORT is not None, path.name


def test_the_executables_are_the_nodes_that_there_are(prefix: Path) -> None:
    assert sorted(path.name for path in (prefix / 'lib/alpha_chaos').iterdir()) == NODES


def test_every_node_of_the_graph_is_an_executable() -> None:
    assert {node.executable for node in episode_graph(PLANNERS).nodes} <= set(NODES)


@pytest.mark.parametrize('node', NODES)
def test_an_executable_hands_its_arguments_to_its_node(prefix: Path, node: str) -> None:
    executable = prefix / 'lib/alpha_chaos' / node
    assert f'alpha_chaos.nodes {node} ' in executable.read_text()
    refused = subprocess.run(
        [executable, '--ros-args', '--param', 'no_value'],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 2, refused.stderr
    assert 'no_value' in refused.stderr
