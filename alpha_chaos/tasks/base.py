"""What a task is: the phases an episode goes through, and the judgement at its end."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from alpha_chaos.plan import Placement
from alpha_chaos.plugins import Plugin


class _Phase(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid')


class Advance(_Phase):
    """Let simulated time pass with nothing commanded."""

    kind: Literal['advance'] = 'advance'
    steps: int = Field(ge=0, description='physics steps [1]')
    name: str = Field(description='what the phase is called in the record')


class Observe(_Phase):
    """Take an observation; the first one of an episode is its step 0."""

    kind: Literal['observe'] = 'observe'
    name: str = 'observe'


class MakePlan(_Phase):
    """Ask the planner for a plan, given the last observation."""

    kind: Literal['plan'] = 'plan'
    name: str = 'plan'
    reasons: tuple[str, ...] = Field(
        default=(), description='why the plan before was rejected, for the planner to read'
    )


class Execute(_Phase):
    """Carry out the last plan; one that was rejected moves nothing."""

    kind: Literal['execute'] = 'execute'
    name: str = 'execute'


Phase: TypeAlias = Annotated[Advance | Observe | MakePlan | Execute, Field(discriminator='kind')]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one episode.

    :param success_secondary: by the wider radius that is reported beside the first
    :param final_error_m: NaN when unknown, and then there is no success
    :param why: what is not as it should be, its type first; empty for the distance alone
    """

    success: bool
    success_secondary: bool
    final_error_m: float
    why: str = ''


class Task(Plugin):
    """Settings of a task."""

    @property
    @abstractmethod
    def objects(self) -> tuple[str, ...]:
        """Return the names of the objects the body must have."""

    @property
    @abstractmethod
    def phases(self) -> tuple[Phase, ...]:
        """Return what an episode goes through between reset and judgement, in order."""

    @abstractmethod
    def judge(self, positions_m: Mapping[str, Sequence[float]]) -> Judgement:
        """Judge the last step of an episode.

        :param positions_m: object name to x y z in the world frame [m]
        """

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Return where each block shall end, in the order in which they are to be moved.

        The first is what is observed of an episode. Empty for a task that asks for no plan.
        """
        return ()

    @property
    def first_step(self) -> int:
        """Return the number of the state right after the reset, so that 0 is first observed."""
        before = takewhile(lambda phase: not isinstance(phase, Observe), self.phases)
        return -sum(phase.steps for phase in before if isinstance(phase, Advance))


class OnePlan(Task):
    """Settings of a task with one plan, made from one observation after the scene has settled."""

    settle_steps: int = Field(
        default=120, ge=0, description='before the first observation, not counted [1]'
    )
    rest_steps: int = Field(default=60, ge=0, description='after the plan, counted [1]')

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Return settle, observe, plan, execute, rest."""
        return (
            Advance(steps=self.settle_steps, name='settle'),
            Observe(),
            MakePlan(),
            Execute(),
            Advance(steps=self.rest_steps, name='rest'),
        )


def distance_m(one: Sequence[float] | None, other: Sequence[float]) -> float:
    """Return the distance between two points, NaN when either is unknown or not finite."""
    if one is None or not all(map(math.isfinite, (*one, *other))):
        return math.nan
    return math.dist(one, other)


def worst_m(distances_m: Sequence[float]) -> float:
    """Return the largest distance, NaN when one is unknown or there is none."""
    if not distances_m or any(map(math.isnan, distances_m)):
        return math.nan
    return max(distances_m)
