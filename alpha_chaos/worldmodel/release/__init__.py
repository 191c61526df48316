"""Plans judged as the public SIMMER release judges them, from its own files."""
