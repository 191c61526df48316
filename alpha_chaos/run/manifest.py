"""What a run is, written before its first episode: enough to tell it from any other."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from alpha_chaos.experiment import Experiment
from alpha_chaos.journal import FILE as JOURNAL
from alpha_chaos.plugins import BadSetting, explain
from alpha_chaos.run.job import BAGS

FILE = 'manifest.json'
_PACKAGES = (
    'alpha_chaos',
    'pybullet',
    'numpy',
    'pydantic',
    'ros-rclpy',
    'ros-rmw-fastrtps-cpp',
    'rosbags',
    'mcap',
    'ollama',
    'xllamacpp',
    'statsmodels',
)


class _Ran(BaseModel):
    arm: str


class _Model(BaseModel):
    provider: str
    model: str
    engine: str = ''
    digest: str


class _Experiment(BaseModel):
    name: str = '?'
    fingerprint: str = ''


class _Earlier(BaseModel):
    """What a manifest says of the calls before this one."""

    experiment: _Experiment = _Experiment()
    episodes: tuple[_Ran, ...] = ()
    llm: dict[str, _Model] = {}


def settle(
    out: Path, experiment: Experiment, arms: Iterable[str] | None, llm: Mapping[str, Any]
) -> list[str]:
    """Write the manifest of a run, or check that the folder holds this very run.

    :param arms: to run now; arms of earlier calls stay part of the run
    :param llm: by arm, which model answers
    :return: all arms of the run
    :raises BadSetting: when the folder belongs to another experiment or another model
    """
    chosen = [arm.name for arm in experiment.arms] if arms is None else list(arms)
    experiment.episodes(chosen)  # refuses an arm that there is not
    path = out / FILE
    old = _Earlier()
    if path.is_file():
        try:
            old = _Earlier.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise BadSetting(
                f'{path} cannot be read: {explain(error)}; use another --out'
            ) from None
        _check(path, old, experiment, llm)
    elif (out / JOURNAL).is_file():
        raise BadSetting(f'{out} has a journal but no {FILE}; use another --out')
    ran = {entry.arm for entry in old.episodes} | set(chosen)
    all_arms = [arm.name for arm in experiment.arms if arm.name in ran]
    manifest = {
        'experiment': experiment.manifest(),
        'episodes': [
            {'run_id': episode.run_id, 'arm': episode.arm, 'condition': episode.condition}
            for episode in experiment.episodes(all_arms)
        ],
        'llm': {**{arm: model.model_dump() for arm, model in old.llm.items()}, **llm},
        'versions': versions(),
        'git': checkout(),
        'machine': {'system': platform.platform(), 'processor': processor()},
    }
    (out / BAGS).mkdir(parents=True, exist_ok=True)
    part = path.with_name(f'{FILE}.{os.getpid()}.part')
    part.write_text(json.dumps(manifest, indent=1) + '\n', 'utf-8')
    part.replace(path)
    return all_arms


def _check(path: Path, old: '_Earlier', experiment: Experiment, llm: Mapping[str, Any]) -> None:
    if old.experiment.fingerprint != experiment.fingerprint():
        name = old.experiment.name
        what = (
            f'another version of experiment {name!r}'
            if name == experiment.name
            else f'experiment {name!r}, not {experiment.name!r}'
        )
        raise BadSetting(f'{path.parent} holds {what}; use another --out')
    for arm, model in old.llm.items():
        now = llm.get(arm, model.model_dump())
        if (model.provider, model.digest) != (now['provider'], now['digest']):
            raise BadSetting(
                f'arm {arm!r} in {path.parent} was run with {model.model!r} '
                f'({model.provider}), not {now["model"]!r} ({now["provider"]}); use another '
                f'--out, or --llm {model.provider} --model {model.model}'
            )


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results may hang on."""
    found = {'python': platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def checkout() -> dict[str, Any] | None:
    """Return commit and state of the checkout the package runs from, None outside of one."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / '.git').exists():
        return None
    try:
        commit = _ask_git(folder, 'rev-parse', 'HEAD')
        changed = _ask_git(folder, 'status', '--porcelain', '--untracked-files=no')
    except (OSError, subprocess.CalledProcessError):
        return None
    return {'commit': commit, 'changed': bool(changed)}


def _ask_git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ['git', '-C', str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def processor() -> str:
    """Return what the processor of this machine calls itself."""
    try:
        lines = Path('/proc/cpuinfo').read_text('utf-8').splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.processor()
