"""The relay alone, for a graph of somebody else: routes and faults from a file.

It ends when it is stopped, with exit code 0. 1: it could not start or ended by itself; the reason
is the last line.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from alpha_chaos import launching


def generate_launch_description():
    return LaunchDescription(
        [
            *launching.relay_arguments(),
            *launching.everywhere(),
            OpaqueFunction(function=launching.relay),
        ]
    )
