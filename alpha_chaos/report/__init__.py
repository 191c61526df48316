"""What a summary looks like; draws, and computes nothing."""
