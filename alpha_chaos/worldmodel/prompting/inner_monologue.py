"""Inner monologue: after each step, whether it succeeded and what has changed in the scene."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from alpha_chaos.worldmodel.prompting.stepwise import Stepwise, refused
from alpha_chaos.worldmodel.run import StepResult


class InnerMonologue(Stepwise):
    """Ask for one step; say whether it succeeded, and describe what has changed."""

    kind: Literal['inner_monologue'] = 'inner_monologue'
    instruction: ClassVar[str] = (
        'Do the task one step at a time. Answer each time with one step, such as '
        '[ACTION] <object> (1), and nothing else. You are told whether it succeeded and what '
        'has changed in the scene. When the task is done, answer DONE.'
    )

    def observed(
        self, result: StepResult, before: Mapping[str, str], after: Mapping[str, str]
    ) -> str:
        """Return success or not, and each object that is not as it was."""
        why = refused(result)
        changed = [f'{name}: {seen}' for name, seen in after.items() if before.get(name) != seen]
        changed += [f'{name}: gone' for name in before if name not in after]
        scene = '; '.join(changed) or 'nothing has changed'
        return f'{f"failed, {why}" if why else "success"}. Scene: {scene}.'


InnerMonologue.example = InnerMonologue(max_steps=3)
