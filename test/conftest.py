"""What all tests share."""

import gc
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


def pytest_collection_finish() -> None:
    # statsmodels has the garbage collected at each test of several hypotheses. What is imported
    # by then is left out of it, which halves the time that the tests of statistics take.
    import statsmodels.stats.api  # noqa: F401

    gc.collect()
    gc.freeze()
