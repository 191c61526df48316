"""The guard's verdicts as recorded, and as it concludes them again."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from alpha_chaos.analysis.difference import Unequal, unequal
from alpha_chaos.analysis.walk import Walked
from alpha_chaos.bag.plain import plain
from alpha_chaos.bag.reader import Recording
from alpha_chaos.guard import Failure, Verdict

TOPIC = '/plan_verdicts'


def unequal_verdicts(recording: Recording, walked: Walked) -> Iterator[Unequal]:
    """Return where what the guard said is not what it concludes from the same plan and scene."""
    said = [_said(message) for message in recording.decoded(TOPIC)]
    return unequal(said, [_concluded(verdict) for verdict in walked.verdicts], TOPIC)


def _said(message: Any) -> dict[str, Any]:
    names = [item.name for item in dataclasses.fields(Failure) if item.name != 'position_m']
    return {
        'mode': message.mode,
        'clean': message.clean,
        'blocked': message.blocked,
        'goal_reached': message.goal_reached,
        'failures': [
            {**{name: getattr(item, name) for name in names}, 'position_m': _xyz(item.position)}
            for item in message.failures
        ],
        'path_m': [_xyz(place) for place in message.path],
    }


def _concluded(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = plain(verdict)
    return {**found, 'clean': verdict.clean, 'blocked': verdict.blocked}


def _xyz(point: Any) -> list[float]:
    return [point.x, point.y, point.z]
