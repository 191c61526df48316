"""A stock node: says once a second what came on `chatter`, and how often."""

from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import String


class Listener(Node):
    """Listens, and knows nothing of faults."""

    def __init__(self) -> None:
        super().__init__('listener')
        self._heard: list[str] = []
        self.create_subscription(String, 'chatter', self._listen, 10)
        self.create_timer(1.0, self._tell)

    def _listen(self, message: String) -> None:
        self._heard.append(message.data)

    def _tell(self) -> None:
        last = f', the last was {self._heard[-1]!r}' if self._heard else ''
        self.get_logger().info(f'{len(self._heard)} messages{last}')
        self._heard.clear()


if __name__ == '__main__':
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Listener())
