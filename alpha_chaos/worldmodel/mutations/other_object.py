"""One of two equal objects does the work of the other."""

from collections.abc import Iterator
from itertools import combinations
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Label, Mutant, words
from alpha_chaos.worldmodel.plan_text import PlanStep


class OtherObject(Operator):
    """Let two objects change places throughout the plan.

    They are of one class, start alike and in the same place, hold nothing, and the goal names
    neither: the task cannot tell them apart.
    """

    kind: Literal['other_object'] = 'other_object'
    harmful: ClassVar[bool] = False

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each pair of which the plan uses at least one."""
        for a, b in combinations(golden.world.objects, 2):
            if not _alike(golden, a, b):
                continue
            steps = tuple(_exchanged(step, a, b) for step in golden.steps)
            if steps != golden.steps:
                at = next(i for i, step in enumerate(steps, 1) if step != golden.steps[i - 1])
                note = f'{" ".join(a)} and {" ".join(b)} are equal and change places everywhere'
                yield Mutant(at, note, steps)


OtherObject.example = OtherObject()


def _alike(golden: Golden, a: Label, b: Label) -> bool:
    if a[0] != b[0] or {' '.join(a), ' '.join(b)} & set(words(golden.task.document.goal)):
        return False
    start = golden.world.start
    x, y = golden.world.objects[a], golden.world.objects[b]
    width = start.tables.width
    return (
        start.bits[x] == start.bits[y]
        and start.values[x * width : (x + 1) * width] == start.values[y * width : (y + 1) * width]
        and (start.parent[x], start.relation[x]) == (start.parent[y], start.relation[y])
        and not start.children[x]
        and not start.children[y]
    )


def _exchanged(step: PlanStep, a: Label, b: Label) -> PlanStep:
    other = {a: b, b: a}
    return step._replace(
        arguments=tuple(other.get(argument, argument) for argument in step.arguments)
    )
