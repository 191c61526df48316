"""The release's rules for each action: what it checks, and what it does."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from alpha_chaos.worldmodel.release import checks as c
from alpha_chaos.worldmodel.release import effects as e
from alpha_chaos.worldmodel.release import words as w
from alpha_chaos.worldmodel.release.words import P, S
from alpha_chaos.worldmodel.verdict import Kind

Rules = tuple[tuple[c.Check, ...], tuple[e.Effect, ...]]

_RECEPTACLE_OR_SURFACE = 'receptacle or surface as target'
_HEATED = 'receptacle on heat source'
_NO_TOOL = '!tool'


def _cutting(state_word: str, pieces: str, cuttable_first: bool) -> Rules:
    cuttable = c.prop('object', P('cuttable'), 'object that can be cut')
    on_board = c.lies_on('object', 'cutting_board', 'object on cutting board')
    order = (cuttable, on_board) if cuttable_first else (on_board, cuttable)
    return (
        (c.holds('tool'), c.prop('tool', P('sharp'), 'sharp tool'), *order),
        (e.becomes('object', state_word), e.derived(pieces), e.cut_contaminates()),
    )


def _on_heat(*more: c.Check) -> tuple[c.Check, ...]:
    on_heat = c.lies_on_a('receptacle', 'heatsource', _HEATED)
    return (on_heat, c.state('heatsource', w.ON, 'heat source switched on'), *more)


def _taken(*first: e.Effect) -> tuple[e.Effect, ...]:
    return (*first, e.hold('object'), e.touched_by_hands('object'))


def _appliance_on() -> c.Check:
    return c.state('appliance', w.ON, 'appliance switched on')


ACTIONS: Mapping[str, Rules] = {
    'walk': ((), ()),
    'wait': ((), ()),
    'grab': ((c.hands_free(), c.prop('object', w.GRABBABLE, 'object that can be grabbed')),
             _taken()),
    'put_on': (
        (c.holds('object'),),
        (e.goes_on('object', 'target'), e.let_go(), e.spreads('target', 'object'),
         e.spreads('object', 'target')),
    ),
    'put_in': (
        (c.holds('object'), c.takes_in('target')),
        (e.goes_in('object', 'target'), e.let_go(), e.spreads('object', 'target')),
    ),
    'take_out': (
        (c.within('object', 'container'), c.state('container', w.OPEN, 'open container'),
         c.holds('tool', given='tool'), c.hands_free(given=_NO_TOOL)),
        _taken(e.comes_out('object', 'container')),
    ),
    'open': (
        (c.prop('object', P('openable'), 'object that can be opened'),
         c.state('object', S('closed'), 'object that is closed')),
        (e.turns('object', 'closed', 'open'),),
    ),
    'close': (
        (c.prop('object', P('openable'), 'object that can be opened'),
         c.state('object', w.OPEN, 'object that is open')),
        (e.turns('object', 'open', 'closed'),),
    ),
    'transfer': (
        (c.holds('tool'), c.prop('target', w.RECEPTACLE | w.SURFACE, _RECEPTACLE_OR_SURFACE)),
        (e.goes_on('object', 'target'),),
    ),
    'switch_on': ((c.switchable('object'), c.state('object', w.OFF, 'object switched off')),
                  (e.switches('object', True),)),
    'switch_off': ((c.switchable('object'), c.state('object', w.ON, 'object switched on')),
                   (e.switches('object', False),)),
    'wash': (
        (c.state('object', w.DIRTY, 'dirty object'), c.holds('object'), c.water_runs()),
        (e.cleaned('object', hands=True),),
    ),
    'rinse': ((c.holds('object'), c.water_runs()), (e.cleaned('object', hands=False),)),
    'dry': (
        (c.holds('tool'), c.prop('tool', P('absorbent'), 'absorbent tool'),
         c.state('object', w.WET, 'wet object')),
        (e.turns('object', 'wet', 'dry'),),
    ),
    'air_dry': ((c.state('object', w.WET, 'wet object'),), (e.turns('object', 'wet', 'dry'),)),
    'cut': _cutting('cut', 'pieces', cuttable_first=True),
    'chop': _cutting('chopped', 'chunks', cuttable_first=False),
    'slice': _cutting('sliced', 'slices', cuttable_first=False),
    'mince': _cutting('minced', 'mince', cuttable_first=False),
    'fry': (
        _on_heat(c.has_part('receptacle', 'oil', 'oil in receptacle'),
                 c.within('object', 'receptacle')),
        (e.cooked('object'), e.becomes('object', 'fried', 'hot'), e.sterile('receptacle')),
    ),
    'boil': (
        _on_heat(c.has_liquid('receptacle'), c.within('object', 'receptacle', given='object')),
        (e.becomes('receptacle', 'boiling'), e.cooked('object', 'object'),
         e.becomes('object', 'hot', given='object'), e.sterile('receptacle')),
    ),
    'simmer': (
        _on_heat(c.has_liquid('receptacle'), c.within('object', 'receptacle', given='object')),
        (e.cooked('object', 'object'), e.becomes('object', 'hot', given='object'),
         e.becomes('receptacle', 'liquid_hot', 'simmering'), e.sterile('receptacle')),
    ),
    'heat': (
        _on_heat(c.within('object', 'receptacle', given='object')),
        (e.becomes('receptacle', 'hot', 'contents_hot'),
         e.becomes('object', 'hot', given='object'), e.sterile('receptacle')),
    ),
    'toast': (
        (c.within('object', 'receptacle'), *_on_heat()),
        (e.becomes('object', 'toasted', 'hot'), e.cooked('object'), e.sterile('receptacle')),
    ),
    'bake': (
        (_appliance_on(), c.within('object', 'receptacle'), c.within('receptacle', 'appliance')),
        (e.cooked('object'), e.becomes('object', 'baked', 'hot'), e.sterile('receptacle'),
         e.sterile('appliance')),
    ),
    'roast': (
        (c.within('object', 'receptacle'), c.within('receptacle', 'appliance'), _appliance_on()),
        (e.becomes('object', 'roasted', 'hot'), e.cooked('object'), e.sterile('receptacle'),
         e.sterile('appliance')),
    ),
    'preheat': ((c.state('appliance', w.OFF, 'appliance switched off'),),
                (e.turns('appliance', 'off', 'on'),)),
    'set_temp': ((_appliance_on(),), ()),
    'set_timer': ((_appliance_on(),), (e.becomes('appliance', 'timer_running'),)),
    'steam': (
        (c.within('object', 'steamer'), c.within('steamer', 'pot'),
         c.has_part('pot', 'water', 'water in pot'),
         c.lies_on_a('pot', 'heatsource', 'pot on heat source'),
         c.state('heatsource', w.ON, 'heat source switched on')),
        (e.cooked('object'), e.becomes('object', 'steamed', 'hot'), e.sterile('pot'),
         e.sterile('steamer')),
    ),
    'grill': (
        (_appliance_on(), c.lies_on('object', 'appliance', 'object on appliance')),
        (e.cooked('object'), e.becomes('object', 'grilled', 'hot'),
         e.free_of_contamination('appliance')),
    ),
    'blanch': (
        (c.has_contents('receptacle'), c.state('receptacle', S('boiling'), 'boiling contents'),
         c.state('object', w.RAW, 'raw object'), c.within('object', 'receptacle')),
        (e.cooked('object'), e.becomes('object', 'blanched', 'hot'), e.sterile('receptacle')),
    ),
    'blend': ((_appliance_on(), c.within('object', 'appliance')),
              (e.becomes('object', 'blended'),)),
    'brew': (
        (c.state('coffee_machine', w.ON, 'coffee machine switched on'),
         c.has_part('coffee_machine', 'water', 'water in coffee machine'),
         c.has_part('coffee_machine', 'coffee_beans', 'coffee beans in coffee machine')),
        (e.made('brewed_coffee', 'coffee_machine'),),
    ),
    'grind': ((c.state('grinder', w.ON, 'grinder switched on'), c.within('object', 'grinder')),
              (e.becomes('object', 'ground'),)),
    'juice': ((_appliance_on(), c.within('object', 'appliance')), (e.made('juice', 'appliance'),)),
    'mix': ((c.has_contents('receptacle'), c.holds('tool', given='tool')),
            (e.becomes('receptacle', 'mixed'),)),
    'stir': ((c.holds('tool'), c.has_contents('receptacle')),
             (e.becomes('receptacle', 'stirred', 'mixed'),)),
    'whisk': ((c.holds('tool'), c.has_contents('receptacle')),
              (e.becomes('receptacle', 'whisked', 'smooth'),)),
    'beat': ((c.has_contents('receptacle'), c.holds('tool')),
             (e.becomes('receptacle', 'contents_beaten', 'mixed'),)),
    'shake': (
        (c.state('container', S('closed'), 'closed container'), c.has_contents('container'),
         c.holds('container')),
        (e.becomes('container', 'mixed'),),
    ),
    'pour': (
        (c.holds('source'),
         c.prop('source', w.POURABLE | w.RECEPTACLE, 'source that pours'),
         c.takes_in('target')),
        (e.poured('source', 'target'), e.turns('source', 'full', 'partial')),
    ),
    'fill': ((c.fills('source'),), (e.filled('receptacle', 'source'),)),
    'drain': (
        (c.within('object', 'receptacle'), c.has_liquid('receptacle')),
        (e.drained('receptacle'), e.becomes('object', 'drained')),
    ),
    'squeeze': ((c.holds('source'), c.has_contents('source'), c.takes_in('target')),
                (e.squeezed('source', 'target'),)),
    'strain': (
        (c.takes_in('source'), c.has_contents('source'),
         c.state('filter', w.CLEAN, 'clean filter'), c.takes_in('target')),
        (e.becomes('target', 'has_liquid'), e.becomes('filter', 'has_solids')),
    ),
    'scoop': (
        (c.holds('tool'), c.within('object', 'source'),
         c.prop('object', P('scoopable'), 'object that can be scooped'), c.takes_in('target')),
        (e.goes_in('object', 'target'),),
    ),
    'peel': ((c.holds('tool'),), (e.becomes('object', 'peeled'), e.peels())),
    'pierce': ((c.holds('tool'),), (e.becomes('object', 'pierced', 'punctured'),)),
    'crush': ((c.holds('tool', given='tool'), c.holds('object', given=_NO_TOOL)),
              (e.becomes('object', 'crushed'),)),
    'mash': ((c.within('object', 'receptacle'), c.holds('tool')),
             (e.becomes('object', 'mashed'),)),
    'press': (
        (c.holds('tool'), c.takes_in('target')._replace(given='target')),
        (e.poured('object', 'target', given='target'),),
    ),
    'shape': (
        (c.prop('object', P('shapeable'), 'object that can be shaped'),
         c.lies_on('object', 'surface', 'object on surface', given='surface'),
         c.holds('object', given='!surface')),
        (e.becomes('object', 'shaped'),),
    ),
    'indent': (
        (c.prop('object', P('shapeable'), 'object that can be shaped'),
         c.holds('tool', given='tool')),
        (e.becomes('object', 'indented'),),
    ),
    'roll': ((c.holds('object'), c.within('coating', 'receptacle')),
             (e.becomes('object', 'coated'),)),
    'roll_out': (
        (c.holds('tool'), c.lies_on_a('object', 'surface', 'object on surface'),
         c.prop('object', P('shapeable'), 'object that can be shaped')),
        (e.becomes('object', 'flattened'),),
    ),
    'fold': (
        (c.prop('object', P('foldable'), 'object that can be folded'),
         c.holds('tool', given='tool'), c.holds('object', given=_NO_TOOL)),
        (e.becomes('object', 'folded'),),
    ),
    'wrap': ((c.holds('wrap_material', 'wrap material in hand'),),
             (e.becomes('object', 'wrapped'),)),
    'unwrap': ((c.state('object', S('wrapped'), 'wrapped object'),),
               (e.turns('object', 'wrapped', 'unwrapped'),)),
    'cover': (
        (c.holds('covering'), c.lies_somewhere('object', 'object on a surface or in something')),
        (e.becomes('object', 'covered'), e.let_go()),
    ),
    'uncover': ((c.state('object', S('covered'), 'covered object'),),
                (e.turns('object', 'covered', 'uncovered'),)),
    'dip': ((c.holds('object'), c.has_contents('receptacle')), (e.becomes('object', 'coated'),)),
    'drizzle': ((c.holds('source'),),
                (e.poured('source', 'target'), e.becomes('target', 'drizzled', 'coated'))),
    'spread': ((c.prop('object', P('spreadable'), 'object that can be spread'), c.holds('tool')),
               (e.becomes('target', 'has_spread'),)),
    'spray': ((c.holds('object'), c.prop('object', P('sprayable'), 'object that can be sprayed')),
              (e.becomes('target', 'coated'),)),
    'brush': ((c.holds('tool'),), (e.becomes('target', 'coated'),)),
    'flip': ((c.holds('tool'),), (e.becomes('object', 'flipped'),)),
    'grate': (
        (c.holds('tool'), c.prop('tool', P('grater'), 'grater as tool'), c.takes_in('target')),
        (e.grated('target'),),
    ),
    'cool': ((c.state('object', w.HOT, 'hot object'),), (e.turns('object', 'hot', 'room_temp'),)),
    'rest': ((c.state('object', w.COOKED, 'cooked object'),), (e.becomes('object', 'rested'),)),
    'freeze': ((c.state('freezer', w.ON, 'freezer switched on'), c.within('object', 'freezer')),
               (e.becomes('object', 'frozen'),)),
    'refrigerate': ((c.state('fridge', w.ON, 'fridge switched on'), c.within('object', 'fridge')),
                    (e.becomes('object', 'chilled'),)),
    'soak': ((c.within('object', 'receptacle'), c.has_liquid('receptacle')),
             (e.becomes('object', 'soaked'),)),
    'serve': (
        (c.can_be_served(), c.prop('target', w.RECEPTACLE | w.SURFACE, _RECEPTACLE_OR_SURFACE)),
        (e.served(), e.goes_on('object', 'target'), e.let_go(only='object')),
    ),
    'discard': (
        (c.holds('object'), c.is_trash_bin()),
        (e.disposed('object'), e.goes_in('object', 'target'), e.let_go()),
    ),
    'break': (
        (c.holds('object'), c.prop('object', P('breakable'), 'object that can be broken')),
        (e.becomes('object', 'broken'), e.goes_in('object', 'receptacle'), e.let_go()),
    ),
    'combine': ((c.has_contents('container'),), (e.combined(),)),
}  # fmt: skip


# A board that was clean, and then had raw meat on it, can be washed.
STRICT_ACTIONS: Mapping[str, Rules] = {
    **ACTIONS,
    'wash': ((c.can_be_washed(), *ACTIONS['wash'][0][1:]), ACTIONS['wash'][1]),
}

Wrong = tuple[str, Kind, str]  # rule, kind and message of what is wrong with a step's text


class Compiled(NamedTuple):
    """An action, for steps that give the same roles."""

    checks: tuple[tuple[c.Test, str], ...]
    effects: tuple[e.Do, ...]


class Step(NamedTuple):
    """A step with its objects.

    :param wrong: what is wrong with it in any case
    :param objects: the number of each, and NO_ONE behind them for roles it does not give
    :param doubtful: numbers and roles of what is there only if an earlier step made it
    """

    wrong: tuple[Wrong, ...]
    action: Compiled
    objects: c.Objects = ()
    doubtful: tuple[tuple[int, str], ...] = ()


NOTHING_DONE = Compiled((), ())


VALUES = ('duration', 'temperature')  # roles whose argument is no object


class Signature(NamedTuple):
    """How the arguments of a step are taken.

    :param wrong: what is wrong with so many arguments, or with the action
    :param given: roles of the objects, in their order
    :param values: positions of arguments that are none, the last one first
    """

    wrong: Wrong | None
    action: Compiled
    given: tuple[str, ...] = ()
    values: tuple[int, ...] = ()


def signature(
    known: Mapping[str, tuple[str, ...]], action: str, count: int, strict: bool
) -> Signature:
    """Return how an action takes so many arguments.

    :param known: the roles of each action
    """
    roles = known.get(action)
    if roles is None or action not in ACTIONS:
        what = 'is no action' if roles is None else 'is an action without rules'
        return Signature(('unknown_action', 'immediate', f'{action} {what}'), NOTHING_DONE)
    return _signature(action, roles, count, strict)


@lru_cache(maxsize=2048)
def _signature(action: str, roles: tuple[str, ...], count: int, strict: bool) -> Signature:
    least = sum(not role.endswith('?') for role in roles)
    if not least <= count <= len(roles):
        wanted = f'at least {least}' if count < least else f'at most {len(roles)}'
        message = f'{action} has {count} arguments, {wanted} are right'
        return Signature(('argument_count', 'syntax', message), NOTHING_DONE)
    skipped = 0  # optional roles at the front that are not given
    while skipped < len(roles) - count and roles[skipped].endswith('?'):
        skipped += 1
    listed = [role.rstrip('?') for role in roles[skipped : skipped + count]]
    given = tuple(role for role in listed if role not in VALUES)
    values = tuple(i for i in reversed(range(count)) if listed[i] in VALUES)
    return Signature(None, compiled(action, given, strict), given, values)


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


def needs(action: str, roles: tuple[str, ...], strict: bool) -> list[str]:
    """Return what an action needs, in words; what hangs on an optional role says so.

    :param roles: all of the action's
    """
    found = []
    for check in (STRICT_ACTIONS if strict else ACTIONS)[action][0]:
        role = check.given.lstrip('!')
        if role and role not in roles:
            if not check.given.startswith('!'):
                continue
            role = ''
        without = 'without' if check.given.startswith('!') else 'with'
        found.append(f'{without} {role}: {check.text}' if role else check.text)
    return found


class _Positions(dict[str, int]):
    """Roles that a step does not give, or an action definition does not have, are behind all."""

    def __missing__(self, role: str) -> int:
        return -1
