"""Run nodes until they are done, are told to stop (SIGINT, SIGTERM) or their launcher is gone."""

import gc
import os
import sys
from collections.abc import Callable, Sequence

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.experimental import EventsExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args

from alpha_chaos.nodes.endpoints import warn_of_unused
from alpha_chaos.nodes.params import usage
from alpha_chaos.nodes.participant import destroy_all, made_or_let_go
from alpha_chaos.nodes.rclpy_input import refuse_bad_input
from alpha_chaos.nodes.stop import StopSignals
from alpha_chaos.plugins import BadSetting
from alpha_chaos.run.parent import end_with_parent

BAD_INPUT = 2
# What rclpy raises for arguments and names that are none; it has no common base for them.
_BAD_ARGUMENTS = (
    NameValidationException,
    rclpy_implementation.RCLError,
    rclpy_implementation.RCLInvalidROSArgsError,
    rclpy_implementation.UnknownROSArgsError,
    UnicodeEncodeError,  # a name of a file that is not UTF-8
)


def run(make: Callable[..., Node], args: Sequence[str] | None = None) -> int:
    """Run one node as a process of its own and return the exit code."""
    arguments = list(sys.argv if args is None else args)
    try:
        own = remove_ros_args(arguments)[1:]
    except _BAD_ARGUMENTS as error:
        return _refuse(error)
    if '-h' in own or '--help' in own:
        print(usage(make))
        return 0
    if own:
        return _refuse(f'unknown argument {own[0]!r}; --help shows how parameters are given')
    return run_all([lambda: make()], arguments)


def run_all(makers: Sequence[Callable[[], Node]], args: Sequence[str] | None = None) -> int:
    """Run several nodes in this process, on one executor, until the first is done.

    A node that can be done has a future `exit_code`. The exit code of a stopped one is 0.
    """
    end_with_parent()
    refuse_bad_input()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    code = _run_all(makers, list(sys.argv if args is None else args))
    # The DDS participant goes with the last reference to its context, and only then are its files
    # in shared memory removed; a process that is forked, or in a hurry, ends without collecting.
    gc.collect()
    return code


def _run_all(makers: Sequence[Callable[[], Node]], args: list[str]) -> int:
    signals = StopSignals()
    nodes: list[Node] = []
    try:
        try:
            rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
            executor = EventsExecutor()
            for make in makers:
                # What is interrupted in here can hang when it goes (rclpy 7.1.6): a node half made
                # in its DDS participant, an executor in its destructor.
                with signals.held(), made_or_let_go():
                    nodes.append(make())
                    warn_of_unused(nodes[-1])
                    executor.add_node(nodes[-1])
        except (BadSetting, *_BAD_ARGUMENTS) as error:
            return _refuse(error)
        signals.wake(executor)
        ended = next((node.exit_code for node in nodes if hasattr(node, 'exit_code')), Future())
        # By the signal, and not by its event: thousands of others may be before it, each with an
        # answer that the middleware keeps for 0.1 s if who asked has gone.
        while not (ended.done() or signals.came):
            # With a time limit: without one EventsExecutor never wakes up; and event by event:
            # spin_until_future_complete leaves some for its next turn (rclpy 7.1.6 wheels).
            executor.spin_once(timeout_sec=0.2)
        return int(ended.result() or 0)
    except KeyboardInterrupt:
        return 0
    finally:
        signals.ignore()
        destroy_all(nodes)
        rclpy.try_shutdown()


def _refuse(why: object) -> int:
    if isinstance(why, rclpy_implementation.UnknownROSArgsError):
        why = f'unknown ROS arguments {why}'
    print(f'error: {" ".join(str(why).split())}', file=sys.stderr)
    return BAD_INPUT
