"""The body itself, simulated."""

from typing import Literal

from alpha_chaos.bodies.base import Body, World
from alpha_chaos.drivers.base import Driver


class Sim(Driver):
    """The body's own physics.

    It has no limits unless an experiment sets some: what becomes of a target out of reach is what
    an experiment wants to know, and a simulated arm breaks nothing on the way.
    """

    kind: Literal['sim'] = 'sim'

    def world(self, body: Body) -> World:
        """Return the body's world."""
        return body.world()


Sim.example = Sim()
