"""Faults: what can go wrong with a message in transit, one file each."""
