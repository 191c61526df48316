"""Calls that may never return."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar('T')


def within(limit_s: float, call: Callable[[], T]) -> T:
    """Return what `call` returns, or raise what it raises.

    The call runs in a thread that nobody waits for any longer than `limit_s`, because neither a
    name look-up nor a server that sends a byte now and then ever runs into a timeout of its own.

    :raises TimeoutError: after `limit_s`; the call goes on in its daemon thread
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # belongs to the caller, whatever it is
            errors.append(error)

    thread = threading.Thread(target=run, name='completion', daemon=True)
    thread.start()
    thread.join(limit_s)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f'no answer within {limit_s:g} s')
    return results[0]
