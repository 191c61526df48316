"""Names inside one definition, and what an expression reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.state import Elements, Frame, State

PRIMARY = ''  # the object that a rule is about
CLOCK = -1  # "state" of the time


class Path(NamedTuple):
    """A way from one object to others: P place, A all around, C contents, W all within."""

    root: str
    moves: str = ''


class Read(NamedTuple):
    """A state that an expression looks at, and of what; None: of whatever object."""

    state: int
    path: Path | None


Reads = frozenset[Read]
NO_READS: Reads = frozenset()


@dataclass(frozen=True)
class Thing:
    """An expression for an object; nothing is object 0.

    :param slot: where the object is in the frame; None if it has to be worked out
    """

    get: Callable[[State, Frame], int]
    reads: Reads = NO_READS
    path: Path | None = None
    slot: int | None = None


@dataclass(frozen=True)
class Many:
    """An expression for several objects."""

    get: Callable[[State, Frame], Iterable[int]]
    reads: Reads = NO_READS
    path: Path | None = None


@dataclass(frozen=True)
class Amount:
    """An expression for a number in the base unit of its dimension; None: any dimension.

    :param constant: the number itself, if it is always the same
    """

    get: Callable[[State, Frame], float]
    dimension: str | None
    reads: Reads = NO_READS
    constant: float | None = None


@dataclass(frozen=True)
class Fact:
    """An expression that is true or false."""

    test: Callable[[State, Frame], bool]
    reads: Reads = NO_READS


@dataclass(frozen=True)
class SetValue:
    """An expression for a set, with the words it is made of (empty: objects)."""

    get: Callable[[State, Frame], Elements]
    reads: Reads
    options: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """An effect, and what has to be read to know what it does."""

    do: Callable[[State, Frame], None]
    reads: Reads = NO_READS


@dataclass
class Name:
    """What a name of a definition stands for.

    :param kind: object; number, of a dimension; word, one of options; new, not there yet
    """

    slot: int
    kind: str
    path: Path | None = None
    dimension: str = 'number'
    options: tuple[str, ...] = ()
    class_: str = ''


@dataclass
class Scope:
    """The names of one definition. Inner scopes see the outer ones; slots are never shared."""

    names: dict[str, Name] = field(default_factory=dict)
    slots: list[None] = field(default_factory=list)
    objects: Mapping[tuple[str, str], int] | None = None  # those of a task, by class and id

    def inner(self) -> 'Scope':
        """Return a scope for names that end with a part of the definition."""
        return Scope(dict(self.names), self.slots, self.objects)

    def add(
        self, name: str, kind: str = 'object', path: Path | None = None, **more: object
    ) -> Name:
        """Give a name the next slot."""
        made = Name(len(self.slots), kind, path, **more)  # type: ignore[arg-type]
        self.slots.append(None)
        self.names[name] = made
        return made

    def frame(self) -> Frame:
        """Return an empty frame for this definition. Call it when the definition is complete."""
        return [st.NOTHING] * len(self.slots)


def step(path: Path | None, move: str) -> Path | None:
    """Return the path that goes on by one move."""
    return path and Path(path.root, path.moves + move)


def moved(reads: Reads, arguments: Mapping[str, Path | None]) -> Reads:
    """Return what a derived fact reads, said from where it is used."""
    made = set()
    for state, path in reads:
        if path is None or path.root not in arguments:
            made.add(Read(state, path))
        else:
            start = arguments[path.root]
            made.add(Read(state, start and Path(start.root, start.moves + path.moves)))
    return frozenset(made)


def joined(parts: Iterable[Reads]) -> Reads:
    """Return everything that any of the parts reads."""
    return frozenset().union(*parts)


_INVERSE: Mapping[str, st.Inverse] = {
    'P': st.children,
    'A': State.inside,
    'C': st.parent,
    'W': State.around,
}


def wakes(rule: int, reads: Reads) -> list[tuple[int, st.Wake | None]]:
    """Return for which states a rule is looked at again: near (None) or far."""
    made: list[tuple[int, st.Wake | None]] = []
    for state, path in sorted(reads, key=repr):
        if state == CLOCK:
            continue
        if path is not None and path.root == PRIMARY:
            inverses = tuple(_INVERSE[move] for move in reversed(path.moves))
            made.append((state, st.Wake(rule, st.chain(inverses)) if inverses else None))
        elif path is not None and path.root == 'agent' and not path.moves:
            made.append((state, st.Wake(rule, None, only=st.AGENT)))
        else:
            made.append((state, st.Wake(rule, None)))
    return list(dict.fromkeys(made))


def first(items: Sequence[int]) -> int:
    """Return the first object, or nothing."""
    return items[0] if items else st.NOTHING
