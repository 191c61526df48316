"""Conditions, numbers and effects as they are written, turned into functions of a state.

Nothing of a file is ever evaluated as program text: each form is looked up by its key, and becomes
a closure over numbers of states, masks of words, and slots of a frame. Beside the closure stands
what it reads, so that a rule need be looked at again only after a write that can matter.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import scope as sc
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.conditions import Conditions
from alpha_chaos.worldmodel.documents import Place, WorldFiles
from alpha_chaos.worldmodel.forms import check_name, first_key, is_atom, listed, none, one, only
from alpha_chaos.worldmodel.scope import Amount, Change, Read, Scope, Thing, joined
from alpha_chaos.worldmodel.state import Frame, State
from alpha_chaos.worldmodel.units import read_quantity
from alpha_chaos.worldmodel.vocabulary import StateWord, Vocabulary

CHANGE_FORMS = ('if', 'each', 'create', 'relax', 'grow')


class Compiler(Conditions):
    """Gives the expressions of one world their meaning, its effects among them."""

    def __init__(self, vocabulary: Vocabulary, files: WorldFiles) -> None:
        super().__init__(vocabulary, files)
        self._inside: list[str] = []  # routines being worked out
        self._used: set[str] = set()  # routines that something asked for

    def changes(self, raw: Any, scope: Scope, at: Place, over_time: bool = False) -> Change:
        """Return effects, one after the other.

        :param over_time: relax and grow may be among them; the piece of time is in slot 0
        :raises BadSetting: with file, line and key
        """
        parts = listed(raw, at)
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
            isinstance(raw[0], Mapping) and next(iter(raw[0]), None) in self.words.states
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
            reads = subject.reads | target.reads | {Read(st.PLACE, subject.path)}
            return Change(lambda s, v: s.go(get(s, v), relation, reach(s, v)), reads)
        if verb == 'goes nowhere':
            none(rest, verb, at)
            get = subject.get
            reads = subject.reads | {Read(st.PLACE, subject.path)}
            return Change(lambda s, v: s.go(get(s, v), st.NOWHERE, st.NOTHING), reads)
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
        reads = subject.reads | {Read(index, subject.path) for index, _ in flags}
        if len(flags) == 1:
            ((index, mask),) = flags
            return Change(lambda s, v: s.set_flag(index, mask, get(s, v), on), reads)

        def set_all(s: State, v: Frame) -> None:
            item = get(s, v)
            for index, mask in flags:
                s.set_flag(index, mask, item, on)

        return Change(set_all, reads)

    def _state_change(self, raw: Sequence[Any], scope: Scope, at: Place) -> Change:
        if not isinstance(raw[0], Mapping):
            raise (at / 0).wrong(
                f'a state of an object changes, {{state: object}}; not {raw[0]!r}'
            )
        verb, rest = raw[1], raw[2:]
        word, subject = self.state_of(raw[0], scope, at / 0)
        self._changeable(word, at / 0)
        index, column, get = word.index, word.column, subject.get
        reads = subject.reads | {Read(word.index, subject.path)}
        if word.kind == 'set':
            return self._set_change(word, subject, raw, scope, at)
        if word.kind == 'flag':
            raise (at / 0).wrong(f'{word.name} is a flag: [object, becomes, {word.name}]')
        if word.kind != 'number' and verb != 'becomes':
            raise (at / 1).wrong(unknown(f'effect on a {word.kind}', verb, ('becomes',)))
        value = one(rest, verb, at)
        if word.kind == 'choice':
            role = scope.names.get(value) if isinstance(value, str) else None
            if role and role.kind == 'word':
                number = self.element(word.options, value, scope, at / 2).get
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
        reads = subject.reads | amount.reads | {Read(index, subject.path)}
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
        index, column, get = word.index, word.column, subject.get
        reads = subject.reads | {Read(word.index, subject.path)}
        if verb == 'loses all':
            none(rest, verb, at)
            return Change(lambda s, v: s.lose(index, column, get(s, v), None), reads)
        if verb == 'gains all':
            other = self.set_value(one(rest, verb, at), scope, at / 2)
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
        element = self.element(word.options, one(rest, verb, at), scope, at / 2)
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
        key = first_key(raw, at)
        if key == 'if':
            only(raw, at, 'if', 'then', 'else')
            test, then, other = self.branches(
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
            only(raw, at, 'each', 'where', 'do')
            return self._each(raw, scope, at, over_time)
        if key == 'create':
            only(raw, at, 'create', 'class', 'like', 'at', 'inherit', 'from')
            return self._create(raw, scope, at)
        if key in ('relax', 'grow'):
            if not over_time:
                raise at.wrong(f'{key} takes time: only processes can do it')
            return self._relax(raw, scope, at) if key == 'relax' else self._grow(raw, scope, at)
        routines = self.files.document.routines
        if key in routines:
            only(raw, at, key)
            return self._routine(key, raw[key], scope, at / key, over_time)
        raise at.wrong(unknown('effect', key, (*CHANGE_FORMS, *routines)))

    def check_routines(self) -> None:
        """Refuse a routine that nothing uses: nobody would see a mistake in it.

        :raises BadSetting: naming it
        """
        for name in self.files.document.routines:
            if name not in self._used:
                raise self.files.place('routines', name).wrong('nothing uses this routine')

    def _routine(self, name: str, raw: Any, scope: Scope, at: Place, over_time: bool) -> Change:
        """Return the effects of a routine, on the objects and numbers that are given to it."""
        document, home = self.files.document.routines[name], self.files.place('routines', name)
        given = raw if isinstance(raw, list | tuple) else [raw]
        if len(given) != len(document.of):
            raise at.wrong(f'{name} is about {len(document.of)}: {", ".join(document.of)}')
        if name in self._inside:
            raise at.wrong(f'routines go round in a circle: {" -> ".join((*self._inside, name))}')
        inner = Scope({}, scope.slots, scope.objects)
        binds: list[tuple[int, Callable[[State, Frame], Any]]] = []
        reads = sc.NO_READS
        for i, (parameter, value) in enumerate(zip(document.of, given, strict=True)):
            check_name(parameter, home / 'of' / i)
            if self.kind(value, scope) == 'number':
                amount = self.amount(value, scope, at / i)
                slot = inner.add(parameter, 'number', dimension=amount.dimension).slot
                binds.append((slot, amount.get))
                reads |= amount.reads
            else:
                thing = self.thing(value, scope, at / i)
                binds.append((inner.add(parameter, path=thing.path).slot, thing.get))
                reads |= thing.reads
        self._used.add(name)
        self._inside.append(name)
        change = self.changes(document.do, inner, home / 'do', over_time)
        self._inside.pop()
        do = change.do

        def run(s: State, v: Frame) -> None:
            for slot, get in binds:
                v[slot] = get(s, v)
            do(s, v)

        return Change(run, reads | change.reads)

    def _each(self, raw: Mapping[str, Any], scope: Scope, at: Place, over_time: bool) -> Change:
        inner, slot, many = self.variable(raw['each'], scope, at / 'each')
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
        check_name(name, at / 'create')
        role = scope.names.get(name)
        if role is None:
            role = scope.add(name, 'new')
        elif role.kind != 'new':
            raise (at / 'create').wrong(f'{name!r} is there already')
        model = self.thing(raw['like'], scope, at / 'like') if 'like' in raw else None
        class_ = class_ or role.class_
        if model is not None:
            if class_ or 'inherit' in raw:
                raise (at / 'like').wrong('a copy has its class and all else from what it is like')
        elif not isinstance(class_, str) or class_ not in self.rows:
            raise (at / 'class').wrong(unknown('class that objects can have', class_, self.rows))
        role.kind = 'object'
        slot, rows = role.slot, self.rows
        masks, columns = self._inherited(raw.get('inherit', ()), at / 'inherit')
        collection = self.many(raw['from'], scope, at / 'from') if 'from' in raw else None
        if (masks or columns) and collection is None:
            raise at.wrong("the key 'from' is missing: inherited from what?")
        put = None
        if 'at' in raw:
            where = listed(raw['at'], at / 'at')
            if len(where) != 2:
                raise (at / 'at').wrong(f'[relation, object], not {where!r}')
            put = (
                self.relation(where[0], at / 'at' / 0),
                self.thing(where[1], scope, at / 'at' / 1),
            )
        members = collection.get if collection else None
        width = self.words.width
        existence = st.CREATED
        pattern = model.get if model else None
        sets = [word for word in self.words.states.values() if word.kind == 'set']

        def create(s: State, v: Frame) -> None:
            parents = tuple(members(s, v)) if members else ()
            if pattern:
                original = pattern(s, v)
                if not original:
                    return
                v[slot] = _copied(s, original, sets)
                if put:
                    s.go(v[slot], put[0], put[1].get(s, v))
                return
            named = v[slot]
            if not isinstance(named, tuple):
                named = s.free_name(class_)
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
        for i, word in enumerate(listed(raw, at)):
            known = self.words.states.get(word) if isinstance(word, str) else None
            if (isinstance(word, str) and word in self.words.properties) or (
                known and known.kind == 'flag'
            ):
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

    def _relax(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Change:
        word, subject, goal, over = self._over_time(raw, ('relax', 'to', 'over'), scope, at)
        if goal.dimension not in (word.dimension, None):
            raise (at / 'to').wrong(f'{word.name} is a {word.dimension}, not a {goal.dimension}')
        place, reads = self.value_at(word, subject)
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
            s.later.append((index, column, get(s, v), new))

        return Change(relax, reads | goal.reads | over.reads)

    def _grow(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Change:
        word, subject, by, per = self._over_time(raw, ('grow', 'by', 'per'), scope, at)
        if by.dimension not in (word.dimension, None):
            raise (at / 'by').wrong(f'{word.name} is a {word.dimension}, not a {by.dimension}')
        place, reads = self.value_at(word, subject)
        index, column, get, amount, time = word.index, word.column, subject.get, by.get, per.get

        def grow(s: State, v: Frame) -> None:
            every = time(s, v)
            if every > 0:
                now: float = s.values[place(s, v)]
                s.later.append((index, column, get(s, v), now + amount(s, v) * v[0] / every))

        return Change(grow, reads | by.reads | per.reads)

    def _over_time(
        self, raw: Mapping[str, Any], keys: tuple[str, str, str], scope: Scope, at: Place
    ) -> tuple[StateWord, Thing, Amount, Amount]:
        only(raw, at, *keys)
        for key in keys:
            if key not in raw:
                raise at.wrong(f'the key {key!r} is missing')
        if not isinstance(raw[keys[0]], Mapping):
            raise (at / keys[0]).wrong(f'{{state: object}}, not {raw[keys[0]]!r}')
        word, subject = self.state_of(raw[keys[0]], scope, at / keys[0])
        if word.kind != 'number':
            raise (at / keys[0]).wrong(f'{word.name} is a {word.kind}, not a number')
        self._changeable(word, at / keys[0])
        change = self.amount(raw[keys[1]], scope, at / keys[1])
        time = self.amount(raw[keys[2]], scope, at / keys[2])
        if time.dimension not in ('time', None):
            raise (at / keys[2]).wrong(f'this is a {time.dimension}, not a time')
        return word, subject, change, time


def _copied(s: State, original: int, sets: Sequence[StateWord]) -> int:
    """Create an object of the same class in the same state, placed nowhere."""
    width = s.tables.width
    row = s.values[original * width : (original + 1) * width]
    for word in sets:
        row[word.column] = st.EMPTY
    class_ = s.labels[original].partition(' ')[0]
    item = s.create(s.free_name(class_), s.bits[original], s.classes[original], tuple(row))
    s.written(st.CREATED, item)
    for word in sets:
        elements = s.values[original * width + word.column]
        s.gain_all(word.index, word.column, item, elements)
    return item
