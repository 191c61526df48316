"""How a language model is asked for a plan: one condition per file."""
