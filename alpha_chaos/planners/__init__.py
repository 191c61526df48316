"""Planners: one plug-in per file."""
