"""Do not plan on an old observation: wait, and look again."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from alpha_chaos.recovery.base import Facts, Policy, Recovery, Vector
from alpha_chaos.tasks.base import Advance, Observe, Phase


class Replan(Recovery):
    """Observe again while the scene is older than `max_age_s` and still changing.

    A camera that is always late never shows a fresh scene; but two late ones that agree, taken at
    different times, show that nothing moves any more, and then the plan is made.
    """

    kind: Literal['replan'] = 'replan'
    tries: int = Field(default=4, ge=1, le=20, description='further observations at most [1]')
    max_age_s: float = Field(
        default=0.15, gt=0, description='oldest scene that is planned on at once [s]'
    )
    wait_steps: int = Field(
        default=120, ge=1, le=2400, description='between two observations; 0.5 s at 240 Hz [1]'
    )
    still_m: float = Field(
        default=0.002, ge=0, description='largest distance between two scenes that agree [m]'
    )

    def policy(self) -> Policy:
        """Return a policy that has seen nothing yet."""
        return _Replan(self)


Replan.example = Replan()


class _Replan(Policy):
    def __init__(self, settings: Replan) -> None:
        super().__init__()
        self._settings = settings
        self._before = Facts()

    def after(self, phase: Phase, facts: Facts) -> Sequence[Phase]:
        settings = self._settings
        if not isinstance(phase, Observe) or self.rounds == settings.tries:
            return ()
        before, self._before = self._before, facts
        if facts.age_s is not None:
            if facts.age_s <= settings.max_age_s:
                return ()
            new = before.sampled_s is not None and facts.sampled_s != before.sampled_s
            if new and _agree(before.seen, facts.seen, settings.still_m):
                return ()
        self.rounds += 1
        return (Advance(steps=settings.wait_steps, name='wait'), Observe())


def _agree(one: Mapping[str, Vector], other: Mapping[str, Vector], within_m: float) -> bool:
    return one.keys() == other.keys() and all(
        math.dist(place, other[name]) <= within_m for name, place in one.items()
    )
