"""The heat is taken away much too early."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, lasting, spoken


class Undercooked(Operator):
    """Cut every time that passes from the first heat on to a tenth, and to a minute in all.

    Raw meat, fish and egg do not get hot enough inside in that time, in any vessel and on any
    heat. Only where food is served within ten steps after the heat is off: on a hot plate
    it goes on cooking while the cook does something else.
    """

    kind: Literal['undercooked'] = 'undercooked'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'undercooked'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, if raw meat, fish or egg is eaten."""
        raw = [thing for thing in golden.eaten if golden.starts(thing, 'raw')]
        times = {i: s for i, s in golden.times() if golden.heat_on(i) or golden.heat_before(i)}
        off = max(
            (
                i
                for i, step in golden.of('switch_off')
                if golden.starts(step.arguments[0], 'heater')
            ),
            default=0,
        )
        soon = [i for i, _ in golden.of('serve', after=off) if i <= off + 10]
        if not raw or not times or not soon:
            return
        factor = min(0.1, 60.0 / sum(times.values()))
        steps = tuple(
            lasting(step, times[i] * factor) if i in times else step
            for i, step in enumerate(golden.steps)
        )
        yield Mutant(min(times) + 1, f'{spoken(min(raw))} is served underdone', steps)


Undercooked.example = Undercooked()
