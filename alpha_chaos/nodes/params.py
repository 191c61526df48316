"""A node's parameters are one pydantic model, declared and validated in one call."""

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

    An integer given for a floating-point parameter is taken as that number.

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
            value = list(value or [])
        elif expected == Parameter.Type.DOUBLE and type(value) is int:
            value = float(value)
        values[name] = value
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as error:
        raise BadSetting(f'parameters of node {node.get_name()!r}: {explain(error)}') from None
