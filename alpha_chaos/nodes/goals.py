"""Action goals whose work waits for others: it runs as a flow and settles the goal at its end."""

from collections.abc import Awaitable, Callable
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from alpha_chaos.msg import Action
from alpha_chaos.nodes.flow import Flow


class PendingGoals:
    """Runs one goal at a time through `work(handle)`, a coroutine that returns the result.

    Hand `start` to the action server as its `handle_accepted_callback`, and `result` as its
    `execute_callback`. rclpy would poll a coroutine given as execute callback; here the callback
    runs when the result is already there.
    """

    def __init__(self, node: Node, work: Callable[[Any], Awaitable[Any]]) -> None:
        self._node = node
        self._work = work
        self._results: dict[bytes, Any] = {}
        self.busy = False

    def start(self, handle: Any) -> None:
        """Begin to work on an accepted goal."""
        self.busy = True
        # To the client the goal executes from now on; `ServerGoalHandle.execute` would also ask
        # for the result at once.
        handle._update_state(rclpy_implementation.GoalEvent.EXECUTE)

        def ended(result: Any, error: BaseException | None) -> None:
            self.busy = False
            if error is not None:
                self._node.get_logger().error(f'goal failed: {type(error).__name__}: {error}')
            self._results[bytes(handle.goal_id.uuid)] = result
            handle._action_server.notify_execute(handle, self.result)

        async def work() -> Any:
            return await self._work(handle)

        Flow(work(), ended)

    def result(self, handle: Any) -> Any:
        """Settle a goal whose work has ended."""
        result = self._results.pop(bytes(handle.goal_id.uuid), None)
        if result is None:
            handle.abort()
            return handle._action_server.action_type.Result(message='internal error, see the log')
        if getattr(result, 'completed', getattr(result, 'reached', False)):
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result


def describe(action: Action) -> str:
    """Return an action as people write it."""
    if action.kind == Action.MOVE_TO:
        target = action.target
        return action.waypoint or f'MOVE_TO ({target.x:.3f}, {target.y:.3f}, {target.z:.3f})'
    return f'GRIP {action.block}' if action.kind == Action.GRIP else 'RELEASE'
