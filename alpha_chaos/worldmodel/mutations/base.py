"""What makes mutants of a golden plan, and says without carrying them out which do harm."""

from collections.abc import Iterator
from typing import ClassVar

from alpha_chaos.plugins import Plugin
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant


class Operator(Plugin):
    """One kind of change. It yields only mutants of which it is sure what they are.

    What is sure follows from the words of the plan, from what the objects are and how they start.
    The rules by which a world judges plans are no part of it: they are what is tested.
    """

    harmful: ClassVar[bool]
    family: ClassVar[str] = ''  # of the audits that are about such harm; empty: the goal is missed
    gap: ClassVar[str] = ''  # why a world that we ship does not see all of them, if it does not

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield every mutant of a golden plan, in the order of its steps."""
        raise NotImplementedError
