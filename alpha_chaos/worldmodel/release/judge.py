"""The verdict of the release on a plan, and a stricter one by the same rules."""

import re
from collections.abc import Iterator, Sequence

from alpha_chaos.worldmodel.plan_text import Plan, read_plan
from alpha_chaos.worldmodel.release import rules
from alpha_chaos.worldmodel.release.data import Release, ReleaseTask
from alpha_chaos.worldmodel.release.kitchen import (
    MAX_NAMES,
    NO_ONE,
    Kitchen,
    Record,
    Start,
    start,
)
from alpha_chaos.worldmodel.release.words import COOKED, DIRTY, EDIBLE, ON, PROTEIN, RAW, P, S
from alpha_chaos.worldmodel.run import StepResult
from alpha_chaos.worldmodel.verdict import Failure, Kind, Verdict

# The release's own: it knows no point and no sign.
_ACTION = re.compile(r'\[(\w+)\]')
_ARGUMENT = re.compile(r'<(\w+)>\s*(?:\((\w+)\))?')
MADE_HERE = 'product_name'  # the role that names something new
HOT = frozenset(('stove', 'oven', 'grill', 'air_fryer'))

_NO_FOOD = P(
    'surface', 'heatsource', 'appliance', 'switchable', 'drain', 'filter', 'wrap_material',
    'covering',
)  # fmt: skip
_FOOD_AFTER_ALL = P('edible', 'pourable', 'protein')
_TOOL_OR_CONTAINER = P('tool', 'container')
_VESSEL_ONLY = P(
    'receptacle', 'surface', 'openable', 'microwave_safe', 'oven_safe', 'grabbable', 'portable'
)
_HEATED = S('cooked', 'fried', 'baked', 'roasted', 'grilled', 'boiled', 'steamed', 'blanched')
_TELLING = DIRTY | ON

Found = dict[tuple[str, str], Failure]


class ReleaseWorld:
    """A task of the release, ready for plans.

    :param strict: a step that is wrong has no effect, objects that no step named are not held
        against the plan, what is contaminated can be washed, and something must have been served
    """

    def __init__(self, release: Release, task: ReleaseTask, strict: bool = False) -> None:
        self.release = release
        self.task = task
        self.strict = strict
        self._start = start(task.environment)
        self._there = frozenset(self._start.called)
        self._watched = _watched(self._start)
        self._signatures: dict[tuple[str, int], rules.Signature] = {}  # by action and arguments
        self._steps: dict[str, rules.Step | None] = {}  # by line

    def judge(self, text: str | bytes | Plan) -> Verdict:
        """Return the verdict on a plan."""
        plan = text if isinstance(text, Plan) else read_plan(text)
        known = self._steps
        if len(self._start.names.text) > MAX_NAMES or len(known) > MAX_NAMES:
            # What odd plans said must not pile up.
            self._start = start(self.task.environment)
            known.clear()
            self._signatures.clear()
        steps = [known[line] if line in known else self._bound(line) for line in plan.lines]
        found: Found = {}
        for complaint in plan.complaints:
            if complaint.rule != 'no_steps' or self.strict:
                _fail(found, complaint.step, complaint.rule, 'syntax', complaint.message)
        kitchen = Kitchen(self._start)
        number = 0
        for step in steps:
            if step is not None:
                number += 1
                self._carry_out(step, number, kitchen, found)
        for failure in self._last_look(kitchen):
            found.setdefault((failure.rule, failure.message), failure)
        served = kitchen.served if self.strict else None
        return Verdict(number, tuple(found.values()), served)

    def begin(self) -> 'ReleaseRun':
        """Return a run that is to be told step by step."""
        return ReleaseRun(self)

    # ---- steps

    def step(self, line: str, number: int, kitchen: Kitchen) -> StepResult:
        """Carry out one line of a plan in a kitchen of this task."""
        step = self._bound(line)
        if step is None:
            wrong = Failure(number, 'no_steps', 'syntax', True, 'this is no step')
            return StepResult(False, (wrong,), 0.0)
        found: Found = {}
        done = self._carry_out(step, number, kitchen, found)
        return StepResult(done, tuple(found.values()), 0.0)

    def _carry_out(self, step: rules.Step, number: int, kitchen: Kitchen, found: Found) -> bool:
        """Carry out a step, note what is wrong with it, and tell whether it had its effects."""
        wrong, (checks, effects), objects, doubtful = step
        right = True
        if wrong or doubtful:
            right = _names_known(found, number, step, kitchen)
        for test, text in checks:
            if not test(kitchen, objects):
                right = False
                if (text, '') not in found:
                    missing = f'missing: {text}'
                    found[text, ''] = Failure(number, text, 'immediate', True, missing)
        if self.strict:
            if not right:
                return False
            kitchen.touched.update(objects)
        for do in effects:
            do(kitchen, objects)
        return bool(effects) or right

    def kitchen(self) -> Kitchen:
        """Return the kitchen as it is at first."""
        return Kitchen(self._start)

    def _bound(self, line: str) -> rules.Step | None:
        """Return the step on a line that was not seen before; None if there is none on it."""
        found = _ACTION.search(line)
        if found is None:
            self._steps[line] = None
            return None
        arguments = _ARGUMENT.findall(line)
        key = (found[1].lower(), len(arguments))
        signature = self._signatures.get(key)
        if signature is None:
            signature = rules.signature(self.release.actions, *key, self.strict)
            self._signatures[key] = signature
        wrong, action, given, values = signature
        if wrong:
            made = rules.Step((wrong,), rules.NOTHING_DONE)
        else:
            for at in values:
                del arguments[at]
            made = self._with_objects(action, given, arguments)
        self._steps[line] = made
        return made

    def _with_objects(
        self, action: rules.Compiled, given: tuple[str, ...], arguments: list[tuple[str, str]]
    ) -> rules.Step:
        names = self._start.names
        known = names.number
        numbers = []
        for name, id_ in arguments:
            text = f'{name}_{id_}' if id_ else name
            number = known.get(text)
            numbers.append(names(text) if number is None else number)
        different = set(numbers)
        wrong: tuple[rules.Wrong, ...] = ()
        if len(different) < len(numbers):
            wrong = tuple(_named_twice([names.text[number] for number in numbers], given))
        doubtful: tuple[tuple[int, str], ...] = ()
        if not self._there.issuperset(different):
            doubtful = tuple(
                (number, role)
                for number, role in zip(numbers, given, strict=True)
                if number not in self._there and role != MADE_HERE
            )
        return rules.Step(wrong, action, (*numbers, NO_ONE), doubtful)

    # ---- the last look around

    def _worth_a_look(self, kitchen: Kitchen) -> Iterator[int]:
        """Return objects that are on, dirty or contaminated, those of the task first."""
        states, contaminated = kitchen.states, kitchen.contaminated
        hidden = kitchen.hidden  # a product hides an object of the task, and is anything
        for number in kitchen.order if hidden else self._watched:
            if states[number] & _TELLING or contaminated[number] or number in hidden:
                yield number
        for number in kitchen.created:
            if number not in kitchen.given:
                yield number

    def _last_look(self, kitchen: Kitchen) -> Iterator[Failure]:
        appliances = []
        unwashed: set[str] = set()  # of a class, the first object speaks for all
        for number in self._worth_a_look(kitchen):
            record = kitchen.record(number)
            if record.states & ON and (record.name in HOT or record.name == 'water'):
                appliances.append(record.name)
            if self.strict and not kitchen.concerns(number):
                continue
            if _is_food(record.properties) and not kitchen.names.stored[record.location]:
                yield from _contaminations(kitchen, number, record)
                if _is_unwashed(record) and record.name not in unwashed:
                    unwashed.add(record.name)
                    message = f'{"raw " if record.states & RAW else ""}{record.name} is not washed'
                    yield Failure(0, 'unwashed', 'latent', False, message, 'unwashed', 2)
        for name in appliances:
            rule = 'water_left_on' if name == 'water' else 'appliance_left_on'
            yield Failure(0, rule, 'latent', True, f'{name} is left on', 'left_on', 2)


