"""Golden plans changed on purpose, and what an engine should make of each change."""
