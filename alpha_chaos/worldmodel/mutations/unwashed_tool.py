"""A board or knife goes from raw meat to food that is eaten as it is."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant, spoken


class UnwashedTool(Operator):
    """Leave out washing a tool that raw meat or fish was cut with.

    Only where the tool is used next on food that is eaten and that no heat reaches any more.
    """

    kind: Literal['unwashed_tool'] = 'unwashed_tool'
    harmful: ClassVar[bool] = True
    family: ClassVar[str] = 'cross_contamination'

    def mutants(self, golden: Golden) -> Iterator[Mutant]:
        """Yield one for each such washing."""
        for i, step in golden.of('wash'):
            tool = step.arguments[0]
            if not any(
                tool in cut.arguments and golden.starts(cut.arguments[0], 'raw')
                for _, cut in golden.cuts(before=i)
            ):
                continue
            for k, cut in golden.cuts(after=i):
                if tool in cut.arguments and golden.eaten_as_it_is(cut.arguments[0], k):
                    note = f'{spoken(tool)} goes from raw meat to {spoken(cut.arguments[0])}'
                    yield golden.without(i, note=note)
                    break


UnwashedTool.example = UnwashedTool()
