"""Let go of a DDS participant without the risk that it hangs.

A participant goes with the last node of its context, and waits for the discovery callback that is
under way. Fast DDS 2.14 as it is built for PyPI waits by a deadline that overflows: it turns in
circles and keeps locked what the callback needs to end (eProsima/Fast-DDS#6513). Of some hundred
processes that stop together, one never does. With a deadline that exists it waits well, and
afterwards there is no callback that anybody waits for.
"""

import ctypes
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from traceback import walk_tb

import rclpy
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

PATIENCE_S = 60
_PARTICIPANT_OF = '_ZN16rmw_fastrtps_cpp22get_domain_participantEP10rmw_node_s'
_SET_LISTENER = (
    '_ZN8eprosima7fastdds3dds17DomainParticipant12set_listener'
    'EPNS1_25DomainParticipantListenerENSt6chrono8durationIlSt5ratioILl1ELl1EEEE'
)


def destroy_all(nodes: Iterable[Node]) -> None:
    """Destroy all nodes of a context."""
    for node in nodes:
        end_discovery(node)
        for waitable in tuple(node.waitables):  # actions, which destroy_node forgets
            waitable.destroy()  # type: ignore[attr-defined]
        node.destroy_node()


@contextmanager
def made_or_let_go() -> Iterator[None]:
    """Look after the node that is made in here: if it fails, it goes when it likes."""
    try:
        yield
    except Exception as error:
        for frame, _ in walk_tb(error.__traceback__):
            if isinstance(node := frame.f_locals.get('self'), Node) and hasattr(node, 'handle'):
                end_discovery(node)
        raise


def end_discovery(node: Node) -> None:
    """Let the context of a node learn nothing more of who comes and goes."""
    if rclpy.get_rmw_implementation_identifier() != 'rmw_fastrtps_cpp':
        return
    try:
        rcl = ctypes.CDLL('librcl.so', os.RTLD_NOLOAD)
        rmw = ctypes.CDLL('librmw_fastrtps_cpp.so', os.RTLD_NOLOAD)
        rmw_node_of = rcl.rcl_node_get_rmw_handle
        participant_of, set_listener = rmw[_PARTICIPANT_OF], rmw[_SET_LISTENER]
    except (OSError, AttributeError):  # built otherwise, without what this is about
        return
    rmw_node_of.restype = participant_of.restype = ctypes.c_void_p
    with suppress(InvalidHandle), node.handle:  # of a node that has gone nothing is left to end
        rmw_node = rmw_node_of(ctypes.c_void_p(node.handle.pointer))
        participant = participant_of(ctypes.c_void_p(rmw_node))
        set_listener(ctypes.c_void_p(participant), None, ctypes.c_int64(PATIENCE_S))
