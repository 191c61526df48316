"""From a recording to a table: how far each block is from the zone, and every joint, over time.

    python docs/examples/bag_to_pandas.py runs/smoke/bags/control_000.oracle [table.csv]

The bag holds the definitions of its messages, so this needs rosbags, numpy and pandas, and
neither ROS nor alpha_chaos.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from rosbags.highlevel import AnyReader


def table(bag: Path) -> pd.DataFrame:
    """Return a row for every simulated step, by its time [s]."""
    with AnyReader([bag]) as reader:

        def messages(topic: str):
            connections = [known for known in reader.connections if known.topic == topic]
            for connection, _, data in reader.messages(connections):
                yield reader.deserialize(data, connection.msgtype)

        (world,) = messages('/world')
        steps = list(messages('/step_state'))
    zone = np.array([world.zone.x, world.zone.y, world.zone.z])
    # A pose is x, y, z [m] and a quaternion, one object after the other.
    poses = np.array([step.object_pose for step in steps]).reshape(len(steps), -1, 7)
    errors_m = np.linalg.norm(poses[:, :, :3] - zone, axis=2)
    joints_rad = np.array([step.joint_position for step in steps])
    stamps = [step.header.stamp for step in steps]
    return pd.DataFrame(
        np.hstack([errors_m, joints_rad]),
        index=pd.Index([stamp.sec + stamp.nanosec * 1e-9 for stamp in stamps], name='time_s'),
        columns=[
            *[f'{name}_to_zone_m' for name in world.object_names],
            *[f'{name}_rad' for name in world.joint_names],
        ],
    )


if __name__ == '__main__':
    found = table(Path(sys.argv[1]))
    print(found.round(4).to_string(max_rows=10))
    if len(sys.argv) > 2:
        found.to_csv(sys.argv[2])
