"""A node's parameters are one pydantic model, declared and validated in one call."""

import inspect
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from alpha_chaos.plugins import BadSetting, explain

_TYPES = {
    bool: Parameter.Type.BOOL,
    int: Parameter.Type.INTEGER,
    float: Parameter.Type.DOUBLE,
    str: Parameter.Type.STRING,
    list[str]: Parameter.Type.STRING_ARRAY,
}


class Params(BaseModel):
    """Base of a node's parameters; every field needs a default and a description."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


M = TypeVar('M', bound=Params)


def declare(node: Node, model: type[M]) -> M:
    """Declare every field of `model` as a read-only parameter and return the validated values.

    An integer given for a floating-point parameter is taken as that number. A parameter that is
    not in the model only gets a warning: it may come from a file for several nodes.

    :raises BadSetting: naming the parameter and what would be right
    """
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        expected = _TYPES[field.annotation]  # type: ignore[index]
        node.declare_parameter(
            name,
            field.default,
            ParameterDescriptor(
                description=field.description or '', read_only=True, dynamic_typing=True
            ),
        )
        value = node.get_parameter(name).value
        if expected == Parameter.Type.STRING_ARRAY:
            # An empty list has no type in ROS and arrives as a byte array.
            value = value if isinstance(value, str | int | float) else list(value or [])
        elif expected == Parameter.Type.DOUBLE and type(value) is int:
            value = float(value)
        values[name] = value
    for name in node._parameter_overrides:  # rclpy tells them nowhere else
        if not node.has_parameter(name) and not name.startswith('qos_overrides.'):
            node.get_logger().warning(
                f'there is no parameter {name!r}; --help lists those there are'
            )
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as error:
        raise BadSetting(f'parameters of node {node.get_name()!r}: {explain(error)}') from None


def usage(node_class: Any) -> str:
    """Return what a node is and which parameters it takes."""
    about = inspect.getdoc(inspect.getmodule(node_class)) or ''
    lines = [about, '', 'Parameters, as --ros-args -p name:=value:']
    for name, field in node_class.params_model.model_fields.items():
        lines += [f'  {name}', f'      {field.description} (default: {field.default!r})']
    return '\n'.join(lines)
