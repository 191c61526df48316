"""What stands in the files of a world: its sections, read and merged, with the line of each name.

Conditions, effects and numbers are kept as they are written here; `compiler.py` gives them a
meaning, and complains about them with the same lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from alpha_chaos.plugins import BadSetting, said, unknown
from alpha_chaos.resources import config_folder
from alpha_chaos.settings_file import Location, SettingsFile

Word = Annotated[str, StringConstraints(pattern=r'^[a-z][a-z0-9_]*$', max_length=60)]
RoleName = Annotated[str, StringConstraints(pattern=r'^[a-z][a-z0-9_]*\??$', max_length=60)]
D = TypeVar('D', bound=BaseModel)
TASKS = 'tasks'  # folder of a world's tasks, beside its files


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class AgentDocument(_Strict):
    """The one who acts."""

    class_: Word = Field(alias='class')
    at: tuple[Word, str] | None = Field(default=None, description='relation and object')
    has: dict[Word, Any] = {}


class TimeDocument(_Strict):
    """How long an action takes unless it says so, and how time is cut into pieces."""

    action: str = Field(default='5 s', description='duration of an action that names none')
    first: str = Field(default='5 s', description='first piece of a duration')
    growth: float = Field(default=2.0, ge=1, le=10, description='of a piece over the one before')
    longest: str = Field(default='5 min', description='no piece is longer')
    limit: str = Field(default='168 h', description='no step may take longer')


class StateDocument(_Strict):
    """A state that objects can have."""

    type: Literal['flag', 'number', 'choice', 'set', 'object']
    text: str = ''
    unit: str | None = Field(default=None, description='of a number')
    default: Any = None
    range: tuple[Any, Any] | None = Field(default=None, description='a number is kept in it')
    resolution: float | None = Field(
        default=None, gt=0, description='a smaller difference to its goal is none'
    )
    fixed: bool = Field(default=False, description='set by class or task, never by an effect')
    of: tuple[Word, ...] | Literal['objects'] | None = Field(
        default=None, description='words of a choice or set; objects for a set of them'
    )


class ClassDocument(_Strict):
    """A class of objects."""

    text: str = ''
    abstract: bool = Field(default=False, description='only there to be like')
    like: tuple[Word, ...] | Word = ()
    is_: tuple[Word, ...] = Field(default=(), alias='is')
    not_: tuple[Word, ...] = Field(default=(), alias='not')
    has: dict[Word, Any] = {}
    at: tuple[Word, str] | None = None


class DerivedDocument(_Strict):
    """A fact or number that follows from others."""

    text: str = ''
    of: tuple[Word, ...] = Field(min_length=1)
    is_: Any = Field(default=None, alias='is')
    number: Any = None
    unit: str = 'one'


class RoutineDocument(_Strict):
    """Effects that have a name, on what is given to it."""

    text: str = ''
    of: tuple[Word, ...] = Field(min_length=1)
    do: tuple[Any, ...]


class ActionDocument(_Strict):
    """An action: roles, what it needs, what it does, how long it takes."""

    text: str = ''
    roles: dict[RoleName, Any] = {}
    let: dict[Word, Any] = {}
    needs: tuple[Any, ...] = ()
    effects: tuple[Any, ...] = ()
    duration: Any = None


class RuleDocument(_Strict):
    """A reaction, or a process over time."""

    text: str = ''
    for_: dict[Word, Word] = Field(default={}, alias='for', max_length=1)
    let: dict[Word, Any] = {}
    if_: Any = Field(default=(), alias='if')
    do: tuple[Any, ...]


class ObjectDocument(_Strict):
    """An object of a task or scene."""

    class_: Word = Field(alias='class')
    id: int = Field(default=1, ge=1, le=999)
    is_: tuple[Word, ...] = Field(default=(), alias='is')
    not_: tuple[Word, ...] = Field(default=(), alias='not')
    has: dict[Word, Any] = {}
    at: tuple[Word, str] | Literal['nowhere'] | None = None


def _as_object(raw: Any) -> Any:
    return {'class': raw} if isinstance(raw, str) else raw


# A class alone stands for its first object.
ObjectEntry = Annotated[ObjectDocument, BeforeValidator(_as_object)]


class SceneDocument(_Strict):
    """Objects in their places."""

    text: str = ''
    objects: tuple[ObjectEntry, ...] = ()
    without: tuple[Word, ...] = Field(default=(), description='universal objects left out')


class AuditTestDocument(_Strict):
    """Two plans that show what an audit is for."""

    scene: Any = Field(description='name of a scene, or a scene')
    plan: str = Field(description='the shortest plan that breaks the rule, and no other')
    repaired: str = Field(description='the same without any failure')
    also: tuple[Word, ...] = Field(default=(), description='other audits that the plan breaks')


class AuditDocument(_Strict):
    """A harm that no precondition prevents."""

    text: str = ''
    family: Word
    severity: int = Field(ge=1, le=3)
    reversible: bool
    at: Any = Field(default='end', description='end, always, {before: actions}, {after: actions}')
    for_: dict[Word, Word] = Field(default={}, alias='for', max_length=1)
    let: dict[Word, Any] = {}
    if_: Any = Field(alias='if')
    planted: tuple[Any, ...] = ()
    sealed: tuple[Any, ...] = ()
    message: str
    untouched: bool = False
    test: AuditTestDocument


class TaskDocument(SceneDocument):
    """A scene with a goal, and a plan that reaches it."""

    title: str
    technique: Word
    goal: Any
    golden: str = Field(description='a clean plan that reaches the goal')


class WorldDocument(_Strict):
    """One of the files of a world. One of them says what the world is."""

    domain: Word | None = None
    text: str = ''
    agent: AgentDocument | None = None
    relations: tuple[Word, ...] = ()
    time: TimeDocument | None = None
    universal: tuple[ObjectEntry, ...] = ()
    properties: dict[Word, str] = {}
    state: dict[Word, StateDocument] = {}
    classes: dict[Word, ClassDocument] = {}
    derived: dict[Word, DerivedDocument] = {}
    routines: dict[Word, RoutineDocument] = {}
    actions: dict[Word, ActionDocument] = {}
    reactions: dict[Word, RuleDocument] = {}
    processes: dict[Word, RuleDocument] = {}
    audits: dict[Word, AuditDocument] = {}
    scenes: dict[Word, SceneDocument] = {}


@dataclass(frozen=True)
class Place:
    """Where something stands: a file, and the way to it from the top of that file."""

    file: SettingsFile
    location: Location

    def __truediv__(self, part: str | int) -> 'Place':
        return Place(self.file, (*self.location, part))

    def wrong(self, text: str) -> BadSetting:
        """Return the error to raise about what stands here: file, line, key, text."""
        spelled = ''.join(
            f'[{part}]' if isinstance(part, int) else f'.{part}' for part in self.location
        ).lstrip('.')
        return self.file.problem(self.location, f'{spelled}: {text}' if spelled else text)


def read_part(model: type[D], raw: Any, at: Place) -> D:
    """Return a part of a file as a `model`.

    :raises BadSetting: with file, line and key of the first problem
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        for part in first['loc']:
            at = at / part
        if first['type'] == 'extra_forbidden':
            known = [field.alias or name for name, field in model.model_fields.items()]
            raise at.wrong(unknown('key', first['loc'][-1], known)) from None
        raise at.wrong(said(first)) from None


