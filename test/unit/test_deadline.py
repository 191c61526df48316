"""Calls that may never return."""

import threading
import time

import pytest

from alpha_chaos.planners.providers.deadline import within


def test_what_is_returned_or_raised_comes_through() -> None:
    assert within(5, lambda: 'done') == 'done'
    assert within(5, lambda: None) is None
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)


def test_nobody_waits_longer_than_the_limit() -> None:
    go_on = threading.Event()
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r'within 0\.05 s'):
        within(0.05, go_on.wait)
    assert time.monotonic() - start < 2
    go_on.set()
