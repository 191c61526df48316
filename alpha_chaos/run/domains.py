"""A ROS domain of its own for every graph, so that no two hear each other."""

import fcntl
import os
import tempfile
from pathlib import Path

from alpha_chaos.plugins import BadSetting

# Domain ids up to 101 keep clear of the ports Linux hands out to others; 0 is everybody's default.
DOMAINS = range(1, 102)
# Participants of domain d listen at UDP ports from 7400 + 250 d on (DDSI-RTPS 2.5, 9.6.2.4).
_FIRST_PORT, _PORTS_OF_DOMAIN = 7400, 250
_SOCKETS = Path('/proc/net')


class NoDomain(BadSetting):
    """Every domain of this machine is taken."""


class Domains:
    """Hands out domain ids that no other process of this user holds and in which nobody talks.

    A claim is a lock on a file, so it ends with the process, however that ends. The processes of
    a killed run may outlive it a little, and a robot that never heard of these locks may be on
    any domain: where a participant listens, no claim is made.

    :param sockets: where the kernel lists the sockets of this machine
    """

    def __init__(self, folder: Path | None = None, sockets: Path = _SOCKETS) -> None:
        name = f'alpha_chaos_domains_{os.getuid()}'
        self._folder = folder or Path(tempfile.gettempdir()) / name
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._sockets = sockets
        self._held: dict[int, int] = {}  # descriptor of the lock, by domain
        self._next = DOMAINS.start + os.getpid() % len(DOMAINS)

    def claim(self) -> int:
        """Return a free domain id.

        :raises NoDomain: if there is none
        """
        inhabited = self._inhabited()
        for offset in range(len(DOMAINS)):
            domain = DOMAINS.start + (self._next - DOMAINS.start + offset) % len(DOMAINS)
            if domain in self._held or domain in inhabited:
                continue
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._folder / str(domain), flags, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                continue
            self._held[domain] = descriptor
            self._next = domain + 1
            return domain
        raise NoDomain(f'all {len(DOMAINS)} ROS domains are taken; see {self._folder}')

    def free(self, domain: int) -> None:
        """Give a domain id back."""
        os.close(self._held.pop(domain))

    def close(self) -> None:
        """Give all of them back."""
        for domain in tuple(self._held):
            self.free(domain)

    def _inhabited(self) -> set[int]:
        """Return the domains whose ports somebody listens at."""
        found = set()
        for name in ('udp', 'udp6'):
            try:
                lines = (self._sockets / name).read_text('ascii').splitlines()[1:]
            except OSError:  # no IPv6, or no /proc: then the locks must do
                continue
            ports = (int(line.split()[1].rpartition(':')[2], 16) for line in lines)
            found |= {(port - _FIRST_PORT) // _PORTS_OF_DOMAIN for port in ports}
        return found
