"""Waiting inside a node without blocking its executor and without polling.

rclpy polls a coroutine that awaits a future until it is ready, which keeps a core busy for as long
as a motion or a planner takes. Here a coroutine is resumed by the future it waits for.
"""

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar, cast

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.service import Service
from rclpy.task import Future

T = TypeVar('T')

# Whatever use_sim_time says: limits are for people who wait, and simulated time may stand still.
_WALL = Clock(clock_type=ClockType.STEADY_TIME)


class Cancelled(Exception):
    """The flow was told to stop."""


class TimedOut(Exception):
    """Something that was waited for did not come in time."""


class Wait(Generic[T]):
    """Await the result of an rclpy future: `answer = await Wait(client.call_async(request))`."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def __await__(self) -> Generator[Any, None, T]:
        yield self._future
        return cast(T, self._future.result())


class Flow:
    """A coroutine under way. Everything it awaits must be a `Wait`, or made of them."""

    def __init__(
        self,
        coroutine: Coroutine[Any, None, Any],
        on_end: Callable[[Any, BaseException | None], None],
    ) -> None:
        self._coroutine = coroutine
        self._on_end = on_end
        self._turn = 0
        self.ended = False
        self._resume(lambda: coroutine.send(None))

    def cancel(self, reason: BaseException) -> None:
        """Raise `reason` where the coroutine waits; does nothing once it has ended."""
        if not self.ended:
            self._resume(lambda: self._coroutine.throw(reason))

    def _resume(self, step: Callable[[], Any]) -> None:
        self._turn += 1
        turn = self._turn
        try:
            future = step()
        except StopIteration as end:
            self._finish(end.value, None)
            return
        except BaseException as error:  # handed on to whoever started the flow
            self._finish(None, error)
            return

        def ready(_: Any) -> None:
            # A future that fires after its flow was cancelled belongs to an earlier turn.
            if not self.ended and turn == self._turn:
                self._resume(lambda: self._coroutine.send(None))

        future.add_done_callback(ready)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        self.ended = True
        self._on_end(value, error)


def _once(node: Node, seconds: float, fire: Callable[[], None]) -> Any:
    # In a group of its own, which goes when it goes: a group never forgets a member.
    group = ReentrantCallbackGroup()
    return node.create_timer(seconds, fire, callback_group=group, clock=_WALL)


def after(node: Node, seconds: float) -> Future:
    """Return a future that is done after that much wall-clock time."""
    future = Future()

    def fire() -> None:
        timer.cancel()
        node.destroy_timer(timer)
        if not future.done():
            future.set_result(None)

    timer = _once(node, seconds, fire)
    return future


def in_time(node: Node, future: Any, seconds: float, what: str) -> 'Wait[Any]':
    """Wait for `future`, but no longer than `seconds` of wall-clock time.

    :raises TimedOut: naming `what`
    """
    either = Future()

    def fire() -> None:
        stop()
        if not either.done():
            either.set_exception(TimedOut(f'no answer from {what} within {seconds:g} s'))

    def stop() -> None:
        timer.cancel()
        node.destroy_timer(timer)

    def ready(done: Any) -> None:
        if either.done():
            return
        stop()
        error = done.exception()
        if error is not None:
            either.set_exception(error)
        else:
            either.set_result(done.result())

    timer = _once(node, seconds, fire)
    future.add_done_callback(ready)
    return Wait(either)


Respond = Callable[[Any], None]


def deferred_service(
    node: Node,
    srv_type: Any,
    name: str,
    handle: Callable[[Any, Any, Respond], None],
    **options: Any,
) -> Service:
    """Serve `name` with answers that may come later than the request.

    `handle(request, response, respond)` calls `respond(response)` once, now or at any later time
    on the executor's thread. rclpy itself wants the answer when the callback returns; it hands
    the callback's result to `Service.send_response`, which is where this steps in.
    """

    class _Later:
        def __init__(self) -> None:
            self.response: Any = None
            self.header: Any = None

    def on_request(request: Any, response: Any) -> Any:
        later = _Later()

        def respond(answer: Any) -> None:
            if later.header is None:
                later.response = answer
            else:
                send(answer, later.header)

        handle(request, response, respond)
        return later

    def send_response(later: Any, header: Any) -> None:
        if later.response is not None:
            send(later.response, header)
        else:
            later.header = header

    service = node.create_service(srv_type, name, on_request, **options)
    send = service.send_response
    service.send_response = send_response  # type: ignore[method-assign,assignment]
    return service
