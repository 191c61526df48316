"""A process and whoever started it: it goes with its parent, and its last words are heard."""

import array
import ctypes
import fcntl
import os
import signal
import stat
import sys
import termios
import time

PATIENCE_S = 2.0
_PR_SET_PDEATHSIG = 1
_PARENT = 'ALPHA_CHAOS_PARENT'  # see cmake/node.sh.in


def end_with_parent() -> None:
    """Have the kernel send SIGINT to this process when its parent is gone.

    One that is gone already is known only if the executable has noted who it was.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    parent = os.environ.pop(_PARENT, '')
    if parent and int(parent) != os.getppid():
        os.kill(os.getpid(), signal.SIGINT)


def wait_until_read() -> None:
    """Return when what was printed has been read, if somebody reads it from a pipe.

    launch closes the pipe as soon as it hears that a process has ended, read or not.
    """
    deadline = time.monotonic() + PATIENCE_S
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
            while _unread(stream.fileno()) and time.monotonic() < deadline:
                time.sleep(0.001)
        except (OSError, ValueError):  # nobody reads, or it is closed
            continue


def _unread(descriptor: int) -> int:
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return 0
    size = array.array('i', [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, size)
    return size[0]
