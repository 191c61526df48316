"""What the release checks before a step: small functions of the kitchen and the step's objects.

A check names roles. Bound, it knows the position of each among a step's objects.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from alpha_chaos.worldmodel.release import words as w
from alpha_chaos.worldmodel.release.kitchen import NO_ONE, Kitchen
from alpha_chaos.worldmodel.release.words import P

Objects = tuple[int, ...]  # numbers of a step's objects, by position of their role
Test = Callable[[Kitchen, Objects], bool]
Bound = Mapping[str, int]  # positions of roles


class Check(NamedTuple):
    """What has to be the case; `text` says what is missing if it is not.

    :param given: the check is made only if this role was given, or was not (with !)
    """

    text: str
    bind: Callable[[Bound], Test]
    given: str = ''


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
            return any(properties[item] & w.LIQUID for item in k.contents[vessel]) or bool(
                k.states[vessel] & w.FILLED
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
            return bool(properties & w.RECEPTACLE) or (
                bool(properties & w.CONTAINER) and bool(k.states[item] & w.OPEN)
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
    mask = w.SURFACE

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
        return lambda k, v: bool(k.states[v[water_at]] & w.ON) or k.water_on

    return Check('running water', bind)


def fills(role: str) -> Check:
    """Return the check that something can be had from a source."""

    def bind(roles: Bound) -> Test:
        item_at = roles[role]
        return lambda k, v: bool(k.contents[v[item_at]]) or bool(k.states[v[item_at]] & w.ON)

    return Check('source that gives something', bind)


def can_be_served() -> Check:
    """Return the check that something can be served."""
    mask = P('edible', 'seasoning', 'condiment')

    def bind(roles: Bound) -> Test:
        item_at = roles['object']

        def test(k: Kitchen, v: Objects) -> bool:
            item = v[item_at]
            return bool(k.properties[item] & mask or k.states[item] & w.COOKED)

        return test

    return Check('object fit to be served', bind)


def is_trash_bin() -> Check:
    """Return the check that a target is a bin."""

    def bind(roles: Bound) -> Test:
        item_at = roles['target']
        return lambda k, v: 'trash_bin' in k.names.text[v[item_at]]

    return Check('bin as target', bind)


def can_be_washed() -> Check:
    """Return the check that there is something to wash off."""

    def bind(roles: Bound) -> Test:
        item_at = roles['object']
        return lambda k, v: bool(k.states[v[item_at]] & w.DIRTY) or k.contaminated[v[item_at]] != 0

    return Check('dirty or contaminated object', bind)
