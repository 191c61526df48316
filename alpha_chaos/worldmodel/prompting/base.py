"""The task and nothing more."""

from typing import ClassVar, Literal

from alpha_chaos.worldmodel.prompting.condition import AskedOnce


class Base(AskedOnce):
    """Ask for the plan."""

    kind: Literal['base'] = 'base'
    instruction: ClassVar[str] = 'Plan the task to its end.'


Base.example = Base()
