"""What a run's journal says: pure functions from rows to numbers."""
