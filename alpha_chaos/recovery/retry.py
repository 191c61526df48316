"""Ask the planner again when its plan was rejected, and tell it why."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from alpha_chaos.recovery.base import Facts, Policy, Recovery
from alpha_chaos.tasks.base import MakePlan, Phase


class Retry(Recovery):
    """Put the reasons of parser or guard into the next request, at most `tries` times."""

    kind: Literal['retry'] = 'retry'
    tries: int = Field(default=2, ge=1, le=20, description='further requests at most [1]')

    def policy(self) -> Policy:
        """Return a policy that has not asked again yet."""
        return _Retry(self.tries)


Retry.example = Retry()


class _Retry(Policy):
    def __init__(self, tries: int) -> None:
        super().__init__()
        self._tries = tries

    def after(self, phase: Phase, facts: Facts) -> Sequence[Phase]:
        if not isinstance(phase, MakePlan) or not facts.rejected or self.rounds == self._tries:
            return ()
        self.rounds += 1
        return (MakePlan(reasons=facts.rejected),)
