"""Do the same with many recordings, in several processes, and show how far it is."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

from alpha_chaos.plugins import BadSetting
from alpha_chaos.run.progress import columns

T = TypeVar('T')
R = TypeVar('R')

FEW = 12  # so few are done before the processes have started
CHUNK = 4  # handed to a process at once
_PRELOAD = ['alpha_chaos.analysis.preload']


def each(
    work: Callable[[T], R],
    items: Sequence[T],
    console: Console,
    *,
    title: str,
    workers: int | None = None,
) -> list[R]:
    """Return what `work` makes of each of the items, in their order.

    :param workers: processes; None for one per core
    """
    workers = workers or os.cpu_count() or 1
    hidden = not console.is_terminal
    with Progress(*columns(), console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(title, total=len(items))
        done: list[R] = []

        def take(result: R) -> None:
            done.append(result)
            progress.advance(task)

        if workers == 1 or len(items) <= FEW:
            for item in items:
                take(work(item))
            return done
        context = multiprocessing.get_context('forkserver')
        context.set_forkserver_preload(_PRELOAD)
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_ctrl_c)
        try:
            for result in pool.map(work, items, chunksize=CHUNK):
                take(result)
        except BrokenProcessPool:
            raise BadSetting(
                'a process was killed, maybe because memory is short; --workers 1 needs the least'
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)
        return done


def _leave_ctrl_c() -> None:
    """Leave it to the process that started this one to end on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
