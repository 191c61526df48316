"""What a run's recordings show: its results computed again, and its episodes run again."""
