"""What the relay for other people's graphs costs, as the difference to the same topic without it.

    .venv/bin/python bench/relay.py                    # everything, about two minutes
    .venv/bin/python bench/relay.py latency flood      # some of it

Source, relay and sink are processes of their own, each on the executor that our nodes use. A
message carries the time at which it was sent, by the clock that all processes share, so that a
latency is from one process's hands into another's. With and without the relay take turns. Let
nothing else run beside it.
"""

import argparse
import contextlib
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from alpha_chaos.run.domains import Domains
from alpha_chaos.run.processes import environment

SOURCE, OUTPUT = '/bench/source', '/relay/bench/source'
TURNS = 3
LIMIT_S = 60.0
STEPS_HZ = 240
NS = 10**9


@dataclass(frozen=True)
class Load:
    """What a source sends."""

    type: str
    rate_hz: float
    count: int
    patience_s: float = 5.0  # until the first one comes


ARM = Load('sensor_msgs/msg/JointState', 240.0, 1200)
FLOOD = Load('sensor_msgs/msg/JointState', 5000.0, 20_000)
CAMERA = Load('sensor_msgs/msg/Image', 30.0, 150)


# -- one end of the topic, in a process of its own


def message(kind: str) -> bytearray:
    """Return a serialised message, with room for the time of sending in its stamp."""
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import Image, JointState

    if kind.endswith('Image'):
        width, height = 640, 480
        picture = Image(width=width, height=height, encoding='rgb8', step=3 * width)
        picture.data = bytes(3 * width * height)
        return bytearray(serialize_message(picture))
    names = [f'panda_joint_{number}_of_the_arm' for number in range(1, 8)]
    joints = JointState(name=[*names, 'finger_l', 'finger_r'])
    joints.position = joints.velocity = [0.0] * 9
    return bytearray(serialize_message(joints))


def send(load: Load, topic: str) -> None:
    """Send everything at its rate, then wait until it has been taken."""
    import rclpy
    from rclpy.qos import QoSProfile

    from alpha_chaos.nodes.interfaces import load as interface

    rclpy.init()
    node = rclpy.create_node('bench_source')
    publisher = node.create_publisher(interface(load.type), topic, QoSProfile(depth=1000))
    data = message(load.type)
    while publisher.get_subscription_count() == 0:
        time.sleep(0.01)
    sys.stdin.readline()  # the other end has heard that it shall begin
    began_ns = time.monotonic_ns()
    for number in range(load.count):
        due_ns = began_ns + round(number * NS / load.rate_hz)
        if (left_ns := due_ns - time.monotonic_ns()) > 0:
            time.sleep(left_ns / NS)
        now_ns = time.monotonic_ns()
        struct.pack_into('<iI', data, 4, now_ns // NS, now_ns % NS)
        publisher.publish(bytes(data))
    publisher.wait_for_all_acked()
    sys.stdin.readline()


def receive(load: Load, topic: str) -> None:
    """Take everything; print the latencies [s]."""
    import rclpy
    from rclpy.experimental import EventsExecutor
    from rclpy.qos import QoSProfile

    from alpha_chaos.nodes.clock import peek_nanoseconds
    from alpha_chaos.nodes.interfaces import load as interface

    rclpy.init()
    node = rclpy.create_node('bench_sink')
    latencies: list[int] = []
    last = [time.monotonic()]

    def take(data: bytes) -> None:
        latencies.append(time.monotonic_ns() - peek_nanoseconds(data))
        last[0] = time.monotonic()

    node.create_subscription(interface(load.type), topic, take, QoSProfile(depth=1000), raw=True)
    executor = EventsExecutor()
    executor.add_node(node)
    while node.count_publishers(topic) == 0:
        executor.spin_once(timeout_sec=0.01)
    print('ready', flush=True)
    last[0] = time.monotonic() + load.patience_s
    while len(latencies) < load.count and time.monotonic() < last[0] + 2.0:
        executor.spin_once(timeout_sec=0.1)
    print(json.dumps([one / NS for one in latencies]), flush=True)


# -- who starts them


class Bench:
    """Processes in a ROS domain of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._domains = Domains()

    def _environment(self, domain: int) -> dict[str, str]:
        return {**os.environ, **environment(domain), 'ROS_LOG_DIR': str(self._folder / 'log')}

    def start(self, domain: int, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        """Start a Python process."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=self._environment(domain),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **options,
        )

    def end_of_topic(self, domain: int, role: str, load: Load, topic: str) -> Any:
        """Start a source or a sink."""
        given = json.dumps(astuple(load))
        return self.start(domain, __file__, '--role', role, '--load', given, '--topic', topic)

    @contextlib.contextmanager
    def relay(self, faults: str = '[]', **parameters: str) -> Iterator[tuple[int, psutil.Process]]:
        """Run a relay; give its domain and its process."""
        file = self._folder / 'relay.yaml'
        file.write_text(f'allow: [{SOURCE}]\ntopics:\n  {SOURCE}: {{faults: {faults}}}\n')
        domain = self._domains.claim()
        relay = self.start(
            domain,
            *['-m', 'alpha_chaos.nodes', 'fault_relay', '--ros-args'],
            *['--log-level', 'warn', '-p', f'config:={file}', '-p', 'enable_injection:=true'],
            *[part for item in parameters.items() for part in ('-p', ':='.join(item))],
        )
        try:
            yield domain, psutil.Process(relay.pid)
        finally:
            relay.terminate()
            relay.wait(LIMIT_S)
            self._domains.free(domain)

    def pass_through(self, domain: int, load: Load, output: str) -> list[float]:
        """Send a load and return the latencies of what arrives [s]."""
        source = self.end_of_topic(domain, 'send', load, SOURCE)
        sink = self.end_of_topic(domain, 'receive', load, output)
        try:
            assert sink.stdout.readline().strip() == 'ready'
            time.sleep(0.5)  # until the relay has found both, and they it
            source.stdin.write('\n')
            source.stdin.flush()
            return list(json.loads(sink.stdout.readline()))
        finally:
            source.stdin.close()
            for process in (source, sink):
                process.wait(LIMIT_S)


