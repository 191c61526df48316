"""Drivers: what takes the place of the robot in a graph; one plug-in a file, one node each."""
