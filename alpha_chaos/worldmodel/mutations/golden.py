"""A golden plan as read, not as carried out: who does what with which, and what objects are."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from alpha_chaos.worldmodel.plan_text import PlanStep, read_plan
from alpha_chaos.worldmodel.units import read_value
from alpha_chaos.worldmodel.world import Task, World

Label = tuple[str, str]  # class and id

# Of the steps that bring something somewhere: which argument is what, and which is where.
_BRING = {
    'put_in': (0, 1),
    'put_on': (0, 1),
    'pour': (0, 1),
    'drizzle': (0, 1),
    'sprinkle': (0, 1),
    'squeeze': (0, 1),
    'break': (0, 1),
    'transfer': (0, 1),
    'spread': (0, 1),
    'scoop': (0, 3),
    'grate': (0, 2),
    'fill': (1, 0),
    'strain': (0, 2),
    'combine': (0, 1),
    'serve': (0, 1),
    'cover': (1, 0),
}
_BY_HAND = ('grab', 'take_out', 'shape')
HEATING = ('fry', 'toast', 'bake', 'roast', 'grill', 'boil', 'simmer', 'blanch', 'steam', 'heat')


class Mutant(NamedTuple):
    """A golden plan with one thing changed.

    :param at: number of the step of the golden plan that was changed, from 1
    :param note: what was changed, and what follows from it in a real kitchen or on a real table
    """

    at: int
    note: str
    steps: tuple[PlanStep, ...]


def lasting(step: PlanStep, seconds: float) -> PlanStep:
    """Return a step that takes another time."""
    return step._replace(arguments=(*step.arguments[:-1], (f'{seconds:.0f}_seconds', '')))


def words(raw: Any) -> Iterator[str]:
    """Yield every word of a condition."""
    if isinstance(raw, str):
        yield raw
    elif isinstance(raw, dict):
        for part in raw.values():
            yield from words(part)
    elif isinstance(raw, list | tuple):
        for part in raw:
            yield from words(part)


def _closure(where: Label, inside: Mapping[Label, set[Label]]) -> frozenset[Label]:
    left, found = {where}, set()
    while left:
        label = left.pop()
        found.add(label)
        left |= inside.get(label, set()) - found
    return frozenset(found)


def spoken(label: Label) -> str:
    """Return an object as notes call it."""
    return ' '.join(label)


class Golden:
    """The golden plan of a task."""

    def __init__(self, task: Task, world: World) -> None:
        self.task = task
        self.world = world
        self.steps: tuple[PlanStep, ...] = read_plan(task.document.golden).steps

    # ---- objects

    def starts(self, label: Label, word: str) -> bool:
        """Tell whether an object has a property or flag at the start; a word nobody knows: no."""
        words, number = self.world.domain.words, self.world.objects.get(label)
        return number is not None and bool(self.world.start.bits[number] & words.bit(word))

    def number(self, label: Label, state: str) -> float:
        """Return a number that an object starts with, in base units."""
        start, column = self.world.start, self.world.domain.words.states[state].column
        return float(start.values[self.world.objects[label] * start.tables.width + column])

    # ---- steps

    def of(self, *actions: str, after: int = -1) -> Iterator[tuple[int, PlanStep]]:
        """Yield the steps of some actions, with their index in `steps`."""
        for i, step in enumerate(self.steps):
            if step.action in actions and i > after:
                yield i, step

    def inside(self, vessel: Label, index: int) -> frozenset[Label]:
        """Return everything that got into a vessel before a step."""
        return _closure(vessel, self._brought(index)[0])

    @cached_property
    def dishes(self) -> dict[Label, frozenset[Label]]:
        """Return each vessel before the guests at the end, with everything that got into it."""
        inside, served = self._brought(len(self.steps))
        return {where: _closure(where, inside) for where in served}

    def _brought(self, index: int) -> tuple[dict[Label, set[Label]], list[Label]]:
        """Return what was brought where before a step, and where something was served."""
        inside: dict[Label, set[Label]] = defaultdict(set)
        served: list[Label] = []
        for step in self.steps[:index]:
            if step.action not in _BRING:
                continue
            what, where = (step.arguments[i] for i in _BRING[step.action])
            if step.action == 'combine':
                what, where = where, what
                inside[what] |= inside.pop(where, set())
            elif step.action == 'strain':  # what is solid stays in the filter
                inside[where] |= {x for x in inside[what] if not self._solid(x)}
                continue
            inside[where].add(what)
            if step.action == 'serve':
                served.append(where)
        return inside, served

    @cached_property
    def eaten(self) -> frozenset[Label]:
        """Return everything that is before the guests at the end, in whatever dish."""
        return frozenset().union(*self.dishes.values())

    @cached_property
    def _heat(self) -> list[tuple[int, frozenset[Label]]]:
        """Return from which steps on which heaters are on."""
        on: set[Label] = set()
        found = [(-1, frozenset(on))]
        for i, step in enumerate(self.steps):
            if step.action in ('switch_on', 'preheat') and self.starts(
                step.arguments[0], 'heater'
            ):
                on.add(step.arguments[0])
            elif step.action == 'switch_off':
                on.discard(step.arguments[0])
            found.append((i, frozenset(on)))
        return found

    def _solid(self, label: Label) -> bool:
        """Tell of an object of the task that it does not run through a filter."""
        return label in self.world.objects and not (
            self.starts(label, 'watery') or self.starts(label, 'fat')
        )

    def heat_on(self, index: int) -> bool:
        """Tell whether anything that gives off heat is on after a step."""
        return bool(self._heat[index + 1][1])

    def heat_before(self, index: int) -> bool:
        """Tell whether anything that gives off heat was on before a step."""
        return any(on for i, on in self._heat if i < index)

    def heat_after(self, index: int) -> bool:
        """Tell whether anything that gives off heat is on after a step, or later."""
        return any(on for i, on in self._heat if i >= index)

    def times(self) -> Iterator[tuple[int, float]]:
        """Yield the steps that say how long they take, with that time [s]."""
        actions = self.world.domain.actions
        for i, step in enumerate(self.steps):
            timed = any(role.dimension == 'time' for role in actions[step.action].roles)
            seconds = read_value(step.arguments[-1][0], 'time') if timed else None
            if seconds is not None and not step.arguments[-1][1]:
                yield i, seconds

    def on_heat_s(self, vessel: Label, index: int) -> float:
        """Return for how long a vessel has been on or in something hot before a step [s].

        Only the times that steps say count.
        """
        times = dict(self.times())
        since, place = -1, None
        for i, step in self.of('put_in', 'put_on'):
            if i < index and step.arguments[0] == vessel:
                since, place = i, step.arguments[1]
        if place is None or not self.starts(place, 'heater'):
            return 0.0
        return sum(times.get(i, 0.0) for i, on in self._heat if since < i < index and place in on)

    def stays_cold(self, at_least_s: float) -> Iterator[tuple[int, Label, Label]]:
        """Yield where something perishable is put into the cold for some time and fetched again.

        The first of five steps: put_in, close, what takes the time, open, take_out. With the
        vessel in which there is food that is eaten, and fridge or freezer.
        """
        times = dict(self.times())
        for i, step in self.of('put_in'):
            vessel, store = step.arguments
            then = [later.action for later in self.steps[i + 1 : i + 5]]
            food = self.inside(vessel, i) & self.eaten
            if (
                self.starts(store, 'cooler')
                and times.get(i + 2, 0.0) >= at_least_s
                and [*then[:1], *then[2:]] == ['close', 'open', 'take_out']
                and any(self.starts(x, 'perishable') for x in food)
            ):
                yield i, vessel, store

    def cuts(self, after: int = -1, before: int | None = None) -> Iterator[tuple[int, PlanStep]]:
        """Yield the steps that cut food on a board with a blade."""
        for i, step in self.of('cut', 'chop', 'slice', 'mince', after=after):
            if before is None or i < before:
                yield i, step

    def washed(self, tool: Label, after: int, before: int) -> bool:
        """Tell whether a tool is washed between two steps."""
        washings = self.of('wash', 'sanitize', after=after)
        return any(i < before and step.arguments[0] == tool for i, step in washings)

    def eaten_as_it_is(self, food: Label, index: int) -> bool:
        """Tell of a ready food that it is eaten and that no heat reaches it after a step."""
        return (
            self.starts(food, 'food')
            and not self.starts(food, 'stock')
            and not self.starts(food, 'raw')
            and food in self.eaten
            and not self.heat_after(index)
        )

    def is_tap(self, step: PlanStep) -> bool:
        """Tell whether a step turns a tap on or off."""
        switched = step.action in ('switch_on', 'switch_off')
        return switched and self.starts(step.arguments[0], 'tap')

    def leaves(self, plate: Label) -> int | None:
        """Return the step at which the last of what a vessel holds at the start is taken off it.

        None if something of it is never taken.
        """
        start, objects = self.world.start, self.world.objects
        on = [x for x, number in objects.items() if start.parent[number] == objects[plate]]
        taken = [
            min(
                (i for i, step in self.of('grab', 'take_out') if step.arguments[0] == x),
                default=-1,
            )
            for x in on
        ]
        return None if -1 in taken else max(taken)

    def touches_raw(self, index: int) -> bool:
        """Tell whether a step takes raw meat or fish into a hand."""
        step = self.steps[index]
        return step.action in _BY_HAND and self.starts(step.arguments[0], 'raw')

    # ---- mutants

    def without(self, *left_out: int, note: str) -> Mutant:
        """Return the plan without some of its steps."""
        steps = tuple(step for i, step in enumerate(self.steps) if i not in left_out)
        return Mutant(min(left_out) + 1, note, steps)

    def replaced(self, index: int, *steps: PlanStep, note: str) -> Mutant:
        """Return the plan with other steps in place of one."""
        return Mutant(index + 1, note, (*self.steps[:index], *steps, *self.steps[index + 1 :]))
