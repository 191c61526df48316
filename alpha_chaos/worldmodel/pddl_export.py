"""A world as a PDDL problem, as far as PDDL's classical part goes.

What goes over: properties, flags, words of choices, sets and places as predicates; roles, needs
and effects on them as actions; the objects; the goal. Reactions, processes, audits and numbers do
not, nor does an action that needs them; the export says which were left out and why.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from unified_planning.io import PDDLWriter
from unified_planning.model import (
    Fluent,
    FNode,
    InstantaneousAction,
    Object,
    Problem,
    Variable,
)
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
from alpha_chaos.worldmodel.documents import TaskDocument
from alpha_chaos.worldmodel.forms import is_atom
from alpha_chaos.worldmodel.parts import Action, Domain, Role
from alpha_chaos.worldmodel.things import CONCRETE
from alpha_chaos.worldmodel.vocabulary import StateWord
from alpha_chaos.worldmodel.world import World

THING = UserType('thing')


class NotInPddl(Exception):
    """Something that the classical part of PDDL does not have."""


@dataclass(frozen=True)
class Export:
    """A problem, and why parts of the world are not in it, by their names."""

    problem: Problem
    left_out: Mapping[str, str]

    def domain_text(self) -> str:
        """Return the domain as PDDL."""
        return str(PDDLWriter(self.problem).get_domain())

    def problem_text(self) -> str:
        """Return objects, start and goal as PDDL."""
        return str(PDDLWriter(self.problem).get_problem())


def export(world: World) -> Export:
    """Return a world as a problem of unified-planning."""
    return _Exporter(world).export()


Names = Mapping[str, FNode | None]  # what a name stands for; None: an optional role not given


@dataclass
class _Effects:
    """Effects of one action, and what they have written so far."""

    made: list[tuple[FNode, bool, FNode, tuple[Variable, ...]]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)


class _Exporter:
    def __init__(self, world: World) -> None:
        self.world = world
        self.domain: Domain = world.domain
        self.words = world.domain.words
        self.problem = Problem(self.domain.name)
        self.fluents: dict[str, Fluent] = {}
        self.left_out: dict[str, str] = {}
        self.count = 0  # of variables, so that each has a name of its own
        self.objects = {
            number: Object(f'{name}_{id_}', THING)
            for (name, id_), number in sorted(world.objects.items(), key=lambda item: item[1])
        }
        self.problem.add_objects(self.objects.values())

    def export(self) -> Export:
        """Return the problem."""
        document = self.domain.files.document
        for name, action in self.domain.actions.items():
            for roles, suffix in _choices(action.roles):
                try:
                    self.problem.add_action(self._action(action, roles, suffix))
                except NotInPddl as reason:
                    self.left_out[f'{name}{suffix}'] = str(reason)
        for section in ('reactions', 'processes', 'audits'):
            for name in getattr(document, section):
                self.left_out[name] = f'PDDL has no {section} of this kind'
        scene = self.world.scene
        if isinstance(scene, TaskDocument):
            try:
                self.problem.add_goal(self._fact(scene.goal, {}))
            except NotInPddl as reason:
                self.left_out['goal'] = str(reason)
        self._start()
        return Export(self.problem, self.left_out)

    # ---- predicates

    def _fluent(self, name: str, arity: int) -> Fluent:
        if name not in self.fluents:
            roles = {f'of_{i}': THING for i in range(arity)}
            self.fluents[name] = Fluent(name, BoolType(), **roles)
            self.problem.add_fluent(self.fluents[name], default_initial_value=False)
        return self.fluents[name]

    def _word(self, word: str, item: FNode) -> FNode:
        return self._fluent(f'is_{word}', 1)(item)

    def _placed(self, relation: str, item: FNode, at: FNode) -> FNode:
        return self._fluent(f'placed_{relation}', 2)(item, at)

    def _anyhow(self, item: FNode, at: FNode) -> FNode:
        return Or([self._placed(relation, item, at) for relation in self.words.relations])

    def _start(self) -> None:
        start, relations = self.world.start, self.words.relations
        for number, item in self.objects.items():
            node = self.problem.environment.expression_manager.ObjectExp(item)
            for name in list(self.fluents):
                if name.startswith('is_') and self._holds(name[3:], number):
                    self.problem.set_initial_value(self.fluents[name](node), True)
            if start.relation[number] != st.NOWHERE:
                name = f'placed_{relations[start.relation[number]]}'
                if name in self.fluents:
                    at = self.objects[start.parent[number]]
                    self.problem.set_initial_value(self.fluents[name](node, at), True)
            for word in self.words.states.values():
                self._start_values(word, number, item)

    def _start_values(self, word: StateWord, number: int, item: Object) -> None:
        if word.kind not in ('set', 'choice', 'object'):
            return
        value = self.world.start.values[number * self.words.width + word.column]
        if word.kind == 'set' and not word.options:
            for element in value:
                if f'has_{word.name}' in self.fluents:
                    fluent = self.fluents[f'has_{word.name}']
                    self.problem.set_initial_value(fluent(item, self.objects[element]), True)
            return
        numbers = value if word.kind == 'set' else [value] if value != st.UNSET else []
        for option in numbers if word.options else ():
            name = f'has_{word.name}_{word.options[option]}'
            if name in self.fluents:
                self.problem.set_initial_value(self.fluents[name](item), True)

    def _holds(self, word: str, number: int) -> bool:
        start = self.world.start
        if mask := self.words.bit(word):
            return bool(start.bits[number] & mask)
        return bool(start.classes[number] & self.words.classes.get(word, 0))

    # ---- actions

    def _action(self, action: Action, roles: Sequence[Role], suffix: str) -> InstantaneousAction:
        document = self.domain.files.document.actions[action.name]
        if any(role.kind == 'new' for role in action.roles):
            raise NotInPddl('it makes new objects')
        if document.let and any(not _is_plain(raw) for raw in document.let.values()):
            raise NotInPddl('it chooses an object by itself')
        given = [role for role in roles if role.kind == 'object']
        made = InstantaneousAction(
            f'{action.name}{suffix}', **{role.name: THING for role in given}
        )
        manager = self.problem.environment.expression_manager
        names: dict[str, FNode | None] = {role.name: None for role in action.roles}
        names |= {role.name: manager.ParameterExp(made.parameter(role.name)) for role in given}
        for role in action.roles:
            if role.kind in ('value', 'word'):
                names.pop(role.name)
        lets = dict(document.let)
        for role in given:
            for word in role.words:
                made.add_precondition(self._is(names[role.name], word))
        for one, other in _pairs(given):
            made.add_precondition(Not(Equals(names[one.name], names[other.name])))
        for raw in document.needs:
            need = raw['need'] if isinstance(raw, Mapping) and 'need' in raw else raw
            made.add_precondition(self._fact(_put_in(need, lets), names))
        effects = _Effects()
        for raw in document.effects:
            self._effect(_put_in(raw, lets), names, TRUE(), (), effects)
        for target, value, condition, variables in effects.made:
            made.add_effect(target, value, condition, forall=variables)
        return made

    # ---- conditions

    def _fact(self, raw: Any, names: Names) -> FNode:
        if isinstance(raw, list | tuple):
            if is_atom(raw):
                return self._atom(raw, names)
            return And([self._fact(part, names) for part in raw]) if raw else TRUE()
        key = next(iter(raw))
        if key in self.words.derived:
            return self._derived(key, raw[key], names)
        if key in ('all', 'any'):
            parts = [self._fact(part, names) for part in raw[key]]
            return And(parts) if key == 'all' else Or(parts)
        if key == 'not':
            return Not(self._fact(raw[key], names))
        if key == 'if':
            test, then = self._fact(raw['if'], names), self._fact(raw['then'], names)
            if 'else' not in raw:
                return Implies(test, then)
            other = self._fact(raw['else'], names)
            return And(Implies(test, then), Implies(Not(test), other))
        ((name, many),) = raw[key].items()
        variable, guard, inner = self._variable(name, many, names)
        where = self._fact(raw.get('where', ()), inner)
        if key == 'every':
            return Forall(Implies(guard, where), variable)
        found = Exists(And(guard, where), variable)
        return found if key == 'some' else Not(found)

    def _derived(self, name: str, raw: Any, names: Names) -> FNode:
        document = self.domain.files.document.derived[name]
        if document.is_ is None:
            raise NotInPddl(f'it works with the number {name}')
        listed = raw if isinstance(raw, list | tuple) else [raw]

        def body(items: tuple[FNode, ...]) -> FNode:
            return self._fact(document.is_, dict(zip(document.of, items, strict=True)))

        return self._with(listed, names, body)

    def _variable(self, name: str, many: Any, names: Names) -> tuple[Variable, FNode, Names]:
        self.count += 1
        variable = Variable(f'{name}_{self.count}', THING)
        node = self.problem.environment.expression_manager.VariableExp(variable)
        return variable, self._among(node, many, names), {**names, name: node}

    def _among(self, item: FNode, many: Any, names: Names) -> FNode:
        if isinstance(many, str):
            return self._is(item, many)
        key = next(iter(many))
        if key == 'contents':
            inner = many[key]
            if isinstance(inner, list | tuple):
                return self._with(inner[:1], names, lambda at: self._placed(inner[1], item, at[0]))
            return self._with([inner], names, lambda at: self._anyhow(item, at[0]))
        if key == 'elements':
            return self._in_set(many[key], item, names)
        raise NotInPddl(f'PDDL cannot say {key}')

    def _in_set(self, raw: Mapping[str, Any], element: FNode | str, names: Names) -> FNode:
        ((name, owner),) = raw.items()
        return self._with([owner], names, lambda items: self._member(name, items[0], element))

    def _member(self, name: str, owner: FNode, element: FNode | str) -> FNode:
        if isinstance(element, str):
            return self._fluent(f'has_{name}_{element}', 1)(owner)
        return self._fluent(f'has_{name}', 2)(owner, element)

    def _with(
        self, raws: Sequence[Any], names: Names, body: Callable[[tuple[FNode, ...]], FNode]
    ) -> FNode:
        """Return a fact about objects; places are those that there are, and nothing is false."""
        items: list[FNode] = []
        variables: list[Variable] = []
        guards: list[FNode] = []
        for raw in raws:
            item = self._thing(raw, names, variables, guards)
            if item is None:
                return FALSE()
            items.append(item)
        made = body(tuple(items))
        return Exists(And([*guards, made]), *variables) if variables else made

    def _thing(
        self, raw: Any, names: Names, variables: list[Variable], guards: list[FNode]
    ) -> FNode | None:
        if isinstance(raw, str):
            return self._named(raw, names)
        key = next(iter(raw))
        manager = self.problem.environment.expression_manager
        if key == 'place':
            item = self._thing(raw[key], names, variables, guards)
            if item is None:
                return None
            self.count += 1
            variable = Variable(f'place_{self.count}', THING)
            node = manager.VariableExp(variable)
            variables.append(variable)
            guards.append(self._anyhow(item, node))
            return node
        if key == 'the':
            word = raw[key]
            found = next((n for n in self.objects if self._holds(word, n)), None)
            if word in self.words.states:
                raise NotInPddl(f'which object is {word} changes')
            return None if found is None else manager.ObjectExp(self.objects[found])
        raise NotInPddl(f'PDDL cannot say {key}')

    def _named(self, raw: str, names: Names) -> FNode | None:
        manager = self.problem.environment.expression_manager
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
        return manager.ObjectExp(self.objects[number])

    def _atom(self, raw: Sequence[Any], names: Names) -> FNode:
        verb, rest = raw[1], raw[2:]
        if isinstance(raw[0], Mapping) and next(iter(raw[0])) in self.words.states:
            return self._state_atom(raw, names)
        if isinstance(raw[0], Mapping) and next(iter(raw[0])) not in ('place', 'the', 'first'):
            raise NotInPddl('it works with numbers')
        if verb in ('is', 'is not'):

            def words(items: tuple[FNode, ...]) -> FNode:
                parts = [self._is(items[0], word) for word in rest]
                return And(parts) if verb == 'is' else And([Not(part) for part in parts])

            return self._with(raw[:1], names, words)
        if verb in self.words.relations:
            both = [raw[0], rest[0]]
            return self._with(both, names, lambda items: self._placed(verb, items[0], items[1]))
        if verb in ('same as', 'other than'):
            both = [raw[0], rest[0]]
            return self._with(
                both,
                names,
                lambda items: Equals(*items) if verb == 'same as' else Not(Equals(*items)),
            )
        if verb == 'exists':
            return self._with(raw[:1], names, lambda items: TRUE())
        if verb in ('empty', 'not empty'):
            return self._with(raw[:1], names, lambda items: self._empty(items[0], verb, rest))
        raise NotInPddl(f'PDDL cannot say {verb}')

    def _empty(self, item: FNode, verb: str, rest: Sequence[Any]) -> FNode:
        self.count += 1
        variable = Variable(f'in_{self.count}', THING)
        node = self.problem.environment.expression_manager.VariableExp(variable)
        inside = self._placed(rest[0], node, item) if rest else self._anyhow(node, item)
        found = Exists(inside, variable)
        return Not(found) if verb == 'empty' else found

    def _state_atom(self, raw: Sequence[Any], names: Names) -> FNode:
        verb, rest = raw[1], raw[2:]
        ((name, owner),) = raw[0].items()
        word = self.words.states[name]
        if word.kind == 'choice':
            listed = rest[0] if verb == 'one of' else rest
            positive = verb in ('is', 'one of', 'equals')

            def among(items: tuple[FNode, ...]) -> FNode:
                found = Or([self._member(name, items[0], option) for option in listed])
                return found if positive else Not(found)

            return self._with([owner], names, among)
        if word.kind != 'set':
            raise NotInPddl(f'it works with the {word.kind} {name}')
        if verb in ('has', 'has not'):
            if word.options:
                fact = self._in_set(raw[0], rest[0], names)
            else:
                fact = self._with(rest, names, lambda items: self._in_set(raw[0], items[0], names))
            return fact if verb == 'has' else Not(fact)
        if word.options:
            options = [self._in_set(raw[0], option, names) for option in word.options]
            found = Or(options)
        else:
            self.count += 1
            variable = Variable(f'element_{self.count}', THING)
            node = self.problem.environment.expression_manager.VariableExp(variable)
            found = Exists(self._in_set(raw[0], node, names), variable)
        return found if verb == 'not empty' else Not(found)

    def _is(self, item: FNode | None, word: str) -> FNode:
        if item is None:
            return FALSE()
        if word in self.words.derived:
            document = self.domain.files.document.derived[word]
            if document.is_ is None:
                raise NotInPddl(f'it works with the number {word}')
            return self._fact(document.is_, {document.of[0]: item})
        return self._word(word, item)

    # ---- effects

    def _effect(
        self,
        raw: Any,
        names: Names,
        condition: FNode,
        variables: tuple[Variable, ...],
        effects: _Effects,
    ) -> None:
        if isinstance(raw, Mapping):
            self._formed(raw, names, condition, variables, effects)
            return
        verb, rest = raw[1], raw[2:]
        if isinstance(raw[0], Mapping) and next(iter(raw[0])) in self.words.states:
            self._state_effect(raw, names, condition, variables, effects)
            return
        found: list[Variable] = []
        guards: list[FNode] = []
        item = self._thing(raw[0], names, found, guards)
        if item is None:
            return
        condition, variables = And([condition, *guards]), (*variables, *found)
        if verb in ('becomes', 'becomes not'):
            for word in rest:
                target = self._word(word, item)
                self._write(effects, target, verb == 'becomes', condition, variables)
            return
        self._goes(item, rest if verb == 'goes' else (), names, condition, variables, effects)

    def _goes(
        self,
        item: FNode,
        rest: Sequence[Any],
        names: Names,
        condition: FNode,
        variables: tuple[Variable, ...],
        effects: _Effects,
    ) -> None:
        target: FNode | None = None
        if rest:
            found: list[Variable] = []
            guards: list[FNode] = []
            target = self._thing(rest[1], names, found, guards)
            if target is None:
                return
            condition, variables = And([condition, *guards]), (*variables, *found)
        self._check_reads(condition, effects)
        for relation in self.words.relations:
            self.count += 1
            variable = Variable(f'before_{self.count}', THING)
            node = self.problem.environment.expression_manager.VariableExp(variable)
            was = self._placed(relation, item, node)
            elsewhere = And([condition, was])
            if rest and relation == rest[0]:
                elsewhere = And([condition, was, Not(Equals(node, target))])
            self._add(effects, was, False, elsewhere, (*variables, variable))
        if target is not None:
            self._add(effects, self._placed(rest[0], item, target), True, condition, variables)
        effects.written.update(f'placed_{relation}' for relation in self.words.relations)

    def _formed(
        self,
        raw: Mapping[str, Any],
        names: Names,
        condition: FNode,
        variables: tuple[Variable, ...],
        effects: _Effects,
    ) -> None:
        key = next(iter(raw))
        if key == 'if':
            test = self._fact(raw['if'], names)
            for part in raw['then']:
                self._effect(part, names, And(condition, test), variables, effects)
            for part in raw.get('else', ()):
                self._effect(part, names, And(condition, Not(test)), variables, effects)
            return
        if key != 'each':
            raise NotInPddl(f'PDDL cannot {key}')
        ((name, many),) = raw['each'].items()
        variable, guard, inner = self._variable(name, many, names)
        where = self._fact(raw.get('where', ()), inner)
        for part in raw['do']:
            self._effect(part, inner, And([condition, guard, where]), (*variables, variable),
                         effects)  # fmt: skip

    def _state_effect(
        self,
        raw: Sequence[Any],
        names: Names,
        condition: FNode,
        variables: tuple[Variable, ...],
        effects: _Effects,
    ) -> None:
        verb, rest = raw[1], raw[2:]
        ((name, owner),) = raw[0].items()
        word = self.words.states[name]
        if word.kind not in ('set', 'choice'):
            raise NotInPddl(f'it works with the {word.kind} {name}')
        found: list[Variable] = []
        guards: list[FNode] = []
        item = self._thing(owner, names, found, guards)
        if item is None:
            return
        condition, variables = And([condition, *guards]), (*variables, *found)
        if word.kind == 'choice':
            if rest[0] not in word.options:
                raise NotInPddl(f'{rest[0]} is a value')
            for option in word.options:
                target = self._member(name, item, option)
                self._write(effects, target, option == rest[0], condition, variables)
            return
        for element, more, given in self._elements(word, verb, rest, names):
            target = self._member(name, item, element)
            gains = verb in ('gains', 'gains all')
            self._write(effects, target, gains, And([condition, more]), (*variables, *given))

    def _elements(
        self, word: StateWord, verb: str, rest: Sequence[Any], names: Names
    ) -> Iterator[tuple[FNode | str, FNode, tuple[Variable, ...]]]:
        """Return elements that come or go: which, under what condition, for which variables."""
        if word.options:
            for option in word.options:
                if verb == 'gains all':
                    yield option, self._in_set(rest[0], option, names), ()
                elif verb == 'loses all' or option == rest[0]:
                    yield option, TRUE(), ()
            return
        if verb in ('gains', 'loses'):
            variables: list[Variable] = []
            guards: list[FNode] = []
            element = self._thing(rest[0], names, variables, guards)
            if element is not None:
                yield element, And([TRUE(), *guards]), tuple(variables)
            return
        self.count += 1
        variable = Variable(f'element_{self.count}', THING)
        node = self.problem.environment.expression_manager.VariableExp(variable)
        held = self._in_set(rest[0], node, names) if verb == 'gains all' else TRUE()
        yield node, held, (variable,)

    def _write(
        self,
        effects: _Effects,
        target: FNode,
        value: bool,
        condition: FNode,
        variables: tuple[Variable, ...],
    ) -> None:
        self._check_reads(condition, effects)
        self._add(effects, target, value, condition, variables)
        effects.written.add(target.fluent().name)

    def _add(
        self,
        effects: _Effects,
        target: FNode,
        value: bool,
        condition: FNode,
        variables: tuple[Variable, ...],
    ) -> None:
        effects.made.append((target, value, condition.simplify(), variables))

    def _check_reads(self, condition: FNode, effects: _Effects) -> None:
        """Refuse effects that build on each other: PDDL's happen at once, ours in order."""
        free = self.problem.environment.free_vars_extractor.get(condition)
        if any(node.fluent().name in effects.written for node in free):
            raise NotInPddl('its effects build on each other')


