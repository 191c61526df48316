"""The state of a world: flat lists, one entry an object, and who made each fact.

Object 0 is nothing, object 1 the agent. An object has a word of bits (properties and flags),
another of its classes, one entry for each other state, and a place. Nothing has no bits, not-a-
number for every number and the place nothing, so an atom about nothing is false without asking.

A write notes the step that made the fact, marks the object as touched, and wakes the rules that
read that state: those that look at the object itself, and those that reach it over places.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

NOTHING = 0
AGENT = 1
NOWHERE = -1  # relation of what is placed nowhere
PLACE = 0  # the states that every world has: the place of an object,
CONTENTS = 1  # what is placed at it,
CREATED = 2  # and that it is there at all
OWN_STATES = 3
UNSET = -1  # value of a choice of nothing

# Objects by number of role or variable; values that a plan gives are in it too.
Frame = list[Any]


class Stamp(NamedTuple):
    """When a fact was made: step of the plan (0: from the start), and time [s]."""

    step: int
    now_s: float


class Origin(NamedTuple):
    """Where an element of a set came from.

    :param cell: object and state that got it
    :param source: the origin of the element where it was taken over from; None if it began here
    """

    step: int
    now_s: float
    cell: tuple[int, int]
    source: 'Origin | None'


Elements = Mapping[int, Origin]
EMPTY: dict[int, Origin] = {}
START = Stamp(0, 0.0)
Inverse = Callable[['State', int], Sequence[int]]


class Wake(NamedTuple):
    """A rule to look at again after a write.

    :param inverse: from the object written to the objects whose rule reads it; None for all
    :param only: the one object whose writes count, 0 for any
    """

    rule: int
    inverse: Inverse | None
    only: int = 0


class Tables(NamedTuple):
    """What all states of a world share.

    :param states: how many there are
    :param width: values of an object
    :param nil: values of nothing
    :param ranges: of each state that is a number
    :param near: for each state, the rules to look at again for the object itself
    :param far: for each state, the rules that reach it over places
    :param rules: how many there are
    :param words: properties and classes that objects are collected by, with their masks
    :param watch: for each rule, the masks of bits and of classes that its objects have some day
    :param about: for each rule, the masks that an object has to have now for the rule to apply
    """

    states: int
    width: int
    nil: tuple[object, ...]
    ranges: tuple[tuple[float, float], ...]
    near: tuple[tuple[int, ...], ...]
    far: tuple[tuple[Wake, ...], ...]
    rules: int
    words: tuple[tuple[str, int, int], ...]
    watch: tuple[tuple[int, int], ...]
    about: tuple[tuple[int, int], ...]


class State:
    """What is the case, at one moment of a plan."""

    __slots__ = (
        'bits',
        'children',
        'classes',
        'labels',
        'later',
        'made',
        'members',
        'named',
        'now_s',
        'parent',
        'pending',
        'relation',
        'stamp',
        'step',
        'tables',
        'touched',
        'values',
        'watched',
    )

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.bits: list[int] = []
        self.classes: list[int] = []
        self.values: list[Any] = []  # floats, numbers of words or objects, sets
        self.parent: list[int] = []
        self.relation: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.labels: list[str] = []
        self.named: dict[tuple[str, str], int] = {}
        self.members: dict[str, tuple[int, ...]] = {}
        self.watched: list[tuple[int, ...]] = [()] * tables.rules
        self.made: dict[int, Stamp] = {}
        self.pending: list[set[int]] = [set() for _ in range(tables.rules)]
        self.touched: set[int] = set()
        self.later: list[tuple[int, int, int, float]] = []  # numbers of a process, not yet written
        self.step = 0
        self.now_s = 0.0
        self.stamp = START
        self._add('nothing', 0, 0, tables.nil)

    def copy(self) -> 'State':
        """Return a state of its own that is the same."""
        other = State.__new__(State)
        other.tables = self.tables
        other.bits = self.bits.copy()
        other.classes = self.classes.copy()
        other.values = self.values.copy()
        other.parent = self.parent.copy()
        other.relation = self.relation.copy()
        other.children = self.children.copy()
        other.labels = self.labels.copy()
        other.named = self.named.copy()
        other.members = self.members.copy()
        other.watched = self.watched.copy()
        other.made = self.made.copy()
        other.pending = [rule.copy() for rule in self.pending]
        other.touched = self.touched.copy()
        other.later = []
        other.step = self.step
        other.now_s = self.now_s
        other.stamp = self.stamp
        return other

    def create(
        self, named: tuple[str, str], bits: int, classes: int, row: tuple[object, ...]
    ) -> int:
        """Add an object that is placed nowhere; return its number.

        Every rule about such objects looks at it next time.
        """
        number = self._add(f'{named[0]} ({named[1]})', bits, classes, row)
        self.named[named] = number
        for word, mask, kind in self.tables.words:
            if bits & mask or classes & kind:
                self.members[word] = (*self.members.get(word, ()), number)
        for rule, (mask, kind) in enumerate(self.tables.watch):
            if bits & mask or classes & kind or (number == AGENT and not mask and not kind):
                self.watched[rule] = (*self.watched[rule], number)
                self.pending[rule].add(number)
        return number

    def free_name(self, class_: str) -> tuple[str, str]:
        """Return the first name of a class that no object has."""
        return next((class_, str(k)) for k in count(1) if (class_, str(k)) not in self.named)

    def _add(self, label: str, bits: int, classes: int, row: tuple[object, ...]) -> int:
        number = len(self.bits)
        self.bits.append(bits)
        self.classes.append(classes)
        self.values.extend(row)
        self.parent.append(NOTHING)
        self.relation.append(NOWHERE)
        self.children.append(())
        self.labels.append(label)
        return number

    def at(self, step: int) -> None:
        """Begin a step: what is made from now on is its doing."""
        self.step = step
        self.stamp = Stamp(step, self.now_s)

    def passed(self, seconds: float) -> None:
        """Let the clock go on."""
        self.now_s += seconds
        self.stamp = Stamp(self.step, self.now_s)

    # ---- writing

    def wake(self, state: int, item: int) -> None:
        """Mark the rules that read `state` of `item`, directly or over places.

        Not those that cannot apply: they are marked when the flag that they are about is set.
        """
        pending, about = self.pending, self.tables.about
        all_bits, all_classes = self.bits, self.classes
        bits, classes = all_bits[item], all_classes[item]
        for rule in self.tables.near[state]:
            mask, kinds = about[rule]
            if bits & mask == mask and classes & kinds == kinds:
                pending[rule].add(item)
        for rule, inverse, only in self.tables.far[state]:
            if only and only != item:
                continue
            mask, kinds = about[rule]
            for end in self.watched[rule] if inverse is None else inverse(self, item):
                if all_bits[end] & mask == mask and all_classes[end] & kinds == kinds:
                    pending[rule].add(end)

    def written(self, state: int, item: int) -> None:
        """Note that `state` of `item` was just made, and mark who has to know."""
        self.made[item * self.tables.states + state] = self.stamp
        self.touched.add(item)
        self.wake(state, item)

    def set_flag(self, state: int, mask: int, item: int, on: bool) -> None:
        """Set or clear a flag."""
        if item and bool(self.bits[item] & mask) != on:
            self.bits[item] ^= mask
            self.written(state, item)

    def write(self, state: int, column: int, item: int, value: object) -> None:
        """Set a choice, an object or a set."""
        if item:
            place = item * self.tables.width + column
            if self.values[place] != value:
                self.values[place] = value
                self.written(state, item)

    def write_number(self, state: int, column: int, item: int, value: float) -> None:
        """Set a number, kept in its range. Not-a-number leaves it as it is."""
        low, high = self.tables.ranges[state]
        if value < low:
            value = low
        elif value > high:
            value = high
        if item and value == value:
            place = item * self.tables.width + column
            if self.values[place] != value:
                self.values[place] = value
                self.written(state, item)

    def gain(self, state: int, column: int, item: int, element: int) -> None:
        """Put one element into a set, as something that begins here."""
        if not item:
            return
        place = item * self.tables.width + column
        elements: dict[int, Origin] = self.values[place]
        if element not in elements:
            origin = Origin(*self.stamp, (item, state), None)
            self.values[place] = {**elements, element: origin}
            self.written(state, item)

    def gain_all(self, state: int, column: int, item: int, other: Elements) -> None:
        """Take over the elements of another set, with where they came from."""
        if not item or not other:
            return
        place = item * self.tables.width + column
        elements: dict[int, Origin] = self.values[place]
        new = {
            element: Origin(*self.stamp, (item, state), origin)
            for element, origin in other.items()
            if element not in elements
        }
        if new:
            self.values[place] = {**elements, **new}
            self.written(state, item)

    def lose(self, state: int, column: int, item: int, element: int | None) -> None:
        """Take one element, or every one, out of a set."""
        place = item * self.tables.width + column
        elements: dict[int, Origin] = self.values[place]
        if not elements or (element is not None and element not in elements):
            return
        self.values[place] = (
            EMPTY
            if element is None
            else {known: origin for known, origin in elements.items() if known != element}
        )
        self.written(state, item)

    def go(self, item: int, relation: int, target: int) -> None:
        """Place an object; its contents come along. `NOWHERE` and nothing take it away.

        What would be placed at itself, however indirectly, stays where it is.
        """
        if not item or (relation != NOWHERE and not target):
            return
        before = self.parent[item]
        if before == target and self.relation[item] == relation:
            return
        over = target
        while over:
            if over == item:
                return
            over = self.parent[over]
        if before:
            self.children[before] = tuple(x for x in self.children[before] if x != item)
        self.parent[item] = target
        self.relation[item] = relation
        if target:
            self.children[target] = (*self.children[target], item)
        self.written(PLACE, item)
        for end in (before, target):
            if end:
                self.written(CONTENTS, end)

    # ---- reading

    def made_at(self, state: int, item: int) -> Stamp:
        """Return when a fact was last made."""
        return self.made.get(item * self.tables.states + state, START)

    def inside(self, item: int) -> list[int]:
        """Return what is placed at `item`, at any depth; what is nearer comes first."""
        found = list(self.children[item])
        for child in found:  # grows while it is walked through
            found.extend(self.children[child])
        return found

    def around(self, item: int) -> list[int]:
        """Return everything that `item` is within; what is nearer comes first."""
        found = []
        item = self.parent[item]
        while item:
            found.append(item)
            item = self.parent[item]
        return found


def children(state: State, item: int) -> Sequence[int]:
    """Return what is placed at `item`: those whose place it is."""
    return state.children[item]


def parent(state: State, item: int) -> Sequence[int]:
    """Return where `item` is placed: whose contents it is among."""
    return (state.parent[item],)


def chain(moves: tuple[Inverse, ...]) -> Inverse:
    """Return the move that makes several moves, one after the other."""

    def move_all(state: State, item: int) -> Sequence[int]:
        found: Sequence[int] = (item,)
        for move in moves:
            found = [end for start in found for end in move(state, start)]
        return found

    return moves[0] if len(moves) == 1 else move_all
