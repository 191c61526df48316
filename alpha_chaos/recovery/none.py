"""No recovery: what is rejected or lost stays so. The paper's."""

from typing import Literal

from pydantic import Field

from alpha_chaos.recovery.base import Policy, Recovery


class NoRecovery(Recovery):
    """Ask once, act once."""

    kind: Literal['none'] = 'none'
    tries: int = Field(default=0, ge=0, le=0, description='there is no recovery to try [1]')

    def policy(self) -> Policy:
        """Return the policy that never adds anything."""
        return Policy()


NoRecovery.example = NoRecovery()
