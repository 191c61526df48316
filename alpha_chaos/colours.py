"""Colours by name, for pictures and for viewers: red, green, blue and opacity, each 0 to 1."""

from typing import TypeAlias

Colour: TypeAlias = tuple[float, float, float, float]

COLOURS: dict[str, Colour] = {
    'red': (0.85, 0.15, 0.12, 1.0),
    'green': (0.10, 0.60, 0.25, 1.0),
    'blue': (0.12, 0.35, 0.80, 1.0),
    'yellow': (1.0, 0.80, 0.0, 1.0),
    'orange': (0.95, 0.45, 0.05, 1.0),
    'white': (1.0, 1.0, 1.0, 1.0),
}
GREY: Colour = (0.5, 0.5, 0.5, 1.0)


def colour_of(name: str) -> Colour:
    """Return the colour a thing is named after; grey if it is named after none."""
    return COLOURS.get(name, GREY)
