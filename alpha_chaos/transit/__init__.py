"""Faults of the relay for other people's graphs: what may happen to messages in transit."""
