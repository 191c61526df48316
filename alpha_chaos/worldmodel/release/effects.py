"""What a step does in the kitchen of the release.

An effect names roles. Bound, it knows the position of each among a step's objects.
"""

from collections.abc import Callable
from typing import NamedTuple

from alpha_chaos.worldmodel.release import words as w
from alpha_chaos.worldmodel.release.checks import Bound, Objects
from alpha_chaos.worldmodel.release.kitchen import NO_ONE, Kitchen
from alpha_chaos.worldmodel.release.words import S

Do = Callable[[Kitchen, Objects], None]

_FROM_VESSEL = S(
    'mixed', 'whisked', 'stirred', 'beaten', 'heated', 'boiling', 'simmering',
    'contents_heated', 'contents_beaten',
)  # fmt: skip


class Effect(NamedTuple):
    """What is done; only if the role `given` was given."""

    bind: Callable[[Bound], Do]
    given: str = ''


def becomes(role: str, *words: str, given: str = '') -> Effect:
    """Return the effect that an object gets states."""
    mask = S(*words)

    def bind(roles: Bound) -> Do:
        item_at = roles[role]
        return lambda k, v: k.add(v[item_at], mask)

    return Effect(bind, given)


def turns(role: str, old: str, new: str = '') -> Effect:
    """Return the effect that a state becomes another, or ends."""
    before, after = S(old), S(new) if new else 0

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.remove(item, before)
            k.add(item, after)

        return do

    return Effect(bind)


def switches(role: str, on: bool) -> Effect:
    """Return the effect of a switch. Whatever has water in its name turns the water too."""
    old, new = (w.OFF, w.ON) if on else (w.ON, w.OFF)

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.remove(item, old)
            k.add(item, new)
            if 'water' in k.names.text[item]:
                k.water_on = on

        return do

    return Effect(bind)


def hold(role: str) -> Effect:
    """Return the effect that the agent holds something, whatever it held before."""

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.holding = item

        return do

    return Effect(bind)


def let_go(only: str = '') -> Effect:
    """Return the effect that the hands are empty; `only`: if they hold what is in this role."""

    def bind(roles: Bound) -> Do:
        item_at = roles[only] if only else None

        def do(k: Kitchen, v: Objects) -> None:
            if item_at is None or k.holding == v[item_at]:
                k.holding = NO_ONE

        return do

    return Effect(bind)


def touched_by_hands(role: str) -> Effect:
    """Return the effect of taking in hand: raw protein on the hands, what is on them on it."""

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            if is_source(k, item):
                k.hands |= 1 << item
            if k.hands and not k.hands >> item & 1:
                k.contaminate(item, k.hands)

        return do

    return Effect(bind)


def is_source(k: Kitchen, item: int) -> bool:
    """Tell whether an object is raw protein, eggs excepted."""
    return bool(
        k.properties[item] & w.PROTEIN and k.states[item] & w.RAW and k.called.get(item) != 'egg'
    )


def spreads(role: str, target: str) -> Effect:
    """Return the effect that contamination of one object is on another too."""

    def bind(roles: Bound) -> Do:
        item_at, other_at = roles[role], roles[target]

        def do(k: Kitchen, v: Objects) -> None:
            if sources := k.contaminated[v[item_at]]:
                k.contaminate(v[other_at], sources)

        return do

    return Effect(bind)


def cut_contaminates() -> Effect:
    """Return the effect of cutting: source to tool and board, then tool and board to object."""

    def bind(roles: Bound) -> Do:
        item_at, tool_at, board_at = roles['object'], roles['tool'], roles['cutting_board']

        def do(k: Kitchen, v: Objects) -> None:
            item, tool, board = v[item_at], v[tool_at], v[board_at]
            if is_source(k, item):
                k.contaminate(tool, 1 << item)
                k.contaminate(board, 1 << item)
            k.contaminate(item, k.contaminated[tool])
            k.contaminate(item, k.contaminated[board])

        return do

    return Effect(bind)


def cleaned(role: str, hands: bool) -> Effect:
    """Return the effect of water; with `hands`, contamination goes too, also of the hands."""

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.remove(item, w.DIRTY)
            k.add(item, w.CLEAN | w.WET)
            if hands:
                k.contaminated[item] = 0
                k.hands = 0

        return do

    return Effect(bind)


