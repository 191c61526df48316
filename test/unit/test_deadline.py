"""Calls that may never return."""

import threading
import time

import pytest

from alpha_chaos.planners.providers.deadline import GivenUp, Waiting


def test_what_is_returned_or_raised_comes_through() -> None:
    waiting = Waiting()
    assert waiting.within(30, lambda: 'done') == 'done'
    assert waiting.within(30, lambda: None) is None
    with pytest.raises(ZeroDivisionError):
        waiting.within(30, lambda: 1 / 0)


def test_nobody_waits_longer_than_the_limit() -> None:
    go_on = threading.Event()
    waiting = Waiting()
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r'within 0\.05 s'):
        waiting.within(0.05, go_on.wait)
    assert time.monotonic() - start < 20
    assert waiting.within(30, lambda: 'another') == 'another'
    go_on.set()
    waiting.settle(30)


def test_another_thread_can_give_up_for_good() -> None:
    go_on = threading.Event()
    waiting = Waiting()
    threading.Timer(0.05, waiting.give_up).start()
    start = time.monotonic()
    for _ in range(2):
        with pytest.raises(GivenUp):
            waiting.within(60, go_on.wait)
    assert time.monotonic() - start < 50
    go_on.set()
    waiting.settle(30)
