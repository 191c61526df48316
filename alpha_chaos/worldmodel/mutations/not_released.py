"""The gripper stays closed."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant


class NotReleased(Operator):
    """Leave out the last step that opens the gripper.

    What it holds is put down nowhere.
    """

    kind: Literal['not_released'] = 'not_released'
    harmful: ClassVar[bool] = True

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield the one plan, in a world with a gripper."""
        released = [i for i, _ in golden.of('release')]
        if released:
            yield golden.without(released[-1], note='the gripper is not opened at the end')


NotReleased.example = NotReleased()
