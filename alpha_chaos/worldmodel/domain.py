"""A world, compiled: actions, rules and audits as functions of a state."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from alpha_chaos.plugins import unknown
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.classes import class_row
from alpha_chaos.worldmodel.compiler import Compiler
from alpha_chaos.worldmodel.documents import (
    AuditDocument,
    Place,
    RuleDocument,
    TimeDocument,
    WorldFiles,
    find_world,
    read_world,
)
from alpha_chaos.worldmodel.forms import check_name
from alpha_chaos.worldmodel.parts import Action, Audit, Cell, Domain, Lets, Need, Role, Rule, Times
from alpha_chaos.worldmodel.scope import (
    CLOCK,
    PRIMARY,
    Amount,
    Fact,
    Name,
    Read,
    Scope,
    joined,
    wakes,
)
from alpha_chaos.worldmodel.scope import Path as Route
from alpha_chaos.worldmodel.units import DIMENSIONS, read_quantity
from alpha_chaos.worldmodel.vocabulary import Vocabulary, vocabulary
from alpha_chaos.worldmodel.wording import say

_NAMED_IN_TEXT = re.compile(r'\{([a-z][a-z0-9_]*)\}')


def load_domain(name: str | Path) -> Domain:
    """Return a world given by its name, or by the path of its folder or single file.

    :raises BadSetting: with file, line and key of the first mistake
    """
    return compile_domain(read_world(find_world(name)))


def compile_domain(files: WorldFiles) -> Domain:
    """Return the world that its files describe.

    :raises BadSetting: with file, line and key of the first mistake
    """
    words = vocabulary(files)
    _check_relations(files)
    compiler = Compiler(words, files)
    rows = {
        name: class_row(name, files, words, ())
        for name, document in files.document.classes.items()
        if not document.abstract
    }
    compiler.rows.update(rows)
    compiler.check_derived()
    builder = _Builder(files, words, compiler)
    actions = {name: builder.action(name) for name in files.document.actions}
    reactions = [builder.rule('reactions', name) for name in files.document.reactions]
    processes = [builder.rule('processes', name) for name in files.document.processes]
    always, at_end = builder.audits(actions)
    compiler.check_routines()
    return Domain(
        str(files.document.domain),
        files,
        words,
        compiler,
        builder.tables(),
        rows,
        actions,
        reactions,
        processes,
        always,
        at_end,
        builder.times(),
    )


class _Builder:
    """Compiles the named parts of a world, and gives each rule its agenda."""

    def __init__(self, files: WorldFiles, words: Vocabulary, compiler: Compiler) -> None:
        self.files = files
        self.words = words
        self.compiler = compiler
        self.watch: list[tuple[int, int]] = []
        self.agenda: list[Rule] = []
        self._scopes: dict[str, Scope] = {}  # of actions

    # ---- actions

    def action(self, name: str) -> Action:
        """Return an action."""
        document = self.files.document.actions[name]
        at = self.files.place('actions', name)
        scope = Scope()
        roles = tuple(
            self._role(role, raw, scope, at / 'roles' / role)
            for role, raw in document.roles.items()
        )
        lets = self._lets(document.let, scope, at / 'let')
        needs = [self._role_need(name, role) for role in roles if role.words]
        for i, raw in enumerate(document.needs):
            needs.append(self._need(name, raw, scope, at / 'needs' / i))
        duration = self._duration(document.duration, scope, at / 'duration')
        change = self.compiler.changes(document.effects, scope, at / 'effects')
        self._scopes[name] = scope
        return Action(
            name, document.text, roles, lets, tuple(needs), change, duration, scope.frame()
        )

    def _role(self, written: str, raw: Any, scope: Scope, at: Place) -> Role:
        name, optional = written.rstrip('?'), written.endswith('?')
        check_name(name, at)
        if name in scope.names:
            raise at.wrong(f'there is a role {name!r} already')
        if isinstance(raw, Mapping):
            return self._value_role(name, optional, raw, scope, at)
        words = (raw,) if isinstance(raw, str) else raw
        if not isinstance(words, list | tuple) or not all(isinstance(w, str) for w in words):
            raise at.wrong(f'a role is a word, a list of words or a mapping, not {raw!r}')
        words = tuple(word for word in words if word != 'anything')
        slot = scope.add(name, path=Route(name)).slot
        if words:  # here, so that a mistake is reported with its line
            self.compiler.fact([name, 'is', *words], scope, at)
        return Role(name, optional, 'object', slot, words)

    def _value_role(
        self, name: str, optional: bool, raw: Mapping[str, Any], scope: Scope, at: Place
    ) -> Role:
        if len(raw) != 1 or next(iter(raw)) not in ('value', 'word', 'new'):
            raise at.wrong(f'{{value: dimension}}, {{word: [...]}} or {{new: class}}; not {raw!r}')
        ((kind, what),) = raw.items()
        if kind == 'value':
            if what not in DIMENSIONS:
                raise (at / kind).wrong(unknown('dimension', what, DIMENSIONS))
            slot = scope.add(name, 'number', dimension=what).slot
            return Role(name, optional, 'value', slot, dimension=what)
        if kind == 'word':
            if not isinstance(what, list) or not what or not all(isinstance(w, str) for w in what):
                raise (at / kind).wrong(f'a list of words, not {what!r}')
            options = tuple(what)
            slot = scope.add(name, 'word', options=options).slot
            return Role(name, optional, 'word', slot, options=options)
        if not isinstance(what, str) or what not in self.compiler.rows:
            raise (at / kind).wrong(
                unknown('class that objects can have', what, self.compiler.rows)
            )
        slot = scope.add(name, 'new', path=Route(name), class_=what).slot
        return Role(name, optional, 'new', slot)

    def _role_need(self, action: str, role: Role) -> Need:
        scope = Scope({role.name: Name(role.slot, 'object', Route(role.name))})
        written = [role.name, 'is', *role.words]
        fact = self.compiler.fact(written, scope, self.files.place('actions', action))
        if role.optional:
            test, slot = fact.test, role.slot
            fact = Fact(lambda s, v: v[slot] == st.NOTHING or test(s, v), fact.reads)
        return Need(fact, f'{action}: {role.name} is {", ".join(role.words)}', written)

    def _need(self, action: str, raw: Any, scope: Scope, at: Place) -> Need:
        said = ''
        if isinstance(raw, Mapping) and 'need' in raw:
            for key in raw:
                if key not in ('need', 'say'):
                    raise (at / key).wrong(unknown('key', key, ('need', 'say')))
            said, raw, at = str(raw.get('say', '')), raw['need'], at / 'need'
        fact = self.compiler.fact(raw, scope, at)
        return Need(fact, f'{action}: {said or say(raw, {})}', raw, said)

    def _duration(self, raw: Any, scope: Scope, at: Place) -> Amount:
        if raw is None:
            return _constant(self.times().action_s)
        amount = self.compiler.amount(raw, scope, at)
        if amount.dimension not in ('time', None):
            raise at.wrong(f'a duration is a time, not a {amount.dimension}')
        return amount

    def times(self) -> Times:
        """Return how time passes in this world."""
        time = self.files.document.time or TimeDocument()
        seconds = {}
        for key in ('action', 'first', 'longest', 'limit'):
            quantity = read_quantity(getattr(time, key))
            if quantity is None or quantity.dimension != 'time' or quantity.value <= 0:
                at = self.files.place('time', '') / key
                raise at.wrong(f"a time such as '5 s', not {getattr(time, key)!r}")
            seconds[f'{key}_s'] = quantity.value
        return Times(growth=time.growth, **seconds)

    # ---- rules

    def rule(self, section: str, name: str) -> Rule:
        """Return a reaction or process."""
        document: RuleDocument = getattr(self.files.document, section)[name]
        at = self.files.place(section, name)
        over_time = section == 'processes'
        scope = Scope()
        if over_time:
            scope.slots.append(None)  # the piece of time
        return self._rule(name, document.for_, document.let, document.if_, document.do, scope, at,
                          over_time)  # fmt: skip

    def _rule(
        self,
        name: str,
        for_: Mapping[str, str],
        let: Mapping[str, Any],
        if_: Any,
        do: Sequence[Any],
        scope: Scope,
        at: Place,
        over_time: bool = False,
        agenda: bool = True,
    ) -> Rule:
        slot, mask, kinds = None, 0, 0
        for variable, word in for_.items():
            check_name(variable, at / 'for')
            self.compiler.many(word, scope, at / 'for' / variable)
            slot = scope.add(variable, path=Route(PRIMARY)).slot
            mask, kinds = self.words.bit(word), self.words.classes.get(word, 0)
        lets = self._lets(let, scope, at / 'let')
        fact = self.compiler.fact(if_, scope, at / 'if')
        change = self.compiler.changes(do, scope, at / 'do', over_time)
        reads = joined((fact.reads, change.reads, *(thing.reads for _, thing in lets)))
        restless = any(read.state == CLOCK for read in reads)
        number = -1
        if agenda:
            number = len(self.watch)
            flag = next((w for w in self.words.states.values() if mask and w.mask == mask), None)
            if flag:  # whatever has it some day; its bit is asked for each time
                reads |= {Read(flag.index, Route(PRIMARY))}
            self.watch.append((-1, -1) if flag else (mask, kinds))
        made = Rule(
            name, number, slot, mask, kinds, lets, fact, change, scope.frame(), reads, restless
        )
        if agenda:
            self.agenda.append(made)
        return made

    def _lets(self, raw: Mapping[str, Any], scope: Scope, at: Place) -> Lets:
        made = []
        for name, expression in raw.items():
            check_name(name, at / name)
            if name in scope.names:
                raise (at / name).wrong(f'{name!r} is a role or variable already')
            thing = self.compiler.thing(expression, scope, at / name)
            made.append((scope.add(name, path=thing.path).slot, thing))
        return tuple(made)

    # ---- audits

    def audits(self, actions: Mapping[str, Action]) -> tuple[list[Audit], list[Audit]]:
        """Hang the audits of actions on them; return those after every step, and at the end."""
        always, at_end = [], []
        for name, document in self.files.document.audits.items():
            at = self.files.place('audits', name)
            if document.at == 'always':
                always.append(self._audit(name, document, Scope(), at, agenda=True))
            elif document.at == 'end':
                at_end.append(self._audit(name, document, Scope(), at))
            else:
                for when, action in self._moments(document.at, actions, at / 'at'):
                    audit = self._audit(name, document, self._audit_scope(action, when), at)
                    (action.before if when == 'before' else action.after).append(audit)
        return always, at_end

    def _moments(
        self, raw: Any, actions: Mapping[str, Action], at: Place
    ) -> Iterator[tuple[str, Action]]:
        """Return before or after which actions an audit looks."""
        if not isinstance(raw, Mapping) or not raw or not {*raw} <= {'before', 'after'}:
            right = 'end, always, {before: [actions]} or {after: [actions]}'
            raise at.wrong(f'an audit looks at one of {right}; not at {raw!r}')
        for when, listed in raw.items():
            if not isinstance(listed, list):
                raise (at / when).wrong(f'a list of actions, not {listed!r}')
            for i, action in enumerate(listed):
                if not isinstance(action, str) or action not in actions:
                    raise (at / when / i).wrong(unknown('action', action, actions))
                yield when, actions[action]

    def _audit_scope(self, action: Action, when: str) -> Scope:
        """Return the names an audit of an action sees; its frame goes on from the action's."""
        known = dict(self._scopes[action.name].names)
        if when == 'before':
            document = self.files.document.actions[action.name]
            there = {role.rstrip('?') for role in document.roles} | set(document.let)
            known = {name: entry for name, entry in known.items() if name in there}
            for role in action.roles:
                if role.kind == 'new':
                    known[role.name] = Name(role.slot, 'new')
        return Scope(known, [None] * len(action.frame))

    def _audit(
        self, name: str, document: AuditDocument, scope: Scope, at: Place, agenda: bool = False
    ) -> Audit:
        rule = self._rule(
            name, document.for_, document.let, document.if_, (), scope, at, agenda=agenda
        )
        planted = self._cells(document.planted, scope, at / 'planted')
        sealed = self._cells(document.sealed, scope, at / 'sealed')
        known = {*scope.names, *(cell.label for cell in planted)}
        for named in _NAMED_IN_TEXT.findall(document.message):
            if named not in known:
                raise (at / 'message').wrong(unknown('name', named, known))
        if document.reversible and document.sealed:
            raise (at / 'sealed').wrong('what is reversible is not sealed')
        word = next(iter(document.for_.values()), None)
        return Audit(name, document, rule, word, dict(scope.names), planted, sealed)

    def _cells(self, raw: Sequence[Any], scope: Scope, at: Place) -> tuple[Cell, ...]:
        made = []
        for i, fact in enumerate(raw):
            if not isinstance(fact, Mapping):
                raise (at / i).wrong(f'{{state: object}}, not {fact!r}')
            label = str(next(iter(fact), ''))
            index, thing = self.compiler.cell(fact, scope, at / i)
            made.append(Cell(label, index, self.words.states.get(label), thing))
        return tuple(made)

    def tables(self) -> st.Tables:
        """Return what the states of this world share."""
        names = self.words.state_names
        near: list[list[int]] = [[] for _ in names]
        far: list[list[st.Wake]] = [[] for _ in names]
        for rule in self.agenda:
            for state, wake in wakes(rule.number, rule.reads):
                if wake is None:
                    near[state].append(rule.number)
                else:
                    far[state].append(wake)
        ranges = [(0.0, 0.0)] * st.OWN_STATES
        ranges += [word.range for word in self.words.states.values()]
        return st.Tables(
            len(names),
            self.words.width,
            tuple(self.words.row(default=False)),
            tuple(ranges),
            tuple(map(tuple, near)),
            tuple(map(tuple, far)),
            len(self.watch),
            (
                *((name, mask, 0) for name, mask in self.words.properties.items()),
                *((name, 0, mask) for name, mask in self.words.classes.items()),
            ),
            tuple(self.watch),
            tuple((rule.mask, rule.kinds) for rule in self.agenda),
        )


def _constant(value: float) -> Amount:
    return Amount(lambda s, v: value, 'time', constant=value)


def _check_relations(files: WorldFiles) -> None:
    if not files.document.relations:
        raise files.main.wrong("no file of this world has the key 'relations'")
