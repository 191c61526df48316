"""What a watch may get to see, without ROS."""

from collections.abc import Callable
from types import SimpleNamespace as Message
from typing import Any, NoReturn

from alpha_chaos.faults.base import Fields, Unreadable
from alpha_chaos.probes.base import (
    Finding,
    GraphSource,
    Probe,
    ServiceSource,
    TopicSource,
    Watch,
)

# Has every field that the shipped examples ask for, and the levels are bad.
MESSAGE = Message(
    position=[0.1, 9.0],
    status=[Message(name='battery', level=b'\x02', message='empty')],
    rule='violent_contact',
    key='red',
    success=False,
)


def reading(message: object) -> Callable[[], Fields]:
    """Return what reads a message that came."""
    return lambda: Fields(message)


def unreadable() -> NoReturn:
    """Fail as a message does whose bytes are no message."""
    raise Unreadable('the end was not expected there')


def show(probe: Probe, watch: Watch, start_s: float, seconds: float, every_s: float = 0.1) -> None:
    """Let a watch see the same thing again and again for a while."""
    times = int(seconds / every_s)
    for number in range(times):
        now_s = start_s + number * every_s
        source = probe.source
        if isinstance(source, TopicSource):
            watch.on_senders(1)
            watch.on_message(now_s, reading(MESSAGE))
        elif isinstance(source, ServiceSource):
            watch.on_answer(0.01, Fields(MESSAGE))
        elif isinstance(source, GraphSource):
            watch.on_nodes(['/somebody_else'])


def judged(probe: Probe, see: Callable[[Watch], Any], seconds: float = 10.0) -> Finding:
    """Return what a watch makes of a phase from 0 s on in which it saw something."""
    watch = probe.watch(0.0)
    see(watch)
    return watch.judge(seconds)
