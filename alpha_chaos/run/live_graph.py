"""What runs on this ROS domain, and what goes from whom to whom."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from alpha_chaos.graph_picture import Kind, Wire
from alpha_chaos.plugins import BadSetting
from alpha_chaos.run.processes import users_environment

if TYPE_CHECKING:  # the environment decides what rclpy is when it is imported
    from rclpy.node import Node

NOBODY = 'no node answers on this ROS_DOMAIN_ID; start a graph, or set the id of one'
LOOK_S = 0.1  # between two looks
PATIENCE_S = 30.0  # with a graph in which nodes come and go
# What every node has, and the parts that actions are made of.
_COMMON = re.compile(
    r'/_action/|/rosout$|/parameter_events$|/describe_parameters$|/get_parameters$|/get_parameter_'
    r'types$|/list_parameters$|/set_parameters$|/set_parameters_atomically$|/get_type_description$'
)


def look(quiet_s: float) -> tuple[list[str], list[Wire]]:
    """Return the nodes on this domain and what goes between them.

    :param quiet_s: for so long nothing new has been discovered when it returns
    :raises BadSetting: where nobody is
    """
    os.environ.update(users_environment())
    import rclpy

    from alpha_chaos.nodes.participant import destroy_all

    rclpy.init(args=[])
    try:
        observer = rclpy.create_node('_graph', start_parameter_services=False, enable_rosout=False)
        found: tuple[list[str], list[Wire]] = ([], [])
        began_s = changed_s = time.monotonic()
        while time.monotonic() - changed_s < quiet_s and changed_s - began_s < PATIENCE_S:
            time.sleep(LOOK_S)
            names = nodes(observer)
            seen = names, sorted(set(wires(observer, names)))
            if seen != found:
                found, changed_s = seen, time.monotonic()
        destroy_all([observer])
    finally:
        rclpy.try_shutdown()
    if not found[0]:
        raise BadSetting(NOBODY)
    return found


def nodes(observer: 'Node') -> list[str]:
    """Return the full names of all nodes that do not hide."""
    found = observer.get_node_names_and_namespaces()
    return sorted(
        {f'{space.rstrip("/")}/{name}' for name, space in found if not name.startswith('_')}
    )


def wires(observer: 'Node', names: Iterable[str]) -> Iterator[Wire]:
    """Yield everything that goes from one of these nodes to another.

    Who calls a service is known of nodes, and not who answers whom: all that serve it do.
    """
    from rclpy.action import (
        get_action_client_names_and_types_by_node,
        get_action_server_names_and_types_by_node,
    )

    names = list(names)
    asks: tuple[tuple[Kind, Callable[..., Any], Callable[..., Any]], ...] = (
        (
            'topic',
            observer.get_publisher_names_and_types_by_node,
            observer.get_subscriber_names_and_types_by_node,
        ),
        (
            'service',
            observer.get_client_names_and_types_by_node,
            observer.get_service_names_and_types_by_node,
        ),
        (
            'action',
            lambda *node: get_action_client_names_and_types_by_node(observer, *node),
            lambda *node: get_action_server_names_and_types_by_node(observer, *node),
        ),
    )
    for kind, sources, targets in asks:
        receivers: dict[str, list[str]] = {}
        for target in names:
            for thing in _things(targets, target):
                receivers.setdefault(thing, []).append(target)
        for source in names:
            for thing in _things(sources, source):
                for target in receivers.get(thing, ()):
                    if target != source:
                        yield Wire(source, target, kind, thing)


def _things(ask: Callable[..., Any], node: str) -> set[str]:
    space, _, name = node.rpartition('/')
    try:
        found = ask(name, space or '/')
    except RuntimeError:  # it has gone meanwhile
        return set()
    return {thing for thing, _ in found if not _COMMON.search(thing)}
