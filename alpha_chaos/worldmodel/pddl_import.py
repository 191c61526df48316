"""A PDDL problem as a world: what its files would be.

Types become classes, objects classes of one object each; predicates become flags (of one object,
or of none: then they are the agent's) and sets of objects (of two). Numbers of one object or of
none become states. PDDL's effects happen at once and ours in order, so an action whose effects
read what others of its effects write is refused, as is anything with duration or more arguments.
What PDDL allows and our plans do not: the same object in two roles of a step.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pyparsing import ParseBaseException
from unified_planning.exceptions import UPException
from unified_planning.io import PDDLReader
from unified_planning.model import Effect, FNode, InstantaneousAction, Problem

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel.vocabulary import RESERVED

AGENT = 'one_who_acts'


@dataclass(frozen=True)
class Imported:
    """The text of a world file, and of a task file whose golden plan is still to be written."""

    world: str
    task: str


def read_pddl(domain: Path, problem: Path) -> Imported:
    """Return the world of two PDDL files.

    :raises BadSetting: if they cannot be read, or say what the language of worlds does not
    """
    try:
        with warnings.catch_warnings():
            # unified-planning 1.3.0 calls pyparsing by names that pyparsing gives up.
            warnings.simplefilter('ignore', DeprecationWarning)
            read = PDDLReader().parse_problem(str(domain), str(problem))
    except (OSError, UPException, ParseBaseException, SyntaxError, ValueError) as error:
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise BadSetting(f'{domain}, {problem}: cannot be read as PDDL: {reason}') from None
    return import_problem(read)


def import_problem(problem: Problem) -> Imported:
    """Return the world of a problem of unified-planning.

    :raises BadSetting: for what the language of worlds does not have
    """
    importer = _Importer(problem)
    return Imported(_yaml(importer.world()), _yaml(importer.task()))


def _yaml(document: dict[str, Any]) -> str:
    return str(yaml.safe_dump(document, sort_keys=False, width=98, allow_unicode=True))


class _Importer:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        taken: set[str] = set()
        self.states = _unique((fluent.name for fluent in problem.fluents), taken)
        self.types = _unique((kind.name for kind in problem.user_types), taken)
        self.objects = _unique((thing.name for thing in problem.all_objects), taken)
        self.actions = _unique((action.name for action in problem.actions), set())
        for fluent in problem.fluents:
            limit = 2 if fluent.type.is_bool_type() else 1
            if fluent.arity > limit:
                raise BadSetting(
                    f'PDDL: {fluent.name} is about {fluent.arity} objects; {limit} are possible'
                )

    # ---- documents

    def world(self) -> dict[str, Any]:
        """Return the document of the world."""
        states: dict[str, Any] = {}
        for fluent in self.problem.fluents:
            name = self.states[fluent.name]
            if not fluent.type.is_bool_type():
                states[name] = {'type': 'number', 'unit': 'one'}
            elif fluent.arity == 2:
                states[name] = {'type': 'set', 'of': 'objects'}
            else:
                states[name] = {'type': 'flag'}
        classes: dict[str, Any] = {AGENT: {}}
        for kind in self.problem.user_types:
            father = kind.father
            like = {'like': self.types[father.name]} if father else {}
            classes[self.types[kind.name]] = {'abstract': True, **like}
        for thing in self.problem.all_objects:
            classes[self.objects[thing.name]] = {'like': self.types[thing.type.name]}
        return {
            'domain': _word(self.problem.name or 'imported'),
            'text': 'Imported from PDDL.',
            'agent': {'class': AGENT, 'has': self._values('')},
            'relations': ['at'],
            'state': states,
            'classes': classes,
            'actions': {
                self.actions[action.name]: self._action(action) for action in self.problem.actions
            },
        }

    def task(self) -> dict[str, Any]:
        """Return the document of the task."""
        return {
            'title': self.problem.name or 'imported',
            'technique': 'imported',
            'objects': [
                {'class': self.objects[thing.name], 'has': self._values(thing.name)}
                for thing in self.problem.all_objects
            ],
            'goal': [self._fact(goal, {}) for goal in self.problem.goals],
            'golden': '',
        }

    def _values(self, owner: str) -> dict[str, Any]:
        """Return what an object (or the agent, '') starts with, as `has` has it."""
        found: dict[str, Any] = {}
        for node, value in self.problem.initial_values.items():
            arguments = [str(argument) for argument in node.args]
            if (arguments[0] if arguments else '') != owner:
                continue
            name = self.states[node.fluent().name]
            if not value.is_bool_constant():
                found[name] = float(value.constant_value())
            elif value.bool_constant_value():
                if len(arguments) < 2:
                    found[name] = True
                else:
                    found.setdefault(name, []).append(f'{self.objects[arguments[1]]} 1')
        return found

    # ---- actions

    def _action(self, action: Any) -> dict[str, Any]:
        if not isinstance(action, InstantaneousAction):
            raise BadSetting(f'PDDL: the action {action.name} takes time; that cannot be imported')
        names = {parameter.name: _word(parameter.name) for parameter in action.parameters}
        roles = {
            names[parameter.name]: self.types[parameter.type.name]
            for parameter in action.parameters
        }
        changes = [effect for effect in action.effects if not effect.fluent.is_constant()]
        self._check_order(action.name, changes)
        # What is taken away goes first: in PDDL an atom that comes and goes at once is there.
        changes.sort(key=lambda effect: not effect.value.is_false())
        return {
            'roles': roles,
            'needs': [self._fact(need, names) for need in action.preconditions],
            'effects': [self._effect(effect, names) for effect in changes],
        }

    def _check_order(self, action: str, effects: Iterable[Effect]) -> None:
        written = {effect.fluent.fluent().name for effect in effects}
        extractor = self.problem.environment.free_vars_extractor
        for effect in effects:
            read = extractor.get(effect.condition) | extractor.get(effect.value)
            names = {node.fluent().name for node in read}
            if effect.is_increase() or effect.is_decrease() or not effect.is_conditional():
                names -= {effect.fluent.fluent().name}
            if names & written:
                raise BadSetting(
                    f'PDDL: effects of the action {action} read what others of them write '
                    f'({", ".join(sorted(names & written))}); that cannot be imported'
                )

    def _effect(self, effect: Effect, names: dict[str, str]) -> Any:
        inner = {**names, **{v.name: _word(v.name) for v in effect.forall}}
        made: Any = self._change(effect, inner)
        if effect.is_conditional():
            made = {'if': self._fact(effect.condition, inner), 'then': [made]}
        for variable in effect.forall:
            kind = self.types[variable.type.name]
            made = {'each': {inner[variable.name]: kind}, 'do': [made]}
        return made

    def _change(self, effect: Effect, names: dict[str, str]) -> Any:
        name, owner, other = self._parts(effect.fluent, names)
        if effect.is_increase() or effect.is_decrease():
            verb = 'grows by' if effect.is_increase() else 'shrinks by'
            return [{name: owner}, verb, self._number(effect.value, names)]
        if not effect.value.is_bool_constant():
            return [{name: owner}, 'becomes', self._number(effect.value, names)]
        on = effect.value.bool_constant_value()
        if other is None:
            return [owner, 'becomes' if on else 'becomes not', name]
        return [{name: owner}, 'gains' if on else 'loses', other]

    # ---- expressions

    def _parts(self, node: FNode, names: dict[str, str]) -> tuple[str, Any, Any]:
        """Return state, object, and element of a set, of a fluent with its arguments."""
        items = [self._item(argument, names) for argument in node.args]
        name = self.states[node.fluent().name]
        owner = items[0] if items else 'agent'
        return name, owner, items[1] if len(items) > 1 else None

    def _item(self, node: FNode, names: dict[str, str]) -> Any:
        if node.is_object_exp():
            return {'the': self.objects[node.object().name]}  # the only one of its class
        if node.is_parameter_exp():
            return names[node.parameter().name]
        if node.is_variable_exp():
            return names[node.variable().name]
        raise BadSetting(f'PDDL: {node} is no plain object; that cannot be imported')

    def _fact(self, node: FNode, names: dict[str, str]) -> Any:
        if node.is_bool_constant():
            return {'all': []} if node.is_true() else {'any': []}
        if node.is_and() or node.is_or():
            parts = [self._fact(part, names) for part in node.args]
            return {'all' if node.is_and() else 'any': parts}
        if node.is_not():
            return {'not': self._fact(node.arg(0), names)}
        if node.is_implies():
            return {'if': self._fact(node.arg(0), names), 'then': self._fact(node.arg(1), names)}
        if node.is_iff():
            both = [self._fact(part, names) for part in node.args]
            return {'if': both[0], 'then': both[1], 'else': {'not': both[1]}}
        if node.is_exists() or node.is_forall():
            return self._quantified(node, names)
        if node.is_fluent_exp():
            name, owner, other = self._parts(node, names)
            return [owner, 'is', name] if other is None else [{name: owner}, 'has', other]
        if node.is_equals() or node.is_le() or node.is_lt():
            return self._compared(node, names)
        raise BadSetting(f'PDDL: {node} cannot be imported')

    def _quantified(self, node: FNode, names: dict[str, str]) -> Any:
        inner = {**names, **{v.name: _word(v.name) for v in node.variables()}}
        made = self._fact(node.arg(0), inner)
        for variable in reversed(node.variables()):
            kind = self.types[variable.type.name]
            key = 'some' if node.is_exists() else 'every'
            made = {key: {inner[variable.name]: kind}, 'where': made}
        return made

    def _compared(self, node: FNode, names: dict[str, str]) -> Any:
        one, other = node.args
        if node.is_equals() and one.type.is_user_type():
            return [self._item(one, names), 'same as', self._item(other, names)]
        verb = 'equals' if node.is_equals() else 'at most' if node.is_le() else 'below'
        return [self._number(one, names), verb, self._number(other, names)]

    def _number(self, node: FNode, names: dict[str, str]) -> Any:
        if node.is_int_constant() or node.is_real_constant():
            return float(node.constant_value())
        if node.is_fluent_exp():
            name, owner, _ = self._parts(node, names)
            return {name: owner}
        for test, key in ((node.is_plus(), 'plus'), (node.is_minus(), 'minus'),
                          (node.is_times(), 'times'), (node.is_div(), 'divided')):  # fmt: skip
            if test:
                return {key: [self._number(part, names) for part in node.args]}
        raise BadSetting(f'PDDL: the number {node} cannot be imported')


def _word(name: str) -> str:
    """Return a name as the language writes names."""
    word = ''.join(letter if letter.isalnum() and letter.isascii() else '_' for letter in name)
    word = word.lower().lstrip('_0123456789')[:55] or 'named'
    return f'{word}_' if word in (*RESERVED, AGENT) else word


def _unique(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """Return a word for each name that is not taken, and note it as taken."""
    made: dict[str, str] = {}
    for name in names:
        word = base = _word(name)
        number = 1
        while word in taken:
            number += 1
            word = f'{base}_{number}'
        taken.add(word)
        made[name] = word
    return made
