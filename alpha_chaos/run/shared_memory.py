"""Shared memory that killed DDS participants have left behind.

Fast DDS keeps a segment for each participant and one for each port. Those of a killed process stay
until somebody removes them; `fastdds shm clean` leaves the ports whose lock file is gone.
"""

import fcntl
import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path('/dev/shm')
_SEGMENT = re.compile(r'fastrtps_[0-9a-z]{16}')
_PORT = re.compile(r'fastrtps_port([0-9]{1,5})')
_LOCKS = ('_el', '_sl')
_PORTS_OF_DOMAIN = 250  # RTPS: ports of domain d begin at 7400 + 250 d
_FIRST_PORT = 7400


def clean(domains: Iterable[int], folder: Path = FOLDER) -> int:
    """Remove what nobody holds any more; return the number of segments and ports removed.

    :param domains: whose ports to look at; the caller's, and of nobody who may be starting now
    """
    ours = set(domains)
    removed = 0
    names = {_without_lock(path.name) for path in folder.glob('fastrtps_*')}
    for name in sorted(names):
        port = _PORT.fullmatch(name)
        if port is not None:
            mine = (int(port.group(1)) - _FIRST_PORT) // _PORTS_OF_DOMAIN in ours
        else:
            # The lock of a segment is there before the segment, so a newcomer is never taken.
            mine = bool(_SEGMENT.fullmatch(name)) and (folder / f'{name}_el').exists()
        if mine and not any(_is_locked(folder / (name + lock)) for lock in _LOCKS):
            for victim in (name, *(name + lock for lock in _LOCKS), f'sem.{name}_mutex'):
                (folder / victim).unlink(missing_ok=True)
            removed += 1
    return removed


def _without_lock(name: str) -> str:
    for lock in _LOCKS:
        name = name.removesuffix(lock)
    return name


def _is_locked(path: Path) -> bool:
    try:
        with path.open('rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
