"""Shared memory that killed DDS participants have left behind.

Fast DDS keeps a file for each participant and one for each port. Those of a killed process stay
until somebody removes them; `fastdds shm clean` leaves the ports whose lock file is gone.
"""

import fcntl
import os
import re
import time
from pathlib import Path

FOLDER = Path('/dev/shm')
_FILE = re.compile(r'(?:sem\.)?(fastrtps_(?:[0-9a-z]{16}|port[0-9]{1,5}))(?:_el|_sl|_mutex)?')
_LOCKS = ('_el', '_sl')
YOUNG_S = 2.0  # a file this young may be about to be mapped


def clean(folder: Path = FOLDER, proc: Path = Path('/proc')) -> int:
    """Remove this user's files that no process uses any more; return how many there were.

    In use is what a process has mapped or locked. What is young is waited for.
    """
    idle = _idle(folder, proc)
    if not idle:
        return 0
    young_s = max(_born_s(path) for paths in idle.values() for path in paths) + YOUNG_S
    if (wait_s := young_s - time.time()) > 0:
        time.sleep(min(wait_s, YOUNG_S))
        # Whoever was just starting then is using them now; what came later is not looked at.
        idle = {name: paths for name, paths in _idle(folder, proc).items() if name in idle}
    removed = 0
    for paths in idle.values():
        for path in paths:
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _idle(folder: Path, proc: Path) -> dict[str, list[Path]]:
    """Return the files that nobody uses, by the segment or port they belong to."""
    found: dict[str, list[Path]] = {}
    for path in folder.glob('*fastrtps_*'):
        if (match := _FILE.fullmatch(path.name)) and _is_mine(path):
            found.setdefault(match.group(1), []).append(path)
    if not found:
        return {}
    mapped = _mapped(proc)
    return {
        name: paths
        for name, paths in found.items()
        if name not in mapped and not any(_is_locked(folder / (name + lock)) for lock in _LOCKS)
    }


def _mapped(proc: Path) -> set[str]:
    names: set[str] = set()
    for maps in proc.glob('[0-9]*/maps'):
        try:
            text = maps.read_text('utf-8', 'replace')
        except OSError:  # it has ended, or is not ours
            continue
        names.update(re.findall(r'/(fastrtps_[0-9a-z]+)', text))
    return names


def _is_mine(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def _born_s(path: Path) -> float:
    try:
        return path.stat().st_ctime
    except FileNotFoundError:
        return 0.0


def _is_locked(path: Path) -> bool:
    try:
        with path.open('rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
