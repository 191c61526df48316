"""What a client of the arm sees: send a goal and tell the whole story, feedback included.

python docs/examples/send_goal.py [action]
"""

import sys
import time

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.node import Node

from alpha_chaos.action import MoveTo

PATIENCE_S = 15.0
NAMES = {value: name for name, value in vars(GoalStatus).items() if name.startswith('STATUS')}


def main(action: str) -> int:
    """Go to one side and back; return 0 if both were reached."""
    rclpy.init()
    node = Node('send_goal')
    client = ActionClient(node, MoveTo, action)
    if not client.wait_for_server(PATIENCE_S):
        print(f'nobody serves {action}')
        return 1
    return 0 if all([_go(node, client, y) for y in (0.4, -0.4)]) else 1


def _go(node: Node, client: ActionClient, y: float) -> bool:
    began_s = time.monotonic()
    feedback: list[float] = []

    def tell(what: str) -> None:
        print(f'{time.monotonic() - began_s:5.1f} s  {what}', flush=True)

    goal = MoveTo.Goal(position_only=True)
    goal.target.header.frame_id = 'world'
    place = goal.target.pose.position
    place.x, place.y, place.z = 0.5, y, 1.0
    tell(f'go to y = {y} m')
    sent = client.send_goal_async(goal, lambda told: feedback.append(told.feedback.remaining))
    rclpy.spin_until_future_complete(node, sent, timeout_sec=PATIENCE_S)
    if not sent.done() or not sent.result().accepted:
        tell('rejected' if sent.done() else 'no answer')
        return False
    ended = sent.result().get_result_async()
    rclpy.spin_until_future_complete(node, ended, timeout_sec=PATIENCE_S)
    if not ended.done():
        tell(f'{len(feedback)} times feedback, and no result')
        return False
    status, result = ended.result().status, ended.result().result
    at = result.reached_pose.pose.position
    tell(
        f'{len(feedback)} times feedback, {NAMES[status]}, reached {result.reached}, '
        f'at y = {at.y:.2f} m {result.message}'
    )
    return bool(result.reached)


if __name__ == '__main__':
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else 'arm/move_to'))
