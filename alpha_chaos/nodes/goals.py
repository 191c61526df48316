"""Action goals whose work waits for others: it runs as a flow and settles the goal at its end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from rclpy.impl.implementation_singleton import rclpy_implementation

from alpha_chaos.msg import Action
from alpha_chaos.nodes.flow import Flow

# That an action server keeps a goal and its result after the end. Our clients ask for the result
# as soon as a goal is accepted; rclpy's 900 s make a node grow by every goal of a whole matrix.
KEEP_RESULT_S = 10


@dataclass(frozen=True)
class Done:
    """How the work on a goal ended."""

    result: Any
    succeeded: bool


class Host(Protocol):
    """The node that works on goals."""

    def spoil(self, what: str, error: BaseException) -> str:
        """Note an error of ours, and return it as text."""


class PendingGoals:
    """Runs one goal at a time through `work(handle)`, a coroutine that returns how it ended.

    Hand `start` to the action server as its `handle_accepted_callback`, and `result` as its
    `execute_callback`. rclpy would poll a coroutine given as execute callback; here the callback
    runs when the result is already there.
    """

    def __init__(self, node: Host, work: Callable[[Any], Awaitable[Done]]) -> None:
        self._node = node
        self._work = work
        self._ended: dict[bytes, Done | None] = {}
        self.busy = False

    def start(self, handle: Any) -> None:
        """Begin to work on an accepted goal."""
        self.busy = True
        # To the client the goal executes from now on; `ServerGoalHandle.execute` would also ask
        # for the result at once.
        handle._update_state(rclpy_implementation.GoalEvent.EXECUTE)

        def ended(done: Done | None, error: BaseException | None) -> None:
            self.busy = False
            if error is not None:
                self._node.spoil('goal', error)
            self._ended[bytes(handle.goal_id.uuid)] = done
            handle._action_server.notify_execute(handle, self.result)

        async def work() -> Done:
            return await self._work(handle)

        Flow(work(), ended)

    def result(self, handle: Any) -> Any:
        """Settle a goal whose work has ended."""
        done = self._ended.pop(bytes(handle.goal_id.uuid), None)
        if done is None:
            handle.abort()
            return refusal(handle._action_server.action_type.Result, 'internal error, see the log')
        if done.succeeded:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return done.result


def refusal(kind: Any, why: str) -> Any:
    """Return a message that says no, as far as its type has words for it."""
    message = kind()
    for name, value in (('error', 'relay'), ('message', why), ('infrastructure', True)):
        if isinstance(getattr(message, name, None), type(value)):
            setattr(message, name, value)
    return message


def describe(action: Action) -> str:
    """Return an action as people write it."""
    if action.kind == Action.MOVE_TO:
        target = action.target
        return action.waypoint or f'MOVE_TO ({target.x:.3f}, {target.y:.3f}, {target.z:.3f})'
    return f'GRIP {action.block}' if action.kind == Action.GRIP else 'RELEASE'
