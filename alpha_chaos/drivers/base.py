"""What a driver is: a node that serves arm and gripper, and what it takes part in.

`docs/drivers.md` says what the node owes its clients; `alpha-chaos check-driver` tests that.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from alpha_chaos.bodies.base import BadCommand, Body, World
from alpha_chaos.plugins import Plugin
from alpha_chaos.workspace import Box


class Limits(BaseModel):
    """What a driver does not even try."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    workspace: Box | None = Field(
        default=None, description='where targets may lie, in the world frame; None: anywhere'
    )
    max_goal_age_s: float | None = Field(
        default=None, gt=0, description='since the stamp of a goal [s]; None: any'
    )

    def check(self, position_m: Sequence[float], age_s: float | None) -> None:
        """Let a target pass or refuse it; one that is not finite is left to the world.

        :param age_s: None for a goal without a stamp, which means now
        :raises BadCommand: saying what is allowed
        """
        if self.max_goal_age_s is not None and age_s is not None and age_s > self.max_goal_age_s:
            raise BadCommand(
                f'stale goal: stamped {age_s:.3f} s ago, and this driver takes none older than '
                f'{self.max_goal_age_s:g} s'
            )
        box = self.workspace
        if (
            box is not None
            and all(map(math.isfinite, position_m))
            and not box.contains(position_m)
        ):
            x, y, z = position_m
            raise BadCommand(
                f'target ({x:.3f}, {y:.3f}, {z:.3f}) m is outside the workspace, '
                f'{box.min} to {box.max} m'
            )


class Driver(Plugin):
    """Settings of a driver. Its node and its executable have the name of the kind."""

    takes_episodes: ClassVar[bool] = True

    limits: Limits = Limits()

    @abstractmethod
    def world(self, body: Body) -> World:
        """Return a new world of an episode, made from nothing.

        :raises BadSetting: for a body that this driver cannot play
        """
