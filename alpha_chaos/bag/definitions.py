"""Message definitions and type hashes that make a bag readable on its own."""

from functools import cache
from typing import Any, NamedTuple

from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from alpha_chaos.resources import interface_folder


class Definition(NamedTuple):
    """What a bag says about a message type."""

    text: str  # concatenated .msg text of the type and everything in it
    hash: str  # RIHS01, as rosidl computes it


# What the sections of a definition are called: `Plan.srv` holds Plan_Request and Plan_Response.
_SECTIONS = {
    'msg': ('',),
    'srv': ('_Request', '_Response'),
    'action': ('_Goal', '_Result', '_Feedback'),
}


@cache
def typestore() -> Any:
    """Return the types of ROS 2 Jazzy and of this package.

    The halves of services and actions are types, too: exchanges are recorded as them.
    """
    store = get_typestore(Stores.ROS2_JAZZY)
    types: dict[str, Any] = {}
    for kind, sections in _SECTIONS.items():
        for path in sorted(interface_folder(kind).glob(f'*.{kind}')):
            texts = path.read_text('utf-8').split('---\n')
            for section, text in zip(sections, texts, strict=True):
                name = f'{path.stem}{section}'
                # Read as a message, because names of types in it are those of messages.
                (fields,) = get_types_from_msg(text, f'alpha_chaos/msg/{name}').values()
                types[f'alpha_chaos/{kind}/{name}'] = fields
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
