"""YAML files whose mistakes are reported with file, line and key, and with what would be right."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from alpha_chaos.plugins import BadSetting, said, unknown

M = TypeVar('M', bound=BaseModel)
Location = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # Nothing here needs an alias, and a few lines of them make gigabytes.
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            text = 'aliases (*name) are not taken; write it out'
            raise yaml.MarkedYAMLError(problem=text, problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, KeyError, AttributeError) as error:  # the text does not fit its tag
            text = f'a value cannot be read: {error}'
            raise yaml.MarkedYAMLError(problem=text, problem_mark=node.start_mark) from None


# `2026-11-30` stays the text it is: a date is no setting of ours, and JSON has none.
_Loader.yaml_implicit_resolvers = {
    first: [entry for entry in resolvers if not entry[0].endswith((':timestamp', ':bool'))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# As in YAML 1.2: `on`, `off`, `yes` and `no` are words, and good names of states.
_Loader.add_implicit_resolver(
    'tag:yaml.org,2002:bool', re.compile('^(?:true|True|TRUE|false|False|FALSE)$'), list('tTfF')
)


def find(what: str, name: str, folder: Path, beside: Path) -> Path:
    """Return the path of a settings file that was given by its name or as a path.

    :param what: it holds, for the error text ('experiment')
    :param folder: where the files with names are
    :param beside: folder that a relative path starts from
    :raises BadSetting: listing the known names
    """
    if name.endswith(('.yaml', '.yml')):
        path = beside / Path(name).expanduser()
        if not path.is_file():
            raise BadSetting(f'there is no file {path}')
        return path
    known = {path.stem: path for path in folder.glob('*.yaml')}
    if name not in known:
        raise BadSetting(f'{unknown(what, name, known)}; or give the path of a .yaml file')
    return known[name]


class SettingsFile:
    """The content of a YAML file, with the line that each setting stands on.

    :raises BadSetting: if the file cannot be read, is no YAML, or gives a key twice
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[Location, int] = {}
        try:
            text = path.read_text(encoding='utf-8')
        except (OSError, UnicodeError) as error:
            raise BadSetting(f'{path}: cannot be read: {error}') from None
        try:
            loader = _Loader(text)
            root = loader.get_single_node()
            if root is None:
                raise BadSetting(f'{path}: the file is empty')
            self._note_lines(root, ())
            self.content: Any = loader.construct_document(root)
        except yaml.YAMLError as error:
            line, problem = _no_yaml(error, text)
            raise BadSetting(f'{path}, line {line}: {problem}') from None
        except RecursionError:
            raise BadSetting(f'{path}: nested too deeply') from None

    def problem(self, location: Location, text: str) -> BadSetting:
        """Return the error to raise about the setting at `location`."""
        return BadSetting(f'{self.path}, line {self._line(location)}: {text}')

    def mistake(self, location: Location, text: str) -> BadSetting:
        """Return the error to raise about the setting at `location`, which the text names too."""
        return self.problem(location, _spelled(location, text))

    def read_as(self, model: type[M], at: Location = ()) -> M:
        """Return the content, or the part of it at a location, as a `model`.

        :raises BadSetting: with the first problem in the file
        """
        content = self.content
        for part in at:
            content = content[part]
        try:
            return model.model_validate(content)
        except ValidationError as error:
            first = min(
                error.errors(), key=lambda one: self._order(one['type'], (*at, *one['loc']))
            )
            location = (*at, *first['loc'])
            if first['type'] == 'extra_forbidden':
                owner = _model_at(model, location[len(at) : -1])
                fields = owner.model_fields.items() if owner else ()
                known = [field.alias or name for name, field in fields]
                text = _spelled(location[:-1], unknown('key', location[-1], known))
            elif first['type'] == 'missing':
                text = _spelled(location[:-1], f'the key {location[-1]!r} is missing')
            else:
                # What follows the part that is in the file is pydantic's name of a type.
                text = _spelled(self._known(location), said(first))
            raise self.problem(location, text) from None

    def _order(self, problem: str, location: Location) -> tuple[bool, int]:
        # A key that is missing, or a list that is too short, may be so because of another mistake.
        return problem in ('missing', 'too_short'), self._line(location)

    def _known(self, location: Location) -> Location:
        while location not in self._lines:
            location = location[:-1]
        return location

    def _line(self, location: Location) -> int:
        return self._lines[self._known(location)]

    def _note_lines(self, node: yaml.Node, location: Location) -> None:
        self._lines.setdefault(location, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._note_lines(item, (*location, index))
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                at = (*location, str(key.value))
                if at in self._lines:
                    text = f'the key {key.value!r} is given twice, first in line {self._lines[at]}'
                    raise BadSetting(f'{self.path}, line {key.start_mark.line + 1}: {text}')
                self._lines[at] = key.start_mark.line + 1
                self._note_lines(value, at)


def _no_yaml(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Return the line in which a text stops being YAML, and why."""
    if isinstance(error, yaml.reader.ReaderError):
        character = f'the character U+{error.character:04X} has no place in YAML'
        return text.count('\n', 0, error.position) + 1, character
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return 1, ' '.join(str(error).split())
    problem = error.problem or ''
    if error.context:
        mark = error.context_mark
        begun = f' that begins in line {mark.line + 1}' if mark else ''
        problem = f'{error.context}{begun}: {problem}'
    return error.problem_mark.line + 1, problem


def _spelled(location: Sequence[str | int], text: str) -> str:
    """Return the text behind the place it is about: 'conditions[2].faults: ...'."""
    place = ''.join(f'[{part}]' if isinstance(part, int) else f'.{part}' for part in location)
    return f'{place.lstrip(".")}: {text}' if place else text


def _model_at(annotation: Any, location: Sequence[str | int]) -> type[BaseModel] | None:
    """Return the model that describes the mapping at `location`; None if none is sure to."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not location:
            return annotation
        field = annotation.model_fields.get(str(location[0]))
        return field and _model_at(field.annotation, location[1:])
    if location and (isinstance(location[0], int) or get_origin(annotation) is dict):
        location = location[1:]
    inner = (_model_at(argument, location) for argument in get_args(annotation))
    return next((model for model in inner if model), None)
