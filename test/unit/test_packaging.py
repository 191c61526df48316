"""What the packaging files say must agree, and the lock must serve every supported Python."""

import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PYTHONS = ('3.10', '3.11', '3.12', '3.13')


@pytest.fixture(scope='module')
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / 'pyproject.toml').read_text())


@pytest.fixture(scope='module')
def lock() -> list[Requirement]:
    lines = (ROOT / 'requirements.lock').read_text().splitlines()
    return [Requirement(line) for line in lines if not line.startswith('#')]


# Keys of rosdep/python.yaml in ros/rosdistro, 8468e88c, where the name is another one; it has none
# for those that are None.
KEYS = {
    'mcap': 'mcap-ros2-support',
    'mcap-ros2-support': 'mcap-ros2-support',
    'ollama': 'python3-ollama-pip',
    'pillow': 'python3-pil',
    'pyarrow': None,
    'pybullet': 'python3-pybullet-pip',
    'pyyaml': 'python3-yaml',
    'rosbags': 'python3-rosbags-pip',
    'statsmodels': None,
    'xllamacpp': None,
    'zstandard': None,
}


def canonical(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name).lower()


@pytest.mark.parametrize('python', PYTHONS)
def test_the_lock_meets_every_requirement(
    project: dict[str, Any], lock: list[Requirement], python: str
) -> None:
    environment = {'python_version': python, 'python_full_version': f'{python}.9'}
    pins = [pin for pin in lock if pin.marker is None or pin.marker.evaluate(environment)]
    versions = {canonical(pin.name): str(pin.specifier).removeprefix('==') for pin in pins}
    assert len(versions) == len(pins), 'a package is pinned twice'
    wanted = [
        *project['build-system']['requires'],
        *project['project']['dependencies'],
        *project['project']['optional-dependencies']['dev'],
        *project['dependency-groups']['model'],
    ]
    for requirement in map(Requirement, wanted):
        pinned = versions.get(canonical(requirement.name))
        met = pinned is not None and pinned in requirement.specifier
        assert met, f'{requirement} is not met; run `make lock`'


def test_the_lock_names_versions_and_no_places(lock: list[Requirement]) -> None:
    text = (ROOT / 'requirements.lock').read_text()
    assert not re.search(r'://|^-|@|file:', text, re.MULTILINE)
    assert [pin.name for pin in lock if not str(pin.specifier).startswith('==')] == []


def test_the_two_manifests_agree(project: dict[str, Any]) -> None:
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    for key in ('name', 'version', 'license'):
        assert package.findtext(key) == project['project'][key]
    assert (package.findtext('description') or '').rstrip('.') == project['project']['description']


def key(requirement: str) -> str | None:
    """Return the name by which package.xml asks for a requirement of pyproject.toml."""
    name = canonical(Requirement(requirement).name)
    if name.startswith('ros-'):
        return name.removeprefix('ros-').replace('-', '_')
    return KEYS.get(name, f'python3-{name}')


def test_what_pip_installs_is_what_rosdep_installs(project: dict[str, Any]) -> None:
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    asked = {entry.text for tag in ('depend', 'exec_depend') for entry in package.iter(tag)}
    wanted = {key(requirement) for requirement in project['project']['dependencies']} - {None}
    assert wanted <= asked
    extra = asked - wanted
    # Besides, what a ROS installation has and the wheels bring along, and launch.
    assert extra == {
        *('action_msgs', 'ament_index_python', 'builtin_interfaces', 'rosidl_default_runtime'),
        *('launch', 'launch_ros', 'ros2launch'),
    }
