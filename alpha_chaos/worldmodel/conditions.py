"""Conditions, and the facts derived from them."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import scope as sc
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.amounts import Amounts, same_dimension
from alpha_chaos.worldmodel.documents import DerivedDocument, Place, WorldFiles
from alpha_chaos.worldmodel.forms import check_name, first_key, is_atom, listed, none, one, only
from alpha_chaos.worldmodel.scope import Amount, Fact, Path, Read, Scope, Thing, joined, step
from alpha_chaos.worldmodel.state import Frame, State
from alpha_chaos.worldmodel.units import dimension_of, unit_names
from alpha_chaos.worldmodel.vocabulary import Vocabulary

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    'above': operator.gt,
    'below': operator.lt,
    'at least': operator.ge,
    'at most': operator.le,
    'equals': operator.eq,
    'differs from': lambda a, b: a < b or a > b,  # false if one is not a number
}
OBJECT_VERBS = ('is', 'is not', 'within', 'same as', 'other than', 'exists', 'empty', 'not empty')
Get = Callable[[State, Frame], int]
T = TypeVar('T')
CONNECTIVES = ('all', 'any', 'not', 'if', 'some', 'every', 'none')


class Conditions(Amounts):
    """Gives conditions their meaning."""

    def __init__(self, vocabulary: Vocabulary, files: WorldFiles) -> None:
        super().__init__(vocabulary, files)
        self._derived: dict[str, Fact | Amount] = {}
        self._open: list[str] = []  # derived facts being worked out

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
        key = first_key(raw, at)
        if key in self.words.derived:
            only(raw, at, key)
            fact = self.use_derived(key, raw[key], scope, at / key)
            if not isinstance(fact, Fact):
                raise at.wrong(f'{key} is a number; compare it with another')
            return fact
        if key in ('all', 'any'):
            only(raw, at, key)
            parts = listed(raw[key], at / key)
            facts = [self.fact(part, scope, at / key / i) for i, part in enumerate(parts)]
            return _all(facts) if key == 'all' else _any(facts)
        if key == 'not':
            only(raw, at, key)
            inner = self.fact(raw[key], scope, at / key)
            test = inner.test
            return Fact(lambda s, v: not test(s, v), inner.reads)
        if key == 'if':
            only(raw, at, 'if', 'then', 'else')
            return _implied(*self.branches(raw, scope, at, self.fact))
        if key in ('some', 'every', 'none'):
            only(raw, at, key, 'where')
            return self._quantified(key, raw, scope, at)
        known = (*CONNECTIVES, *self.words.derived)
        raise at.wrong(unknown('condition', key, known))

    def _quantified(self, key: str, raw: Mapping[str, Any], scope: Scope, at: Place) -> Fact:
        inner, slot, many = self.variable(raw[key], scope, at / key)
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
            other = self.thing(one(rest, verb, at), scope, at / 2)
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
            other = self.thing(one(rest, verb, at), scope, at / 2)
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
            other = self.thing(one(rest, verb, at), scope, at / 2)
            reach, same = other.get, verb == 'same as'

            def compares(s: State, v: Frame) -> bool:
                a, b = get(s, v), reach(s, v)
                return bool(a and b) and (a == b) is same

            return Fact(compares, reads | other.reads)
        if verb == 'exists':
            none(rest, verb, at)
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
        relation = self.relation(one(rest, 'empty', at), at / 2)
        reads |= {Read(st.PLACE, step(subject.path, 'C'))}

        def is_free(s: State, v: Frame) -> bool:
            item = get(s, v)
            if not item:
                return False
            placed = s.relation
            return all(placed[child] != relation for child in s.children[item]) is wanted

        return Fact(is_free, reads)

    def _comparison(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb = raw[1]
        left = self.amount(raw[0], scope, at / 0)
        if verb == 'exists':
            none(raw[2:], verb, at)
            number = left.get
            return Fact(lambda s, v: not math.isnan(number(s, v)), left.reads)
        if verb not in COMPARISONS:
            raise (at / 1).wrong(unknown('verb of a number', verb, (*COMPARISONS, 'exists')))
        right = self.amount(one(raw[2:], verb, at), scope, at / 2)
        same_dimension([left, right], at)
        compare, a, b = COMPARISONS[verb], left.get, right.get
        if right.constant is not None:
            limit = right.constant
            return Fact(lambda s, v: compare(a(s, v), limit), left.reads)
        return Fact(lambda s, v: compare(a(s, v), b(s, v)), left.reads | right.reads)

    def _choice(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb, rest = raw[1], raw[2:]
        get, options, reads = self._choice_value(raw[0], scope, at / 0)
        if verb == 'one of':
            words = listed(one(rest, verb, at), at / 2)
        elif verb in ('is', 'is not', 'equals', 'differs from'):
            words = [one(rest, verb, at)]
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
        word, subject = self.state_of(raw, scope, at)
        place, reads = self.value_at(word, subject)
        values = lambda s, v: s.values[place(s, v)]  # noqa: E731
        return values, word.options, reads

    def _set_atom(self, raw: Sequence[Any], scope: Scope, at: Place) -> Fact:
        verb, rest = raw[1], raw[2:]
        value = self.set_value(raw[0], scope, at / 0)
        get = value.get
        if verb in ('empty', 'not empty'):
            none(rest, verb, at)
            wanted = verb == 'not empty'
            return Fact(lambda s, v: bool(get(s, v)) is wanted, value.reads)
        if verb in ('has', 'has not'):
            element = self.element(value.options, one(rest, verb, at), scope, at / 2)
            reach, wanted = element.get, verb == 'has'
            return Fact(
                lambda s, v: (reach(s, v) in get(s, v)) is wanted, value.reads | element.reads
            )
        verbs = ('empty', 'not empty', 'has', 'has not')
        raise (at / 1).wrong(unknown('verb of a set', verb, verbs))

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
            check_name(parameter, at / 'of' / i)
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

    def use_derived(self, name: str, raw: Any, scope: Scope, at: Place) -> Fact | Amount:
        """Return a derived fact or number, of the objects that are named.

        :raises BadSetting: with file, line and key
        """
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
            return Fact(_given(derived.test, gets), reads)
        return Amount(_given(derived.get, gets), derived.dimension, reads)

    def check_derived(self) -> None:
        """Compile every derived fact, so that a mistake in an unused one is found too.

        :raises BadSetting: with file, line and key
        """
        for name in self.files.document.derived:
            self._derived_fact(name, self.files.place('derived', name))


def _given(call: Callable[[State, Frame], T], gets: list[Get]) -> Callable[[State, Frame], T]:
    """Return a call in a frame of its own, in which objects stand that others have to find."""
    if len(gets) == 1:
        (get,) = gets
        return lambda s, v: call(s, [get(s, v)])
    if len(gets) == 2:
        a, b = gets
        return lambda s, v: call(s, [a(s, v), b(s, v)])
    return lambda s, v: call(s, [get(s, v) for get in gets])


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
