"""Signals as an event of the executor, so that a node stops between two callbacks.

They are SIGINT, SIGTERM and, for a terminal that is closed, SIGHUP.

rclpy's own handler shuts the context down from a thread of its own, under the callbacks that are
using it: these fail loudly, or the process crashes (rclpy 7.1.6, an action server in the act of
accepting a goal). Here the context lives until the nodes are gone.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rclpy.task import Future

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Handles the signals from its construction on; the process keeps the handlers to its end.

    A signal raises KeyboardInterrupt until `wake` is called, and is an event afterwards. A second
    one (launch and the terminal both send one) changes nothing.
    """

    def __init__(self) -> None:
        self._raises = True
        self.came = False
        self._pipe: tuple[int, ...] = ()
        self._thread: threading.Thread | None = None
        for number in SIGNALS:
            signal.signal(number, self._on_signal)
        if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # else it was started with nohup
            signal.signal(signal.SIGHUP, self._on_signal)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let a signal wait until the end of what must not be torn apart."""
        raises, self._raises = self._raises, False
        yield
        if raises and self.came:
            raise KeyboardInterrupt
        self._raises = raises

    def wake(self, executor: Any) -> Future:
        """Return a future that is done, on the executor's thread, once a signal has come.

        While the executor waits, Python runs no handler; the interpreter writes to a pipe at once.
        """
        stopped = Future()
        self._pipe = readable, writable = os.pipe()
        os.set_blocking(writable, False)
        signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
        self._raises = False
        if self.came:  # and what it raised was lost: in a destructor or a callback from C
            stopped.set_result(None)
            return stopped

        def pass_on() -> None:
            if os.read(readable, 1):
                executor.create_task(stopped.set_result, None)

        self._thread = threading.Thread(target=pass_on, name='signals', daemon=True)
        self._thread.start()
        return stopped

    def ignore(self) -> None:
        """Let nothing disturb what is being put away, and let go of the executor."""
        self._raises = False
        signal.set_wakeup_fd(-1)
        if self._thread is not None:
            readable, writable = self._pipe
            os.close(writable)
            self._thread.join()
            os.close(readable)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        if self._raises:
            self._raises = False
            raise KeyboardInterrupt
