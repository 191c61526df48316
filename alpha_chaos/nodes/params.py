"""A node's parameters are one pydantic model, declared and validated in one call."""

import inspect
import sys
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
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

_BOUNDS = {'ge': 'at least', 'gt': 'more than', 'le': 'at most', 'lt': 'less than'}


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
    values = {name: _given(node, name, field) for name, field in model.model_fields.items()}
    try:
        params = model.model_validate(values, strict=True)
    except ValidationError as error:
        raise BadSetting(f'parameters of node {node.get_name()!r}: {explain(error)}') from None
    for name, field in model.model_fields.items():
        _declare(node, name, field, getattr(params, name))
    for name in node._parameter_overrides:
        if not node.has_parameter(name) and not name.startswith('qos_overrides.'):
            node.get_logger().warning(
                f'there is no parameter {name!r}; --help lists those there are'
            )
    return params


def _declare(node: Node, name: str, field: FieldInfo, value: Any) -> None:
    # In one step rclpy would take an empty list for one of bytes, and any override as it came.
    kind = _TYPES[field.annotation]  # type: ignore[index]
    node.declare_parameter(name, kind, ignore_override=True)
    node.set_parameters([Parameter(name, kind, value)])
    node.set_descriptor(name, _descriptor(field))


def _given(node: Node, name: str, field: FieldInfo) -> Any:
    """Return what a parameter was set to, of the type it should have where ROS is lax."""
    override = node._parameter_overrides.get(name)  # rclpy tells them nowhere else
    if override is None:
        return field.default
    value, expected = override.value, _TYPES[field.annotation]  # type: ignore[index]
    if expected == Parameter.Type.STRING_ARRAY:
        # An empty list has no type in ROS and arrives as a byte array.
        return value if isinstance(value, str | int | float) else list(value or [])
    if expected == Parameter.Type.DOUBLE and type(value) is int:
        return float(value)
    return value


def _descriptor(field: FieldInfo) -> ParameterDescriptor:
    """Return what `ros2 param describe` and rqt show of a parameter."""
    bounds = {
        name: getattr(entry, name)
        for entry in field.metadata
        for name in _BOUNDS
        if getattr(entry, name, None) is not None
    }
    descriptor = ParameterDescriptor(
        type=_TYPES[field.annotation].value,  # type: ignore[index]
        description=field.description or '',
        additional_constraints=', '.join(f'{_BOUNDS[name]} {bounds[name]:g}' for name in bounds),
        read_only=True,
    )
    low, high = bounds.get('ge', bounds.get('gt')), bounds.get('le', bounds.get('lt'))
    if not bounds:
        return descriptor
    if field.annotation is int:
        low, high = -(2**63) if low is None else low, 2**63 - 1 if high is None else high
        descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
    else:
        # Both ends belong to a range of ROS; what `gt` and `lt` exclude, the model refuses.
        limit = sys.float_info.max
        descriptor.floating_point_range = [
            FloatingPointRange(
                from_value=-limit if low is None else float(low),
                to_value=limit if high is None else float(high),
            )
        ]
    return descriptor


def usage(node_class: Any) -> str:
    """Return what a node is and which parameters it takes."""
    about = inspect.getdoc(inspect.getmodule(node_class)) or ''
    lines = [about, '', 'Parameters, as --ros-args -p name:=value:']
    for name, field in node_class.params_model.model_fields.items():
        lines += [f'  {name}', f'      {field.description} (default: {field.default!r})']
    return '\n'.join(lines)
