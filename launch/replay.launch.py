"""A recording once more, with its clock: `alpha-chaos replay --ros` as a launch file.

It ends with the recording. Exit code 0: played, or stopped; 1: not; the reason is the last line.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from alpha_chaos import cli, launching


def generate_launch_description():
    return LaunchDescription(
        [
            *launching.arguments(
                cli.replay,
                without=('ros', 'workers', 'limit'),
                told={
                    'run_id': 'Scenario; may be left out where there is only one.',
                    'arm': 'Planner arm; may be left out where there is only one.',
                },
                folder='runs/paper',
                rate='1.0',
                begin='0.0',
            ),
            *launching.everywhere(),
            OpaqueFunction(function=launching.replay),
        ]
    )
