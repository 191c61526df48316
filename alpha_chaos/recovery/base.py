"""What a recovery policy is: settings that make a policy, which adds phases to an episode.

A policy knows no more than the planner's side does: what was observed, what the parser said and
whether the plan was carried out. The truth is not among it, nor which faults are armed.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from alpha_chaos.plugins import Plugin
from alpha_chaos.tasks.base import Phase

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Facts:
    """What is known after a phase.

    :param seen: where the blocks were last seen, world frame [m]; empty if no scene came
    :param sampled_s: simulated time at which that scene was sampled [s], None if no scene came
    :param age_s: simulated time since then [s], None if no scene came
    :param goal_error_m: from the seen place of the task's block to its goal [m]; NaN if unknown
    :param tolerance_m: largest such distance that counts as success [m]
    :param rejected: why the last plan was rejected by the parser or stopped by the guard; empty if
        it was accepted or none was made
    :param completed: whether the last plan was carried out to its end
    """

    seen: Mapping[str, Vector] = field(default_factory=dict)
    sampled_s: float | None = None
    age_s: float | None = None
    goal_error_m: float = float('nan')
    tolerance_m: float = 0.0
    rejected: tuple[str, ...] = ()
    completed: bool = False


class Policy:
    """One episode's recovery. As it stands it lets the task take its course."""

    def __init__(self) -> None:
        self.rounds = 0  # of recovery begun so far

    def after(self, phase: Phase, facts: Facts) -> Sequence[Phase]:
        """Return what to go through now, before the task goes on; nothing for no recovery.

        Called after every phase, those it added included.
        """
        return ()


class Recovery(Plugin):
    """Settings of a recovery policy."""

    tries: int = Field(default=0, ge=0, le=20, description='rounds of recovery at most [1]')

    @abstractmethod
    def policy(self) -> Policy:
        """Return a fresh policy for one episode."""
