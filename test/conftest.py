"""What all tests share."""

import signal

import pytest
from hypothesis import settings

# Time limits per example fail on a busy machine and say nothing about the code.
settings.register_profile('suite', deadline=None)
settings.load_profile('suite')


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what it puts into the background deaf to Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line('markers', 'model: runs the embedded language model')
