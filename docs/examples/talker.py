"""A stock node: counts on `chatter`, ten times a second."""

from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import String


class Talker(Node):
    """Publishes, and knows nothing of faults."""

    def __init__(self) -> None:
        super().__init__('talker')
        self._count = 0
        self._publisher = self.create_publisher(String, 'chatter', 10)
        self.create_timer(0.1, self._talk)

    def _talk(self) -> None:
        self._count += 1
        self._publisher.publish(String(data=f'Hello {self._count}'))


if __name__ == '__main__':
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(Talker())
