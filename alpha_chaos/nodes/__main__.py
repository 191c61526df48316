"""Start nodes by their names: `python -m alpha_chaos.nodes sim --ros-args ...`."""

import importlib
import os
import signal
import sys
from functools import partial
from itertools import pairwise


def main() -> int:
    """Run the nodes that the first arguments name, several of them in this one process.

    Imports take most of a start. A signal in that time ends it as quietly as a later one.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    from alpha_chaos.run.parent import end_with_parent

    end_with_parent()
    from alpha_chaos.graph import EXECUTABLES, NodeSpec
    from alpha_chaos.plugins import unknown

    names = []
    while len(sys.argv) > 1 and sys.argv[1] in EXECUTABLES:
        names.append(sys.argv.pop(1))
    if not names:
        print(
            f'error: {unknown("node", next(iter(sys.argv[1:]), None), EXECUTABLES)}',
            file=sys.stderr,
        )
        return 2
    if len(names) == 1:
        return int(importlib.import_module(f'alpha_chaos.nodes.{names[0]}_node').main())
    from alpha_chaos.nodes.spin import run_all
    from alpha_chaos.run.processes import node_class

    return run_all(
        [
            partial(node_class(NodeSpec(name)), cli_args=_parameters_of(name, sys.argv))
            for name in names
        ]
    )


def _parameters_of(node: str, arguments: list[str]) -> list[str]:
    """Return the rules `-p node:name:=value`, as a node takes its own.

    ROS itself goes by them only where the node is in no namespace.
    """
    own = ['--ros-args']
    for flag, rule in pairwise(arguments):
        name, _, parameter = rule.partition(':')
        if flag in ('-p', '--param') and name == node and not parameter.startswith('='):
            own += ['-p', parameter]
    return own


if __name__ == '__main__':
    code = main()
    from alpha_chaos.run.parent import wait_until_read

    wait_until_read()
    # At once: a thread that is still in rclpy, with a thought or a message, would meet an
    # interpreter that is being taken down, and abort.
    os._exit(code)
