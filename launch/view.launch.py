"""Viewers for a graph that runs on this ROS domain: RViz, Foxglove's bridge, and what they need.

What is not installed is named and left out. It ends with RViz, or when it is stopped, with exit
code 0; 1: a viewer that was insisted on is missing, or one failed; the reason is the last line.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from alpha_chaos import launching


def generate_launch_description():
    return LaunchDescription(
        [
            *launching.view_arguments(),
            *launching.everywhere(),
            OpaqueFunction(function=launching.view),
        ]
    )
