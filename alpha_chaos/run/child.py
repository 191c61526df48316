"""The command line as the child of another program, `ros2 launch` for one.

The second SIGINT of one Ctrl-C (the terminal sends one and the parent another) does not disturb
what the first has begun.
"""

import signal
from types import FrameType

from alpha_chaos.run.parent import end_with_parent, wait_until_read


def main() -> None:
    """Run the command line."""
    end_with_parent()
    signal.signal(signal.SIGINT, _interrupt_once)
    from alpha_chaos.cli import main as run

    try:
        run()
    finally:
        wait_until_read()


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == '__main__':
    main()
