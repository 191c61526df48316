"""`alpha-chaos check-driver`: hold the contract against a running driver."""

import contextlib
import io
import math
import os
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from alpha_chaos.driver_contract.report import BROKEN, KEPT, OPEN, Clause, Suite
from alpha_chaos.plugins import BadSetting
from alpha_chaos.report.wording import shown
from alpha_chaos.workspace import Box

HELD, BROKEN_CODE, HARNESS_ERROR = 0, 1, 3


def workspace(text: str) -> Box:
    """Return the box that six numbers describe.

    :raises BadSetting: for anything else
    """
    try:
        numbers = [float(part) for part in text.replace(',', ' ').split()]
    except ValueError:
        numbers = []
    low, high = numbers[:3], numbers[3:]
    fits = len(numbers) == 6 and all(map(math.isfinite, numbers))
    if not fits or not all(one < other for one, other in zip(low, high, strict=True)):
        raise BadSetting(
            f'workspace {text!r}: six numbers [m] are expected, the lower corner and the upper '
            'one, as 0.15,-0.45,0.55,0.95,0.55,1.25'
        )
    return Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))


def check_driver(console: Console, **options: object) -> int:
    """Try a driver out and say which clauses it keeps; return the exit code.

    :param options: of `probe.Options`
    :raises BadSetting: where there is no such node
    """
    from alpha_chaos.run.processes import users_environment

    os.environ.update(users_environment())
    from alpha_chaos.driver_contract.probe import Options, Probe

    asked = Options(**options)  # type: ignore[arg-type]
    probe = Probe(asked)
    try:
        box = asked.workspace
        kind = 'takes part in episodes' if probe.takes_episodes else 'takes part in no episodes'
        full = f'{probe.namespace.rstrip("/")}/{probe.name}'
        _say(console, f'{full} {kind}; workspace {box.min} to {box.max} m')
        suite = Suite(probe, lambda clause: _show(console, clause))
        code, said = _run(suite)
    finally:
        probe.close()
    if code not in (0, 1):
        _say(console, said)
        return HARNESS_ERROR
    return _conclude(console, suite)


def _run(suite: Suite) -> tuple[int, str]:
    import pytest

    said = io.StringIO()
    arguments = [
        str(Path(__file__).parent),
        f'--rootdir={Path(__file__).parent}',
        f'--config-file={os.devnull}',
        *['--import-mode=importlib', '--capture=no', '-p', 'no:cacheprovider'],
    ]
    with _alone(), contextlib.redirect_stdout(said):
        code = int(pytest.main(arguments, plugins=[suite]))
    return code, said.getvalue()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Keep other people's plug-ins and options out: a ROS installation brings some."""
    keys = {'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1', 'PYTEST_ADDOPTS': '', 'PYTEST_PLUGINS': ''}
    before = {key: os.environ.get(key) for key in keys}
    os.environ.update(keys)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value


def _show(console: Console, clause: Clause) -> None:
    _say(console, f'{clause.verdict:10s}  {clause.name}')
    if clause.verdict == BROKEN:
        _say(console, f'            {clause.about}')
    for reason in clause.reasons:
        _say(console, f'            {reason}')


def _conclude(console: Console, suite: Suite) -> int:
    by: dict[str, list[str]] = {KEPT: [], BROKEN: [], OPEN: []}
    for clause in suite.clauses.values():
        by[clause.verdict].append(clause.name)
    numbers = ', '.join(f'{len(names)} {verdict.lower()}' for verdict, names in by.items())
    _say(console, f'{len(suite.clauses)} clauses: {numbers}')
    if not by[BROKEN]:
        return HELD
    _say(console, f'broken: {", ".join(by[BROKEN])}')
    return BROKEN_CODE


def _say(console: Console, text: str) -> None:
    console.print(shown(text, console.encoding), markup=False, highlight=False, soft_wrap=True)
