"""The manifest of a benchmark run, written before its first answer."""

import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alpha_chaos.plugins import BadSetting
from alpha_chaos.run.manifest import checkout, processor, versions
from alpha_chaos.worldmodel.benchmark_manifest import (
    MANIFEST,
    BenchmarkManifest,
    read_manifest,
)


def settle(out: Path, now: BenchmarkManifest, new: bool) -> None:
    """Write the manifest of a run, or check that the folder holds this very run and add to it.

    :param new: whether nothing was answered in this folder yet
    :raises BadSetting: when the folder belongs to other tasks, plans, settings or another model
    """
    old = read_manifest(out) if (out / MANIFEST).is_file() else None
    if old is None and not new:
        raise BadSetting(f'{out} has answers but no {MANIFEST}; use another --out')
    if old is not None:
        _check(out, old, now)
        now = BenchmarkManifest(
            tasks=now.tasks.model_copy(
                update={'names': tuple(sorted({*old.tasks.names, *now.tasks.names}))}
            ),
            conditions={**old.conditions, **now.conditions},
            asked=_by_condition({*old.planned(), *now.planned()}),
            plans={**old.plans, **now.plans},
            model=now.model or old.model,
        )
    content = {
        **now.model_dump(),
        'versions': versions(),
        'git': checkout(),
        'machine': {'system': platform.platform(), 'processor': processor()},
    }
    _write(out / MANIFEST, content)


def _by_condition(planned: set[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    names = sorted({name for name, _ in planned})
    return {name: tuple(sorted(task for of, task in planned if of == name)) for name in names}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    part = path.with_name(f'{MANIFEST}.{os.getpid()}.part')
    part.write_text(json.dumps(content, indent=1) + '\n', 'utf-8')
    part.replace(path)


def _check(out: Path, old: BenchmarkManifest, now: BenchmarkManifest) -> None:
    def other(what: str) -> BadSetting:
        return BadSetting(f'{out} holds {what}; use another --out')

    if (old.tasks.source, old.tasks.mode) != (now.tasks.source, now.tasks.mode):
        raise other(f'tasks of {old.tasks.source} in mode {old.tasks.mode}')
    if old.tasks.fingerprint != now.tasks.fingerprint:
        raise other(f'answers to another version of the tasks of {old.tasks.source}')
    if old.tasks.short_prompts != now.tasks.short_prompts:
        raise other(f'answers to {"short" if old.tasks.short_prompts else "whole"} prompts')
    for name, settings in now.conditions.items():
        if name in old.conditions and old.conditions[name] != settings:
            raise other(f'condition {name} with other settings')
    for name, folder in now.plans.items():
        if name in old.plans and old.plans[name].fingerprint != folder.fingerprint:
            raise other(f'other plans called {name}')
    if old.model is not None and now.model is not None:
        if (old.model.provider, old.model.digest) != (now.model.provider, now.model.digest):
            raise other(f'answers of {old.model.model} ({old.model.provider})')
        if old.model != now.model.model_copy(update={'model': old.model.model}):
            raise other(
                f'answers of at most {old.model.reply_tokens} tokens, in a context of '
                f'{old.model.context_tokens}, by {old.model.engine or "an unnamed program"}'
            )
