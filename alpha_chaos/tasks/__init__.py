"""Tasks: what to do, in which phases, and when it counts as done; one plug-in a file."""
