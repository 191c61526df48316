"""Bodies: a robot, its scene and how it grasps, one plug-in a file."""
