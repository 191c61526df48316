"""Tasks of our own worlds, told in the words of their files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from alpha_chaos.worldmodel import state as st
from alpha_chaos.worldmodel.documents import TaskDocument
from alpha_chaos.worldmodel.exam import Briefing, Exam, plan_format
from alpha_chaos.worldmodel.parts import Action, Domain, Role
from alpha_chaos.worldmodel.plan_text import Plan
from alpha_chaos.worldmodel.run import Run, StepResult
from alpha_chaos.worldmodel.state import State
from alpha_chaos.worldmodel.units import BASE, spoken
from alpha_chaos.worldmodel.verdict import Verdict
from alpha_chaos.worldmodel.vocabulary import StateWord
from alpha_chaos.worldmodel.wording import say
from alpha_chaos.worldmodel.world import Task, World, task_world

NOTHING_MORE: Mapping[str, Sequence[str]] = {}
_READABLE = {'K': 'C', 's': 'min'}  # what numbers of a base unit are told in


class WorldExam(Exam):
    """A task of one of our worlds."""

    def __init__(self, domain: Domain, task: Task, short: bool = False) -> None:
        """Take the task; its objects are put in their places here, so that mistakes show now.

        :param short: prompts only name actions with their roles, for models with little room
        :raises BadSetting: with file, line and key of what is wrong with the task
        """
        self.domain = domain
        self.short = short
        self.world: World = task_world(domain, task)
        self.document: TaskDocument = task.document
        self.title = task.document.title
        self.technique = task.document.technique
        self.golden = task.document.golden

    def judge(self, plan: Plan) -> Verdict:
        """Return the verdict on a plan."""
        return self.world.judge(plan)

    def begin(self) -> '_Executor':
        """Begin to carry out a plan."""
        return _Executor(self.world.begin(), self.domain)

    def briefing(self) -> Briefing:
        """Return what a language model is told: actions, objects, task and goal."""
        lines = [f'Task: {self.title}', f'Reached when: {say(self.document.goal, {})}']
        if self.document.text:
            lines.append(self.document.text)
        lines += ['Objects:', *self._places()]
        if not self.short:
            lines += _meanings(self.document.goal, self.domain)
            if kinds := list(self._kinds()):
                lines += ['What they are:', *kinds]
        return Briefing(_rules(self.domain, self.short), '\n'.join(lines))

    def _places(self) -> Iterator[str]:
        """Return what is at each place, and how it is."""
        start, domain = self.world.start, self.domain
        places: dict[str, list[str]] = {}
        for item in range(st.AGENT, len(start.labels)):
            states = ', '.join(_states(start, item, domain))
            label = f'{start.labels[item]} [{states}]' if states else start.labels[item]
            places.setdefault(_place(start, item, domain), []).append(label)
        for place, found in places.items():
            yield f'{place or "there"}: {", ".join(found)}'

    def _kinds(self) -> Iterator[str]:
        """Return, for each word that an action asks for, the classes that it is true of."""
        start, words = self.world.start, self.domain.words
        known = {
            name: (start.bits[i], start.classes[i])
            for (name, _), i in start.named.items()
            if i != st.AGENT
        }
        for word in _asked_for(self.domain):
            bit, kind = words.properties.get(word, 0), words.classes.get(word, 0)
            found = [name for name, (bits, kinds) in known.items() if bits & bit or kinds & kind]
            others = ', '.join(name for name in known if name not in found)
            if len(found) > len(known) / 2:
                yield f'{word}: all but {others}' if others else f'{word}: all'
            elif found and found != [word]:
                yield f'{word}: {", ".join(found)}'


class _Executor:
    def __init__(self, run: Run, domain: Domain) -> None:
        self._run = run
        self._domain = domain

    def step(self, line: str) -> StepResult:
        return self._run.step(line)

    def scene(self) -> Mapping[str, str]:
        return dict(scene(self._run.state, self._domain))


def scene(state: State, domain: Domain) -> Iterator[tuple[str, str]]:
    """Return what can be seen: where each object is, and what is not as it always is."""
    for item in range(st.AGENT, len(state.labels)):
        seen = (_place(state, item, domain), *_states(state, item, domain))
        yield state.labels[item], ', '.join(filter(None, seen)) or 'there'


def _place(state: State, item: int, domain: Domain) -> str:
    if not state.parent[item]:
        return ''
    relation = domain.words.relations[state.relation[item]]
    return f'{relation} {state.labels[state.parent[item]]}'


def _states(state: State, item: int, domain: Domain) -> list[str]:
    told = (_told(state, item, word) for word in domain.words.states.values())
    return [text for text in told if text]


def _told(state: State, item: int, word: StateWord) -> str:
    """Return one state of an object in words; nothing where it is the usual one."""
    if word.kind == 'flag':
        return word.name if state.bits[item] & word.mask else ''
    value: Any = state.values[item * state.tables.width + word.column]
    if word.fixed or value == word.default:
        return ''
    if word.kind == 'number':
        base = BASE.get(word.dimension, word.unit)
        return f'{word.name} {spoken(value, _READABLE.get(base, base))}'
    if word.kind == 'choice':
        return f'{word.name} {word.options[value]}'
    if word.kind == 'object':
        return f'{word.name} {state.labels[value]}'
    # Sets of objects are what cannot be seen: who carries what of whom.
    return f'{word.name} {", ".join(word.options[i] for i in value)}' if word.options else ''


def _rules(domain: Domain, short: bool) -> str:
    files = domain.files.document
    example = files.universal[0].class_ if files.universal else next(iter(domain.rows))
    lines = [files.text, plan_format(f'<{example}> (1)'), 'Actions:']
    if short:
        lines += map(_signature, domain.actions.values())
        return '\n'.join(lines)
    lines += map(_action, domain.actions.values())
    needs = [files.actions[name].needs for name in domain.actions]
    return '\n'.join([*lines, *_meanings(needs, domain)])


def _signature(action: Action, more: Mapping[str, Sequence[str]] = NOTHING_MORE) -> str:
    roles = (_role(role, more.get(role.name, ())) for role in action.roles)
    return ' '.join([f'[{action.name.upper()}]', *roles])


def _action(action: Action) -> str:
    """Return an action on one line; what it needs of a single argument stands with that."""
    more: dict[str, list[str]] = {}
    needs = []
    asked = sum(bool(role.words) for role in action.roles)
    for need in action.needs[asked:]:
        role, words = _about_one(need.written)
        if role in {known.name for known in action.roles if known.kind == 'object'}:
            more.setdefault(role, []).extend(words)
        else:
            needs.append(say(need.written, {}))
    line = _signature(action, more)
    if action.text:
        line += f' {action.text}'
    return f'{line}; needs: {"; ".join(needs)}' if needs else line


def _about_one(raw: Any) -> tuple[str, list[str]]:
    """Return the one object that a condition is about, and in words what it has to be.

    No object if it is about several, or says more than that something is or is not.
    """
    if isinstance(raw, Mapping) and len(raw) == 1:
        ((key, inner),) = raw.items()
        if key == 'not':
            role, words = _about_one(inner)
            return (role, [f'not {word}' for word in words]) if len(words) == 1 else ('', [])
        return (inner, [key]) if isinstance(inner, str) else ('', [])
    if isinstance(raw, list | tuple) and len(raw) > 2 and isinstance(raw[0], str):
        subject, verb, *words = raw
        if verb == 'is':
            return subject, words
        if verb == 'is not':
            return subject, [f'not {word}' for word in words]
    return '', []


def _role(role: Role, more: Sequence[str] = ()) -> str:
    mark = '?' if role.optional else ''
    if role.kind == 'new':
        return f'<{role.name}{mark}: a new name> (1)'
    what = {
        'object': ', '.join((*role.words, *more)),
        'value': role.dimension,
        'word': '|'.join(role.options),
    }[role.kind]
    return f'<{role.name}{mark}: {what}>' if what else f'<{role.name}{mark}>'


def _asked_for(domain: Domain) -> dict[str, None]:
    return dict.fromkeys(
        word
        for action in domain.actions.values()
        for role in action.roles
        for word in role.words
        if word in domain.words.properties or word in domain.words.classes
    )


def _meanings(raw: Any, domain: Domain) -> list[str]:
    """Return what derived words mean that are used in conditions."""
    derived = domain.files.document.derived
    lines = []
    for word in dict.fromkeys(_words(raw)):
        if word in derived:
            known = derived[word]
            meaning = known.text or (say(known.is_, {}) if known.is_ is not None else '')
            if meaning:
                lines.append(f'{word} ({", ".join(known.of)}): {meaning}')
    return ['Words:', *lines] if lines else []


def _words(raw: Any) -> Iterator[str]:
    if isinstance(raw, str):
        yield raw
    elif isinstance(raw, Mapping):
        for key, inner in raw.items():
            yield str(key)
            yield from _words(inner)
    elif isinstance(raw, list | tuple):
        for inner in raw:
            yield from _words(inner)