def cooked(role: str, given: str = '') -> Effect:
    """Return the effect that an object is no longer raw, and free of contamination."""

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.remove(item, w.RAW)
            k.add(item, w.COOKED)
            k.contaminated[item] = 0

        return do

    return Effect(bind, given)


def sterile(role: str) -> Effect:
    """Return the effect of heat on a vessel: it and its contents are clean, and these cooked."""

    def bind(roles: Bound) -> Do:
        vessel_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            vessel = v[vessel_at]
            k.contaminated[vessel] = 0
            for item in k.contents[vessel]:
                k.contaminated[item] = 0
                k.remove(item, w.RAW)
                k.add(item, w.COOKED)

        return do

    return Effect(bind)


def free_of_contamination(role: str) -> Effect:
    """Return the effect of heat on a surface."""

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.contaminated[item] = 0

        return do

    return Effect(bind)


def goes_on(role: str, target: str) -> Effect:
    """Return the effect that an object is placed on something."""

    def bind(roles: Bound) -> Do:
        item_at, place_at = roles[role], roles[target]

        def do(k: Kitchen, v: Objects) -> None:
            item, place = v[item_at], v[place_at]
            k.detach(item)
            k.put_at(item, place)

        return do

    return Effect(bind)


def goes_in(role: str, target: str) -> Effect:
    """Return the effect that an object is put into something."""

    def bind(roles: Bound) -> Do:
        item_at, vessel_at = roles[role], roles[target]

        def do(k: Kitchen, v: Objects) -> None:
            item, vessel = v[item_at], v[vessel_at]
            k.detach(item)
            k.put_into(vessel, item)
            k.put_at(item, vessel)
            k.remove(vessel, w.EMPTY)

        return do

    return Effect(bind)


def comes_out(role: str, container: str) -> Effect:
    """Return the effect that an object is out of a container: on the counter, as it were."""

    def bind(roles: Bound) -> Do:
        item_at, holder_at = roles[role], roles[container]

        def do(k: Kitchen, v: Objects) -> None:
            item, holder = v[item_at], v[holder_at]
            k.take_from(holder, item)
            k.put_at(item, k.number('counter'))

        return do

    return Effect(bind)


def disposed(role: str) -> Effect:
    """Return the effect of throwing away."""
    mask = S('disposed')

    def bind(roles: Bound) -> Do:
        item_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            if item in k.called:
                k.location[item] = k.number('trash')
                k.states[item] = mask

        return do

    return Effect(bind)


def poured(role: str, target: str, given: str = '') -> Effect:
    """Return the effect of pouring: the contents of a receptacle, or the thing itself."""

    def bind(roles: Bound) -> Do:
        source_at, vessel_at = roles[role], roles[target]

        def do(k: Kitchen, v: Objects) -> None:
            source, vessel = v[source_at], v[vessel_at]
            if k.properties[source] & w.RECEPTACLE:
                all_into(k, source, vessel)
                k.add(source, w.EMPTY)
            else:
                k.put_into(vessel, source)
            k.remove(vessel, w.EMPTY)

        return do

    return Effect(bind, given)


def all_into(k: Kitchen, source: int, vessel: int) -> None:
    """Move the contents of one vessel into another."""
    for item in k.contents[source]:
        k.take_from(source, item)
        k.put_into(vessel, item)
        k.put_at(item, vessel)


def squeezed(role: str, target: str) -> Effect:
    """Return the effect of squeezing a vessel out into another."""
    mask = S('squeezed')

    def bind(roles: Bound) -> Do:
        source_at, vessel_at = roles[role], roles[target]

        def do(k: Kitchen, v: Objects) -> None:
            source, vessel = v[source_at], v[vessel_at]
            all_into(k, source, vessel)
            k.add(source, mask)

        return do

    return Effect(bind)


def filled(role: str, source: str) -> Effect:
    """Return the effect of filling a vessel from a source."""

    def bind(roles: Bound) -> Do:
        vessel_at, item_at = roles[role], roles[source]

        def do(k: Kitchen, v: Objects) -> None:
            vessel, item = v[vessel_at], v[item_at]
            k.put_into(vessel, item)
            k.remove(vessel, w.EMPTY)
            k.add(vessel, w.FILLED)

        return do

    return Effect(bind)


