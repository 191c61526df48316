"""Symbolic worlds: a language of declarative files, and an engine that judges plans in them."""