def quantiles_ms(latencies_s: list[float]) -> tuple[float, float]:
    """Return median and 99th percentile [ms]."""
    p50, p99 = np.percentile(latencies_s, [50, 99])
    return 1e3 * float(p50), 1e3 * float(p99)


def latency(bench: Bench) -> None:
    """Compare a topic at 240 Hz with and without the relay."""
    rows: dict[str, list[tuple[float, float]]] = {SOURCE: [], OUTPUT: []}
    with bench.relay() as (domain, _):
        for _ in range(TURNS):
            for topic, found in rows.items():
                found.append(quantiles_ms(bench.pass_through(domain, ARM, topic)))
    direct, relayed = (
        [statistics.median(column) for column in zip(*found, strict=True)]
        for found in rows.values()
    )
    print(f'JointState at {ARM.rate_hz:g} Hz')
    print(f'     without   p50 {direct[0]:.3f} ms  p99 {direct[1]:.3f} ms')
    print(f'     through   p50 {relayed[0]:.3f} ms  p99 {relayed[1]:.3f} ms')
    print(
        f'  difference   p50 {relayed[0] - direct[0]:.3f} ms (bound 0.25)  '
        f'p99 {relayed[1] - direct[1]:.3f} ms (bound 1)'
    )


def _complete(bench: Bench, name: str, load: Load) -> None:
    with bench.relay() as (domain, process):
        used = sum(process.cpu_times()[:2])
        came = bench.pass_through(domain, load, OUTPUT)
        used = sum(process.cpu_times()[:2]) - used
    p50, p99 = quantiles_ms(came)
    print(
        f'{name}: {len(came)} of {load.count} arrived (bound: all); '
        f'p50 {p50:.2f} ms, p99 {p99:.2f} ms, '
        f'relay {1e6 * used / load.count:.0f} us of CPU a message'
    )


def flood(bench: Bench) -> None:
    """Send joint states at 5 kHz."""
    size = len(message(FLOOD.type))
    _complete(bench, f'JointState of {size} bytes at {FLOOD.rate_hz:g} Hz', FLOOD)


def images(bench: Bench) -> None:
    """Send pictures at 30 Hz."""
    _complete(bench, f'Image 640x480 rgb8 at {CAMERA.rate_hz:g} Hz', CAMERA)


def lag(bench: Bench) -> None:
    """Hold messages back for 0.1 s."""
    wanted_s = 0.1
    with bench.relay(f'[{{kind: lag, lag_s: {wanted_s}}}]') as (domain, _):
        came = bench.pass_through(domain, ARM, OUTPUT)
    off = [abs(one - wanted_s) for one in came]
    p50, p99 = quantiles_ms(off)
    print(
        f'lag of {wanted_s:g} s at {ARM.rate_hz:g} Hz: |delivered - requested| '
        f'p50 {p50:.3f} ms (bound 1)  p99 {p99:.3f} ms (bound 5), both ends included'
    )


