"""Message definitions and type hashes that make a bag readable on its own."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

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
                types |= _read(text, f'alpha_chaos/{kind}/{path.stem}{section}')
    store.register(types)
    return store


def decode(data: bytes, msg_type: str, text: str = '') -> Any:
    """Return a serialised message as an object with the fields of its type.

    :param text: the definition it was serialised with; empty for the one that holds now
    :raises KeyError: without `text`, for a type that is not known
    """
    store = typestore() if not text or _holds(text, msg_type) else _earlier(text, msg_type)
    return store.deserialize_cdr(data, msg_type)


def blank(msg_type: str) -> Any:
    """Return a message of a type with nothing in it, as rclpy makes it."""
    store = typestore()
    _, fields = store.fielddefs[msg_type]
    values = {name: _nothing(kind) for name, kind in fields}
    return store.types[msg_type](**(values | _DEFAULTS.get(msg_type, {})))


# Fields that do not begin with zero, in the messages that are in ours.
_DEFAULTS = {'geometry_msgs/msg/Quaternion': {'w': 1.0}}


def _nothing(kind: Any) -> Any:
    """Return the value of an empty field, of a type as rosbags describes it."""
    node, what = kind
    if node == Nodetype.BASE:
        return {'string': '', 'wstring': '', 'bool': False, 'float32': 0.0, 'float64': 0.0}.get(
            what[0], 0
        )
    if node == Nodetype.NAME:
        return blank(what)
    (inner, of), length = what
    if inner == Nodetype.BASE and of[0] not in ('string', 'wstring'):
        return np.zeros(length if node == Nodetype.ARRAY else 0, of[0])
    return [_nothing((inner, of)) for _ in range(length if node == Nodetype.ARRAY else 0)]


@cache
def _holds(text: str, msg_type: str) -> bool:
    try:
        return text == definition(msg_type).text
    except KeyError:  # there was such a type
        return False


@cache
def _earlier(text: str, msg_type: str) -> Any:
    """Return the types of a definition that has changed since."""
    store = Typestore()
    store.register(_read(text, msg_type))
    return store


def _read(text: str, name: str) -> dict[str, Any]:
    """Return the types that the definition of the type `name` declares."""
    # Read as a message, because names of types in it are those of messages.
    package, _, short = name.split('/')
    types: dict[str, Any] = get_types_from_msg(text, f'{package}/msg/{short}')
    return {name if kind == f'{package}/msg/{short}' else kind: types[kind] for kind in types}


@cache
def definition(msg_type: str) -> Definition:
    """Return the definition of a message type ('alpha_chaos/msg/StepState').

    :raises KeyError: for a type that is neither of ROS 2 Jazzy nor of this package
    """
    store = typestore()
    if msg_type not in store.fielddefs:
        raise KeyError(msg_type)
    text, _ = store.generate_msgdef(msg_type, ros_version=2)
    return Definition(text, store.hash_rihs01(msg_type))
