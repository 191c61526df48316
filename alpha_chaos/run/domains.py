"""A ROS domain of its own for every graph, so that no two hear each other."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO

# Domain ids up to 101 keep clear of the ports Linux hands out to others; 0 is everybody's default.
DOMAINS = range(1, 102)


class NoDomain(RuntimeError):
    """Every domain of this machine is taken."""


class Domains:
    """Hands out domain ids that no other process of this user holds.

    A claim is a lock on a file, so it ends with the process, however that ends. A domain that was
    given back is used again as late as possible: the last of its processes may still be leaving.
    """

    def __init__(self, folder: Path | None = None) -> None:
        name = f'alpha_chaos_domains_{os.getuid()}'
        self._folder = folder or Path(tempfile.gettempdir()) / name
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._held: dict[int, IO[bytes]] = {}
        self._next = DOMAINS.start + os.getpid() % len(DOMAINS)

    def claim(self) -> int:
        """Return a free domain id.

        :raises NoDomain: if there is none
        """
        for offset in range(len(DOMAINS)):
            domain = DOMAINS.start + (self._next - DOMAINS.start + offset) % len(DOMAINS)
            if domain in self._held:
                continue
            file = (self._folder / str(domain)).open('ab')
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                continue
            self._held[domain] = file
            self._next = domain + 1
            return domain
        raise NoDomain(f'all {len(DOMAINS)} ROS domains are taken; see {self._folder}')

    def free(self, domain: int) -> None:
        """Give a domain id back."""
        self._held.pop(domain).close()
