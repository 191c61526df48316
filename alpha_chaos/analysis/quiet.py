"""Keep what C code prints away from the output of a command."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OUTPUTS = (1, 2)


@contextmanager
def unheard() -> Iterator[None]:
    """Let nothing through that is printed meanwhile: an engine greets whoever loads it."""
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    kept = [os.dup(output) for output in _OUTPUTS]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for output in _OUTPUTS:
            os.dup2(nowhere, output)
        yield
    finally:
        flush(None)
        for output, copy in zip(_OUTPUTS, kept, strict=True):
            os.dup2(copy, output)
            os.close(copy)
        os.close(nowhere)
