"""A process that does not outlive whoever started it, however that one ends."""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Have the kernel send SIGINT to this process when its parent is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
