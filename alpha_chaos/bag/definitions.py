"""Message definitions and type hashes that make a bag readable on its own."""

from functools import cache
from typing import Any, NamedTuple

from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from alpha_chaos.resources import interface_folder


class Definition(NamedTuple):
    """What a bag says about a message type."""

    text: str  # concatenated .msg text of the type and everything in it
    hash: str  # RIHS01, as rosidl computes it


@cache
def typestore() -> Any:
    """Return the types of ROS 2 Jazzy and of this package."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types: dict[str, Any] = {}
    for path in sorted(interface_folder().glob('*.msg')):
        types.update(get_types_from_msg(path.read_text('utf-8'), f'alpha_chaos/msg/{path.stem}'))
    store.register(types)
    return store


@cache
def definition(msg_type: str) -> Definition:
    """Return the definition of a message type ('alpha_chaos/msg/StepState').

    :raises KeyError: for a type that is neither of ROS 2 Jazzy nor of this package
    """
    store = typestore()
    text, _ = store.generate_msgdef(msg_type, ros_version=2)
    return Definition(text, store.hash_rihs01(msg_type))
