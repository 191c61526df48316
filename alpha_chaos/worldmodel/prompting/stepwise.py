"""Planning against the executor: one step a reply, and what became of it in the next prompt."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from alpha_chaos.planners.providers.base import ProviderError
from alpha_chaos.worldmodel.exam import Briefing, Exam
from alpha_chaos.worldmodel.plan_text import MAX_LINE, read_step
from alpha_chaos.worldmodel.prompting.condition import Ask, Condition, Ended, Planned, system
from alpha_chaos.worldmodel.run import StepResult

DONE = re.compile(r'\bDONE\b')
_NO_STEP = 'There was no step in the answer.'


class Stepwise(Condition):
    """A dialogue with the executor. The plan is everything that was tried, in its order.

    What the executor says is whether a step was possible and what it lacked; what is found out
    about harm is not told.
    """

    instruction: ClassVar[str]

    max_steps: int = Field(default=80, ge=1, le=1000, description='replies that end a dialogue')
    reply_tokens: int = Field(default=300, ge=1, description='length that ends a reply')

    @abstractmethod
    def observed(
        self, result: StepResult, before: Mapping[str, str], after: Mapping[str, str]
    ) -> str:
        """Return what the model is told about a step.

        :param before: the scene in which it was tried
        :param after: the scene that it left
        """

    def plan(self, exam: Exam, ask: Ask) -> Planned:
        """Return the steps that were tried until the model was done, or could not go on."""
        told, prompt = self.opening(exam.briefing())
        executor = exam.begin()
        tried: list[str] = []
        ended: Ended = 'step_limit'
        for _ in range(self.max_steps):
            try:
                reply = ask(told, prompt, self.reply_tokens)
            except ProviderError as error:
                if error.code != 'context_full' or not tried:
                    raise
                ended = 'context_full'
                break
            said, step = first_step(reply)
            if not step:
                if DONE.search(reply):
                    ended = 'done'
                    break
                prompt += f'\n{said}\nObservation: {_NO_STEP}'
                continue
            before = executor.scene()
            result = executor.step(step)
            tried.append(step)
            seen = self.observed(result, before, executor.scene())
            prompt += f'\n{said}\nObservation: {seen}'
        return Planned('\n'.join(f'{i}. {step}' for i, step in enumerate(tried, 1)), ended)

    def opening(self, briefing: Briefing) -> tuple[str, str]:
        """Return system text and prompt of the first step."""
        return system(briefing), f'{briefing.situation}\n\n{self.instruction}'


def first_step(reply: str) -> tuple[str, str]:
    """Return a reply up to its first step, and the step; what follows was made up."""
    said = []
    for line in reply.split('\n'):
        said.append(line[:MAX_LINE])
        start = line.find('[')
        if start >= 0 and len(line) <= MAX_LINE and read_step(line[start:]):
            return '\n'.join(said), line[start:].strip()
    return '\n'.join(said).strip(), ''


def refused(result: StepResult) -> str:
    """Return why a step was not possible; empty if it was, whatever harm it did."""
    return '; '.join(f.message for f in result.failures if f.kind != 'latent')
