"""The words of a world: which name is what, and where it is kept."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.documents import Place, StateDocument, WorldFiles
from alpha_chaos.worldmodel.units import dimension_of, read_quantity, unit_names

RESERVED = ('agent', 'now', 'nothing', 'objects', 'anything', 'all', 'any', 'not', 'if', 'some',
            'every', 'none')  # fmt: skip


@dataclass(frozen=True)
class StateWord:
    """A state that objects can have.

    :param index: number of the state; its facts are noted by it
    :param mask: the bit of a flag, 0 for other states
    :param column: where the value is in an object's row; UNSET for a flag
    :param default: in base units; choices by the number of their word
    :param dimension: of a number
    :param options: words of a choice or of a set of words, empty for objects
    """

    name: str
    kind: str
    index: int
    mask: int = 0
    column: int = st.UNSET
    default: object = None
    dimension: str = 'number'
    unit: str = 'one'
    range: tuple[float, float] = (-math.inf, math.inf)
    resolution: float = 1e-6
    fixed: bool = False
    options: tuple[str, ...] = ()

    def value(self, written: object, at: Place) -> object:
        """Return what is stored for a value from a file: base units, number of a word, a set.

        :raises BadSetting: if it does not fit
        """
        if self.kind == 'flag':
            if not isinstance(written, bool):
                raise at.wrong(f'{self.name} is a flag: true or false, not {written!r}')
            return written
        if self.kind == 'number':
            quantity = read_quantity(written)
            if quantity is None or quantity.dimension != self.dimension:
                raise at.wrong(
                    f'{self.name} is a {self.dimension}, in {self.unit}; not {written!r}'
                )
            if not self.range[0] <= quantity.value <= self.range[1]:
                raise at.wrong(f'{written!r} is outside of the range of {self.name}')
            return quantity.value
        if self.kind == 'choice':
            return self.option(written, at)
        if self.kind == 'object':
            if written not in (None, 'nothing'):
                raise at.wrong(f'{self.name} can only start with nothing')
            return st.NOTHING
        if not self.options:
            if written not in (None, [], ()):
                raise at.wrong(f'{self.name} is a set of objects and can only start empty')
            return st.EMPTY
        if not isinstance(written, list | tuple):
            raise at.wrong(f'{self.name} is a set: a list of words, not {written!r}')
        origin = st.Origin(0, 0.0, (st.NOTHING, self.index), None)
        return {self.option(word, at): origin for word in written}

    def option(self, word: object, at: Place) -> int:
        """Return the number of one of the words of a choice or set.

        :raises BadSetting: listing the words
        """
        if word not in self.options:
            raise at.wrong(unknown(f'word of {self.name}', word, self.options))
        return self.options.index(str(word))


@dataclass
class Vocabulary:
    """Every name of a world, with what it stands for."""

    relations: tuple[str, ...]
    properties: dict[str, int] = field(default_factory=dict)  # mask
    states: dict[str, StateWord] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)  # mask, abstract ones too
    derived: frozenset[str] = frozenset()
    width: int = 0

    @property
    def state_names(self) -> tuple[str, ...]:
        """Return the names of all states by their number."""
        return ('place', 'contents', 'existence', *self.states)

    @property
    def words(self) -> list[str]:
        """Return every name, for error texts."""
        return [*self.properties, *self.states, *self.classes, *self.derived]

    def bit(self, word: str) -> int:
        """Return the mask of a property or flag; 0 if it is neither."""
        if word in self.properties:
            return self.properties[word]
        known = self.states.get(word)
        return known.mask if known else 0

    def is_word(self, word: str) -> bool:
        """Tell whether objects can be collected by this word."""
        return bool(self.bit(word)) or word in self.classes

    def row(self, default: bool = True) -> list[object]:
        """Return the values of an object of no class; of nothing if not `default`."""
        row: list[object] = [None] * self.width
        for word in self.states.values():
            if word.kind != 'flag':
                row[word.column] = word.default if default else _VALUE_OF_NOTHING[word.kind]
        return row


_VALUE_OF_NOTHING: Mapping[str, object] = {
    'number': math.nan,
    'choice': st.UNSET,
    'set': st.EMPTY,
    'object': st.NOTHING,
}
_DEFAULT: Mapping[str, object] = {'number': 0.0, 'choice': 0, 'set': st.EMPTY, 'object': 0}


def vocabulary(files: WorldFiles) -> Vocabulary:
    """Return the words of a world.

    :raises BadSetting: for a name used twice, or a state that cannot be
    """
    document = files.document
    _check_names(files)
    made = Vocabulary(document.relations, derived=frozenset(document.derived))
    bit = 1
    for name in document.properties:
        made.properties[name] = bit
        bit <<= 1
    for number, (name, entry) in enumerate(document.state.items()):
        at = files.place('state', name)
        index = st.OWN_STATES + number
        if entry.type == 'flag':
            if entry.default not in (None, False):
                raise at.wrong('a flag starts false; list it in the `is` of classes')
            made.states[name] = StateWord(name, 'flag', index, mask=bit, fixed=entry.fixed)
            bit <<= 1
        else:
            made.states[name] = _state(name, entry, index, made.width, at)
            made.width += 1
    for number, name in enumerate(document.classes):
        made.classes[name] = 1 << number
    return made


def _state(name: str, entry: StateDocument, index: int, column: int, at: Place) -> StateWord:
    dimension, unit, low, high, resolution = 'number', 'one', -math.inf, math.inf, 1e-6
    options: tuple[str, ...] = ()
    if entry.type == 'number':
        unit = entry.unit or 'one'
        known = dimension_of(unit)
        if known is None:
            raise (at / 'unit').wrong(f'unknown unit {unit!r}; known: {unit_names()}')
        dimension = known
        resolution = entry.resolution or (0.01 if dimension == 'temperature' else 1e-6)
        if entry.range:
            ends = [read_quantity(end) for end in entry.range]
            for end in ends:
                if end is None or end.dimension != dimension:
                    raise (at / 'range').wrong(f'both ends of the range are a {dimension}')
            low, high = (end.value for end in ends if end)
            if low > high:
                raise (at / 'range').wrong('the range ends before it begins')
    elif entry.unit or entry.range or entry.resolution:
        raise at.wrong(f'unit, range and resolution are for numbers, not for a {entry.type}')
    if entry.type == 'choice' or (entry.type == 'set' and entry.of != 'objects'):
        if not entry.of or entry.of == 'objects':
            raise at.wrong(f'a {entry.type} needs `of`, the list of its words')
        options = tuple(entry.of)
    elif entry.of and entry.type != 'set':
        raise at.wrong(f'`of` is for choices and sets, not for a {entry.type}')
    word = StateWord(name, entry.type, index, 0, column, _DEFAULT[entry.type], dimension, unit,
                     (low, high), resolution, entry.fixed, options)  # fmt: skip
    if entry.default is not None:
        default = word.value(entry.default, at / 'default')
        word = StateWord(**{**vars(word), 'default': default})
    elif entry.type == 'number' and not low <= 0 <= high:
        raise at.wrong('0 is outside of the range; say which default')
    elif entry.type == 'number' and dimension == 'temperature':
        raise at.wrong('a temperature needs a default')
    return word


def _check_names(files: WorldFiles) -> None:
    document = files.document
    seen: dict[str, str] = {}
    sections: Iterable[tuple[str, Iterable[str]]] = (
        ('properties', document.properties),
        ('state', document.state),
        ('classes', document.classes),
        ('derived', document.derived),
    )
    for section, names in sections:
        for name in names:
            at = files.place(section, name)
            if name in RESERVED:
                raise at.wrong(f'{name!r} is a word of the language')
            if name in seen:
                raise at.wrong(f'{name!r} is in {seen[name]} already')
            seen[name] = section
