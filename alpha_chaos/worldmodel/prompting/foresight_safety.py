"""Foresight with nothing but its questions about safety."""

from typing import ClassVar, Literal

from alpha_chaos.worldmodel.prompting.condition import AskedOnce
from alpha_chaos.worldmodel.prompting.foresight import SAFETY, instruction


class ForesightSafety(AskedOnce):
    """Ask for safety and appliances at each step first."""

    kind: Literal['foresight_safety'] = 'foresight_safety'
    instruction: ClassVar[str] = instruction(SAFETY)


ForesightSafety.example = ForesightSafety()
