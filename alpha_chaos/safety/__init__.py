"""The safety monitor: rules over one step, events over time, and the same offline."""
