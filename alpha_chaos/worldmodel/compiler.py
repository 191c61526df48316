"""Conditions, numbers and effects as they are written, turned into functions of a state.

Nothing of a file is ever evaluated as program text: each form is looked up by its key, and becomes
a closure over numbers of states, masks of words, and slots of a frame. Beside the closure stands
what it reads, so that a rule need be looked at again only after a write that can matter.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import scope as sc
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.documents import DerivedDocument, Place, WorldFiles
from alpha_chaos.worldmodel.scope import (
    Amount,
    Change,
    Fact,
    Many,
    Path,
    Read,
    Scope,
    SetValue,
    Thing,
    joined,
    step,
)
from alpha_chaos.worldmodel.state import Frame, State
from alpha_chaos.worldmodel.units import dimension_of, read_quantity, unit_names
from alpha_chaos.worldmodel.vocabulary import RESERVED, StateWord, Vocabulary

CONCRETE = re.compile(r'([a-z][a-z0-9_]*) (\d{1,3})')
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    'above': operator.gt,
    'below': operator.lt,
    'at least': operator.ge,
    'at most': operator.le,
    'equals': operator.eq,
    'differs from': lambda a, b: a < b or a > b,  # false if one is not a number
}
OBJECT_VERBS = ('is', 'is not', 'within', 'same as', 'other than', 'exists', 'empty', 'not empty')
ARITHMETIC = ('plus', 'minus', 'times', 'divided', 'least', 'most')
NUMBER_FORMS = (*ARITHMETIC, 'count', 'total', 'since')
CONNECTIVES = ('all', 'any', 'not', 'if', 'some', 'every', 'none')
CHANGE_FORMS = ('if', 'each', 'create', 'relax', 'grow')


class Compiler:
    """Gives the expressions of one world their meaning."""

    def __init__(self, vocabulary: Vocabulary, files: WorldFiles) -> None:
        self.words = vocabulary
        self.files = files
        self.rows: dict[str, tuple[int, int, tuple[object, ...]]] = {}  # of classes; set later
        self._derived: dict[str, Fact | Amount] = {}
        self._open: list[str] = []  # derived facts being worked out

    # ---- conditions

    def fact(self, raw: Any, scope: Scope, at: Place) -> Fact:
        """Return a condition.

        :raises BadSetting: with file, line and key
        """
        if isinstance(raw, Mapping):
            return self._connected(raw, scope, at)
        if not isinstance(raw, list | tuple):
            raise at.wrong(f'a condition is a list or a mapping, not {raw!r}')
        if is_atom(raw):
            return self._atom(raw, scope, at)
        return _all([self.fact(part, scope, at / i) for i, part in enumerate(raw)])

    def _connected(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Fact:
        key = _first_key(raw, at)
        if key in self.words.derived:
            _only(raw, at, key)
            fact = self._use_derived(key, raw[key], scope, at / key)
            if not isinstance(fact, Fact):
                raise at.wrong(f'{key} is a number; compare it with another')
            return fact
        if key in ('all', 'any'):
            _only(raw, at, key)
            parts = self._list(raw[key], at / key)
            facts = [self.fact(part, scope, at / key / i) for i, part in enumerate(parts)]
            return _all(facts) if key == 'all' else _any(facts)
        if key == 'not':
            _only(raw, at, key)
            inner = self.fact(raw[key], scope, at / key)
            test = inner.test
            return Fact(lambda s, v: not test(s, v), inner.reads)
        if key == 'if':
            _only(raw, at, 'if', 'then', 'else')
            return _implied(*self._branches(raw, scope, at, self.fact))
        if key in ('some', 'every', 'none'):
            _only(raw, at, key, 'where')
            return self._quantified(key, raw, scope, at)
        known = (*CONNECTIVES, *self.words.derived)
        raise at.wrong(unknown('condition', key, known))

    def _branches(
        self, raw: Mapping[str, Any], scope: Scope, at: Place, compile_: Callable[..., Any]
    ) -> tuple[Fact, Any, Any]:
        if 'then' not in raw:
            raise at.wrong("the key 'then' is missing")
        test = self.fact(raw['if'], scope, at / 'if')
        then = compile_(raw['then'], scope, at / 'then')
        other = compile_(raw['else'], scope, at / 'else') if 'else' in raw else None
        return test, then, other

    def _quantified(self, key: str, raw: Mapping[str, Any], scope: Scope, at: Place) -> Fact:
        inner, slot, many = self._variable(raw[key], scope, at / key)
        get = many.get
        if 'where' not in raw:
            if key == 'every':
                raise at.wrong("'every' needs a 'where'")
            wanted = key == 'some'
            return Fact(lambda s, v: any(True for _ in get(s, v)) is wanted, many.reads)
        where = self.fact(raw['where'], inner, at / 'where')
        test = where.test
        reads = many.reads | where.reads

        def some(s: State, v: Frame) -> bool:
            for item in get(s, v):
                v[slot] = item
                if test(s, v):
                    return True
            return False

        def every(s: State, v: Frame) -> bool:
            for item in get(s, v):
                v[slot] = item
                if not test(s, v):
                    return False
            return True

        if key == 'some':
            return Fact(some, reads)
        if key == 'every':
            return Fact(every, reads)
        return Fact(lambda s, v: not some(s, v), reads)

    def _variable(self, raw: Any, scope: Scope, at: Place) -> tuple[Scope, int, Many]:
        if not isinstance(raw, Mapping) or len(raw) != 1:
            raise at.wrong(f'one variable and its collection, as {{x: food}}; not {raw!r}')
        ((name, collection),) = raw.items()
        self.check_name(name, at)
        many = self.many(collection, scope, at / name)
        inner = scope.inner()
        return inner, inner.add(name, path=many.path).slot, many

    def check_name(self, name: object, at: Place) -> None:
        """Refuse what cannot be the name of a variable.

        :raises BadSetting: saying why not
        """
        if not isinstance(name, str) or not re.fullmatch(r'[a-z][a-z0-9_]*', name):
            raise at.wrong(f'{name!r} is no name: lower case letters, digits and _')
        if name in RESERVED:
            raise at.wrong(f'{name!r} is a word of the language')

    # ---- atoms

    def _atom(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb, rest = raw[1], raw[2:]
        kind = self.kind(raw[0], scope)
        if kind == 'number':
            return self._comparison(raw, scope, at)
        if kind in ('choice', 'word'):
            return self._choice(raw, scope, at)
        if kind == 'set':
            return self._set_atom(raw, scope, at)
        subject = self.thing(raw[0], scope, at / 0)
        get, path, reads = subject.get, subject.path, subject.reads
        if verb in ('is', 'is not'):
            return self._is(subject, rest, verb == 'is', at)
        if verb in self.words.relations:
            other = self.thing(self._one(rest, verb, at), scope, at / 2)
            relation, reach = self.words.relations.index(verb), other.get
            placed = reads | other.reads | {Read(st.PLACE, path)}
            if subject.slot is not None and other.slot is not None:
                a, b = subject.slot, other.slot
                return Fact(
                    lambda s, v: s.parent[v[a]] == v[b] and s.relation[v[a]] == relation, placed
                )

            def is_placed(s: State, v: Frame) -> bool:
                item = get(s, v)
                return s.relation[item] == relation and s.parent[item] == reach(s, v)

            return Fact(is_placed, placed)
        if verb == 'within':
            other = self.thing(self._one(rest, verb, at), scope, at / 2)
            reach = other.get
            reads = reads | other.reads
            reads |= {Read(st.PLACE, path), Read(st.PLACE, step(path, 'A'))}

            def is_within(s: State, v: Frame) -> bool:
                item, goal = s.parent[get(s, v)], reach(s, v)
                while item:
                    if item == goal:
                        return True
                    item = s.parent[item]
                return False

            return Fact(is_within, reads)
        if verb in ('same as', 'other than'):
            other = self.thing(self._one(rest, verb, at), scope, at / 2)
            reach, same = other.get, verb == 'same as'

            def compares(s: State, v: Frame) -> bool:
                a, b = get(s, v), reach(s, v)
                return bool(a and b) and (a == b) is same

            return Fact(compares, reads | other.reads)
        if verb == 'exists':
            self._none(rest, verb, at)
            return Fact(lambda s, v: get(s, v) != st.NOTHING, reads)
        if verb in ('empty', 'not empty'):
            return self._emptiness(subject, rest, verb == 'empty', at)
        verbs = (*OBJECT_VERBS, *self.words.relations)
        raise (at / 1).wrong(unknown('verb of an object', verb, verbs))

    def _is(self, subject: Thing, words: Sequence[Any], positive: bool, at: Place) -> Fact:
        if not words:
            raise at.wrong(f'nothing follows {"is" if positive else "is not"!r}')
        mask = kinds = 0
        reads = set(subject.reads)
        derived: list[Fact] = []
        for i, word in enumerate(words):
            here = at / (2 + i)
            if not isinstance(word, str):
                raise here.wrong(f'a word follows `is`, not {word!r}')
            if bit := self.words.bit(word):
                mask |= bit
                if word in self.words.states:
                    reads.add(Read(self.words.states[word].index, subject.path))
            elif word in self.words.classes:
                kinds |= self.words.classes[word]
            elif word in self.words.derived:
                fact = self._derived_fact(word, here)
                if not isinstance(fact, Fact) or len(self.files.document.derived[word].of) != 1:
                    raise here.wrong(f'{word} is no derived fact of one object')
                derived.append(fact)
                argument = {self.files.document.derived[word].of[0]: subject.path}
                reads |= sc.moved(fact.reads, argument)
            else:
                known = [word for word in self.words.words if self._can_be(word)]
                raise here.wrong(unknown('property, flag, class or derived fact', word, known))
        get, slot, found = subject.get, subject.slot, frozenset(reads)
        tests = [fact.test for fact in derived]
        if positive and not tests and not kinds and slot is not None:
            return Fact(lambda s, v: s.bits[v[slot]] & mask == mask, found)
        if positive:

            def is_all(s: State, v: Frame) -> bool:
                item = get(s, v)
                return (
                    item != st.NOTHING
                    and s.bits[item] & mask == mask
                    and s.classes[item] & kinds == kinds
                    and all(test(s, [item]) for test in tests)
                )

            return Fact(is_all, found)

        def is_none(s: State, v: Frame) -> bool:
            item = get(s, v)
            return (
                item != st.NOTHING
                and not s.bits[item] & mask
                and not s.classes[item] & kinds
                and not any(test(s, [item]) for test in tests)
            )

        return Fact(is_none, found)

    def _can_be(self, word: str) -> bool:
        return self.words.is_word(word) or word in self.words.derived

    def _emptiness(self, subject: Thing, rest: Sequence[Any], wanted: bool, at: Place) -> Fact:
        get = subject.get
        reads = subject.reads | {Read(st.CONTENTS, subject.path)}
        if not rest:

            def is_empty(s: State, v: Frame) -> bool:
                item = get(s, v)
                return item != st.NOTHING and (not s.children[item]) is wanted

            return Fact(is_empty, reads)
        relation = self.relation(self._one(rest, 'empty', at), at / 2)
        reads |= {Read(st.PLACE, step(subject.path, 'C'))}

        def is_free(s: State, v: Frame) -> bool:
            item = get(s, v)
            if not item:
                return False
            placed = s.relation
            return all(placed[child] != relation for child in s.children[item]) is wanted

        return Fact(is_free, reads)

    def relation(self, word: Any, at: Place) -> int:
        """Return the number of a relation.

        :raises BadSetting: listing the relations
        """
        if word not in self.words.relations:
            raise at.wrong(unknown('relation', word, self.words.relations))
        return self.words.relations.index(word)

    def _comparison(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb = raw[1]
        if verb not in COMPARISONS:
            raise (at / 1).wrong(unknown('verb of a number', verb, COMPARISONS))
        left = self.amount(raw[0], scope, at / 0)
        right = self.amount(self._one(raw[2:], verb, at), scope, at / 2)
        _same_dimension([left, right], at)
        compare, a, b = COMPARISONS[verb], left.get, right.get
        if right.constant is not None:
            limit = right.constant
            return Fact(lambda s, v: compare(a(s, v), limit), left.reads)
        return Fact(lambda s, v: compare(a(s, v), b(s, v)), left.reads | right.reads)

    def _choice(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb, rest = raw[1], raw[2:]
        get, options, reads = self._choice_value(raw[0], scope, at / 0)
        if verb == 'one of':
            words = self._list(self._one(rest, verb, at), at / 2)
        elif verb in ('is', 'is not', 'equals', 'differs from'):
            words = [self._one(rest, verb, at)]
        else:
            verbs = ('is', 'is not', 'one of')
            raise (at / 1).wrong(unknown('verb of a choice', verb, verbs))
        for word in words:
            if word not in options:
                raise (at / 2).wrong(unknown('word', word, options))
        numbers = frozenset(options.index(word) for word in words)
        if verb in ('is not', 'differs from'):
            numbers = frozenset(range(len(options))) - numbers
        return Fact(lambda s, v: get(s, v) in numbers, reads)

    def _choice_value(
        self, raw: Any, scope: Scope, at: Place
    ) -> tuple[Callable[[State, Frame], int], tuple[str, ...], sc.Reads]:
        """Return how to get the number of a word, the words, and what is read."""
        if isinstance(raw, str):
            name = scope.names[raw]
            slot = name.slot
            return (lambda s, v: int(v[slot])), name.options, sc.NO_READS
        word, subject = self._state_of(raw, scope, at)
        place, reads = self._cell(word, subject)
        values = lambda s, v: s.values[place(s, v)]  # noqa: E731
        return values, word.options, reads

    def _set_atom(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb, rest = raw[1], raw[2:]
        value = self.set_value(raw[0], scope, at / 0)
        get = value.get
        if verb in ('empty', 'not empty'):
            self._none(rest, verb, at)
            wanted = verb == 'not empty'
            return Fact(lambda s, v: bool(get(s, v)) is wanted, value.reads)
        if verb in ('has', 'has not'):
            element = self._element(value.options, self._one(rest, verb, at), scope, at / 2)
            reach, wanted = element.get, verb == 'has'
            return Fact(
                lambda s, v: (reach(s, v) in get(s, v)) is wanted, value.reads | element.reads
            )
        verbs = ('empty', 'not empty', 'has', 'has not')
        raise (at / 1).wrong(unknown('verb of a set', verb, verbs))

    def _element(self, options: tuple[str, ...], raw: Any, scope: Scope, at: Place) -> Thing:
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

    # ---- objects

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
        key = _first_key(raw, at)
        if key == 'place':
            _only(raw, at, key)
            inner = self.thing(raw[key], scope, at / key)
            get = inner.get
            return Thing(
                lambda s, v: s.parent[get(s, v)],
                inner.reads | {Read(st.PLACE, inner.path)},
                step(inner.path, 'P'),
            )
        if key == 'the':
            _only(raw, at, key)
            many = self._all_of(raw[key], at / key)
            every = many.get
            return Thing(lambda s, v: next(iter(every(s, v)), st.NOTHING), many.reads)
        if key == 'first':
            _only(raw, at, key, 'where')
            scope, slot, many = self._variable(raw[key], scope, at / key)
            where = self.fact(raw.get('where', ()), scope, at / 'where')
            return _first_where(many, where, slot)
        word = self.words.states.get(key)
        if word and word.kind == 'object':
            _, subject = self._state_of(raw, scope, at)
            place, reads = self._cell(word, subject)
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
            return self._all_of(raw, at)
        if not isinstance(raw, Mapping):
            raise at.wrong(f'a collection is a word or a mapping, not {raw!r}')
        key = _first_key(raw, at)
        _only(raw, at, key)
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

    def _all_of(self, word: Any, at: Place) -> Many:
        if not isinstance(word, str) or not self.words.is_word(word):
            known = [name for name in self.words.words if self.words.is_word(name)]
            raise at.wrong(unknown('property, flag or class', word, known))
        created = frozenset({Read(st.CREATED, None)})
        if word in self.words.states:
            mask = self.words.states[word].mask
            reads = created | {Read(self.words.states[word].index, None)}
            return Many(lambda s, v: [i for i, b in enumerate(s.bits) if b & mask], reads)
        return Many(lambda s, v: s.members.get(word, ()), created)

    # ---- states of objects

    def _state_of(
        self, raw: Mapping[str, Any], scope: Scope, at: Place
    ) -> tuple[StateWord, Thing]:
        key = _first_key(raw, at)
        _only(raw, at, key)
        if key not in self.words.states:
            raise at.wrong(unknown('state', key, self.words.states))
        return self.words.states[key], self.thing(raw[key], scope, at / key)

    def _cell(
        self, word: StateWord, subject: Thing
    ) -> tuple[Callable[[State, Frame], int], sc.Reads]:
        """Return how to find the value of a state of an object, and what is read."""
        width, column, get, slot = self.words.width, word.column, subject.get, subject.slot
        reads = subject.reads | {Read(word.index, subject.path)}
        if slot is not None:
            return (lambda s, v: v[slot] * width + column), reads
        return (lambda s, v: get(s, v) * width + column), reads

    def set_value(self, raw: Any, scope: Scope, at: Place) -> SetValue:
        """Return the set that `{state: object}` is.

        :raises BadSetting: if that state is none
        """
        if not isinstance(raw, Mapping):
            raise at.wrong(f'a set is {{state: object}}, not {raw!r}')
        word, subject = self._state_of(raw, scope, at)
        if word.kind != 'set':
            raise at.wrong(f'{word.name} is a {word.kind}, not a set')
        place, reads = self._cell(word, subject)
        return SetValue(lambda s, v: s.values[place(s, v)], reads, word.options)

    # ---- numbers

    def amount(self, raw: Any, scope: Scope, at: Place) -> Amount:
        """Return a number.

        :raises BadSetting: with file, line and key
        """
        if isinstance(raw, str):
            return self._spelled_amount(raw, scope, at)
        quantity = read_quantity(raw)
        if quantity:
            value = quantity.value
            return Amount(lambda s, v: value, 'number' if value else None, constant=value)
        if not isinstance(raw, Mapping):
            raise at.wrong(f"a number is 1.5, '5 min' or a mapping, not {raw!r}")
        key = _first_key(raw, at)
        word = self.words.states.get(key)
        if word and word.kind == 'number':
            return self._number_state(word, raw, scope, at)
        if key in self.words.derived:
            _only(raw, at, key)
            derived = self._use_derived(key, raw[key], scope, at / key)
            if not isinstance(derived, Amount):
                raise at.wrong(f'{key} is a fact, not a number')
            return derived
        if key in ARITHMETIC:
            _only(raw, at, key)
            parts = self._list(raw[key], at / key)
            made = [self.amount(part, scope, at / key / i) for i, part in enumerate(parts)]
            return _calculated(key, made, at / key)
        if key == 'if':
            _only(raw, at, 'if', 'then', 'else')
            test, then, other = self._branches(raw, scope, at, self.amount)
            if other is None:
                raise at.wrong("a number with 'if' needs 'else'")
            _same_dimension([then, other], at)
            choose, a, b = test.test, then.get, other.get
            return Amount(
                lambda s, v: a(s, v) if choose(s, v) else b(s, v),
                then.dimension or other.dimension,
                test.reads | then.reads | other.reads,
            )
        if key == 'since':
            return self._since(raw, scope, at)
        if key in ('count', 'total'):
            return self._summed(key, raw, scope, at)
        numbers = [name for name, word in self.words.states.items() if word.kind == 'number']
        known = (*numbers, *NUMBER_FORMS, 'if', *self.words.derived)
        raise at.wrong(unknown('number', key, known))

    def _spelled_amount(self, raw: str, scope: Scope, at: Place) -> Amount:
        if raw == 'now':
            return Amount(lambda s, v: s.now_s, 'time', frozenset({Read(sc.CLOCK, None)}))
        name = scope.names.get(raw)
        if name:
            if name.kind != 'number':
                raise at.wrong(f'{raw!r} is an object here; say of which state: {{state: {raw}}}')
            slot = name.slot
            return Amount(lambda s, v: v[slot], name.dimension)
        quantity = read_quantity(raw)
        if quantity is None:
            values = [name for name, entry in scope.names.items() if entry.kind == 'number']
            raise at.wrong(
                f"{raw!r} is no number: a value like '5 min' (units: {unit_names()}) "
                f'or one of {", ".join((*values, "now"))}'
            )
        value = quantity.value
        return Amount(lambda s, v: value, quantity.dimension, constant=value)

    def _number_state(
        self, word: StateWord, raw: Mapping[str, Any], scope: Scope, at: Place
    ) -> Amount:
        _, subject = self._state_of(raw, scope, at)
        place, reads = self._cell(word, subject)
        if subject.slot is not None:
            slot, width, column = subject.slot, self.words.width, word.column
            return Amount(
                lambda s, v: s.values[v[slot] * width + column],
                word.dimension,
                reads,
            )
        return Amount(lambda s, v: s.values[place(s, v)], word.dimension, reads)

    def _since(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Amount:
        _only(raw, at, 'since')
        inner, here = raw['since'], at / 'since'
        if not isinstance(inner, Mapping):
            raise here.wrong(f'{{state: object}} follows since, not {inner!r}')
        index, subject = self.cell(inner, scope, here)
        get = subject.get
        reads = subject.reads | {Read(index, subject.path), Read(sc.CLOCK, None)}
        return Amount(lambda s, v: s.now_s - s.made_at(index, get(s, v)).now_s, 'time', reads)

    def cell(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> tuple[int, Thing]:
        """Return the number of the state, and the object, that `{state: object}` names.

        `{place: object}` and `{contents: object}` are states here too.

        :raises BadSetting: for an unknown state
        """
        key = _first_key(raw, at)
        if key in ('place', 'contents'):
            _only(raw, at, key)
            index = st.PLACE if key == 'place' else st.CONTENTS
            return index, self.thing(raw[key], scope, at / key)
        word, subject = self._state_of(raw, scope, at)
        return word.index, subject

    def _summed(self, key: str, raw: Mapping[str, Any], scope: Scope, at: Place) -> Amount:
        _only(raw, at, *(('count', 'where') if key == 'count' else ('total', 'of', 'where')))
        inner, slot, many = self._variable(raw[key], scope, at / key)
        where = self.fact(raw.get('where', ()), inner, at / 'where')
        get, test, reads = many.get, where.test, many.reads | where.reads
        if key == 'count':

            def count(s: State, v: Frame) -> float:
                found = 0.0
                for item in get(s, v):
                    v[slot] = item
                    if test(s, v):
                        found += 1.0
                return found

            return Amount(count, 'number', reads)
        if 'of' not in raw:
            raise at.wrong("the key 'of' is missing: what is added up")
        of = self.amount(raw['of'], inner, at / 'of')
        term = of.get

        def total(s: State, v: Frame) -> float:
            found = 0.0
            for item in get(s, v):
                v[slot] = item
                if test(s, v):
                    found += term(s, v)
            return found

        return Amount(total, of.dimension, reads | of.reads)

    # ---- derived facts

    def _derived_fact(self, name: str, at: Place) -> Fact | Amount:
        if name not in self._derived:
            if name in self._open:
                round_ = ' -> '.join((*self._open[self._open.index(name) :], name))
                raise at.wrong(f'derived facts go round in a circle: {round_}')
            self._open.append(name)
            document = self.files.document.derived[name]
            self._derived[name] = self._compile_derived(name, document)
            self._open.pop()
        return self._derived[name]

    def _compile_derived(self, name: str, document: DerivedDocument) -> Fact | Amount:
        at = self.files.place('derived', name)
        scope = Scope()
        for i, parameter in enumerate(document.of):
            self.check_name(parameter, at / 'of' / i)
            scope.add(parameter, path=Path(parameter))
        if (document.is_ is None) == (document.number is None):
            raise at.wrong('a derived fact has either `is` or `number`')
        if document.is_ is not None:
            fact = self.fact(document.is_, scope, at / 'is')
            test, room = fact.test, [0] * (len(scope.slots) - len(document.of))
            if not room:
                return fact
            return Fact(lambda s, v: test(s, [*v, *room]), fact.reads)
        dimension = dimension_of(document.unit)
        if dimension is None:
            unit = f'unknown unit {document.unit!r}; known: {unit_names()}'
            raise (at / 'unit').wrong(unit)
        made = self.amount(document.number, scope, at / 'number')
        if made.dimension not in (dimension, None):
            raise (at / 'number').wrong(f'this is a {made.dimension}, not a {dimension}')
        get, room = made.get, [0] * (len(scope.slots) - len(document.of))
        return Amount(lambda s, v: get(s, [*v, *room]), dimension, made.reads)

    def _use_derived(self, name: str, raw: Any, scope: Scope, at: Place) -> Fact | Amount:
        derived = self._derived_fact(name, at)
        parameters = self.files.document.derived[name].of
        listed = raw if isinstance(raw, list | tuple) else [raw]
        if len(listed) != len(parameters):
            raise at.wrong(f'{name} is about {len(parameters)} objects: {", ".join(parameters)}')
        things = [self.thing(item, scope, at) for item in listed]
        gets = [thing.get for thing in things]
        paths = {
            parameter: thing.path for parameter, thing in zip(parameters, things, strict=True)
        }
        reads = joined([sc.moved(derived.reads, paths), *(thing.reads for thing in things)])
        if isinstance(derived, Fact):
            test = derived.test
            return Fact(lambda s, v: test(s, [get(s, v) for get in gets]), reads)
        number = derived.get
        return Amount(
            lambda s, v: number(s, [get(s, v) for get in gets]), derived.dimension, reads
        )

    def check_derived(self) -> None:
        """Compile every derived fact, so that a mistake in an unused one is found too.

        :raises BadSetting: with file, line and key
        """
        for name in self.files.document.derived:
            self._derived_fact(name, self.files.place('derived', name))

    # ---- effects

    def changes(self, raw: Any, scope: Scope, at: Place, over_time: bool = False) -> Change:
        """Return effects, one after the other.

            :param over_time: relax and grow may be among them; the piece of time is in slot 0
        :raises BadSetting: with file, line and key
        """
        parts = self._list(raw, at)
        if is_atom(parts):
            raise at.wrong('a list of effects is needed here: [[...]]')
        made = [self._change(part, scope, at / i, over_time) for i, part in enumerate(parts)]
        dos = tuple(change.do for change in made)
        reads = joined(change.reads for change in made)
        if len(dos) == 1:
            return Change(dos[0], reads)

        def do_all(s: State, v: Frame) -> None:
            for do in dos:
                do(s, v)

        return Change(do_all, reads)

    def _change(self, raw: Any, scope: Scope, at: Place, over_time: bool) -> Change:
        if isinstance(raw, Mapping):
            return self._formed_change(raw, scope, at, over_time)
        if not isinstance(raw, list | tuple) or not is_atom(raw):
            raise at.wrong(f'an effect is [object, verb, ...] or a mapping, not {raw!r}')
        verb, rest = raw[1], raw[2:]
        kind = self.kind(raw[0], scope)
        if kind in ('number', 'choice', 'set') or (
            isinstance(raw[0], Mapping) and next(iter(raw[0])) in self.words.states
        ):
            return self._state_change(raw, scope, at)
        subject = self.thing(raw[0], scope, at / 0)
        if verb in ('becomes', 'becomes not'):
            return self._flags(subject, rest, verb == 'becomes', at)
        if verb == 'goes':
            if len(rest) != 2:
                raise at.wrong('a relation and an object follow goes; or write: goes nowhere')
            relation = self.relation(rest[0], at / 2)
            target = self.thing(rest[1], scope, at / 3)
            get, reach = subject.get, target.get
            return Change(
                lambda s, v: s.go(get(s, v), relation, reach(s, v)), subject.reads | target.reads
            )
        if verb == 'goes nowhere':
            self._none(rest, verb, at)
            get = subject.get
            return Change(lambda s, v: s.go(get(s, v), st.NOWHERE, st.NOTHING), subject.reads)
        verbs = ('becomes', 'becomes not', 'goes', 'goes nowhere')
        raise (at / 1).wrong(unknown('effect on an object', verb, verbs))

    def _flags(self, subject: Thing, words: Sequence[Any], on: bool, at: Place) -> Change:
        flags = []
        for i, word in enumerate(words):
            known = self.words.states.get(word) if isinstance(word, str) else None
            if known is None or known.kind != 'flag':
                names = [name for name, word in self.words.states.items() if word.kind == 'flag']
                raise (at / (2 + i)).wrong(unknown('flag', word, names))
            self._changeable(known, at / (2 + i))
            flags.append((known.index, known.mask))
        if not flags:
            raise at.wrong('which flag?')
        get = subject.get
        if len(flags) == 1:
            ((index, mask),) = flags
            return Change(lambda s, v: s.set_flag(index, mask, get(s, v), on), subject.reads)

        def set_all(s: State, v: Frame) -> None:
            item = get(s, v)
            for index, mask in flags:
                s.set_flag(index, mask, item, on)

        return Change(set_all, subject.reads)

    def _state_change(self, raw: Sequence[Any], scope: Scope, at: Place) -> Change:
        if not isinstance(raw[0], Mapping):
            raise (at / 0).wrong(
                f'a state of an object changes, {{state: object}}; not {raw[0]!r}'
            )
        verb, rest = raw[1], raw[2:]
        word, subject = self._state_of(raw[0], scope, at / 0)
        self._changeable(word, at / 0)
        index, column, get, reads = word.index, word.column, subject.get, subject.reads
        if word.kind == 'set':
            return self._set_change(word, subject, raw, scope, at)
        if word.kind == 'flag':
            raise (at / 0).wrong(f'{word.name} is a flag: [object, becomes, {word.name}]')
        if word.kind != 'number' and verb != 'becomes':
            raise (at / 1).wrong(unknown(f'effect on a {word.kind}', verb, ('becomes',)))
        value = self._one(rest, verb, at)
        if word.kind == 'choice':
            if value in scope.names and scope.names[value].kind == 'word':
                number = self._element(word.options, value, scope, at / 2).get
                return Change(lambda s, v: s.write(index, column, get(s, v), number(s, v)), reads)
            option = word.option(value, at / 2)
            return Change(lambda s, v: s.write(index, column, get(s, v), option), reads)
        if word.kind == 'object':
            other = self.thing(value, scope, at / 2)
            reach = other.get
            return Change(
                lambda s, v: s.write(index, column, get(s, v), reach(s, v)), reads | other.reads
            )
        return self._number_change(word, subject, verb, value, scope, at)

    def _number_change(
        self, word: StateWord, subject: Thing, verb: str, value: Any, scope: Scope, at: Place
    ) -> Change:
        verbs = ('becomes', 'grows by', 'shrinks by')
        if verb not in verbs:
            raise (at / 1).wrong(unknown('effect on a number', verb, verbs))
        amount = self.amount(value, scope, at / 2)
        if amount.dimension not in (word.dimension, None):
            raise (at / 2).wrong(f'{word.name} is a {word.dimension}, not a {amount.dimension}')
        quantity = read_quantity(value)
        if verb != 'becomes' and quantity and quantity.unit in ('C', 'F'):
            raise (at / 2).wrong('a difference of temperatures is written in K')
        index, column, get, number = word.index, word.column, subject.get, amount.get
        width = self.words.width
        reads = subject.reads | amount.reads
        if verb == 'becomes':
            return Change(
                lambda s, v: s.write_number(index, column, get(s, v), number(s, v)), reads
            )
        sign = 1.0 if verb == 'grows by' else -1.0

        def grow(s: State, v: Frame) -> None:
            item = get(s, v)
            before: float = s.values[item * width + column]
            s.write_number(index, column, item, before + sign * number(s, v))

        return Change(grow, reads)

    def _set_change(
        self, word: StateWord, subject: Thing, raw: Sequence[Any], scope: Scope, at: Place
    ) -> Change:
        verb, rest = raw[1], raw[2:]
        index, column, get, reads = word.index, word.column, subject.get, subject.reads
        if verb == 'loses all':
            self._none(rest, verb, at)
            return Change(lambda s, v: s.lose(index, column, get(s, v), None), reads)
        if verb == 'gains all':
            other = self.set_value(self._one(rest, verb, at), scope, at / 2)
            if other.options != word.options:
                raise (at / 2).wrong(f'this set has other elements than {word.name}')
            elements = other.get
            return Change(
                lambda s, v: s.gain_all(index, column, get(s, v), elements(s, v)),
                reads | other.reads,
            )
        if verb not in ('gains', 'loses'):
            verbs = ('gains', 'gains all', 'loses', 'loses all')
            raise (at / 1).wrong(unknown('effect on a set', verb, verbs))
        element = self._element(word.options, self._one(rest, verb, at), scope, at / 2)
        reach, reads = element.get, reads | element.reads
        if verb == 'loses':
            return Change(lambda s, v: s.lose(index, column, get(s, v), reach(s, v)), reads)
        words_too = bool(word.options)

        def gain(s: State, v: Frame) -> None:
            new = reach(s, v)
            if new or words_too:  # an object that is nothing is no element
                s.gain(index, column, get(s, v), new)

        return Change(gain, reads)

    def _changeable(self, word: StateWord, at: Place) -> None:
        if word.fixed:
            raise at.wrong(f'{word.name} is fixed: no effect changes it')

    def _formed_change(
        self, raw: Mapping[str, Any], scope: Scope, at: Place, over_time: bool
    ) -> Change:
        key = _first_key(raw, at)
        if key == 'if':
            _only(raw, at, 'if', 'then', 'else')
            test, then, other = self._branches(
                raw,
                scope,
                at,
                lambda inner, names, here: self.changes(inner, names, here, over_time),
            )
            choose, do = test.test, then.do
            reads = test.reads | then.reads | (other.reads if other else sc.NO_READS)
            otherwise = other.do if other else None

            def either(s: State, v: Frame) -> None:
                if choose(s, v):
                    do(s, v)
                elif otherwise:
                    otherwise(s, v)

            return Change(either, reads)
        if key == 'each':
            _only(raw, at, 'each', 'where', 'do')
            return self._each(raw, scope, at, over_time)
        if key == 'create':
            _only(raw, at, 'create', 'class', 'at', 'inherit', 'from')
            return self._create(raw, scope, at)
        if key in ('relax', 'grow'):
            if not over_time:
                raise at.wrong(f'{key} takes time: only processes can do it')
            return self._relax(raw, scope, at) if key == 'relax' else self._grow(raw, scope, at)
        raise at.wrong(unknown('effect', key, CHANGE_FORMS))

    def _each(self, raw: Mapping[str, Any], scope: Scope, at: Place, over_time: bool) -> Change:
        inner, slot, many = self._variable(raw['each'], scope, at / 'each')
        where = self.fact(raw.get('where', ()), inner, at / 'where')
        if 'do' not in raw:
            raise at.wrong("the key 'do' is missing")
        change = self.changes(raw['do'], inner, at / 'do', over_time)
        get, test, do = many.get, where.test, change.do

        def each(s: State, v: Frame) -> None:
            for item in tuple(get(s, v)):
                v[slot] = item
                if test(s, v):
                    do(s, v)

        return Change(each, many.reads | where.reads | change.reads)

    def _create(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Change:
        name, class_ = raw['create'], raw.get('class')
        role = scope.names.get(name)
        self.check_name(name, at / 'create')
        if role is None:
            role = scope.add(name, 'new')
        elif role.kind != 'new':
            raise (at / 'create').wrong(f'{name!r} is there already')
        class_ = class_ or role.class_
        if class_ not in self.rows:
            raise (at / 'class').wrong(unknown('class that objects can have', class_, self.rows))
        role.kind = 'object'
        slot, rows = role.slot, self.rows
        masks, columns = self._inherited(raw.get('inherit', ()), at / 'inherit')
        collection = self.many(raw['from'], scope, at / 'from') if 'from' in raw else None
        if (masks or columns) and collection is None:
            raise at.wrong("the key 'from' is missing: inherited from what?")
        put = None
        if 'at' in raw:
            where = self._list(raw['at'], at / 'at')
            if len(where) != 2:
                raise (at / 'at').wrong(f'[relation, object], not {where!r}')
            put = (
                self.relation(where[0], at / 'at' / 0),
                self.thing(where[1], scope, at / 'at' / 1),
            )
        members = collection.get if collection else None
        width = self.words.width
        existence = st.CREATED

        def create(s: State, v: Frame) -> None:
            parents = tuple(members(s, v)) if members else ()
            named = v[slot]
            if not isinstance(named, tuple):
                named = (class_, str(1 + sum(1 for known, _ in s.named if known == class_)))
            bits, classes, row = rows[named[0] if named[0] in rows else class_]
            for parent in parents:
                bits |= s.bits[parent] & masks
            item = v[slot] = s.create(named, bits, classes, row)
            s.written(existence, item)
            for index, column in columns:
                for parent in parents:
                    s.gain_all(index, column, item, s.values[parent * width + column])
            if put:
                s.go(item, put[0], put[1].get(s, v))

        return Change(create, collection.reads if collection else sc.NO_READS)

    def _inherited(self, raw: Any, at: Place) -> tuple[int, list[tuple[int, int]]]:
        masks, columns = 0, []
        for i, word in enumerate(self._list(raw, at)):
            known = self.words.states.get(word)
            if word in self.words.properties or (known and known.kind == 'flag'):
                masks |= self.words.bit(word)
            elif known and known.kind == 'set':
                columns.append((known.index, known.column))
            else:
                names = [
                    *self.words.properties,
                    *(n for n, w in self.words.states.items() if w.kind in ('flag', 'set')),
                ]
                raise (at / i).wrong(unknown('property, flag or set', word, names))
        return masks, columns

    # ---- effects over time

    def _relax(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Change:
        word, subject, goal, over = self._over_time(raw, ('relax', 'to', 'over'), scope, at)
        if goal.dimension not in (word.dimension, None):
            raise (at / 'to').wrong(f'{word.name} is a {word.dimension}, not a {goal.dimension}')
        place, reads = self._cell(word, subject)
        index, column, get = word.index, word.column, subject.get
        aim, constant, close = goal.get, over.get, word.resolution

        def relax(s: State, v: Frame) -> None:
            now: float = s.values[place(s, v)]
            end = aim(s, v)
            if now == end:
                return
            tau = constant(s, v)
            new = end if tau <= 0 else end + (now - end) * math.exp(-v[0] / tau)
            if -close < new - end < close:
                new = end
            s.write_number(index, column, get(s, v), new)

        return Change(relax, reads | goal.reads | over.reads)

    def _grow(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Change:
        word, subject, by, per = self._over_time(raw, ('grow', 'by', 'per'), scope, at)
        if by.dimension not in (word.dimension, None):
            raise (at / 'by').wrong(f'{word.name} is a {word.dimension}, not a {by.dimension}')
        place, reads = self._cell(word, subject)
        index, column, get, amount, time = word.index, word.column, subject.get, by.get, per.get

        def grow(s: State, v: Frame) -> None:
            every = time(s, v)
            if every > 0:
                now: float = s.values[place(s, v)]
                s.write_number(index, column, get(s, v), now + amount(s, v) * v[0] / every)

        return Change(grow, reads | by.reads | per.reads)

    def _over_time(
        self, raw: Mapping[str, Any], keys: tuple[str, str, str], scope: Scope, at: Place
    ) -> tuple[StateWord, Thing, Amount, Amount]:
        _only(raw, at, *keys)
        for key in keys:
            if key not in raw:
                raise at.wrong(f'the key {key!r} is missing')
        if not isinstance(raw[keys[0]], Mapping):
            raise (at / keys[0]).wrong(f'{{state: object}}, not {raw[keys[0]]!r}')
        word, subject = self._state_of(raw[keys[0]], scope, at / keys[0])
        if word.kind != 'number':
            raise (at / keys[0]).wrong(f'{word.name} is a {word.kind}, not a number')
        self._changeable(word, at / keys[0])
        change = self.amount(raw[keys[1]], scope, at / keys[1])
        time = self.amount(raw[keys[2]], scope, at / keys[2])
        if time.dimension not in ('time', None):
            raise (at / keys[2]).wrong(f'this is a {time.dimension}, not a time')
        return word, subject, change, time

    # ---- shapes of lists

    def _list(self, raw: Any, at: Place) -> Sequence[Any]:
        if not isinstance(raw, list | tuple):
            raise at.wrong(f'a list is needed here, not {raw!r}')
        return raw

    def _one(self, rest: Sequence[Any], verb: str, at: Place) -> Any:
        if len(rest) != 1:
            raise at.wrong(f'one thing follows {verb!r}, not {len(rest)}')
        return rest[0]

    def _none(self, rest: Sequence[Any], verb: str, at: Place) -> None:
        if rest:
            raise at.wrong(f'nothing follows {verb!r}')


def is_atom(raw: Sequence[Any]) -> bool:
    """Tell an atom, `[subject, verb, ...]`, from a list of conditions or effects."""
    return len(raw) >= 2 and isinstance(raw[1], str) and not isinstance(raw[0], list | tuple)


def _first_key(raw: Mapping[Any, Any], at: Place) -> str:
    if not raw:
        raise at.wrong('an empty mapping says nothing')
    return str(next(iter(raw)))


def _only(raw: Mapping[Any, Any], at: Place, *known: str) -> None:
    for key in raw:
        if key not in known:
            raise (at / str(key)).wrong(unknown('key', key, known))


def _all(facts: list[Fact]) -> Fact:
    reads = joined(fact.reads for fact in facts)
    tests = tuple(fact.test for fact in facts)
    if len(tests) == 1:
        return Fact(tests[0], reads)
    if len(tests) == 2:
        a, b = tests
        return Fact(lambda s, v: a(s, v) and b(s, v), reads)
    if len(tests) == 3:
        a, b, c = tests
        return Fact(lambda s, v: a(s, v) and b(s, v) and c(s, v), reads)

    def all_of(s: State, v: Frame) -> bool:
        for test in tests:  # noqa: SIM110  (a generator costs more than a test)
            if not test(s, v):
                return False
        return True

    return Fact(all_of, reads)


def _any(facts: list[Fact]) -> Fact:
    tests = tuple(fact.test for fact in facts)

    def any_of(s: State, v: Frame) -> bool:
        for test in tests:  # noqa: SIM110  (a generator costs more than a test)
            if test(s, v):
                return True
        return False

    return Fact(any_of, joined(fact.reads for fact in facts))


def _implied(condition: Fact, then: Fact, other: Fact | None) -> Fact:
    test, a = condition.test, then.test
    if other is None:
        return Fact(lambda s, v: not test(s, v) or a(s, v), condition.reads | then.reads)
    b = other.test
    return Fact(
        lambda s, v: a(s, v) if test(s, v) else b(s, v),
        condition.reads | then.reads | other.reads,
    )


def _first_where(many: Many, where: Fact, slot: int) -> Thing:
    get, test = many.get, where.test

    def find(s: State, v: Frame) -> int:
        for item in get(s, v):
            v[slot] = item
            if test(s, v):
                return item
        return st.NOTHING

    return Thing(find, many.reads | where.reads, many.path)


def _same_dimension(amounts: Sequence[Amount], at: Place) -> None:
    known = list(dict.fromkeys(a.dimension for a in amounts if a.dimension is not None))
    if len(known) > 1:
        raise at.wrong(f'a {known[0]} and a {known[1]} do not go together')


def _calculated(key: str, parts: list[Amount], at: Place) -> Amount:
    if not parts or (key in ('minus', 'divided') and len(parts) != 2):
        raise at.wrong(
            f'{key} needs {"two numbers" if key in ("minus", "divided") else "numbers"}'
        )
    reads = joined(part.reads for part in parts)
    gets = tuple(part.get for part in parts)
    if key in ('plus', 'minus', 'least', 'most'):
        _same_dimension(parts, at)
        dimension = next((part.dimension for part in parts if part.dimension), None)
    else:
        dimension = _product_dimension(key, parts)
    if key == 'minus':
        a, b = gets
        return Amount(lambda s, v: a(s, v) - b(s, v), dimension, reads)
    if key == 'divided':
        a, b = gets

        def divided(s: State, v: Frame) -> float:
            below = b(s, v)
            return a(s, v) / below if below else math.nan

        return Amount(divided, dimension, reads)
    if key == 'times':

        def product(s: State, v: Frame) -> float:
            found = 1.0
            for get in gets:
                found *= get(s, v)
            return found

        return Amount(product, dimension, reads)
    joins: Mapping[str, Callable[..., float]] = {'plus': sum, 'least': min, 'most': max}
    join = joins[key]
    return Amount(lambda s, v: join([get(s, v) for get in gets]), dimension, reads)


def _product_dimension(key: str, parts: list[Amount]) -> str | None:
    dimensions = [part.dimension for part in parts]
    if key == 'divided':
        if dimensions[1] == 'number':
            return dimensions[0]
        return 'number' if dimensions[0] == dimensions[1] else None
    others = [dimension for dimension in dimensions if dimension != 'number']
    return 'number' if not others else others[0] if len(others) == 1 else None
