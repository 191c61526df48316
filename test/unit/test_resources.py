"""Where configuration is found."""

import sys
from pathlib import Path

import pytest

from alpha_chaos import resources


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a prefix with the package but without a checkout around it."""
    package = tmp_path / 'prefix' / 'lib' / 'python3.11' / 'site-packages' / 'alpha_chaos'
    package.mkdir(parents=True)
    monkeypatch.setattr(resources, '__file__', str(package / 'resources.py'))
    monkeypatch.setattr(sys, 'prefix', str(tmp_path / 'python'))
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    return tmp_path / 'prefix'


def share(prefix: Path) -> Path:
    folder = prefix / 'share' / 'alpha_chaos' / 'config'
    folder.mkdir(parents=True)
    return folder


def test_a_checkout_uses_the_folder_beside_its_package_xml() -> None:
    root = Path(resources.__file__).resolve().parent.parent
    assert resources.config_folder() == root / 'config'
    assert resources.interface_folder() == root / 'msg'


def test_an_installed_package_uses_the_prefix_it_is_in(installed: Path) -> None:
    folder = share(installed)
    assert resources.config_folder() == folder


def test_a_workspace_is_found_through_the_ament_prefix_path(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = share(tmp_path / 'overlay')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path / "none"}:{tmp_path / "overlay"}')
    assert resources.config_folder() == folder


def test_a_python_environment_is_found_last(installed: Path, tmp_path: Path) -> None:
    folder = share(tmp_path / 'python')
    assert resources.config_folder() == folder


def test_nowhere_to_be_found_lists_where_it_looked(installed: Path) -> None:
    with pytest.raises(FileNotFoundError, match='no config folder') as caught:
        resources.config_folder()
    assert str(installed / 'share' / 'alpha_chaos' / 'config') in str(caught.value)
