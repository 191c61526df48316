"""The same plan in other words."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.parts import Action
from alpha_chaos.worldmodel.plan_text import PlanStep
from alpha_chaos.worldmodel.units import read_value

_OTHER = {
    'time': ('s', 1.0),
    'length': ('mm', 1000.0),
    'temperature': ('K', 1.0),
    'mass': ('kg', 1e-3),
    'volume': ('l', 1e-3),
}


class Restated(Operator):
    """Write every value in another unit."""

    kind: Literal['restated'] = 'restated'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the plan in other words, if it has a value."""
        actions = golden.world.domain.actions
        steps = tuple(_restated(step, actions[step.action]) for step in golden.steps)
        if steps != golden.steps:
            at = next(i for i, step in enumerate(steps, 1) if step != golden.steps[i - 1])
            yield Mutant(at, 'every value in another unit; the plan is the same', steps)


Restated.example = Restated()


def _restated(step: PlanStep, action: Action) -> PlanStep:
    dimensions = [role.dimension for role in action.roles if role.kind == 'value']
    return step._replace(
        arguments=tuple(
            (name if id_ else _other_unit(name, dimensions), id_) for name, id_ in step.arguments
        )
    )


def _other_unit(word: str, dimensions: Sequence[str]) -> str:
    """Return a value in another unit; what has no unit, or no other one, as it is."""
    if word.replace('.', '').lstrip('-').isdigit():
        return word
    for dimension in dimensions:
        value = read_value(word, dimension)
        if value is not None and dimension in _OTHER:
            unit, factor = _OTHER[dimension]
            return f'{round(value * factor, 6):g}_{unit}'
    return word
