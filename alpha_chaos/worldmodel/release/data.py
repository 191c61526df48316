"""The files of the public release: action definitions, and an environment for each task."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from alpha_chaos.plugins import BadSetting, explain

ACTIONS = Path('world_model') / 'action_def.json'
TASKS = Path('benchmark') / 'tasks'

M = TypeVar('M', bound=BaseModel)


class _Lenient(BaseModel):
    """What is not needed here may be in the file."""

    model_config = ConfigDict(frozen=True, extra='ignore')


class ActionRoles(_Lenient):
    """The roles of an action, in the order of its arguments; `?` marks an optional one."""

    args: tuple[str, ...]


class _ActionEntry(_Lenient):
    definition: ActionRoles


class _ActionFile(RootModel[dict[str, _ActionEntry]]):
    pass


class ReleaseObject(_Lenient):
    """An object of a task."""

    id: int | str
    class_name: str
    properties: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    location: str | None = 'kitchen'


class Environment(_Lenient):
    """What a task starts with."""

    initial_objects: tuple[ReleaseObject, ...]
    action_definitions: dict[str, Any] = {}  # what is told of them there is not what is graded


@dataclass(frozen=True)
class ReleaseTask:
    """A task: its number as text, what is to be cooked, and its objects."""

    name: str
    title: str
    environment: Environment


@dataclass(frozen=True)
class Release:
    """Everything of the release that verdicts need."""

    folder: Path
    actions: dict[str, tuple[str, ...]]
    tasks: dict[str, ReleaseTask]


def load_release(folder: Path) -> Release:
    """Read the release's files.

    :param folder: with `world_model/action_def.json` and `benchmark/tasks/<id>/`
    :raises BadSetting: naming the file that is missing or wrong, and the key in it
    """
    if not folder.is_dir():
        raise BadSetting(f'there is no folder {folder}')
    for part in (ACTIONS, TASKS):
        if not (folder / part).exists():
            raise BadSetting(f'{folder}: has no {part}, so it is not the data of the release')
    actions = _read(folder / ACTIONS, _ActionFile).root
    tasks = {}
    for place in sorted((folder / TASKS).iterdir()):
        if place.is_dir():
            environment = _read(place / f'env_{place.name}.json', Environment)
            title = _title(place / f'task_{place.name}.txt')
            tasks[place.name] = ReleaseTask(place.name, title, environment)
    if not tasks:
        raise BadSetting(f'{folder / TASKS}: there are no tasks')
    roles = {name: entry.definition.args for name, entry in actions.items()}
    return Release(folder, roles, tasks)


def _read(path: Path, model: type[M]) -> M:
    try:
        return model.model_validate(_json(path))
    except ValidationError as error:
        raise BadSetting(f'{path}: {explain(error)}') from None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeError) as error:
        raise BadSetting(f'{path}: cannot be read: {error}') from None
    except (ValueError, RecursionError) as error:
        raise BadSetting(f'{path}: is no JSON: {error}') from None


def _title(path: Path) -> str:
    """Return what stands behind `Task:`; the rest of the file is the recipe, shown to nobody."""
    try:
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeError) as error:
        raise BadSetting(f'{path}: cannot be read: {error}') from None
    found = re.search(r'^Task:(.*)$', text, re.MULTILINE)
    if found is None:
        raise BadSetting(f"{path}: has no line 'Task: ...'")
    return found[1].strip()
