"""Messages that rclpy takes in for every node, and raises on: they would end the node.

They are parameters of a type that there is not, and times on /clock before 0 (rclpy 7.1.6).
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.logging import get_logger
from rclpy.parameter_service import ParameterService
from rclpy.time_source import TimeSource

Method = Callable[..., Any]


@cache
def refuse_bad_input() -> None:
    """Make rclpy refuse them, in this process."""
    for name in ('_set_parameters_callback', '_set_parameters_atomically_callback'):
        setattr(ParameterService, name, _refusing(getattr(ParameterService, name)))
    TimeSource.clock_callback = _ignoring(TimeSource.clock_callback)  # type: ignore[method-assign]


def _refusing(callback: Method) -> Method:
    @wraps(callback)
    def refuse(service: ParameterService, request: Any, response: Any) -> Any:
        try:
            return callback(service, request, response)
        except ValueError as error:
            refused = SetParametersResult(successful=False, reason=str(error))
            if hasattr(response, 'results'):
                missing = len(request.parameters) - len(response.results)
                response.results = [*response.results, *[refused] * missing]
            else:
                response.result = refused
            return response

    return refuse


def _ignoring(callback: Method) -> Method:
    logger = get_logger('clock')

    @wraps(callback)
    def ignore(source: TimeSource, message: Any) -> None:
        try:
            callback(source, message)
        except ValueError as error:
            logger.error(f'/clock: {error}', once=True)

    return ignore
