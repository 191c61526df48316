"""The release's rules for each action: what it checks, and what it does.

An entry is a list of checks, each with what is missing if it fails, and a list of effects. Both
name roles; binding them puts positions in a step's objects in their place, so that an action is a
list of small functions of the kitchen and of the objects.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from alpha_chaos.worldmodel.release.kitchen import NO_ONE, Kitchen, P, S
from alpha_chaos.worldmodel.verdict import Kind

Objects = tuple[int, ...]  # numbers of a step's objects, by position of their role
Test = Callable[[Kitchen, Objects], bool]
Do = Callable[[Kitchen, Objects], None]
Bound = Mapping[str, int]  # positions of roles

_RECEPTACLE, _CONTAINER, _SURFACE = P('receptacle'), P('container'), P('surface')
_LIQUID = P('pourable', 'fillable_source')
_PROTEIN = P('protein')
_RAW, _COOKED, _OPEN, _ON, _OFF, _HOT = (
    S('raw'), S('cooked'), S('open'), S('on'), S('off'), S('hot'),
)  # fmt: skip
_EMPTY, _FILLED, _DIRTY, _CLEAN, _WET = (
    S('empty'), S('filled'), S('dirty'), S('clean'), S('wet'),
)  # fmt: skip
_GRABBABLE, _EDIBLE, _POURABLE = P('grabbable'), P('edible'), P('pourable')
_FROM_VESSEL = S(
    'mixed', 'whisked', 'stirred', 'beaten', 'heated', 'boiling', 'simmering',
    'contents_heated', 'contents_beaten',
)  # fmt: skip


class Check(NamedTuple):
    """What has to be the case; `text` says what is missing if it is not.

    :param given: the check is made only if this role was given, or was not (with !)
    """

    text: str
    bind: Callable[[Bound], Test]
    given: str = ''


class Effect(NamedTuple):
    """What is done; only if the role `given` was given."""

    bind: Callable[[Bound], Do]
    given: str = ''


# ---- checks


def holds(role: str, text: str = '', given: str = '') -> Check:
    """Return the check that the agent holds what is in a role."""

    def bind(roles: Bound) -> Test:
        item_at = roles[role]
        return lambda k, v: k.holding == v[item_at]

    return Check(text or f'{role} in hand', bind, given)


def hands_free(given: str = '') -> Check:
    """Return the check that the agent holds nothing."""
    return Check('free hands', lambda roles: lambda k, v: k.holding == NO_ONE, given)


def prop(role: str, mask: int, text: str) -> Check:
    """Return the check for one of some properties."""

    def bind(roles: Bound) -> Test:
        item_at = roles[role]
        return lambda k, v: bool(k.properties[v[item_at]] & mask)

    return Check(text, bind)


def state(role: str, mask: int, text: str) -> Check:
    """Return the check for a state."""

    def bind(roles: Bound) -> Test:
        item_at = roles[role]
        return lambda k, v: bool(k.states[v[item_at]] & mask)

    return Check(text, bind)


def switchable(role: str) -> Check:
    """Return the check for a switch; whatever is called water... has one."""

    def bind(roles: Bound) -> Test:
        item_at, mask = roles[role], P('switchable')

        def test(k: Kitchen, v: Objects) -> bool:
            item = v[item_at]
            return bool(k.properties[item] & mask) or k.names.text[item].startswith('water')

        return test

    return Check('object with a switch', bind)


def within(role: str, vessel: str, text: str = '', given: str = '') -> Check:
    """Return the check that something is among the contents of a vessel."""

    def bind(roles: Bound) -> Test:
        item_at, holder_at = roles[role], roles[vessel]
        return lambda k, v: v[item_at] in k.contents[v[holder_at]]

    return Check(text or f'{role} in {vessel}', bind, given)


def has_contents(role: str, text: str = '') -> Check:
    """Return the check that there is anything in a vessel."""

    def bind(roles: Bound) -> Test:
        vessel_at = roles[role]
        return lambda k, v: bool(k.contents[v[vessel_at]])

    return Check(text or f'contents in {role}', bind)


def has_part(role: str, part: str, text: str) -> Check:
    """Return the check that a vessel has something in it whose name has a part."""

    def bind(roles: Bound) -> Test:
        vessel_at = roles[role]
        return lambda k, v: k.has_within(v[vessel_at], part)

    return Check(text, bind)


def has_liquid(role: str) -> Check:
    """Return the check for something liquid in a vessel."""

    def bind(roles: Bound) -> Test:
        vessel_at = roles[role]

        def test(k: Kitchen, v: Objects) -> bool:
            vessel = v[vessel_at]
            properties = k.properties
            return any(properties[item] & _LIQUID for item in k.contents[vessel]) or bool(
                k.states[vessel] & _FILLED
            )

        return test

    return Check(f'liquid in {role}', bind)


def takes_in(role: str) -> Check:
    """Return the check that something can be put in: a receptacle, or a container that is open."""

    def bind(roles: Bound) -> Test:
        item_at = roles[role]

        def test(k: Kitchen, v: Objects) -> bool:
            item = v[item_at]
            properties = k.properties[item]
            return bool(properties & _RECEPTACLE) or (
                bool(properties & _CONTAINER) and bool(k.states[item] & _OPEN)
            )

        return test

    return Check(f'{role} that takes things in', bind)


def lies_on(role: str, surface: str, text: str, given: str = '') -> Check:
    """Return the check that the place of an object is exactly this one."""

    def bind(roles: Bound) -> Test:
        item_at, place_at = roles[role], roles[surface]
        return lambda k, v: v[item_at] in k.called and k.location[v[item_at]] == v[place_at]

    return Check(text, bind, given)


def lies_on_a(role: str, word: str, text: str) -> Check:
    """Return the check that the place of an object is something with a property."""
    mask = P(word)

    def bind(roles: Bound) -> Test:
        item_at = roles[role]

        def test(k: Kitchen, v: Objects) -> bool:
            item = v[item_at]
            return item in k.called and bool(k.properties[k.place_of(item)] & mask)

        return test

    return Check(text, bind)


def lies_somewhere(role: str, text: str) -> Check:
    """Return the check that an object is on a surface, or in anything."""
    mask = _SURFACE

    def bind(roles: Bound) -> Test:
        item_at = roles[role]

        def test(k: Kitchen, v: Objects) -> bool:
            item = v[item_at]
            if item in k.called and k.properties[k.place_of(item)] & mask:
                return True
            return k.held_anywhere(item)

        return test

    return Check(text, bind)


def water_runs() -> Check:
    """Return the check that water is on: this one, or any that was switched on."""

    def bind(roles: Bound) -> Test:
        water_at = roles['water']
        return lambda k, v: bool(k.states[v[water_at]] & _ON) or k.water_on

    return Check('running water', bind)


def fills(role: str) -> Check:
    """Return the check that something can be had from a source."""

    def bind(roles: Bound) -> Test:
        item_at = roles[role]
        return lambda k, v: bool(k.contents[v[item_at]]) or bool(k.states[v[item_at]] & _ON)

    return Check('source that gives something', bind)


def can_be_served() -> Check:
    """Return the check that something can be served."""
    mask = P('edible', 'seasoning', 'condiment')

    def bind(roles: Bound) -> Test:
        item_at = roles['object']

        def test(k: Kitchen, v: Objects) -> bool:
            item = v[item_at]
            return bool(k.properties[item] & mask or k.states[item] & _COOKED)

        return test

    return Check('object fit to be served', bind)


def is_trash_bin() -> Check:
    """Return the check that a target is a bin."""

    def bind(roles: Bound) -> Test:
        item_at = roles['target']
        return lambda k, v: 'trash_bin' in k.names.text[v[item_at]]

    return Check('bin as target', bind)


# ---- effects


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
    old, new = (_OFF, _ON) if on else (_ON, _OFF)

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
        k.properties[item] & _PROTEIN and k.states[item] & _RAW and k.called.get(item) != 'egg'
    )


def spreads(role: str, target: str) -> Effect:
    """Return the effect that contamination of one object is on another too."""

    def bind(roles: Bound) -> Do:
        item_at, other_at = roles[role], roles[target]
        return lambda k, v: k.contaminate(v[other_at], k.contaminated[v[item_at]])

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
            k.remove(item, _DIRTY)
            k.add(item, _CLEAN | _WET)
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
            k.remove(item, _RAW)
            k.add(item, _COOKED)
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
                k.remove(item, _RAW)
                k.add(item, _COOKED)

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
            k.remove(vessel, _EMPTY)

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
            if k.properties[source] & _RECEPTACLE:
                all_into(k, source, vessel)
                k.add(source, _EMPTY)
            else:
                k.put_into(vessel, source)
            k.remove(vessel, _EMPTY)

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
            k.remove(vessel, _EMPTY)
            k.add(vessel, _FILLED)

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
                if k.properties[item] & _POURABLE:
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
    properties = _GRABBABLE | (k.properties[item] & _EDIBLE)
    k.make_unique(f'{base_name(k, item)}_{word}', properties, mask, place)


def peels() -> Effect:
    """Return the effect that peels lie on the counter."""
    mask = S('peels')

    def bind(roles: Bound) -> Do:
        item_at = roles['object']

        def do(k: Kitchen, v: Objects) -> None:
            item = v[item_at]
            name = f'{base_name(k, item)}_peels'
            k.make_unique(name, _GRABBABLE, mask, k.number('counter'))

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
    properties, mask = _GRABBABLE | _POURABLE | _EDIBLE, S('fresh')

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
            properties, states, sources, dirty = _GRABBABLE | _EDIBLE, 0, 0, False
            for item in k.contents[container]:
                has = k.states[item]
                properties |= k.properties[item]
                states |= has
                sources |= k.contaminated[item]
                if has & _DIRTY and not (has & _COOKED and k.properties[item] & _PROTEIN):
                    dirty = True
            states |= k.states[container] & _FROM_VESSEL
            if not dirty:
                states &= ~_DIRTY
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


# ---- actions

Rules = tuple[tuple[Check, ...], tuple[Effect, ...]]

_RECEPTACLE_OR_SURFACE = 'receptacle or surface as target'
_HEATED = 'receptacle on heat source'
_NO_TOOL = '!tool'


def _cutting(state_word: str, pieces: str, cuttable_first: bool) -> Rules:
    cuttable = prop('object', P('cuttable'), 'object that can be cut')
    on_board = lies_on('object', 'cutting_board', 'object on cutting board')
    order = (cuttable, on_board) if cuttable_first else (on_board, cuttable)
    return (
        (holds('tool'), prop('tool', P('sharp'), 'sharp tool'), *order),
        (becomes('object', state_word), derived(pieces), cut_contaminates()),
    )


def _on_heat(*more: Check) -> tuple[Check, ...]:
    on_heat = lies_on_a('receptacle', 'heatsource', _HEATED)
    return (on_heat, state('heatsource', _ON, 'heat source switched on'), *more)


def _taken(*first: Effect) -> tuple[Effect, ...]:
    return (*first, hold('object'), touched_by_hands('object'))


def _appliance_on() -> Check:
    return state('appliance', _ON, 'appliance switched on')


ACTIONS: Mapping[str, Rules] = {
    'walk': ((), ()),
    'wait': ((), ()),
    'grab': ((hands_free(), prop('object', _GRABBABLE, 'object that can be grabbed')), _taken()),
    'put_on': (
        (holds('object'),),
        (goes_on('object', 'target'), let_go(), spreads('target', 'object'),
         spreads('object', 'target')),
    ),
    'put_in': (
        (holds('object'), takes_in('target')),
        (goes_in('object', 'target'), let_go(), spreads('object', 'target')),
    ),
    'take_out': (
        (within('object', 'container'), state('container', _OPEN, 'open container'),
         holds('tool', given='tool'), hands_free(given=_NO_TOOL)),
        _taken(comes_out('object', 'container')),
    ),
    'open': (
        (prop('object', P('openable'), 'object that can be opened'),
         state('object', S('closed'), 'object that is closed')),
        (turns('object', 'closed', 'open'),),
    ),
    'close': (
        (prop('object', P('openable'), 'object that can be opened'),
         state('object', _OPEN, 'object that is open')),
        (turns('object', 'open', 'closed'),),
    ),
    'transfer': (
        (holds('tool'), prop('target', _RECEPTACLE | _SURFACE, _RECEPTACLE_OR_SURFACE)),
        (goes_on('object', 'target'),),
    ),
    'switch_on': ((switchable('object'), state('object', _OFF, 'object switched off')),
                  (switches('object', True),)),
    'switch_off': ((switchable('object'), state('object', _ON, 'object switched on')),
                   (switches('object', False),)),
    'wash': (
        (state('object', _DIRTY, 'dirty object'), holds('object'), water_runs()),
        (cleaned('object', hands=True),),
    ),
    'rinse': ((holds('object'), water_runs()), (cleaned('object', hands=False),)),
    'dry': (
        (holds('tool'), prop('tool', P('absorbent'), 'absorbent tool'),
         state('object', _WET, 'wet object')),
        (turns('object', 'wet', 'dry'),),
    ),
    'air_dry': ((state('object', _WET, 'wet object'),), (turns('object', 'wet', 'dry'),)),
    'cut': _cutting('cut', 'pieces', cuttable_first=True),
    'chop': _cutting('chopped', 'chunks', cuttable_first=False),
    'slice': _cutting('sliced', 'slices', cuttable_first=False),
    'mince': _cutting('minced', 'mince', cuttable_first=False),
    'fry': (
        _on_heat(has_part('receptacle', 'oil', 'oil in receptacle'),
                 within('object', 'receptacle')),
        (cooked('object'), becomes('object', 'fried', 'hot'), sterile('receptacle')),
    ),
    'boil': (
        _on_heat(has_liquid('receptacle'), within('object', 'receptacle', given='object')),
        (becomes('receptacle', 'boiling'), cooked('object', 'object'),
         becomes('object', 'hot', given='object'), sterile('receptacle')),
    ),
    'simmer': (
        _on_heat(has_liquid('receptacle'), within('object', 'receptacle', given='object')),
        (cooked('object', 'object'), becomes('object', 'hot', given='object'),
         becomes('receptacle', 'liquid_hot', 'simmering'), sterile('receptacle')),
    ),
    'heat': (
        _on_heat(within('object', 'receptacle', given='object')),
        (becomes('receptacle', 'hot', 'contents_hot'), becomes('object', 'hot', given='object'),
         sterile('receptacle')),
    ),
    'toast': (
        (within('object', 'receptacle'), *_on_heat()),
        (becomes('object', 'toasted', 'hot'), cooked('object'), sterile('receptacle')),
    ),
    'bake': (
        (_appliance_on(), within('object', 'receptacle'), within('receptacle', 'appliance')),
        (cooked('object'), becomes('object', 'baked', 'hot'), sterile('receptacle'),
         sterile('appliance')),
    ),
    'roast': (
        (within('object', 'receptacle'), within('receptacle', 'appliance'), _appliance_on()),
        (becomes('object', 'roasted', 'hot'), cooked('object'), sterile('receptacle'),
         sterile('appliance')),
    ),
    'preheat': ((state('appliance', _OFF, 'appliance switched off'),),
                (turns('appliance', 'off', 'on'),)),
    'set_temp': ((_appliance_on(),), ()),
    'set_timer': ((_appliance_on(),), (becomes('appliance', 'timer_running'),)),
    'steam': (
        (within('object', 'steamer'), within('steamer', 'pot'),
         has_part('pot', 'water', 'water in pot'),
         lies_on_a('pot', 'heatsource', 'pot on heat source'),
         state('heatsource', _ON, 'heat source switched on')),
        (cooked('object'), becomes('object', 'steamed', 'hot'), sterile('pot'),
         sterile('steamer')),
    ),
    'grill': (
        (_appliance_on(), lies_on('object', 'appliance', 'object on appliance')),
        (cooked('object'), becomes('object', 'grilled', 'hot'),
         free_of_contamination('appliance')),
    ),
    'blanch': (
        (has_contents('receptacle'), state('receptacle', S('boiling'), 'boiling contents'),
         state('object', _RAW, 'raw object'), within('object', 'receptacle')),
        (cooked('object'), becomes('object', 'blanched', 'hot'), sterile('receptacle')),
    ),
    'blend': ((_appliance_on(), within('object', 'appliance')), (becomes('object', 'blended'),)),
    'brew': (
        (state('coffee_machine', _ON, 'coffee machine switched on'),
         has_part('coffee_machine', 'water', 'water in coffee machine'),
         has_part('coffee_machine', 'coffee_beans', 'coffee beans in coffee machine')),
        (made('brewed_coffee', 'coffee_machine'),),
    ),
    'grind': ((state('grinder', _ON, 'grinder switched on'), within('object', 'grinder')),
              (becomes('object', 'ground'),)),
    'juice': ((_appliance_on(), within('object', 'appliance')), (made('juice', 'appliance'),)),
    'mix': ((has_contents('receptacle'), holds('tool', given='tool')),
            (becomes('receptacle', 'mixed'),)),
    'stir': ((holds('tool'), has_contents('receptacle')),
             (becomes('receptacle', 'stirred', 'mixed'),)),
    'whisk': ((holds('tool'), has_contents('receptacle')),
              (becomes('receptacle', 'whisked', 'smooth'),)),
    'beat': ((has_contents('receptacle'), holds('tool')),
             (becomes('receptacle', 'contents_beaten', 'mixed'),)),
    'shake': (
        (state('container', S('closed'), 'closed container'), has_contents('container'),
         holds('container')),
        (becomes('container', 'mixed'),),
    ),
    'pour': (
        (holds('source'),
         prop('source', _POURABLE | _RECEPTACLE, 'source that pours'),
         takes_in('target')),
        (poured('source', 'target'), turns('source', 'full', 'partial')),
    ),
    'fill': ((fills('source'),), (filled('receptacle', 'source'),)),
    'drain': (
        (within('object', 'receptacle'), has_liquid('receptacle')),
        (drained('receptacle'), becomes('object', 'drained')),
    ),
    'squeeze': ((holds('source'), has_contents('source'), takes_in('target')),
                (squeezed('source', 'target'),)),
    'strain': (
        (takes_in('source'), has_contents('source'),
         state('filter', _CLEAN, 'clean filter'), takes_in('target')),
        (becomes('target', 'has_liquid'), becomes('filter', 'has_solids')),
    ),
    'scoop': (
        (holds('tool'), within('object', 'source'),
         prop('object', P('scoopable'), 'object that can be scooped'), takes_in('target')),
        (goes_in('object', 'target'),),
    ),
    'peel': ((holds('tool'),), (becomes('object', 'peeled'), peels())),
    'pierce': ((holds('tool'),), (becomes('object', 'pierced', 'punctured'),)),
    'crush': ((holds('tool', given='tool'), holds('object', given=_NO_TOOL)),
              (becomes('object', 'crushed'),)),
    'mash': ((within('object', 'receptacle'), holds('tool')), (becomes('object', 'mashed'),)),
    'press': (
        (holds('tool'), takes_in('target')._replace(given='target')),
        (poured('object', 'target', given='target'),),
    ),
    'shape': (
        (prop('object', P('shapeable'), 'object that can be shaped'),
         lies_on('object', 'surface', 'object on surface', given='surface'),
         holds('object', given='!surface')),
        (becomes('object', 'shaped'),),
    ),
    'indent': (
        (prop('object', P('shapeable'), 'object that can be shaped'), holds('tool', given='tool')),
        (becomes('object', 'indented'),),
    ),
    'roll': ((holds('object'), within('coating', 'receptacle')), (becomes('object', 'coated'),)),
    'roll_out': (
        (holds('tool'), lies_on_a('object', 'surface', 'object on surface'),
         prop('object', P('shapeable'), 'object that can be shaped')),
        (becomes('object', 'flattened'),),
    ),
    'fold': (
        (prop('object', P('foldable'), 'object that can be folded'), holds('tool', given='tool'),
         holds('object', given=_NO_TOOL)),
        (becomes('object', 'folded'),),
    ),
    'wrap': ((holds('wrap_material', 'wrap material in hand'),),
             (becomes('object', 'wrapped'),)),
    'unwrap': ((state('object', S('wrapped'), 'wrapped object'),),
               (turns('object', 'wrapped', 'unwrapped'),)),
    'cover': (
        (holds('covering'), lies_somewhere('object', 'object on a surface or in something')),
        (becomes('object', 'covered'), let_go()),
    ),
    'uncover': ((state('object', S('covered'), 'covered object'),),
                (turns('object', 'covered', 'uncovered'),)),
    'dip': ((holds('object'), has_contents('receptacle')), (becomes('object', 'coated'),)),
    'drizzle': ((holds('source'),),
                (poured('source', 'target'), becomes('target', 'drizzled', 'coated'))),
    'spread': ((prop('object', P('spreadable'), 'object that can be spread'), holds('tool')),
               (becomes('target', 'has_spread'),)),
    'spray': ((holds('object'), prop('object', P('sprayable'), 'object that can be sprayed')),
              (becomes('target', 'coated'),)),
    'brush': ((holds('tool'),), (becomes('target', 'coated'),)),
    'flip': ((holds('tool'),), (becomes('object', 'flipped'),)),
    'grate': (
        (holds('tool'), prop('tool', P('grater'), 'grater as tool'), takes_in('target')),
        (grated('target'),),
    ),
    'cool': ((state('object', _HOT, 'hot object'),), (turns('object', 'hot', 'room_temp'),)),
    'rest': ((state('object', _COOKED, 'cooked object'),), (becomes('object', 'rested'),)),
    'freeze': ((state('freezer', _ON, 'freezer switched on'), within('object', 'freezer')),
               (becomes('object', 'frozen'),)),
    'refrigerate': ((state('fridge', _ON, 'fridge switched on'), within('object', 'fridge')),
                    (becomes('object', 'chilled'),)),
    'soak': ((within('object', 'receptacle'), has_liquid('receptacle')),
             (becomes('object', 'soaked'),)),
    'serve': (
        (can_be_served(), prop('target', _RECEPTACLE | _SURFACE, _RECEPTACLE_OR_SURFACE)),
        (served(), goes_on('object', 'target'), let_go(only='object')),
    ),
    'discard': (
        (holds('object'), is_trash_bin()),
        (disposed('object'), goes_in('object', 'target'), let_go()),
    ),
    'break': (
        (holds('object'), prop('object', P('breakable'), 'object that can be broken')),
        (becomes('object', 'broken'), goes_in('object', 'receptacle'), let_go()),
    ),
    'combine': ((has_contents('container'),), (combined(),)),
}  # fmt: skip


def _can_be_washed() -> Check:
    def bind(roles: Bound) -> Test:
        item_at = roles['object']
        return lambda k, v: bool(k.states[v[item_at]] & _DIRTY) or k.contaminated[v[item_at]] != 0

    return Check('dirty or contaminated object', bind)


# A board that was clean, and then had raw meat on it, can be washed.
STRICT_ACTIONS: Mapping[str, Rules] = {
    **ACTIONS,
    'wash': ((_can_be_washed(), *ACTIONS['wash'][0][1:]), ACTIONS['wash'][1]),
}

Wrong = tuple[str, Kind, str]  # rule, kind and message of what is wrong with a step's text


class Compiled(NamedTuple):
    """An action, for steps that give the same roles."""

    checks: tuple[tuple[Test, str], ...]
    effects: tuple[Do, ...]


class Step(NamedTuple):
    """A step with its objects.

    :param wrong: what is wrong with it in any case
    :param objects: the number of each, and NO_ONE behind them for roles it does not give
    :param doubtful: numbers and roles of what is there only if an earlier step made it
    """

    wrong: tuple[Wrong, ...]
    action: Compiled
    objects: Objects = ()
    doubtful: tuple[tuple[int, str], ...] = ()


NOTHING_DONE = Compiled((), ())


@lru_cache(maxsize=2048)
def compiled(action: str, roles: tuple[str, ...], strict: bool) -> Compiled:
    """Return the checks and effects of an action that is given these roles."""
    positions = _Positions((role, i) for i, role in enumerate(roles))

    def applies(given: str) -> bool:
        if given.startswith('!'):
            return given[1:] not in roles
        return not given or given in roles

    checks, effects = (STRICT_ACTIONS if strict else ACTIONS)[action]
    return Compiled(
        tuple((check.bind(positions), check.text) for check in checks if applies(check.given)),
        tuple(effect.bind(positions) for effect in effects if applies(effect.given)),
    )


class _Positions(dict[str, int]):
    """Roles that a step does not give, or an action definition does not have, are behind all."""

    def __missing__(self, role: str) -> int:
        return -1
