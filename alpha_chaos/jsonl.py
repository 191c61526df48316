"""A file of JSON lines that only grows, and survives the death of whoever writes it.

Every line is sealed: its last key is `sha256`, a hash over the line as it would be without it.
"""

import fcntl
import hashlib
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn


class LinesError(Exception):
    """Something is wrong with such a file; the subclasses say what."""


class CorruptLine(LinesError):
    """A line that is not what it should be; names the file and the line."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        super().__init__(f'{path}, line {line}: {why}')
        self.path, self.line, self.why = path, line, why


class Busy(LinesError):
    """Somebody else writes to this file; names the holder."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(f'{path} is in use by {holder or "another process"}')
        self.path, self.holder = path, holder


@dataclass(frozen=True)
class Lines:
    """What a file holds: the complete lines, and the torn end of the last one."""

    objects: tuple[dict[str, Any], ...]
    torn: bytes = b''
    good_bytes: int = 0


@dataclass(frozen=True)
class Line:
    """One complete line, whatever it is worth.

    :param item: what it says, without its seal; None if it is no JSON object
    :param problem: why it is none
    :param intact: whether it is as it was written; None if it was never sealed
    """

    number: int
    item: dict[str, Any] | None
    problem: str = ''
    intact: bool | None = None


@dataclass(frozen=True)
class Scan:
    """What a file holds, also lines that are no objects.

    :param torn: the last line if it lacks its newline or is not JSON: what a kill in mid-write
        leaves
    """

    lines: tuple[Line, ...]
    torn: bytes
    good_bytes: int


SEAL = 'sha256'
_SEALED = re.compile(rb',?"sha256":"([0-9a-f]{64})"}$')


def seal(item: Mapping[str, Any]) -> bytes:
    """Return an object as a sealed line, without its newline.

    The text is ASCII: characters beyond it, also lone surrogates, are escaped.

    :raises ValueError: for NaN or infinity, which JSON does not have, and for a key `sha256`
    """
    if SEAL in item:
        raise ValueError(f'the key {SEAL!r} is the seal of the line')
    text = json.dumps(item, ensure_ascii=True, allow_nan=False, separators=(',', ':')).encode()
    comma = b',' if item else b''
    digest = hashlib.sha256(text).hexdigest().encode()
    return text[:-1] + comma + b'"sha256":"' + digest + b'"}'


def _intact(line: bytes) -> bool | None:
    found = _SEALED.search(line)
    if found is None:
        return None
    return hashlib.sha256(line[: found.start()] + b'}').hexdigest().encode() == found[1]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f'{name} is not JSON')


def _as_object(line: bytes) -> dict[str, Any]:
    value = json.loads(line.decode('utf-8'), parse_constant=_refuse_constant)
    if not isinstance(value, dict):
        raise ValueError(f'an object is expected, not {type(value).__name__}')
    return value


def scan(path: Path) -> Scan:
    """Return the lines of a file, changing nothing; a missing file holds nothing."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Scan((), b'', 0)
    *complete, torn = content.split(b'\n')
    lines = []
    for number, text in enumerate(complete, start=1):
        try:
            item = _as_object(text)
        except (ValueError, RecursionError) as error:
            if number == len(complete) and not torn:
                torn = text + b'\n'
                break
            lines.append(Line(number, None, str(error), _intact(text)))
            continue
        intact = _intact(text)
        if item.pop(SEAL, None) is not None and intact is None:
            intact = False  # what was a seal is none any more
        lines.append(Line(number, item, intact=intact))
    return Scan(tuple(lines), torn, len(content) - len(torn))


def read(path: Path) -> Lines:
    """Return what `path` holds; see `scan`. Whether the lines are intact is left open.

    :raises CorruptLine: for a line that is not a JSON object
    """
    found = scan(path)
    objects = []
    for line in found.lines:
        if line.item is None:
            raise CorruptLine(path, line.number, line.problem)
        objects.append(line.item)
    return Lines(tuple(objects), found.torn, found.good_bytes)


# Locks belong to the open file, which a forked child shares: a child that outlives a killed
# runner would keep the next runner out.
_held: set[int] = set()


def _forget_locks() -> None:
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget_locks)


def _lock(path: Path, purpose: str) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    who = f'process {os.getpid()} on {socket.gethostname()}'
    try:
        with _named(path):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f'{who} ({purpose})\n'.encode('utf-8', 'backslashreplace'), 0)
    except BlockingIOError:
        holder = os.pread(descriptor, 1000, 0).decode('utf-8', 'replace').strip()
        os.close(descriptor)
        raise Busy(path, holder) from None
    except OSError:
        os.close(descriptor)
        raise
    _held.add(descriptor)
    return descriptor


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors of a descriptor say of which file it is."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def holder(path: Path) -> str:
    """Return who writes to a file at this moment, '' if nobody does."""
    try:
        descriptor = os.open(path.with_suffix('.lock'), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ''
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, 1000, 0).decode('utf-8', 'replace').strip()
    finally:
        os.close(descriptor)
    return ''


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _append_durably(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        with _named(path):
            _write_all(descriptor, data)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Appender:
    """The one writer of a file; a second one gets `Busy`.

    Opening moves a torn last line to a file beside it (`journal.jsonl` -> `journal.torn`);
    `torn` holds it, for the caller to report. `objects` are the lines that were there.

    :param purpose: what the writer is doing, shown to whoever finds the file locked
    """

    def __init__(self, path: Path, purpose: str = 'writing') -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock: int | None = _lock(path.with_suffix('.lock'), purpose)
        try:
            found = read(path)
            self.objects = found.objects
            self.torn = found.torn
            if found.torn:
                _append_durably(path.with_suffix('.torn'), found.torn.rstrip(b'\n') + b'\n')
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o644)
            with _named(path):
                os.ftruncate(self._file, found.good_bytes)
                os.fsync(self._file)
            folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            os.fsync(folder)
            os.close(folder)
        except BaseException:
            self._release()
            raise

    def append(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Add one sealed line an object; return when they are on disk, and raise if none is.

        :raises ValueError: for an object that `seal` refuses
        """
        data = b''.join(seal(item) + b'\n' for item in objects)
        size = os.fstat(self._file).st_size
        try:
            with _named(self.path):
                _write_all(self._file, data)
                os.fsync(self._file)
        except BaseException:
            # A full disk, or Ctrl-C: take the half line back, or the next one is glued to it.
            os.ftruncate(self._file, size)
            raise

    def _release(self) -> None:
        if self._lock is not None:
            _held.discard(self._lock)
            os.close(self._lock)
            self._lock = None

    def close(self) -> None:
        """Let the next writer in. Closing twice is harmless."""
        if self._lock is not None:
            os.close(self._file)
            self._release()
