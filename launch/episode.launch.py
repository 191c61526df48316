"""One episode of an experiment, every node a process of its own.

It ends with the supervisor: exit code 0 if there is a result, also a failed task, and 1 if not.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from alpha_chaos import cli, launching


def generate_launch_description():
    return LaunchDescription(
        [
            *launching.arguments(cli.episode, run_id='control_000', arm='llm', out='runs/episode'),
            *launching.everywhere(),
            OpaqueFunction(function=launching.episode),
        ]
    )
