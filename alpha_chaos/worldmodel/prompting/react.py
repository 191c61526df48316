"""ReAct: a thought and an action in turn, and the executor's word on the action."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.prompting.stepwise import Stepwise, refused
from alpha_chaos.worldmodel.run import StepResult


class React(Stepwise):
    """Ask for a thought and one step; say whether the step was possible."""

    kind: Literal['react'] = 'react'
    instruction: ClassVar[str] = (
        'Do the task one step at a time. Answer each time with one line that begins with '
        'Thought: and one line that begins with Action: and has one step, such as '
        'Action: [ACTION] <object> (1). An observation follows. When the task is done, answer '
        'Action: DONE.'
    )

    def observed(
        self, result: StepResult, before: Mapping[str, str], after: Mapping[str, str]
    ) -> str:
        """Return whether the step was possible."""
        why = refused(result)
        return f'not possible: {why}.' if why else 'done.'


React.example = React(max_steps=3)
