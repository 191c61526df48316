"""What every prompting condition does, and the conditions that ask once."""

import re
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from alpha_chaos.plugins import Plugin
from alpha_chaos.worldmodel.exam import Briefing, Exam

# Asks the model: system text, prompt, and the longest reply in tokens (None: as the run says).
# Raises `planners.providers.base.ProviderError` when there is no answer.
Ask = Callable[[str, str, int | None], str]

ROLE = 'You plan what somebody does, step by step, before anything is done.'
ANSWER = 'Then write a line with the word PLAN: alone, and below it all steps of the plan.'
_HEADING = re.compile(r'^[\s#*_>`]*plan[\s*_`]*:[\s*_`]*$', re.IGNORECASE | re.MULTILINE)

Ended = Literal['answered', 'done', 'step_limit', 'context_full']


@dataclass(frozen=True)
class Planned:
    """A plan that came of a condition.

    :param text: as the model wrote it, to be judged
    :param ended: why there is no more of it; a reply that was cut off is noted with the reply
    """

    text: str
    ended: Ended = 'answered'


class Condition(Plugin):
    """One way of asking for a plan. Which task it is, and what judges, is not its business."""

    @property
    def name(self) -> str:
        """Return the name on command lines and in tables."""
        return self.kind.replace('_', '-')

    @abstractmethod
    def plan(self, exam: Exam, ask: Ask) -> Planned:
        """Return the plan for a task.

        :raises ProviderError: if the model did not answer
        """

    @abstractmethod
    def opening(self, briefing: Briefing) -> tuple[str, str]:
        """Return system text and prompt of the first question: it has to fit into the model."""


class AskedOnce(Condition):
    """A condition that differs from others in one paragraph of the prompt.

    The paragraph stands behind the task, so that all prompts of a world begin alike.
    """

    instruction: ClassVar[str]

    def plan(self, exam: Exam, ask: Ask) -> Planned:
        """Return what the model answers."""
        return Planned(steps_of(ask(*self.opening(exam.briefing()), None)))

    def opening(self, briefing: Briefing) -> tuple[str, str]:
        """Return system text and prompt."""
        return system(briefing), f'{briefing.situation}\n\n{self.instruction} {ANSWER}'


def system(briefing: Briefing) -> str:
    """Return what the model is told of the world."""
    return f'{ROLE}\n{briefing.rules}'


def steps_of(reply: str) -> str:
    """Return what stands below the last heading PLAN:, or all of a reply without one."""
    headings = list(_HEADING.finditer(reply))
    return reply[headings[-1].end() :] if headings else reply
