"""Plans for the public release's tasks: random ones, sensible ones, and sensible ones mutated.

Written to reach every rule of an executor, right and wrong, not to be good plans.
"""

import re
from collections.abc import Iterator

import numpy as np

from alpha_chaos.worldmodel.release.data import Release, ReleaseObject, ReleaseTask

Named = tuple[str, str]

OFTEN = ('grab', 'put_in', 'put_on', 'wash', 'cut', 'chop', 'slice', 'mince', 'combine', 'pour',
         'switch_on', 'switch_off', 'heat', 'fry', 'boil', 'take_out', 'serve', 'open',
         'rinse')  # fmt: skip
PIECES = {'cut': 'pieces', 'chop': 'chunks', 'slice': 'slices', 'mince': 'mince', 'peel': 'peels'}
VALUES = {'duration': ('5_minutes', '30_seconds'), 'temperature': ('350F', '180C')}
VESSELS = ('receptacle', 'container', 'surface')
BY_ROLE = {
    'receptacle': VESSELS, 'container': VESSELS, 'target': VESSELS, 'pot': VESSELS,
    'steamer': VESSELS, 'heatsource': ('heatsource', 'switchable'),
    'appliance': ('heatsource', 'switchable'), 'tool': ('tool', 'sharp'),
    'object': ('protein', 'cuttable', 'edible'), 'source': ('pourable', 'receptacle'),
}  # fmt: skip


def plans(release: Release, per_task: int, seed: int) -> Iterator[tuple[str, str]]:
    """Return task and text of each plan: a third of each kind."""
    for index, (name, task) in enumerate(release.tasks.items()):
        for i in range(per_task):
            rng = np.random.default_rng((seed, index, i))
            if i % 3 == 0:
                lines = random_plan(rng, release, task)
            else:
                lines = sensible_plan(rng, task)
                if i % 3 == 2:
                    lines = mutated(rng, lines, list(release.actions))
            numbered = (f'{k}. {line}' for k, line in enumerate(lines, 1))
            yield name, '\n'.join(numbered)


def spelled(action: str, *arguments: Named) -> str:
    """Return a step as plans write it."""
    words = (f'<{name}> ({id_})' if id_ else f'<{name}>' for name, id_ in arguments)
    return ' '.join((f'[{action.upper()}]', *words))


def of(entry: ReleaseObject) -> Named:
    """Return class and id of an object."""
    return entry.class_name, str(entry.id)


def random_plan(rng: np.random.Generator, release: Release, task: ReleaseTask) -> list[str]:
    """Return steps of any actions with objects that fit their roles, mostly."""
    objects = task.environment.initial_objects
    names = [of(entry) for entry in objects]
    made: list[Named] = []
    held: Named | None = None
    lines = []

    def any_of(listed: list[Named]) -> Named:
        return listed[int(rng.integers(len(listed)))]

    for _ in range(int(rng.integers(3, 70))):
        often = rng.random() < 0.4
        action = str(rng.choice(OFTEN if often else list(release.actions)))
        roles = release.actions[action]
        if rng.random() < 0.5:
            roles = tuple(role for role in roles if not role.endswith('?'))
        arguments: list[Named] = []
        for role in (role.rstrip('?') for role in roles):
            if role in VALUES:
                arguments.append((str(rng.choice(VALUES[role])), ''))
                continue
            if role == 'product_name':
                arguments.append((str(rng.choice(['sauce', 'dough'])), str(rng.integers(1, 3))))
                made.append(arguments[-1])
                continue
            fit = [of(e) for e in objects if set(e.properties) & set(BY_ROLE.get(role, ()))]
            chosen = any_of(fit if fit and rng.random() < 0.7 else names + made)
            if role == 'object' and held and rng.random() < 0.3:
                chosen = held
            if rng.random() < 0.03:
                pieces = str(rng.choice(list(PIECES.values())))
                chosen = (f'{chosen[0]}_{pieces}', str(rng.integers(1, 4)))
            elif rng.random() < 0.02:
                chosen = (chosen[0], '') if rng.random() < 0.5 else ('nothing_such', '1')
            arguments.append(chosen)
        if action in ('grab', 'take_out') and arguments:
            held = arguments[0]
        if action in PIECES and arguments:
            made.append((f'{arguments[0][0]}_{PIECES[action]}', '1'))
        if arguments and rng.random() < 0.02:
            arguments.pop()
        if rng.random() < 0.01:
            arguments.append(any_of(names))
        lines.append(spelled('juggle' if rng.random() < 0.01 else action, *arguments))
    return lines


