"""`alpha-chaos replay --ros`: publish a recording again, for whoever listens."""

import os
from pathlib import Path

from alpha_chaos import journal
from alpha_chaos.bag.writer import METADATA
from alpha_chaos.graph import NodeSpec
from alpha_chaos.plugins import BadSetting, unknown
from alpha_chaos.run.processes import users_environment

PLAYER = 'bag_player'


def player(bag: Path, **parameters: bool | float | None) -> NodeSpec:
    """Return the node that plays a recording.

    :param parameters: of the node; None is what it takes by itself
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    return NodeSpec(PLAYER, {'bag': str(bag.resolve()), **given})


def find_recording(folder: Path, run_id: str | None, arm: str | None) -> Path:
    """Return the recording of an episode's attempt that counts, or `folder` if it is one itself.

    :raises BadSetting: saying what there is to choose from
    """
    if folder.is_file() or (folder / METADATA).is_file():
        if run_id is not None:
            raise BadSetting(f'{folder} is a recording itself: it needs no RUN_ID')
        return folder
    if not (folder / journal.FILE).is_file():
        raise BadSetting(f'{folder} is neither a recording nor the folder of a run')
    rows = journal.final(journal.read(folder).rows)
    bags = {key: row.bag for key, row in rows.items() if row.bag}
    run_ids = {key[0] for key in bags}
    if run_id is None and len(run_ids) == 1:
        (run_id,) = run_ids
    if run_id is None or run_id not in run_ids:
        raise BadSetting(unknown('RUN_ID', run_id, run_ids))
    arms = {key[1]: bag for key, bag in bags.items() if key[0] == run_id}
    if arm is None and len(arms) == 1:
        (arm,) = arms
    if arm is None or arm not in arms:
        raise BadSetting(unknown('ARM', arm, arms))
    return folder / arms[arm]


def play(
    folder: Path, run_id: str | None, arm: str | None, **parameters: bool | float | None
) -> int:
    """Play a recording to its end, or until a signal comes; return the exit code.

    :param parameters: see `player`
    :raises BadSetting: where there is no such recording
    """
    spec = player(find_recording(folder, run_id, arm), **parameters)
    os.environ.update(users_environment())
    from alpha_chaos.nodes.bag_player_node import BagPlayerNode
    from alpha_chaos.nodes.spin import run_all

    return run_all([BagPlayerNode], ['alpha-chaos', '--ros-args', *spec.ros_arguments()])
