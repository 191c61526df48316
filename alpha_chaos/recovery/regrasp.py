"""Look after acting, and act again if the block is not where it should be."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from alpha_chaos.recovery.base import Facts, Policy, Recovery
from alpha_chaos.tasks.base import Advance, Execute, MakePlan, Observe, Phase

LOOK = 'look'


class Regrasp(Recovery):
    """Observe once the plan has been carried out; plan and act anew while the block is missing.

    What counts is what is *seen*: a stale or wrong scene deceives this policy as it does a
    planner. Every look costs `wait_steps`, also where nothing was lost.
    """

    kind: Literal['regrasp'] = 'regrasp'
    tries: int = Field(default=2, ge=1, le=20, description='further plans at most [1]')
    wait_steps: int = Field(
        default=60, ge=1, le=2400, description='before a look, for what moves to settle [1]'
    )

    def policy(self) -> Policy:
        """Return a policy that has not looked yet."""
        return _Regrasp(self)


Regrasp.example = Regrasp()


class _Regrasp(Policy):
    def __init__(self, settings: Regrasp) -> None:
        super().__init__()
        self._settings = settings

    def after(self, phase: Phase, facts: Facts) -> Sequence[Phase]:
        if self.rounds == self._settings.tries:
            return ()
        if isinstance(phase, Execute):
            wait = Advance(steps=self._settings.wait_steps, name='wait')
            return (wait, Observe(name=LOOK))
        # NaN compares false: what was not seen in its place is not there.
        if (
            isinstance(phase, Observe)
            and phase.name == LOOK
            and not facts.goal_error_m <= facts.tolerance_m
        ):
            self.rounds += 1
            return (MakePlan(), Execute())
        return ()
