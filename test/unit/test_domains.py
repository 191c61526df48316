"""No two graphs get the same domain, and none gets one in which somebody talks already."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alpha_chaos.run.domains import DOMAINS, Domains, NoDomain

HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n'


def listening(folder: Path, *ports: int) -> Path:
    """Return a folder like /proc/net of a machine on which somebody listens at these ports."""
    folder.mkdir()
    lines = [f'  12: 00000000:{port:04X} 00000000:0000 07 00000000:00000000\n' for port in ports]
    (folder / 'udp').write_text(HEADER + ''.join(lines))
    return folder


@pytest.fixture
def domains_of(tmp_path: Path) -> Iterator[Callable[..., Domains]]:
    """Return a function that makes domains on the locks of this test."""
    made: list[Domains] = []

    def make(*sockets: Path) -> Domains:
        made.append(Domains(tmp_path / 'locks', *sockets))
        return made[-1]

    yield make
    for domains in made:
        domains.close()


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    return listening(tmp_path / 'net')


def test_no_domain_is_handed_out_twice(domains_of, quiet):
    one, other = domains_of(quiet), domains_of(quiet)
    claimed = [domains.claim() for domains in (one, other) for _ in range(20)]
    assert len(set(claimed)) == 40
    assert set(claimed) <= set(DOMAINS)


def test_a_domain_that_was_given_back_is_used_again_last(domains_of, quiet):
    domains = domains_of(quiet)
    first = domains.claim()
    domains.free(first)
    later = [domains.claim() for _ in range(len(DOMAINS))]
    assert later[-1] == first
    assert set(later) == set(DOMAINS)


def test_when_all_are_taken_it_says_where_to_look(domains_of, tmp_path, quiet):
    domains = domains_of(quiet)
    for _ in DOMAINS:
        domains.claim()
    with pytest.raises(NoDomain, match=str(tmp_path / 'locks')):
        domains_of(quiet).claim()


def test_a_claim_ends_with_its_process_however_that_ends(domains_of, tmp_path, quiet):
    lines = [
        'import os, signal, sys',
        'from pathlib import Path',
        'from alpha_chaos.run.domains import DOMAINS, Domains',
        'domains = Domains(Path(sys.argv[1]), Path(sys.argv[2]))',
        'for _ in DOMAINS: domains.claim()',
        'os.kill(os.getpid(), signal.SIGKILL)',
    ]
    locks = str(tmp_path / 'locks')
    killed = subprocess.run([sys.executable, '-c', '\n'.join(lines), locks, str(quiet)])
    assert killed.returncode == -9
    assert domains_of(quiet).claim() in DOMAINS


def test_where_a_participant_listens_no_claim_is_made(domains_of, tmp_path):
    # The first and the last port of domain 5, and everybody else's ports.
    net = listening(tmp_path / 'net', 7400 + 5 * 250, 7400 + 7 * 250 + 249, 53, 7000, 7410, 65535)
    domains = domains_of(net)
    claimed = {domains.claim() for _ in range(len(DOMAINS) - 2)}
    assert claimed == set(DOMAINS) - {5, 7}
    with pytest.raises(NoDomain):
        domains.claim()


def test_without_a_list_of_sockets_the_locks_must_do(domains_of, tmp_path):
    assert domains_of(tmp_path / 'nowhere').claim() in DOMAINS


def test_a_real_socket_keeps_its_domain_from_being_claimed(domains_of):
    domains = domains_of()
    domain = domains.claim()
    domains.free(domain)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as participant:
        participant.bind(('127.0.0.1', 7400 + 250 * domain + 11))
        assert domains_of().claim() != domain  # which a newcomer would have claimed first
