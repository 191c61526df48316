"""A plan carried out step by step in a world, and what is wrong with it."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alpha_chaos.plugins import BadSetting
from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.parts import Action, Audit, Cell, Domain, Role, Rule
from alpha_chaos.worldmodel.plan_text import Arguments, Complaint, PlanStep, read_step
from alpha_chaos.worldmodel.scope import Fact, Name
from alpha_chaos.worldmodel.state import Frame, Origin, State
from alpha_chaos.worldmodel.units import BASE, read_value, spoken
from alpha_chaos.worldmodel.verdict import Failure, Kind, Link, Verdict, once
from alpha_chaos.worldmodel.wording import say

MAX_ROUNDS = 200  # of reactions after one change, before the world is called unsettled
_NAMED = re.compile(r'\{([a-z][a-z0-9_]*)\}')


@dataclass(frozen=True)
class StepResult:
    """What one step did.

    :param done: it was carried out; else it had no effect and took no time
    :param failures: of this step, the latent ones that show at it included
    """

    done: bool
    failures: tuple[Failure, ...]
    seconds: float


class _Unbound(Exception):
    """The arguments of a step do not fit its action: rule and message."""


class Run:
    """One plan in one world."""

    def __init__(self, domain: Domain, start: State, goal: Fact | None = None) -> None:
        self.domain = domain
        self.state = start.copy()
        self.goal = goal
        self.failures: list[Failure] = []
        self._texts: list[str] = ['']  # of the steps, by number
        self._fired: set[tuple[str, int]] = set()

    # ---- steps

    def step(self, written: str | PlanStep) -> StepResult:
        """Carry out the next step, given as one line of a plan or as read from it."""
        step = read_step(written) if isinstance(written, str) else written
        before, started = len(self.failures), self.state.now_s
        number = len(self._texts)
        self._texts.append(step.text if step else str(written))
        if step is None:
            self._fail('no_steps', 'syntax', 'this is no step, such as: [GRAB] <cup> (1)')
            done = False
        else:
            done = self._carry_out(step, number)
        return StepResult(done, tuple(self.failures[before:]), self.state.now_s - started)

    def complain(self, complaint: Complaint) -> None:
        """Take in what is wrong with the text of the plan."""
        self.failures.append(
            Failure(complaint.step, complaint.rule, 'syntax', True, complaint.message)
        )

    def finish(self) -> Verdict:
        """Look at the state after the last step and return the verdict."""
        state = self.state
        for audit in self.domain.at_end:
            items: Sequence[int] = (st.AGENT,)
            if audit.word is not None:
                mask = audit.rule.mask
                items = state.members.get(audit.word, ())
                if audit.word in self.domain.words.states:
                    items = [i for i, bits in enumerate(state.bits) if bits & mask]
            for item in items:
                self._look(audit, item, 0)
        reached = None if self.goal is None else self.goal.test(state, [])
        return Verdict(len(self._texts) - 1, once(self.failures), reached, state.now_s)

    def _carry_out(self, step: PlanStep, number: int) -> bool:
        action = self.domain.actions.get(step.action)
        if action is None:
            self._fail('unknown_action', 'syntax', f'there is no action {step.action}')
            return False
        state = self.state
        try:
            frame = self._bound(action, step.arguments)
            for slot, thing in action.lets:
                frame[slot] = thing.get(state, frame)
            unmet = [need for need in action.needs if not need.fact.test(state, frame)]
            for need in unmet:
                said = need.said or f'needed: {say(need.written, self._names(action, frame))}'
                self._fail(need.rule, 'immediate', f'{step.text}: {said}')
            if unmet:
                return False
            seconds = action.duration.get(state, frame)
            if not 0 <= seconds <= self.domain.times.limit_s:
                limit = self.domain.times.limit_s
                raise _Unbound('bad_value', f'a step takes between 0 and {limit:.0f} s')
        except _Unbound as problem:
            rule, message = problem.args
            self._fail(rule, 'syntax', f'{step.text}: {message}')
            return False
        state.at(number)
        for role in action.roles:
            if role.kind == 'object' and frame[role.slot]:
                state.touched.add(frame[role.slot])
        for audit in action.before:
            self._look_through(audit, number, frame)
        action.change.do(state, frame)
        self._settle()
        self._look_always(number)
        if seconds:
            self._pass(seconds, number)
        for audit in action.after:
            self._look_through(audit, number, frame)
        return True

    # ---- arguments

    def _bound(self, action: Action, arguments: Arguments) -> Frame:
        roles = action.roles
        if not action.required <= len(arguments) <= len(roles):
            wanted = ', '.join(role.name + '?' * role.optional for role in roles) or 'none'
            message = f'{len(arguments)} arguments, but the roles are: {wanted}'
            raise _Unbound('argument_count', message)
        frame = action.frame.copy()
        given = _given(action, arguments)
        seen = set()
        for role, (name, id_) in zip(given, arguments, strict=True):
            frame[role.slot] = value = self._argument(role, name, id_)
            if role.kind == 'object':
                if value in seen:
                    raise _Unbound('same_object', f'{name} ({id_}) stands in two roles')
                seen.add(value)
        for role in roles:
            if role.kind == 'value' and role not in given:
                frame[role.slot] = math.nan
            elif role.kind == 'word' and role not in given:
                frame[role.slot] = st.UNSET
        return frame

    def _argument(self, role: Role, name: str, id_: str) -> object:
        if role.kind == 'value':
            value = read_value(name, role.dimension)
            if value is None:
                unit = BASE.get(role.dimension, 'number')
                raise _Unbound('bad_value', f'<{name}> is no {role.dimension}, such as <5_{unit}>')
            return value
        if role.kind == 'word':
            if name not in role.options:
                known = ', '.join(role.options)
                raise _Unbound('bad_value', f'<{name}> is no {role.name}; known: {known}')
            return role.options.index(name)
        if not id_:
            raise _Unbound('missing_id', f'<{name}> has no id, such as <{name}> (1)')
        known_as = self.state.named.get((name, id_))
        if role.kind == 'new':
            if known_as is not None:
                raise _Unbound('name_taken', f'{name} ({id_}) is there already')
            return name, id_
        if known_as is None:
            raise _Unbound('unknown_object', f'there is no {name} ({id_})')
        return known_as

    def _names(self, action: Action, frame: Frame) -> dict[str, str]:
        labels = self.state.labels
        return {
            role.name: labels[frame[role.slot]] for role in action.roles if role.kind == 'object'
        }

    def _fail(self, rule: str, kind: Kind, message: str) -> None:
        step = len(self._texts) - 1
        self.failures.append(Failure(step, rule, kind, True, message))

    # ---- time and reactions

    def _pass(self, seconds: float, number: int) -> None:
        """Let time pass piece by piece: processes, reactions, audits."""
        state, times, pending = self.state, self.domain.times, self.state.pending
        processes = self.domain.processes
        restless = self.domain.restless
        left, size = seconds, times.first_s
        while left > 0:
            if not restless and not any(pending[rule.number] for rule in processes):
                state.passed(left)
                return
            piece = size if size < left else left
            left -= piece
            size = min(size * times.growth, times.longest_s)
            state.passed(piece)
            for rule in restless:
                pending[rule.number].update(state.watched[rule.number])
            touched, state.touched = state.touched, set()  # time alone touches nothing
            for rule in processes:
                if waiting := pending[rule.number]:
                    pending[rule.number] = set()
                    _carry_on(rule, state, sorted(waiting), piece)
            state.touched = touched
            self._settle()
            self._look_always(number)

    def _settle(self) -> None:
        settle(self.domain, self.state)

    # ---- audits

    def _look_always(self, number: int) -> None:
        state = self.state
        for audit in self.domain.always:
            waiting = state.pending[audit.rule.number]
            if waiting:
                state.pending[audit.rule.number] = set()
                for item in sorted(waiting):
                    if not self._look(audit, item, number):
                        state.pending[audit.rule.number].add(item)

    def _look_through(self, audit: Audit, number: int, base: Frame) -> None:
        items: Sequence[int] = (st.AGENT,)
        if audit.word is not None:
            items = range(2, len(self.state.bits))
        for item in items:
            self._look(audit, item, number, base)

    def _look(self, audit: Audit, item: int, number: int, base: Frame | None = None) -> bool:
        """Report an audit of an object once; False if it holds of one not touched so far."""
        state = self.state
        frame = audit.rule.applies(state, item, base)
        if frame is None:
            return True
        if not audit.document.untouched and audit.word is not None and item not in state.touched:
            return False
        if (audit.name, item) in self._fired and base is None:
            return True
        self._fired.add((audit.name, item))
        self.failures.append(self._failure(audit, frame, number))
        return True

    def _failure(self, audit: Audit, frame: Frame, number: int) -> Failure:
        document, state = audit.document, self.state
        made: dict[tuple[int, str], None] = {}
        for cell in audit.planted:
            made |= dict.fromkeys(self._history(cell, frame))
        chain = sorted(made)
        planted = chain[0][0] if chain else (number or None)
        sealed = None
        if not document.reversible:
            ends = [
                state.made_at(cell.index, cell.thing.get(state, frame)).step
                for cell in audit.sealed
            ]
            sealed = max(ends) if ends else number or max((step for step, _ in chain), default=0)
            for cell, end in zip(audit.sealed, ends, strict=True):
                made[end, self._said(cell, frame)] = None
            chain = sorted(made)
        return Failure(
            number,
            audit.name,
            'latent',
            document.reversible,
            _NAMED.sub(lambda match: self._value(match[1], audit, frame), document.message),
            document.family,
            document.severity,
            planted,
            sealed,
            tuple(Link(step, fact, self._texts[step]) for step, fact in chain),
        )

    def _history(self, cell: Cell, frame: Frame) -> Iterator[tuple[int, str]]:
        """Return the steps that made a fact: of a set, also those its elements came through."""
        state, item = self.state, cell.thing.get(self.state, frame)
        if cell.word is None or cell.word.kind != 'set':
            yield state.made_at(cell.index, item).step, self._said(cell, frame)
            return
        elements = state.values[item * state.tables.width + cell.word.column]
        for origin in elements.values():
            link: Origin | None = origin
            while link is not None:
                label = state.labels[link.cell[0]]
                yield link.step, f'{cell.label} of {label}' if link.cell[0] else cell.label
                link = link.source

    def _said(self, cell: Cell, frame: Frame) -> str:
        label = self.state.labels[cell.thing.get(self.state, frame)]
        if cell.word is not None and cell.word.kind == 'flag':
            return f'{label}: {cell.label}'
        return f'{cell.label} of {label}'

    def _value(self, name: str, audit: Audit, frame: Frame) -> str:
        known: Name | None = audit.names.get(name)
        state = self.state
        if known is not None:
            value = frame[known.slot]
            if known.kind == 'number':
                return spoken(value, BASE.get(known.dimension, 'one'))
            if known.kind == 'word':
                return known.options[value] if value >= 0 else 'nothing'
            return state.labels[value]
        cell = next(cell for cell in audit.planted if cell.label == name)
        item = cell.thing.get(state, frame)
        if cell.word is None or cell.word.kind == 'flag':
            return state.labels[state.parent[item]] if cell.word is None else name
        stored = state.values[item * state.tables.width + cell.word.column]
        if cell.word.kind == 'set':
            options = cell.word.options
            members = (options[e] if options else state.labels[e] for e in stored)
            return ' and '.join(members) or 'nothing'
        if cell.word.kind == 'object':
            return str(state.labels[stored])
        if cell.word.kind == 'choice':
            return str(cell.word.options[stored]) if stored != st.UNSET else 'nothing'
        return spoken(stored, cell.word.unit)


def _given(action: Action, arguments: Arguments) -> Sequence[Role]:
    """Return the roles that arguments stand in: as many optional ones are skipped at the front.

    Unless what has an id would stand for a value, or a value for an object: then fewer are.
    """
    missing = len(action.roles) - len(arguments)
    if not missing:
        return action.roles
    most = min(action.skippable, missing)
    for skipped in range(most, -1, -1):
        given = action.roles[skipped : skipped + len(arguments)]
        if all(
            bool(id_) == (role.kind in ('object', 'new'))
            for role, (_, id_) in zip(given, arguments, strict=True)
        ):
            return given
    return action.roles[most : most + len(arguments)]


def _carry_on(rule: Rule, state: State, items: Sequence[int], seconds: float) -> None:
    """Let a process go on, for all its objects at once: no order of objects matters."""
    do = rule.change.do
    for item in items:
        frame = rule.applies(state, item)
        if frame is not None:
            frame[0] = seconds
            do(state, frame)
    for state_number, column, item, value in state.later:
        state.write_number(state_number, column, item, value)
    state.later.clear()


def settle(domain: Domain, state: State) -> None:
    """Let reactions happen until nothing changes any more.

    :raises BadSetting: if they go on for ever
    """
    pending = state.pending
    for _ in range(MAX_ROUNDS):
        quiet = True
        for rule in domain.reactions:
            waiting = pending[rule.number]
            if waiting:
                quiet = False
                pending[rule.number] = set()
                do = rule.change.do
                for item in sorted(waiting):
                    frame = rule.applies(state, item)
                    if frame is not None:
                        do(state, frame)
        if quiet:
            return
    active = [rule.name for rule in domain.reactions if pending[rule.number]]
    raise BadSetting(
        f'{domain.files.folder}: the reactions {", ".join(active)} never come to rest'
    )