class ReleaseRun:
    """One plan in one task, told step by step."""

    def __init__(self, world: ReleaseWorld) -> None:
        self._world = world
        self._number = 0
        self.kitchen = world.kitchen()

    def step(self, line: str) -> StepResult:
        """Carry out the next step; in `compat` also one that is wrong has its effects."""
        self._number += 1
        return self._world.step(line, self._number, self.kitchen)


def _watched(begin: Start) -> tuple[int, ...]:
    """Return the objects of the task that the last look around can find anything about."""
    return tuple(
        number
        for number in begin.order
        if begin.called[number] in HOT
        or begin.called[number] == 'water'
        or _is_food(begin.properties[number])
    )


def _names_known(found: Found, number: int, step: rules.Step, kitchen: Kitchen) -> bool:
    """Report names of nothing, and what is wrong with a step in any case."""
    known = not step.wrong
    for item, role in step.doubtful:
        if item not in kitchen.called:
            known = False
            message = f'there is no {kitchen.names.text[item]}, which is the {role}'
            _fail(found, number, 'unknown_object', 'syntax', message)
    for rule, kind, message in step.wrong:
        _fail(found, number, rule, kind, message)
    return known


def _fail(found: Found, number: int, rule: str, kind: Kind, message: str) -> None:
    key = (rule, message)
    if key not in found:
        found[key] = Failure(number, rule, kind, True, message)


def _named_twice(names: Sequence[str], given: Sequence[str]) -> Iterator[rules.Wrong]:
    roles: dict[str, list[str]] = {}
    for name, role in zip(names, given, strict=True):
        roles.setdefault(name, []).append(role)
    for name, listed in roles.items():
        if len(listed) > 1:
            yield 'same_object', 'syntax', f'{name} is {" and ".join(listed)} at once'


def _is_food(properties: int) -> bool:
    if properties & _NO_FOOD and not properties & _FOOD_AFTER_ALL:
        return False
    if properties & _TOOL_OR_CONTAINER and not properties & EDIBLE:
        return False
    return bool(properties & ~_VESSEL_ONLY)


def _is_unwashed(record: Record) -> bool:
    cooked = record.states & COOKED and record.properties & PROTEIN
    return bool(record.states & DIRTY) and not cooked


def _contaminations(kitchen: Kitchen, number: int, record: Record) -> Iterator[Failure]:
    sources = record.contaminated & ~(1 << number)
    if sources and not record.states & _HEATED:
        names = [kitchen.names.text[i] for i in range(sources.bit_length()) if sources >> i & 1]
        for name in sorted(names):
            source = kitchen.called.get(kitchen.names(name), name)
            message = f'{record.name} is contaminated by raw {source}'
            yield Failure(0, 'contaminated', 'latent', False, message, 'cross_contamination', 2)