def sensible_plan(rng: np.random.Generator, task: ReleaseTask) -> list[str]:
    """Return a plan that fetches, washes, cuts, heats, combines and serves, with slips."""
    objects = task.environment.initial_objects
    lines: list[str] = []

    def step(action: str, *arguments: Named) -> None:
        lines.append(spelled(action, *arguments))

    def having(word: str) -> list[Named]:
        return [of(entry) for entry in objects if word in entry.properties]

    def called(name: str) -> Named | None:
        return next((of(entry) for entry in objects if entry.class_name == name), None)

    counter, stove, water = called('counter'), called('stove'), called('water')
    board = called('cutting_board') or counter
    knife = next(iter(having('sharp')), None)
    vessels = having('receptacle')
    vessel = vessels[int(rng.integers(len(vessels)))] if vessels else None
    for name in ('fridge', 'freezer', 'cabinet', 'drawer', 'pantry'):
        if storage := called(name):
            step('walk', storage)
            step('open', storage)
    if water and rng.random() < 0.8:
        step('switch_on', water)
    food = [e for e in objects if set(e.properties) & {'edible', 'protein', 'pourable'}]
    for i in rng.permutation(len(food))[: int(rng.integers(2, 8))]:
        item, entry = of(food[i]), food[i]
        step('grab', item)
        if 'dirty' in entry.states and water and rng.random() < 0.7:
            step('wash', item, water)
        if 'cuttable' in entry.properties and board and knife and rng.random() < 0.8:
            step('put_on', item, board)
            step('grab', knife)
            step(str(rng.choice(['cut', 'chop', 'slice', 'mince'])), item, board, knife)
            if counter:
                step('put_on', knife, counter)
            step('grab', item)
        if vessel:
            pours = 'pourable' in entry.properties
            step('pour' if pours else 'put_in', item, vessel)
            if pours and counter:
                step('put_on', item, counter)
    if water and rng.random() < 0.7:
        step('switch_off', water)
    if vessel and stove:
        step('grab', vessel)
        step('put_on', vessel, stove)
        step('switch_on', stove)
        step(str(rng.choice(['heat', 'boil', 'simmer'])), vessel, stove)
        if rng.random() < 0.7:
            step('switch_off', stove)
    if vessel:
        step('combine', vessel, ('dish', '1'))
        step('serve', ('dish', '1'), called('plate') or vessels[0])
    return lines


def mutated(rng: np.random.Generator, lines: list[str], actions: list[str]) -> list[str]:
    """Return the plan with one to four changes: dropped, swapped, repeated, renamed."""
    lines = lines.copy()
    for _ in range(int(rng.integers(1, 5))):
        if not lines:
            break
        i, j = (int(k) for k in rng.integers(len(lines), size=2))
        kind = rng.random()
        if kind < 0.35:
            lines.pop(i)
        elif kind < 0.55:
            lines[i], lines[j] = lines[j], lines[i]
        elif kind < 0.7:
            lines.insert(j, lines[i])
        elif kind < 0.8:
            here, there = re.findall(r'<\w+>', lines[i]), re.findall(r'<\w+>', lines[j])
            if here and there:
                lines[i] = lines[i].replace(str(rng.choice(here)), str(rng.choice(there)), 1)
        elif kind < 0.9:
            lines[i] = re.sub(r'\(\d\)', f'({rng.integers(1, 4)})', lines[i])
        else:
            lines[i] = re.sub(r'\[\w+\]', f'[{str(rng.choice(actions)).upper()}]', lines[i])
    return lines