def drained(role: str) -> Effect:
    """Return the effect of draining: what is pourable is nowhere any more."""
    mask = S('drained')

    def bind(roles: Bound) -> Do:
        vessel_at = roles[role]

        def do(k: Kitchen, v: Objects) -> None:
            vessel = v[vessel_at]
            if vessel not in k.called:
                return
            kept = []
            for item in k.contents[vessel]:
                if k.properties[item] & w.POURABLE:
                    k.put_at(item, NO_ONE)
                else:
                    kept.append(item)
            k.contents[vessel] = tuple(kept)
            k.add(vessel, mask)

        return do

    return Effect(bind)


def base_name(k: Kitchen, item: int) -> str:
    """Return the class of an object, or what the name of an unknown one says."""
    return k.called.get(item) or k.names.text[item].rsplit('_', 1)[0]


def derived(word: str) -> Effect:
    """Return the effect that pieces of an object come to be beside it."""
    mask = S(word)

    def bind(roles: Bound) -> Do:
        item_at = roles['object']
        return lambda k, v: derive(k, v[item_at], word, mask)

    return Effect(bind)


def derive(k: Kitchen, item: int, word: str, mask: int) -> None:
    """Let pieces of an object come to be where it is."""
    place = k.location[item] if item in k.called else k.number('counter')
    properties = w.GRABBABLE | (k.properties[item] & w.EDIBLE)
    k.make_unique(f'{base_name(k, item)}_{word}', properties, mask, place)


def peels() -> Effect:
    """Return the effect that peels lie on the counter."""
    mask = S('peels')

    def bind(roles: Bound) -> Do:
        item_at = roles['object']

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            name = f'{base_name(k, item)}_peels'
            k.make_unique(name, w.GRABBABLE, mask, k.number('counter'))

        return do

    return Effect(bind)


def grated(target: str) -> Effect:
    """Return the effect of grating: the first of what was ever grated of it is in the target."""
    mask = S('grated')

    def bind(roles: Bound) -> Do:
        item_at, vessel_at = roles['object'], roles[target]

        def do(k: Kitchen, v: Objects) -> None:
            item, vessel = v[item_at], v[vessel_at]
            derive(k, item, 'grated', mask)
            start = f'{base_name(k, item)}_grated'
            text = k.names.text
            number = next(n for n in k.created if text[n].startswith(start))
            k.put_into(vessel, number)
            if number in k.hidden:
                k.hidden[number] = k.hidden[number]._replace(location=vessel)
            else:
                k.location[number] = vessel

        return do

    return Effect(bind)


def made(name: str, vessel: str) -> Effect:
    """Return the effect that a product of a machine is in it."""
    properties, mask = w.GRABBABLE | w.POURABLE | w.EDIBLE, S('fresh')

    def bind(roles: Bound) -> Do:
        holder_at = roles[vessel]

        def do(k: Kitchen, v: Objects) -> None:
            holder = v[holder_at]
            k.put_into(holder, k.make_unique(name, properties, mask, holder))

        return do

    return Effect(bind)


def combined() -> Effect:
    """Return the effect that everything in a container is also a product, with what it had."""

    def bind(roles: Bound) -> Do:
        container_at, product_at = roles['container'], roles['product_name']

        def do(k: Kitchen, v: Objects) -> None:
            container, product = v[container_at], v[product_at]
            properties, states, sources, dirty = w.GRABBABLE | w.EDIBLE, 0, 0, False
            for item in k.contents[container]:
                has = k.states[item]
                properties |= k.properties[item]
                states |= has
                sources |= k.contaminated[item]
                if has & w.DIRTY and not (has & w.COOKED and k.properties[item] & w.PROTEIN):
                    dirty = True
            states |= k.states[container] & _FROM_VESSEL
            if not dirty:
                states &= ~w.DIRTY
            stem, _, number = k.names.text[product].rpartition('_')
            name = stem if _ and number.isdigit() else k.names.text[product]
            k.make(product, name, properties, states, container, sources)
            k.put_into(container, product)

        return do

    return Effect(bind)


def served() -> Effect:
    """Return the effect that something was served."""
    mask = S('served')

    def bind(roles: Bound) -> Do:
        item_at = roles['object']

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            k.add(item, mask)
            k.served = True

        return do

    return Effect(bind)
