"""What a run of the suite tells, clause by clause, and nothing of pytest's own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from alpha_chaos.driver_contract.probe import Probe

KEPT, BROKEN, OPEN = 'kept', 'BROKEN', 'not judged'


@dataclass
class Clause:
    """One clause, and what was seen of it.

    :param about: what it asks for, in a sentence
    :param reasons: why it is broken, or could not be judged
    """

    name: str
    about: str
    verdict: str = KEPT
    reasons: list[str] = field(default_factory=list)


class Suite:
    """A pytest plug-in: hands the probe to the clauses and collects what becomes of them."""

    def __init__(self, probe: Probe, tell: Callable[[Clause], None]) -> None:
        self._probe = probe
        self._tell = tell
        self._told: Clause | None = None
        self.clauses: dict[str, Clause] = {}

    @pytest.fixture
    def probe(self) -> Iterator[Probe]:
        """Return the client; whatever a clause leaves under way is cancelled."""
        yield self._probe
        self._probe.leave()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Learn the clauses; variants of a test are one of them."""
        for item in items:
            about = (item.function.__doc__ or '').strip()
            self.clauses.setdefault(item.originalname, Clause(_name(item.originalname), about))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what became of a variant."""
        function = report.location[2].partition('[')[0]
        clause = self.clauses[function]
        if self._told is not None and self._told is not clause:
            self._tell(self._told)
        self._told = clause
        if report.failed:
            clause.verdict = BROKEN
        elif report.skipped and clause.verdict == KEPT:
            clause.verdict = OPEN
        else:
            return
        why = _why(report)
        if why not in clause.reasons:
            clause.reasons.append(why)

    def pytest_sessionfinish(self) -> None:
        """Tell of the last clause, too."""
        if self._told is not None:
            self._tell(self._told)


def _name(function: str) -> str:
    return function.removeprefix('test_')


def _why(report: Any) -> str:
    if report.skipped:
        return str(report.longrepr[2]).removeprefix('Skipped: ')
    crash = getattr(report.longrepr, 'reprcrash', None)
    text = str(report.longrepr) if crash is None else crash.message
    # pytest adds the values it found below what the clause says.
    return text.removeprefix('AssertionError: ').partition('\n')[0]
