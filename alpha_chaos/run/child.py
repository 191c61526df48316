"""The command line as the child of another program, `ros2 launch` for one.

The second SIGINT of one Ctrl-C (the terminal sends one and the parent another) does not disturb
what the first has begun. To be stopped is no failure here, as with nodes: whoever started it would
report the code that tells a shell of it as the death of a process.
"""

import signal
from types import FrameType

from alpha_chaos.run.parent import end_with_parent, wait_until_read


def main() -> None:
    """Run the command line."""
    end_with_parent()
    signal.signal(signal.SIGINT, _interrupt_once)
    try:
        from alpha_chaos.cli import INTERRUPTED
        from alpha_chaos.cli import main as run

        try:
            run()
        except SystemExit as end:
            raise SystemExit(0 if end.code == INTERRUPTED else end.code) from None
    except KeyboardInterrupt:  # before there was anything to end
        raise SystemExit(0) from None
    finally:
        wait_until_read()


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == '__main__':
    main()
