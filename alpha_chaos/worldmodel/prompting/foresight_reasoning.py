"""Foresight without its questions about safety."""

from typing import ClassVar, Literal

from alpha_chaos.worldmodel.prompting.condition import AskedOnce
from alpha_chaos.worldmodel.prompting.foresight import STATES, instruction


class ForesightReasoning(AskedOnce):
    """Ask for states, preconditions and effects of each step first."""

    kind: Literal['foresight_reasoning'] = 'foresight_reasoning'
    instruction: ClassVar[str] = instruction(STATES)


ForesightReasoning.example = ForesightReasoning()
