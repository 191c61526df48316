"""Message, service and action types by their full name, and messages as JSON."""

import importlib
import json
import math
from typing import Any

from alpha_chaos.plugins import BadSetting

# The parts of an action's type, by how ROS calls them.
_PARTS = {
    '_SendGoal': 'SendGoalService',
    '_GetResult': 'GetResultService',
    '_FeedbackMessage': 'FeedbackMessage',
}


def load(name: str) -> Any:
    """Return the class of an interface: 'alpha_chaos/msg/StepState'.

    :raises BadSetting: for a name that is no interface, or one that is not installed
    """
    package, _, rest = name.partition('/')
    kind, _, short = rest.partition('/')
    if not short or not package.isidentifier() or kind not in ('msg', 'srv', 'action'):
        raise BadSetting(
            f'{name!r} is no interface name; expected <package>/msg|srv|action/<Name>'
        )
    try:
        return getattr(importlib.import_module(f'{package}.{kind}'), short)
    except (ImportError, AttributeError):
        raise BadSetting(f'interface {name!r} is not installed') from None
    except Exception as error:  # of generated code that is half installed, or of another release
        raise BadSetting(
            f'interface {name!r} cannot be loaded: {type(error).__name__}: {error}'
        ) from None


def load_part(name: str) -> Any:
    """Return the class of an interface, or of a part of an action ('…/action/Move_SendGoal').

    :raises BadSetting: for one that is not installed
    """
    for suffix, part in _PARTS.items():
        if '/action/' in name and name.endswith(suffix):
            return getattr(load(name.removesuffix(suffix)).Impl, part)
    return load(name)


def full_name(message: Any) -> str:
    """Return the full name of a message's type."""
    kind = type(message)
    package, interface, *_ = kind.__module__.split('.')
    return f'{package}/{interface}/{kind.__name__}'


def begins_with_stamp(kind: Any) -> bool:
    """Tell whether messages of a type say first when they were made."""
    first = next(iter(kind.get_fields_and_field_types().values()), '')
    return first in ('std_msgs/Header', 'builtin_interfaces/Time')


def as_json(message: Any) -> str:
    """Return a message as JSON, for reading; numbers JSON cannot hold become text."""
    return json.dumps(_plain(message))


def _plain(value: Any) -> Any:
    if hasattr(value, 'get_fields_and_field_types'):
        return {name: _plain(getattr(value, name)) for name in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)) or hasattr(value, 'tolist'):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
