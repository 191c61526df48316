"""Every episode of an experiment and the paired result: `alpha-chaos matrix` as a launch file.

Exit code 0: every episode has a result; 1: not, or bad input; the reason is the last line.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from alpha_chaos import cli, launching


def generate_launch_description():
    return LaunchDescription(
        [*launching.arguments(cli.matrix), OpaqueFunction(function=launching.matrix)]
    )
