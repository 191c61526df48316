"""Start one node by its name: `python -m alpha_chaos.nodes sim --ros-args ...`."""

import importlib
import os
import signal
import sys


def main() -> int:
    """Run the node that the first argument names.

    Imports take most of its start. A signal in that time ends it as quietly as any later one.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    name = sys.argv.pop(1)
    code: int = importlib.import_module(f'alpha_chaos.nodes.{name}_node').main()
    return code


if __name__ == '__main__':
    raise SystemExit(main())
