"""Numbers: of states, of time, counted, and worked out from others."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import scope as sc
from alpha_chaos.worldmodel.documents import Place
from alpha_chaos.worldmodel.forms import first_key, listed, only
from alpha_chaos.worldmodel.scope import Amount, Fact, Read, Scope, joined
from alpha_chaos.worldmodel.state import Frame, State
from alpha_chaos.worldmodel.things import ARITHMETIC, NUMBER_FORMS, Things
from alpha_chaos.worldmodel.units import read_quantity, unit_names
from alpha_chaos.worldmodel.vocabulary import StateWord


class Amounts(Things):
    """Gives expressions for numbers their meaning."""

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
        key = first_key(raw, at)
        word = self.words.states.get(key)
        if word and word.kind == 'number':
            return self._number_state(word, raw, scope, at)
        if key in self.words.derived:
            only(raw, at, key)
            derived = self.use_derived(key, raw[key], scope, at / key)
            if not isinstance(derived, Amount):
                raise at.wrong(f'{key} is a fact, not a number')
            return derived
        if key in ARITHMETIC:
            only(raw, at, key)
            parts = listed(raw[key], at / key)
            made = [self.amount(part, scope, at / key / i) for i, part in enumerate(parts)]
            return _calculated(key, made, at / key)
        if key == 'if':
            only(raw, at, 'if', 'then', 'else')
            test, then, other = self.branches(raw, scope, at, self.amount)
            if other is None:
                raise at.wrong("a number with 'if' needs 'else'")
            same_dimension([then, other], at)
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

    def branches(
        self, raw: Mapping[str, Any], scope: Scope, at: Place, compile_: Callable[..., Any]
    ) -> tuple[Fact, Any, Any]:
        """Return the parts of `if`, `then` and `else`; the last is None if it is not given.

        :param compile_: what the branches are given to
        :raises BadSetting: with file, line and key
        """
        if 'then' not in raw:
            raise at.wrong("the key 'then' is missing")
        test = self.fact(raw['if'], scope, at / 'if')
        then = compile_(raw['then'], scope, at / 'then')
        other = compile_(raw['else'], scope, at / 'else') if 'else' in raw else None
        return test, then, other

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
        _, subject = self.state_of(raw, scope, at)
        place, reads = self.value_at(word, subject)
        if subject.slot is not None:
            slot, width, column = subject.slot, self.words.width, word.column
            return Amount(
                lambda s, v: s.values[v[slot] * width + column],
                word.dimension,
                reads,
            )
        return Amount(lambda s, v: s.values[place(s, v)], word.dimension, reads)

    def _since(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Amount:
        only(raw, at, 'since')
        inner, here = raw['since'], at / 'since'
        if not isinstance(inner, Mapping):
            raise here.wrong(f'{{state: object}} follows since, not {inner!r}')
        index, subject = self.cell(inner, scope, here)
        get = subject.get
        reads = subject.reads | {Read(index, subject.path), Read(sc.CLOCK, None)}
        return Amount(lambda s, v: s.now_s - s.made_at(index, get(s, v)).now_s, 'time', reads)

    def _summed(self, key: str, raw: Mapping[str, Any], scope: Scope, at: Place) -> Amount:
        only(raw, at, *(('count', 'where') if key == 'count' else ('total', 'of', 'where')))
        inner, slot, many = self.variable(raw[key], scope, at / key)
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


def same_dimension(amounts: Sequence[Amount], at: Place) -> None:
    """Refuse numbers of different dimensions.

    :raises BadSetting: naming the two
    """
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
        same_dimension(parts, at)
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
