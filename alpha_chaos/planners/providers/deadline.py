"""Calls that may never return."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar('T')


class GivenUp(Exception):
    """Somebody else said that the answer is no longer wanted."""


class Waiting:
    """Waits for calls, but not for ever.

    Each call runs in a daemon thread that nobody waits for any longer than asked, because neither
    a name look-up nor a server that sends a byte now and then ever runs into a time limit of its
    own. A call that is no longer waited for goes on until it ends by itself.
    """

    def __init__(self) -> None:
        """Begin with nothing under way."""
        self._changed = threading.Condition()
        self._running: list[threading.Thread] = []
        self._given_up = False

    def within(self, limit_s: float, call: Callable[[], T]) -> T:
        """Return what `call` returns, or raise what it raises.

        :raises TimeoutError: after `limit_s`
        :raises GivenUp: after `give_up`
        """
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(call())
            except BaseException as error:  # belongs to the caller, whatever it is
                errors.append(error)
            with self._changed:
                self._changed.notify_all()

        thread = threading.Thread(target=run, name='completion', daemon=True)
        self._running = [*(other for other in self._running if other.is_alive()), thread]
        thread.start()
        with self._changed:
            self._changed.wait_for(lambda: results or errors or self._given_up, limit_s)
        if errors:
            raise errors[0]
        if results:
            return results[0]
        if self._given_up:
            raise GivenUp
        raise TimeoutError(f'no answer within {limit_s:g} s')

    def give_up(self) -> None:
        """End every waiting, now and later."""
        with self._changed:
            self._given_up = True
            self._changed.notify_all()

    def settle(self, limit_s: float) -> None:
        """Let calls that are still under way come to their own end, for so long."""
        for thread in self._running:
            thread.join(limit_s)