def simulated(bench: Bench) -> None:
    """Hold messages back for one step and for 24, with a clock that waits for the relay."""
    for steps in (1, 24):
        faults = f'[{{kind: lag, lag_s: {steps / STEPS_HZ}}}]'
        with bench.relay(faults, use_sim_time='true') as (domain, _):
            run = bench.start(domain, __file__, '--role', 'step', '--load', str(steps))
            off = json.loads(run.stdout.readline())
            run.wait(LIMIT_S)
        print(
            f'lag of {steps} steps of 1/{STEPS_HZ} s in simulated time: {len(off)} messages, '
            f'off by {min(off)} to {max(off)} steps (bound 0)'
        )


def step(lag_steps: int) -> None:
    """Publish /clock and messages; print by how many steps each one was delivered wrongly."""
    import rclpy
    from rclpy.executors import Executor
    from rclpy.experimental import EventsExecutor
    from rosgraph_msgs.msg import Clock
    from std_msgs.msg import UInt64

    from alpha_chaos.msg import FaultEvent
    from alpha_chaos.nodes.clock import to_seconds, to_time

    rclpy.init()
    node = rclpy.create_node('bench_clock')
    clock = node.create_publisher(Clock, '/clock', 10)
    source = node.create_publisher(UInt64, SOURCE, 10)
    taken: list[int] = []  # the step at which the relay had each message, by its own clock
    came: dict[int, int] = {}  # the step at which each message was delivered
    now = [0]

    def on_event(event: FaultEvent) -> None:
        taken.append(round(to_seconds(event.stamp) * STEPS_HZ))

    node.create_subscription(FaultEvent, '/fault_relay/fault_events', on_event, 10)
    node.create_subscription(UInt64, OUTPUT, lambda one: came.setdefault(one.data, now[0]), 10)
    executor: Executor = EventsExecutor()
    executor.add_node(node)

    def turn_until(done: Callable[[], bool], limit_s: float) -> None:
        deadline_s = time.monotonic() + limit_s
        while not done() and time.monotonic() < deadline_s:
            executor.spin_once(timeout_sec=0.01)

    both = (clock.get_subscription_count, source.get_subscription_count)
    turn_until(lambda: all(count() for count in both) and node.count_publishers(OUTPUT), LIMIT_S)
    for now[0] in range(STEPS_HZ, STEPS_HZ + 120 + lag_steps):
        clock.publish(Clock(clock=to_time(now[0] / STEPS_HZ)))
        turn_until(lambda: False, 0.01)
        number = now[0] - STEPS_HZ
        due = sum(one + lag_steps <= now[0] for one in taken)
        turn_until(lambda due=due: len(came) >= due, 1.0)  # no later step before it is there
        if number < 120:
            source.publish(UInt64(data=number))
            turn_until(lambda number=number: len(taken) > number, LIMIT_S)
    turn_until(lambda: len(came) == 120, 1.0)
    off = [came[number] - one - lag_steps for number, one in enumerate(taken)]
    print(json.dumps(off), flush=True)


def idle(bench: Bench) -> None:
    """Do nothing, with a source that is silent and a sink that waits for it."""
    seconds = 10.0
    with bench.relay() as (domain, process):
        ends = [
            bench.end_of_topic(domain, 'send', ARM, SOURCE),
            bench.end_of_topic(domain, 'receive', replace(ARM, patience_s=60.0), OUTPUT),
        ]
        ends[1].stdout.readline()  # it has found the relay, which has found the source
        time.sleep(1.0)
        used = sum(process.cpu_times()[:2])
        time.sleep(seconds)
        used = sum(process.cpu_times()[:2]) - used
        for end in ends:
            end.kill()
            end.wait()
    print(f'idle relay: {100 * used / seconds:.2f} % of a core (bound 2)')


PARTS = {part.__name__: part for part in (latency, lag, simulated, flood, images, idle)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('parts', nargs='*', choices=[*PARTS, []], default=[])
    parser.add_argument('--role', choices=['send', 'receive', 'step'], help=argparse.SUPPRESS)
    parser.add_argument('--load', help=argparse.SUPPRESS)
    parser.add_argument('--topic', help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role == 'step':
        step(int(given.load))
        return
    if given.role:
        {'send': send, 'receive': receive}[given.role](Load(*json.loads(given.load)), given.topic)
        return
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for name in given.parts or PARTS:
            PARTS[name](bench)


if __name__ == '__main__':
    main()
