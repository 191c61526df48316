"""Objects, collections of them, and their states."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import scope as sc
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.documents import Place, WorldFiles
from alpha_chaos.worldmodel.forms import check_name, first_key, only
from alpha_chaos.worldmodel.scope import (
    Amount,
    Fact,
    Many,
    Path,
    Read,
    Scope,
    SetValue,
    Thing,
    step,
)
from alpha_chaos.worldmodel.state import Frame, State
from alpha_chaos.worldmodel.units import read_quantity
from alpha_chaos.worldmodel.vocabulary import StateWord, Vocabulary

CONCRETE = re.compile(r'([a-z][a-z0-9_]*) (\d{1,3})')
ARITHMETIC = ('plus', 'minus', 'times', 'divided', 'least', 'most')
NUMBER_FORMS = (*ARITHMETIC, 'count', 'total', 'since')


class Things(ABC):
    """Gives expressions for objects their meaning."""

    def __init__(self, vocabulary: Vocabulary, files: WorldFiles) -> None:
        self.words = vocabulary
        self.files = files
        self.rows: dict[str, tuple[int, int, tuple[object, ...]]] = {}  # of classes; set later

    @abstractmethod
    def fact(self, raw: Any, scope: Scope, at: Place) -> Fact:
        """Return a condition.

        :raises BadSetting: with file, line and key
        """

    @abstractmethod
    def use_derived(self, name: str, raw: Any, scope: Scope, at: Place) -> Fact | Amount:
        """Return a derived fact or number, of the objects that are named.

        :raises BadSetting: with file, line and key
        """

    def variable(self, raw: Any, scope: Scope, at: Place) -> tuple[Scope, int, Many]:
        """Return a scope with a variable of a collection, its slot, and the collection.

        :raises BadSetting: with file, line and key
        """
        if not isinstance(raw, Mapping) or len(raw) != 1:
            raise at.wrong(f'one variable and its collection, as {{x: food}}; not {raw!r}')
        ((name, collection),) = raw.items()
        check_name(name, at)
        many = self.many(collection, scope, at / name)
        inner = scope.inner()
        return inner, inner.add(name, path=many.path).slot, many

    def kind(self, raw: Any, scope: Scope) -> str:
        """Return what an expression stands for: object, number, choice, set or word."""
        if isinstance(raw, Mapping) and raw:
            key = str(next(iter(raw)))
            if key in self.words.states:
                kind = self.words.states[key].kind
                return 'object' if kind == 'flag' else kind
            if key in NUMBER_FORMS or key in ('if', *self.words.derived):
                return 'number'
            return 'object'
        if isinstance(raw, str):
            if raw in scope.names:
                kind = scope.names[raw].kind
                return kind if kind in ('number', 'word') else 'object'
            return 'number' if raw == 'now' or read_quantity(raw) else 'object'
        return 'number' if isinstance(raw, int | float) else 'object'

    def thing(self, raw: Any, scope: Scope, at: Place) -> Thing:
        """Return an object.

        :raises BadSetting: for a name that is not known here
        """
        if isinstance(raw, str):
            return self._named(raw, scope, at)
        if not isinstance(raw, Mapping):
            raise at.wrong(f'an object is a name or a mapping, not {raw!r}')
        key = first_key(raw, at)
        if key == 'place':
            only(raw, at, key)
            inner = self.thing(raw[key], scope, at / key)
            get = inner.get
            return Thing(
                lambda s, v: s.parent[get(s, v)],
                inner.reads | {Read(st.PLACE, inner.path)},
                step(inner.path, 'P'),
            )
        if key == 'the':
            only(raw, at, key)
            many = self.all_of(raw[key], at / key)
            every = many.get
            return Thing(lambda s, v: next(iter(every(s, v)), st.NOTHING), many.reads)
        if key == 'first':
            only(raw, at, key, 'where')
            scope, slot, many = self.variable(raw[key], scope, at / key)
            where = self.fact(raw.get('where', ()), scope, at / 'where')
            return _first_where(many, where, slot)
        word = self.words.states.get(key)
        if word and word.kind == 'object':
            _, subject = self.state_of(raw, scope, at)
            place, reads = self.value_at(word, subject)
            return Thing(lambda s, v: s.values[place(s, v)], reads)
        objects = [name for name, word in self.words.states.items() if word.kind == 'object']
        raise at.wrong(unknown('way to an object', key, ('place', 'the', 'first', *objects)))

    def _named(self, raw: str, scope: Scope, at: Place) -> Thing:
        if raw == 'agent':
            return Thing(lambda s, v: st.AGENT, path=Path('agent'))
        if raw == 'nothing':
            return Thing(lambda s, v: st.NOTHING)
        name = scope.names.get(raw)
        if name:
            if name.kind == 'new':
                raise at.wrong(f'{raw!r} is not there before it is created')
            if name.kind != 'object':
                raise at.wrong(f'{raw!r} is a {name.kind}, not an object')
            slot = name.slot
            return Thing(lambda s, v: v[slot], path=name.path, slot=slot)
        if match := CONCRETE.fullmatch(raw):
            key = (match[1], match[2])
            if scope.objects is None:
                raise at.wrong(f'{raw!r}: single objects can be named in tasks and scenes only')
            if key not in scope.objects:
                labels = [' '.join(known) for known in scope.objects]
                raise at.wrong(unknown('object of the task', raw, labels))
            number = scope.objects[key]
            return Thing(lambda s, v: number)
        known = [name for name, entry in scope.names.items() if entry.kind == 'object']
        raise at.wrong(unknown('object', raw, (*known, 'agent')))

    def many(self, raw: Any, scope: Scope, at: Place) -> Many:
        """Return a collection of objects.

        :raises BadSetting: with file, line and key
        """
        if isinstance(raw, str):
            return self.all_of(raw, at)
        if not isinstance(raw, Mapping):
            raise at.wrong(f'a collection is a word or a mapping, not {raw!r}')
        key = first_key(raw, at)
        only(raw, at, key)
        inner, here = raw[key], at / key
        if key == 'contents':
            return self._contents(inner, scope, here)
        if key == 'within':
            holder = self.thing(inner, scope, here)
            get, path = holder.get, holder.path
            reads = {Read(st.CONTENTS, path), Read(st.CONTENTS, step(path, 'W'))}
            return Many(lambda s, v: s.inside(get(s, v)), holder.reads | reads, step(path, 'W'))
        if key == 'around':
            holder = self.thing(inner, scope, here)
            get, path = holder.get, holder.path
            reads = {Read(st.PLACE, path), Read(st.PLACE, step(path, 'A'))}
            return Many(lambda s, v: s.around(get(s, v)), holder.reads | reads, step(path, 'A'))
        if key == 'elements':
            value = self.set_value(inner, scope, here)
            if value.options:
                raise here.wrong('the elements of this set are words, not objects')
            elements = value.get
            return Many(lambda s, v: list(elements(s, v)), value.reads)
        raise at.wrong(unknown('collection', key, ('contents', 'within', 'around', 'elements')))

    def _contents(self, raw: Any, scope: Scope, at: Place) -> Many:
        pair = isinstance(raw, list | tuple)
        if pair and len(raw) != 2:
            raise at.wrong(f'an object, or [object, relation]; not {raw!r}')
        holder = self.thing(raw[0] if pair else raw, scope, at)
        get, path = holder.get, step(holder.path, 'C')
        reads = holder.reads | {Read(st.CONTENTS, holder.path)}
        if not pair:
            return Many(lambda s, v: s.children[get(s, v)], reads, path)
        relation = self.relation(raw[1], at / 1)
        return Many(
            lambda s, v: [x for x in s.children[get(s, v)] if s.relation[x] == relation],
            reads | {Read(st.PLACE, path)},
            path,
        )

    def all_of(self, word: Any, at: Place) -> Many:
        """Return all objects with a property or flag, or of a class.

        :raises BadSetting: if there is no such word
        """
        if not isinstance(word, str) or not self.words.is_word(word):
            known = [name for name in self.words.words if self.words.is_word(name)]
            raise at.wrong(unknown('property, flag or class', word, known))
        created = frozenset({Read(st.CREATED, None)})
        if word in self.words.states:
            mask = self.words.states[word].mask
            reads = created | {Read(self.words.states[word].index, None)}
            return Many(lambda s, v: [i for i, b in enumerate(s.bits) if b & mask], reads)
        return Many(lambda s, v: s.members.get(word, ()), created)

    def relation(self, word: Any, at: Place) -> int:
        """Return the number of a relation.

        :raises BadSetting: listing the relations
        """
        if word not in self.words.relations:
            raise at.wrong(unknown('relation', word, self.words.relations))
        return self.words.relations.index(word)

    def state_of(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> tuple[StateWord, Thing]:
        """Return the state, and the object, of `{state: object}`.

        :raises BadSetting: with file, line and key
        """
        key = first_key(raw, at)
        only(raw, at, key)
        if key not in self.words.states:
            raise at.wrong(unknown('state', key, self.words.states))
        return self.words.states[key], self.thing(raw[key], scope, at / key)

    def value_at(
        self, word: StateWord, subject: Thing
    ) -> tuple[Callable[[State, Frame], int], sc.Reads]:
        """Return how to find the value of a state of an object, and what is read."""
        width, column, get, slot = self.words.width, word.column, subject.get, subject.slot
        reads = subject.reads | {Read(word.index, subject.path)}
        if slot is not None:
            return (lambda s, v: v[slot] * width + column), reads
        return (lambda s, v: get(s, v) * width + column), reads

    def cell(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> tuple[int, Thing]:
        """Return the number of the state, and the object, that `{state: object}` names.

        `{place: object}` and `{contents: object}` are states here too.

        :raises BadSetting: for an unknown state
        """
        key = first_key(raw, at)
        if key in ('place', 'contents'):
            only(raw, at, key)
            index = st.PLACE if key == 'place' else st.CONTENTS
            return index, self.thing(raw[key], scope, at / key)
        word, subject = self.state_of(raw, scope, at)
        return word.index, subject

    def set_value(self, raw: Any, scope: Scope, at: Place) -> SetValue:
        """Return the set that `{state: object}` is.

        :raises BadSetting: if that state is none
        """
        if not isinstance(raw, Mapping):
            raise at.wrong(f'a set is {{state: object}}, not {raw!r}')
        word, subject = self.state_of(raw, scope, at)
        if word.kind != 'set':
            raise at.wrong(f'{word.name} is a {word.kind}, not a set')
        place, reads = self.value_at(word, subject)
        return SetValue(lambda s, v: s.values[place(s, v)], reads, word.options)

    def element(self, options: tuple[str, ...], raw: Any, scope: Scope, at: Place) -> Thing:
        """Return an element of a set: an object, or the number of one of its words.

        :raises BadSetting: if it cannot be in the set
        """
        if not options:
            return self.thing(raw, scope, at)
        name = scope.names.get(raw) if isinstance(raw, str) else None
        if name and name.kind == 'word' and set(name.options) <= set(options):
            numbers, slot = [options.index(word) for word in name.options], name.slot
            return Thing(lambda s, v: numbers[v[slot]])
        if raw not in options:
            raise at.wrong(unknown('word', raw, options))
        number = options.index(raw)
        return Thing(lambda s, v: number)


def _first_where(many: Many, where: Fact, slot: int) -> Thing:
    get, test = many.get, where.test

    def find(s: State, v: Frame) -> int:
        for item in get(s, v):
            v[slot] = item
            if test(s, v):
                return item
        return st.NOTHING

    return Thing(find, many.reads | where.reads, many.path)
