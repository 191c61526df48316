"""What a task is: the phases an episode goes through, and the judgement at its end."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

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
    """

    success: bool
    success_secondary: bool
    final_error_m: float


@dataclass(frozen=True, slots=True)
class Goal:
    """Where one object shall end.

    :param zone: world frame [m]
    :param radius_m: largest distance that counts
    """

    block: str
    zone: tuple[float, float, float]
    radius_m: float


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
    def goal(self) -> Goal | None:
        """Return the one object that is to be moved, None for tasks of another shape."""
        return None

    @property
    def first_step(self) -> int:
        """Return the number of the state right after the reset, so that 0 is first observed."""
        before = takewhile(lambda phase: not isinstance(phase, Observe), self.phases)
        return -sum(phase.steps for phase in before if isinstance(phase, Advance))


def distance_m(one: Sequence[float] | None, other: Sequence[float]) -> float:
    """Return the distance between two points, NaN when either is unknown or not finite."""
    if one is None or not all(map(math.isfinite, (*one, *other))):
        return math.nan
    return math.dist(one, other)
