"""Where completions come from: one provider per file."""
