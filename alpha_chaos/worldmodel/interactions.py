"""How many things can be done in a world: the valid interactions, counted by a stated rule.

An interaction is an action with a class for each of its first two required objects: what it is
done to, and with or at what. It is valid if nothing that never changes speaks against it: the
words that the roles ask for, and every need that looks at properties and classes alone. States,
places, optional roles, values, names of products and different objects of a class do not count.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import product
from math import prod
from typing import Any

from alpha_chaos.worldmodel.parts import Action, Domain, Need, Role
from alpha_chaos.worldmodel.state import State


def count_interactions(domain: Domain, most: int = 2) -> dict[str, int]:
    """Return the number of valid interactions of each action.

    :param most: of its required objects, the first of which count
    """
    state = State(domain.tables)
    agent = domain.files.document.agent
    assert agent is not None
    state.create((agent.class_, '1'), *domain.rows[agent.class_])
    objects = [
        state.create((name, '1'), *row)
        for name, row in domain.rows.items()
        if name != agent.class_
    ]
    found = {}
    for name, action in domain.actions.items():
        roles = [role for role in action.roles if role.kind == 'object' and not role.optional]
        others = {role.name for role in action.roles} | set(
            domain.files.document.actions[name].let
        )
        found[name] = _count(action, roles[:most], others, state, objects)
    return found


def _count(
    action: Action, roles: Sequence[Role], others: Set[str], state: State, objects: Sequence[int]
) -> int:
    """Return how many ways there are to fill some roles.

    :param others: names of the action, these roles among them; needs about others do not count
    """
    unfilled = others - {role.name for role in roles}
    needs = []
    for need in action.needs:
        named = set(_words(need.written))
        if not need.fact.reads and not named & unfilled:
            needs.append((need, [role for role in roles if role.name in named]))
    fits = []
    for role in roles:
        own = [need for need, named in needs if named == [role]]
        fits.append([x for x in objects if _hold(own, state, action, [(role, x)])])
    joint = [need for need, named in needs if len(named) > 1]
    if not joint:
        return prod(map(len, fits))
    return sum(
        _hold(joint, state, action, list(zip(roles, way, strict=True))) for way in product(*fits)
    )


def _hold(
    needs: Sequence[Need], state: State, action: Action, given: Sequence[tuple[Role, int]]
) -> bool:
    frame = action.frame.copy()
    for role, item in given:
        frame[role.slot] = item
    return all(need.fact.test(state, frame) for need in needs)


def _words(written: Any) -> Iterator[str]:
    """Return every word of a condition."""
    if isinstance(written, str):
        yield written
    elif isinstance(written, Mapping):
        for key, value in written.items():
            yield key
            yield from _words(value)
    elif isinstance(written, list | tuple):
        for part in written:
            yield from _words(part)
