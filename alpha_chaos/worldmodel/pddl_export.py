"""A world as a PDDL problem, as far as PDDL's classical part goes.

What goes over: properties, flags, words of choices, sets and places as predicates; roles, needs
and effects on them as actions; the objects; the goal. Reactions, processes, audits and numbers do
not, nor does an action that needs them; the export says which were left out and why.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from unified_planning.io import PDDLWriter
from unified_planning.model import (
    FNode,
    InstantaneousAction,
    Object,
    Problem,
    Variable,
)
from unified_planning.shortcuts import (
    TRUE,
    And,
    Equals,
    Not,
)

from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.documents import TaskDocument
from alpha_chaos.worldmodel.parts import Action, Role
from alpha_chaos.worldmodel.pddl_facts import THING, Facts, Names, NotInPddl
from alpha_chaos.worldmodel.vocabulary import StateWord
from alpha_chaos.worldmodel.world import World


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


@dataclass
class _Effects:
    """Effects of one action, and what they have written so far."""

    made: list[tuple[FNode, bool, FNode, tuple[Variable, ...]]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)


class _Exporter(Facts):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.left_out: dict[str, str] = {}

    def export(self) -> Export:
        """Return the problem."""
        document = self.world.domain.files.document
        for name, action in self.world.domain.actions.items():
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
                self.problem.add_goal(self.fact(scene.goal, {}))
            except NotInPddl as reason:
                self.left_out['goal'] = str(reason)
        self._start()
        return Export(self.problem, self.left_out)

    def _start(self) -> None:
        start, relations = self.world.start, self.words.relations
        for number, item in self.objects.items():
            node = self.manager.ObjectExp(item)
            for name in list(self.fluents):
                if name.startswith('is_') and self.holds(name[3:], number):
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

    def _action(self, action: Action, roles: Sequence[Role], suffix: str) -> InstantaneousAction:
        document = self.world.domain.files.document.actions[action.name]
        if any(role.kind == 'new' for role in action.roles):
            raise NotInPddl('it makes new objects')
        if document.let and any(not _is_plain(raw) for raw in document.let.values()):
            raise NotInPddl('it chooses an object by itself')
        given = [role for role in roles if role.kind == 'object']
        made = InstantaneousAction(
            f'{action.name}{suffix}', **{role.name: THING for role in given}
        )
        names: dict[str, FNode | None] = {role.name: None for role in action.roles}
        names |= {
            role.name: self.manager.ParameterExp(made.parameter(role.name)) for role in given
        }
        for role in action.roles:
            if role.kind in ('value', 'word'):
                names.pop(role.name)
        lets = dict(document.let)
        for role in given:
            for word in role.words:
                made.add_precondition(self.is_a(names[role.name], word))
        for one, other in _pairs(given):
            made.add_precondition(Not(Equals(names[one.name], names[other.name])))
        for raw in document.needs:
            need = raw['need'] if isinstance(raw, Mapping) and 'need' in raw else raw
            made.add_precondition(self.fact(_put_in(need, lets), names))
        effects = _Effects()
        for raw in document.effects:
            self._effect(_put_in(raw, lets), names, TRUE(), (), effects)
        for target, value, condition, variables in effects.made:
            made.add_effect(target, value, condition, forall=variables)
        return made

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
        item = self.thing(raw[0], names, found, guards)
        if item is None:
            return
        condition, variables = And([condition, *guards]), (*variables, *found)
        if verb in ('becomes', 'becomes not'):
            for word in rest:
                target = self.word(word, item)
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
            target = self.thing(rest[1], names, found, guards)
            if target is None:
                return
            condition, variables = And([condition, *guards]), (*variables, *found)
        self._check_reads(condition, effects)
        for relation in self.words.relations:
            self.count += 1
            variable = Variable(f'before_{self.count}', THING)
            node = self.manager.VariableExp(variable)
            was = self.placed(relation, item, node)
            elsewhere = And([condition, was])
            if rest and relation == rest[0]:
                elsewhere = And([condition, was, Not(Equals(node, target))])
            self._add(effects, was, False, elsewhere, (*variables, variable))
        if target is not None:
            self._add(effects, self.placed(rest[0], item, target), True, condition, variables)
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
            test = self.fact(raw['if'], names)
            for part in raw['then']:
                self._effect(part, names, And(condition, test), variables, effects)
            for part in raw.get('else', ()):
                self._effect(part, names, And(condition, Not(test)), variables, effects)
            return
        if key != 'each':
            raise NotInPddl(f'PDDL cannot {key}')
        ((name, many),) = raw['each'].items()
        variable, guard, inner = self.variable(name, many, names)
        where = self.fact(raw.get('where', ()), inner)
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
        item = self.thing(owner, names, found, guards)
        if item is None:
            return
        condition, variables = And([condition, *guards]), (*variables, *found)
        if word.kind == 'choice':
            if rest[0] not in word.options:
                raise NotInPddl(f'{rest[0]} is a value')
            for option in word.options:
                target = self.member(name, item, option)
                self._write(effects, target, option == rest[0], condition, variables)
            return
        for element, more, given in self._elements(word, verb, rest, names):
            target = self.member(name, item, element)
            gains = verb in ('gains', 'gains all')
            self._write(effects, target, gains, And([condition, more]), (*variables, *given))

    def _elements(
        self, word: StateWord, verb: str, rest: Sequence[Any], names: Names
    ) -> Iterator[tuple[FNode | str, FNode, tuple[Variable, ...]]]:
        """Return elements that come or go: which, under what condition, for which variables."""
        if word.options:
            for option in word.options:
                if verb == 'gains all':
                    yield option, self.in_set(rest[0], option, names), ()
                elif verb == 'loses all' or option == rest[0]:
                    yield option, TRUE(), ()
            return
        if verb in ('gains', 'loses'):
            variables: list[Variable] = []
            guards: list[FNode] = []
            element = self.thing(rest[0], names, variables, guards)
            if element is not None:
                yield element, And([TRUE(), *guards]), tuple(variables)
            return
        self.count += 1
        variable = Variable(f'element_{self.count}', THING)
        node = self.manager.VariableExp(variable)
        held = self.in_set(rest[0], node, names) if verb == 'gains all' else TRUE()
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
