"""An ingredient is forgotten."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken, words

_ON_PURPOSE = ('pour', 'sprinkle', 'drizzle', 'put_in', 'break', 'squeeze')
_BY_THE_WAY = ('put_on', 'transfer', 'scoop', 'spread', 'grate', 'serve')


class Forgotten(Operator):
    """Leave out the only step that brings an ingredient to the dish.

    The goal of the task names it.
    """

    kind: Literal['forgotten'] = 'forgotten'
    harmful: ClassVar[bool] = True

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each ingredient that the goal names and that one step brings."""
        named = set(words(golden.task.document.goal))
        brings = [
            (i, step.arguments[0])
            for i, step in golden.of(*_BY_THE_WAY, *_ON_PURPOSE)
            if step.arguments[1] != ('counter', '1')
        ]
        things = [thing for _, thing in brings]
        for i, thing in brings:
            food = golden.starts(thing, 'food') and golden.steps[i].action in _ON_PURPOSE
            if (
                food
                and spoken(thing) in named
                and things.count(thing) == 1
                and thing in golden.eaten
            ):
                yield golden.without(i, note=f'{spoken(thing)} is forgotten')


Forgotten.example = Forgotten()
