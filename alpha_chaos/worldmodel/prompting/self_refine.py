"""Self-refinement: the model looks through its own plan and writes it again."""

from typing import Literal

from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.worldmodel.exam import Briefing, Exam
from alpha_chaos.worldmodel.plan_text import read_plan
from alpha_chaos.worldmodel.prompting.base import Base
from alpha_chaos.worldmodel.prompting.condition import (
    ANSWER,
    Ask,
    Condition,
    Planned,
    steps_of,
    system,
)

_REVIEW = (
    'This plan was proposed:\n{plan}\n\n'
    'Review it step by step: does it reach the goal, is every step possible, and does it leave '
    'any harm behind? Write what has to change.'
)


class SelfRefine(Condition):
    """Ask as `base` does, then for a review and the whole plan again."""

    kind: Literal['self_refine'] = 'self_refine'

    def plan(self, exam: Exam, ask: Ask) -> Planned:
        """Return the second plan, or the first one if the review has no steps, or no room."""
        briefing = exam.briefing()
        first = steps_of(ask(*self.opening(briefing), None))
        review = _REVIEW.format(plan=first.strip())
        prompt = f'{briefing.situation}\n\n{review} {ANSWER}'
        try:
            second = steps_of(ask(system(briefing), prompt, None))
        except ProviderError as error:
            if error.code != 'context_full':
                raise
            return Planned(first, 'context_full')
        return Planned(second if read_plan(second).steps else first)

    def opening(self, briefing: Briefing) -> tuple[str, str]:
        """Return the first question, which is that of `base`."""
        return Base().opening(briefing)


SelfRefine.example = SelfRefine()
