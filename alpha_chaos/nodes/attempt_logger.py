"""Lines of a node's log, each with the attempt it belongs to: '<run_id>/<arm>#<attempt>: ...'."""

import os
from collections.abc import Callable
from typing import Any

from rclpy.impl import rcutils_logger

# rclpy remembers by the caller what has been logged once, and this file is no caller.
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class AttemptLogger(rcutils_logger.RcutilsLogger):
    """A node's logger.

    :param attempt: returns the attempt under way, or an empty text
    """

    def __init__(self, name: str, attempt: Callable[[], str]) -> None:
        super().__init__(name)
        self._attempt = attempt

    def log(self, message: str, severity: Any, **options: Any) -> bool:
        """Log a message with the attempt before it, unless it begins with that already."""
        attempt = self._attempt()
        if attempt and not message.startswith(attempt):
            message = f'{attempt}: {message}'
        return bool(super().log(message, severity, **options))