@dataclass
class WorldFiles:
    """All files of a world as one document, and where every name stands."""

    folder: Path
    main: Place
    document: WorldDocument
    places: dict[tuple[str, str], Place] = field(default_factory=dict)

    def place(self, section: str, name: str) -> Place:
        """Return where `name` of `section` is defined."""
        return self.places[section, name]


_NAMED = (
    'properties',
    'state',
    'classes',
    'derived',
    'routines',
    'actions',
    'reactions',
    'processes',
    'audits',
    'scenes',
)
_ONCE = ('agent', 'time', 'relations', 'universal')


def worlds_folder() -> Path:
    """Return the folder of the worlds that come with the package."""
    return config_folder() / 'worlds'


def find_world(name: str | Path) -> Path:
    """Return the folder of a world given by its name, or the path of a folder or single file.

    :raises BadSetting: listing the known names
    """
    path = Path(name)
    if isinstance(name, Path) or path.suffix in ('.yaml', '.yml') or len(path.parts) > 1:
        if not path.exists():
            raise BadSetting(f'there is no world at {path}')
        return path
    known = {entry.name: entry for entry in worlds_folder().glob('*') if entry.is_dir()}
    if name not in known:
        raise BadSetting(f'{unknown("world", name, known)}; or give the path of a folder')
    return known[str(name)]


def read_world(path: Path) -> WorldFiles:
    """Read a world from its folder, or from a single file.

    :raises BadSetting: with file, line and key of the first mistake
    """
    files = sorted(path.glob('*.yaml')) if path.is_dir() else [path]
    if not files:
        raise BadSetting(f'{path}: there is no .yaml file, so there is no world')
    merged: dict[str, Any] = {name: {} for name in _NAMED}
    places: dict[tuple[str, str], Place] = {}
    main: Place | None = None
    for file in map(SettingsFile, files):
        document = file.read_as(WorldDocument)
        top = Place(file, ())
        if document.domain is not None:
            if main is not None:
                raise (top / 'domain').wrong(f'{main.file.path} says what the world is already')
            main = top
            merged |= {'domain': document.domain, 'text': document.text}
        for section in _ONCE:
            if section in document.model_fields_set:
                if section in merged:
                    first = places[section, ''].file.path
                    raise (top / section).wrong(f'{section} is given in {first} already')
                merged[section] = getattr(document, section)
                places[section, ''] = top / section
        for section in _NAMED:
            for name, item in getattr(document, section).items():
                here = top / section / name
                if name in merged[section]:
                    first = places[section, name].file.path
                    raise here.wrong(f'{name!r} is defined in {first} already')
                merged[section][name] = item
                places[section, name] = here
    if main is None:
        raise BadSetting(f'{path}: no file has the key domain')
    if 'agent' not in merged:
        raise main.wrong("no file of this world has the key 'agent'")
    return WorldFiles(path, main, WorldDocument.model_construct(**merged), places)


def task_files(folder: Path) -> Iterator[Path]:
    """Return the task files of a world, in the order of their names."""
    return iter(sorted((folder / TASKS).glob('*.yaml')))
