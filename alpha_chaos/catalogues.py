"""The plug-ins there are, by kind. Nothing is imported before it is asked for."""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from alpha_chaos.plugins import Plugin, catalogue

if TYPE_CHECKING:
    from alpha_chaos.bodies.base import Body
    from alpha_chaos.drivers.base import Driver
    from alpha_chaos.faults.base import Fault
    from alpha_chaos.planners.base import Planner
    from alpha_chaos.probes.base import Probe
    from alpha_chaos.recovery.base import Recovery
    from alpha_chaos.tasks.base import Task
    from alpha_chaos.transit.base import TransitFault
    from alpha_chaos.worldmodel.mutations.base import Operator
    from alpha_chaos.worldmodel.prompting.condition import Condition


@cache
def _known(package: str, base: str, module_name: str = 'base') -> Mapping[str, type[Plugin]]:
    loaded = importlib.import_module(f'alpha_chaos.{package}')
    module = importlib.import_module(f'alpha_chaos.{package}.{module_name}')
    return catalogue(loaded, getattr(module, base))


def bodies() -> 'Mapping[str, type[Body]]':
    """Return the robots and their scenes."""
    return _known('bodies', 'Body')  # type: ignore[return-value]


def conditions() -> 'Mapping[str, type[Condition]]':
    """Return the ways of asking a language model for a plan in a symbolic world."""
    return _known('worldmodel.prompting', 'Condition', 'condition')  # type: ignore[return-value]


def drivers() -> 'Mapping[str, type[Driver]]':
    """Return what can take the place of the robot in a graph."""
    return _known('drivers', 'Driver')  # type: ignore[return-value]


def faults() -> 'Mapping[str, type[Fault]]':
    """Return the faults."""
    return _known('faults', 'Fault')  # type: ignore[return-value]


def mutations() -> 'Mapping[str, type[Operator]]':
    """Return the ways in which golden plans are changed."""
    return _known('worldmodel.mutations', 'Operator')  # type: ignore[return-value]


def planners() -> 'Mapping[str, type[Planner]]':
    """Return the planners."""
    return _known('planners', 'Planner')  # type: ignore[return-value]


def probes() -> 'Mapping[str, type[Probe]]':
    """Return what a graph can be watched for."""
    return _known('probes', 'Probe')  # type: ignore[return-value]


def recoveries() -> 'Mapping[str, type[Recovery]]':
    """Return the recovery policies."""
    return _known('recovery', 'Recovery')  # type: ignore[return-value]


def tasks() -> 'Mapping[str, type[Task]]':
    """Return the tasks."""
    return _known('tasks', 'Task')  # type: ignore[return-value]


def transit_faults() -> 'Mapping[str, type[TransitFault]]':
    """Return the faults of the relay for other people's graphs."""
    return _known('transit', 'TransitFault')  # type: ignore[return-value]
