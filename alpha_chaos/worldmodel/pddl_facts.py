"""Conditions of a world as expressions of unified-planning."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unified_planning.model import Fluent, FNode, Object, Problem, Variable
from unified_planning.shortcuts import (
    FALSE,
    TRUE,
    And,
    BoolType,
    Equals,
    Exists,
    Forall,
    Implies,
    Not,
    Or,
    UserType,
)

from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.forms import is_atom
from alpha_chaos.worldmodel.things import CONCRETE
from alpha_chaos.worldmodel.world import World

THING = UserType('thing')
Names = Mapping[str, FNode | None]  # what a name stands for; None: an optional role not given


class NotInPddl(Exception):
    """Something that the classical part of PDDL does not have."""


class Facts:
    """Says the conditions of one world: predicates over its objects, and what they are about."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.words = world.domain.words
        self.problem = Problem(world.domain.name)
        self.manager = self.problem.environment.expression_manager
        self.fluents: dict[str, Fluent] = {}
        self.count = 0  # of variables, so that each has a name of its own
        self.objects = {
            number: Object(f'{name}_{id_}', THING)
            for (name, id_), number in sorted(world.objects.items(), key=lambda item: item[1])
        }
        self.problem.add_objects(self.objects.values())

    def fluent(self, name: str, arity: int) -> Fluent:
        """Return a predicate of so many objects, declared when it is first asked for."""
        if name not in self.fluents:
            roles = {f'of_{i}': THING for i in range(arity)}
            self.fluents[name] = Fluent(name, BoolType(), **roles)
            self.problem.add_fluent(self.fluents[name], default_initial_value=False)
        return self.fluents[name]

    def word(self, word: str, item: FNode) -> FNode:
        """Return that a property, flag or class holds of an object."""
        return self.fluent(f'is_{word}', 1)(item)

    def placed(self, relation: str, item: FNode, at: FNode) -> FNode:
        """Return that an object is placed at another by a relation."""
        return self.fluent(f'placed_{relation}', 2)(item, at)

    def anyhow(self, item: FNode, at: FNode) -> FNode:
        """Return that an object is placed at another by any relation."""
        return Or([self.placed(relation, item, at) for relation in self.words.relations])

    def fact(self, raw: Any, names: Names) -> FNode:
        """Return a condition.

        :raises NotInPddl: if it cannot be said
        """
        if isinstance(raw, list | tuple):
            if is_atom(raw):
                return self.atom(raw, names)
            return And([self.fact(part, names) for part in raw]) if raw else TRUE()
        key = next(iter(raw))
        if key in self.words.derived:
            return self.derived(key, raw[key], names)
        if key in ('all', 'any'):
            parts = [self.fact(part, names) for part in raw[key]]
            return And(parts) if key == 'all' else Or(parts)
        if key == 'not':
            return Not(self.fact(raw[key], names))
        if key == 'if':
            test, then = self.fact(raw['if'], names), self.fact(raw['then'], names)
            if 'else' not in raw:
                return Implies(test, then)
            other = self.fact(raw['else'], names)
            return And(Implies(test, then), Implies(Not(test), other))
        ((name, many),) = raw[key].items()
        variable, guard, inner = self.variable(name, many, names)
        where = self.fact(raw.get('where', ()), inner)
        if key == 'every':
            return Forall(Implies(guard, where), variable)
        found = Exists(And(guard, where), variable)
        return found if key == 'some' else Not(found)

    def derived(self, name: str, raw: Any, names: Names) -> FNode:
        """Return a derived fact of the objects that are named."""
        document = self.world.domain.files.document.derived[name]
        if document.is_ is None:
            raise NotInPddl(f'it works with the number {name}')
        listed = raw if isinstance(raw, list | tuple) else [raw]

        def body(items: tuple[FNode, ...]) -> FNode:
            return self.fact(document.is_, dict(zip(document.of, items, strict=True)))

        return self.about(listed, names, body)

    def variable(self, name: str, many: Any, names: Names) -> tuple[Variable, FNode, Names]:
        """Return a new variable, that it is among a collection, and the names with it."""
        self.count += 1
        variable = Variable(f'{name}_{self.count}', THING)
        node = self.manager.VariableExp(variable)
        return variable, self.among(node, many, names), {**names, name: node}

    def among(self, item: FNode, many: Any, names: Names) -> FNode:
        """Return that an object is among a collection."""
        if isinstance(many, str):
            return self.is_a(item, many)
        key = next(iter(many))
        if key == 'contents':
            inner = many[key]
            if isinstance(inner, list | tuple):
                return self.about(inner[:1], names, lambda at: self.placed(inner[1], item, at[0]))
            return self.about([inner], names, lambda at: self.anyhow(item, at[0]))
        if key == 'elements':
            return self.in_set(many[key], item, names)
        raise NotInPddl(f'PDDL cannot say {key}')

    def in_set(self, raw: Mapping[str, Any], element: FNode | str, names: Names) -> FNode:
        """Return that an object or word is in the set `{state: object}`."""
        ((name, owner),) = raw.items()
        return self.about([owner], names, lambda items: self.member(name, items[0], element))

    def member(self, name: str, owner: FNode, element: FNode | str) -> FNode:
        """Return that an object or word is in a set of an owner."""
        if isinstance(element, str):
            return self.fluent(f'has_{name}_{element}', 1)(owner)
        return self.fluent(f'has_{name}', 2)(owner, element)

    def about(
        self, raws: Sequence[Any], names: Names, body: Callable[[tuple[FNode, ...]], FNode]
    ) -> FNode:
        """Return a fact about objects; places are those that there are, and nothing is false."""
        items: list[FNode] = []
        variables: list[Variable] = []
        guards: list[FNode] = []
        for raw in raws:
            item = self.thing(raw, names, variables, guards)
            if item is None:
                return FALSE()
            items.append(item)
        made = body(tuple(items))
        return Exists(And([*guards, made]), *variables) if variables else made

    def thing(
        self, raw: Any, names: Names, variables: list[Variable], guards: list[FNode]
    ) -> FNode | None:
        """Return an object; None for nothing. A place is a new variable with a guard."""
        if isinstance(raw, str):
            return self.named(raw, names)
        key = next(iter(raw))
        if key == 'place':
            item = self.thing(raw[key], names, variables, guards)
            if item is None:
                return None
            self.count += 1
            variable = Variable(f'place_{self.count}', THING)
            node = self.manager.VariableExp(variable)
            variables.append(variable)
            guards.append(self.anyhow(item, node))
            return node
        if key == 'the':
            word = raw[key]
            found = next((n for n in self.objects if self.holds(word, n)), None)
            if word in self.words.states:
                raise NotInPddl(f'which object is {word} changes')
            return None if found is None else self.manager.ObjectExp(self.objects[found])
        raise NotInPddl(f'PDDL cannot say {key}')

    def named(self, raw: str, names: Names) -> FNode | None:
        """Return the object that a name stands for; None for nothing."""
        if raw in names:
            return names[raw]
        if raw == 'nothing':
            return None
        match = CONCRETE.fullmatch(raw)
        number = st.AGENT
        if match:
            number = self.world.objects[match[1], match[2]]
        elif raw != 'agent':
            raise NotInPddl(f'{raw} is a value')
        return self.manager.ObjectExp(self.objects[number])

    def atom(self, raw: Sequence[Any], names: Names) -> FNode:
        """Return an atom."""
        verb, rest = raw[1], raw[2:]
        if isinstance(raw[0], Mapping) and next(iter(raw[0])) in self.words.states:
            return self.state_atom(raw, names)
        if isinstance(raw[0], Mapping) and next(iter(raw[0])) not in ('place', 'the', 'first'):
            raise NotInPddl('it works with numbers')
        if verb in ('is', 'is not'):

            def words(items: tuple[FNode, ...]) -> FNode:
                parts = [self.is_a(items[0], word) for word in rest]
                return And(parts) if verb == 'is' else And([Not(part) for part in parts])

            return self.about(raw[:1], names, words)
        if verb in self.words.relations:
            both = [raw[0], rest[0]]
            return self.about(both, names, lambda items: self.placed(verb, items[0], items[1]))
        if verb in ('same as', 'other than'):
            both = [raw[0], rest[0]]
            return self.about(
                both,
                names,
                lambda items: Equals(*items) if verb == 'same as' else Not(Equals(*items)),
            )
        if verb == 'exists':
            return self.about(raw[:1], names, lambda items: TRUE())
        if verb in ('empty', 'not empty'):
            return self.about(raw[:1], names, lambda items: self.empty(items[0], verb, rest))
        raise NotInPddl(f'PDDL cannot say {verb}')

    def empty(self, item: FNode, verb: str, rest: Sequence[Any]) -> FNode:
        """Return that nothing is placed at an object, or that something is."""
        self.count += 1
        variable = Variable(f'in_{self.count}', THING)
        node = self.manager.VariableExp(variable)
        inside = self.placed(rest[0], node, item) if rest else self.anyhow(node, item)
        found = Exists(inside, variable)
        return Not(found) if verb == 'empty' else found

    def state_atom(self, raw: Sequence[Any], names: Names) -> FNode:
        """Return an atom about a choice or set."""
        verb, rest = raw[1], raw[2:]
        ((name, owner),) = raw[0].items()
        word = self.words.states[name]
        if word.kind == 'choice':
            listed = rest[0] if verb == 'one of' else rest
            positive = verb in ('is', 'one of', 'equals')

            def among(items: tuple[FNode, ...]) -> FNode:
                found = Or([self.member(name, items[0], option) for option in listed])
                return found if positive else Not(found)

            return self.about([owner], names, among)
        if word.kind != 'set':
            raise NotInPddl(f'it works with the {word.kind} {name}')
        if verb in ('has', 'has not'):
            if word.options:
                fact = self.in_set(raw[0], rest[0], names)
            else:
                fact = self.about(rest, names, lambda items: self.in_set(raw[0], items[0], names))
            return fact if verb == 'has' else Not(fact)
        if word.options:
            options = [self.in_set(raw[0], option, names) for option in word.options]
            found = Or(options)
        else:
            self.count += 1
            variable = Variable(f'element_{self.count}', THING)
            node = self.manager.VariableExp(variable)
            found = Exists(self.in_set(raw[0], node, names), variable)
        return found if verb == 'not empty' else Not(found)

    def is_a(self, item: FNode | None, word: str) -> FNode:
        """Return that a word holds of an object; derived facts are words, too."""
        if item is None:
            return FALSE()
        if word in self.words.derived:
            document = self.world.domain.files.document.derived[word]
            if document.is_ is None:
                raise NotInPddl(f'it works with the number {word}')
            return self.fact(document.is_, {document.of[0]: item})
        return self.word(word, item)

    def holds(self, word: str, number: int) -> bool:
        """Tell whether a word holds of an object at the start."""
        start = self.world.start
        if mask := self.words.bit(word):
            return bool(start.bits[number] & mask)
        return bool(start.classes[number] & self.words.classes.get(word, 0))
