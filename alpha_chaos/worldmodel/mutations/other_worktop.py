"""The cook stands somewhere else at the worktop."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.plan_text import PlanStep


class OtherWorktop(Operator):
    """Walk to the sink instead of the counter.

    Counter, sink and stove are within reach of each other.
    """

    kind: Literal['other_worktop'] = 'other_worktop'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each walk to the counter."""
        if not golden.starts(('sink', '1'), 'worktop'):
            return
        for i, step in golden.of('walk'):
            if step.arguments == (('counter', '1'),):
                sink = PlanStep('walk', (('sink', '1'),))
                yield golden.replaced(
                    i, sink, note='to the sink, from where the counter is within reach'
                )


OtherWorktop.example = OtherWorktop()
