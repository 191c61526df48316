"""The command line as the child of another program, `ros2 launch` for one.

It does not outlive its parent, and the second SIGINT of one Ctrl-C (the terminal sends one and the
parent another) does not disturb what the first has begun.
"""

import ctypes
import signal
from types import FrameType

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Run the command line."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    signal.signal(signal.SIGINT, _interrupt_once)
    from alpha_chaos.cli import main as run

    run()


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == '__main__':
    main()