def _choices(roles: Sequence[Role]) -> Iterator[tuple[tuple[Role, ...], str]]:
    """Return the roles that can be given together: each optional one, or not."""
    optional = [role for role in roles if role.optional and role.kind == 'object']
    for given in product((True, False), repeat=len(optional)):
        absent = [role for role, there in zip(optional, given, strict=True) if not there]
        suffix = ''.join(f'_without_{role.name}' for role in absent)
        yield tuple(role for role in roles if role not in absent), suffix


def _pairs(roles: Sequence[Role]) -> Iterator[tuple[Role, Role]]:
    for i, one in enumerate(roles):
        for other in roles[i + 1 :]:
            yield one, other


def _is_plain(raw: Any) -> bool:
    """Tell a name, or the place of one."""
    if isinstance(raw, str):
        return True
    return (
        isinstance(raw, Mapping)
        and next(iter(raw)) in ('place', 'the')
        and (isinstance(raw[next(iter(raw))], str) or _is_plain(raw[next(iter(raw))]))
    )


def _put_in(raw: Any, lets: Mapping[str, Any]) -> Any:
    """Return an expression with short names replaced by what they stand for."""
    if not lets:
        return raw
    if isinstance(raw, str):
        return (
            _put_in(lets[raw], {k: v for k, v in lets.items() if k != raw}) if raw in lets else raw
        )
    if isinstance(raw, Mapping):
        return {key: _put_in(value, lets) for key, value in raw.items()}
    if isinstance(raw, list | tuple):
        return [_put_in(part, lets) for part in raw]
    return raw
