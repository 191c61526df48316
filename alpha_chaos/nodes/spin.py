"""Run nodes until they are done, are told to stop (SIGINT, SIGTERM) or their launcher is gone."""

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node

from alpha_chaos.plugins import BadSetting

BAD_INPUT = 2
_PR_SET_PDEATHSIG = 1


def run(make: Callable[..., Node], args: Sequence[str] | None = None) -> int:
    """Run one node as a process of its own and return the exit code."""
    return run_all([lambda: make()], args)


def run_all(makers: Sequence[Callable[[], Node]], args: Sequence[str] | None = None) -> int:
    """Run several nodes in this process, on one executor, until the first is done.

    A node is done when it sets `exit_code`.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)  # no orphan of a killed launcher
    # rclpy's handler goes on top of this one; a second SIGINT (launch and the terminal both send
    # one) then finds nobody to hurt.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    rclpy.init(args=list(sys.argv if args is None else args))
    nodes: list[Node] = []
    executor = EventsExecutor()
    try:
        for make in makers:
            nodes.append(make())
            executor.add_node(nodes[-1])
        while rclpy.ok():
            # With a time limit: without one EventsExecutor never wakes up (rclpy 7.1.6 wheels).
            executor.spin_once(timeout_sec=0.2)
            codes = [code for node in nodes if (code := exit_code(node)) is not None]
            if codes:
                return max(codes)
        return 0
    except (KeyboardInterrupt, ExternalShutdownException):
        return 0
    except BadSetting as error:
        print(f'error: {error}', file=sys.stderr)
        return BAD_INPUT
    finally:
        for node in nodes:
            for waitable in tuple(node.waitables):  # actions, which destroy_node forgets
                waitable.destroy()  # type: ignore[attr-defined]
            node.destroy_node()
        nodes.clear()
        rclpy.try_shutdown()
        # The DDS participant goes with the last reference to its context, and only then are its
        # files in shared memory removed; a forked process ends without collecting garbage.
        del executor
        gc.collect()
        rclpy.get_default_context().destroy()


def exit_code(node: Any) -> int | None:
    """Return the exit code a node asks for, None while it works."""
    return getattr(node, 'exit_code', None)
