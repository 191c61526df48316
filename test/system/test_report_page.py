"""The report opens in a browser, says nothing to its console and asks nobody for anything."""

import base64
import fcntl
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from synthetic_runs import aborted, paper_run

from alpha_chaos.journal import Journal

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
PATIENCE_S = 60.0
# The browser reads orders from 3 and writes answers to 4.
AS_THREE_AND_FOUR = (
    'import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); '
    'os.execv(sys.argv[3], sys.argv[3:])'
)
SIZES = {'phone': (390, 844), 'tablet': (800, 1100), 'desktop': (1280, 900)}


class Browser:
    """Chromium without a window, spoken to through pipes in its own protocol (CDP)."""

    def __init__(self, program: str, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Above all that may be open, so that neither is overwritten before it is moved.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 100) for end in (theirs_in, theirs_out)]
        self._process = subprocess.Popen(
            [
                *[sys.executable, '-c', AS_THREE_AND_FOUR, *map(str, high)],
                *[program, '--headless=new', '--no-sandbox', '--disable-gpu'],
                *['--remote-debugging-pipe', f'--user-data-dir={profile}', '--no-first-run'],
                *['--disable-background-networking', '--disable-component-update'],
                *['--disable-dev-shm-usage', '--hide-scrollbars', 'about:blank'],
            ],
            pass_fds=high,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs_in, theirs_out, *high):
            os.close(end)
        self._in, self._out = ours_in, os.fdopen(ours_out, 'wb', buffering=0)
        os.set_blocking(self._in, False)
        self._rest = b''
        self._number = 0
        self.heard: list[dict[str, Any]] = []

    def begin(self) -> None:
        """Get a page to work with."""
        target = self._call('Target.createTarget', {'url': 'about:blank'})['targetId']
        attached = self._call('Target.attachToTarget', {'targetId': target, 'flatten': True})
        self._session = attached['sessionId']
        for domain in ('Page', 'Network', 'Log', 'Runtime'):
            self.call(f'{domain}.enable')

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Do something with the page and return the answer."""
        return self._call(method, arguments, self._session)

    def _call(self, method: str, arguments: dict[str, Any], session: str = '') -> dict[str, Any]:
        self._number += 1
        number = self._number
        order = {'id': number, 'method': method, 'params': arguments}
        self._out.write(
            json.dumps(order | ({'sessionId': session} if session else {})).encode() + b'\0'
        )
        answer = self._until(lambda item: item.get('id') == number)
        assert 'error' not in answer, answer
        result: dict[str, Any] = answer['result']
        return result

    def _until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            while b'\0' in self._rest:
                message, _, self._rest = self._rest.partition(b'\0')
                item: dict[str, Any] = json.loads(message)
                self.heard.append(item)
                if wanted(item):
                    return item
            assert time.monotonic() < deadline, 'the browser does not answer'
            assert self._process.poll() is None, 'the browser ended'
            try:
                self._rest += os.read(self._in, 1 << 20)
            except BlockingIOError:
                time.sleep(0.01)

    def open(self, address: str) -> None:
        """Load a page and everything that belongs to it."""
        self.heard.clear()
        self.call('Page.navigate', url=address)
        self._until(lambda item: item.get('method') == 'Page.loadEventFired')

    def value(self, expression: str) -> Any:
        """Return what an expression on the page is worth."""
        found = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        assert 'exceptionDetails' not in found, found
        return found['result'].get('value')

    def look(self, width: int, height: int, dark: bool = False) -> None:
        """Show the page in a window of this size."""
        self.call(
            'Emulation.setDeviceMetricsOverride',
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}
        self.call('Emulation.setEmulatedMedia', features=[scheme])

    def screenshot(self) -> bytes:
        """Return what is to be seen as PNG."""
        found = self.call('Page.captureScreenshot', format='png')
        return base64.b64decode(found['data'])

    def events(self, *methods: str) -> list[dict[str, Any]]:
        """Return what the browser said about the page since it was opened."""
        return [item['params'] for item in self.heard if item.get('method') in methods]

    def close(self) -> None:
        """End it, and with it all that it started."""
        self._out.close()  # it takes this as the order to end
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        os.close(self._in)


@pytest.fixture(scope='module')
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip(f'no browser to open the report with: none of {", ".join(NAMES)} is on PATH')
    found = Browser(program, tmp_path_factory.mktemp('profile'))
    try:
        found.begin()
        yield found
    finally:
        found.close()


@pytest.fixture(scope='module')
def report(fresh, cli) -> Path:
    """Return the report of a real run, with figures and films."""
    made = cli('report', fresh.folder, folder=fresh.folder)
    assert made.returncode == 0, made.stderr
    return fresh.folder / 'report' / 'index.html'


@pytest.fixture(scope='module')
def without_bags(tmp_path_factory: pytest.TempPathFactory, cli) -> Path:
    """Return the report of a run of which only the journal is left."""
    folder = tmp_path_factory.mktemp('papers')
    rows = paper_run()
    with Journal(folder) as journal:
        for row in (aborted(rows[0], 'node_died: <img src=x onerror=alert(1)>'), *rows):
            journal.append(row)
    made = cli('report', folder, folder=folder)
    assert made.returncode == 0, made.stderr
    return folder / 'report' / 'index.html'


@pytest.fixture(scope='module')
def benchmark(tmp_path_factory: pytest.TempPathFactory, cli) -> Path:
    """Return the report of a benchmark in which plans that do harm are unfolded."""
    folder = tmp_path_factory.mktemp('benchmark') / 'run'
    made = cli(
        *['simmer', 'run', '--world', 'tabletop', '--conditions', '', '--out', folder],
        folder=folder.parent,
    )
    assert made.returncode == 0, made.stderr
    path = folder / 'report' / 'index.html'
    path.write_text(path.read_text('utf-8').replace('<details', '<details open'), 'utf-8')
    return path


@pytest.fixture(params=['report', 'without_bags', 'benchmark'])
def page(request: pytest.FixtureRequest, browser: Browser) -> Browser:
    browser.open(request.getfixturevalue(request.param).as_uri())
    return browser


def test_the_browser_would_notice(browser: Browser, tmp_path: Path) -> None:
    bad = tmp_path / 'bad.html'
    bad.write_text('<img src="http://127.0.0.1:9/x.png"><script>console.log(1); oops()</script>')
    browser.open(bad.as_uri())
    said = {item['method'] for item in browser.heard if 'method' in item}
    assert {'Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown'} <= said
    asked = [item['request']['url'] for item in browser.events('Network.requestWillBeSent')]
    assert 'http://127.0.0.1:9/x.png' in asked


def test_it_says_nothing_to_the_console(page: Browser) -> None:
    assert page.value('document.getElementById("verdict").textContent.length') > 20
    methods = ('Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown')
    assert page.events(*methods, 'Page.javascriptDialogOpening') == []


def test_it_asks_nobody_for_anything(page: Browser) -> None:
    asked = [item['request']['url'] for item in page.events('Network.requestWillBeSent')]
    assert [url for url in asked if not url.startswith(('file:', 'data:'))] == []
    assert [url for url in asked if url.startswith('file:')] == [page.value('location.href')]


def test_every_picture_is_there(page: Browser) -> None:
    broken = '[...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).length'
    assert page.value(broken) == 0
    assert page.value('document.images.length') > 0


@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
@pytest.mark.parametrize('size', SIZES)
def test_nothing_sticks_out_and_nothing_is_blank(page: Browser, size: str, dark: bool) -> None:
    page.look(*SIZES[size], dark)
    assert page.value('document.documentElement.scrollWidth') == SIZES[size][0]
    pixels = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert('L'), float)
    assert pixels.shape == SIZES[size][::-1]
    assert pixels.std() > 5  # letters on the ground
    assert (np.median(pixels) < 128) == dark


@pytest.mark.parametrize('page', ['report', 'without_bags'], indirect=True)
def test_a_link_of_a_number_leads_to_its_episodes(page: Browser) -> None:
    page.look(*SIZES['desktop'])
    page.value('document.querySelector("#success td a").click()')
    anchor = page.value('decodeURIComponent(location.hash.slice(1))')
    assert anchor.startswith('cell:')
    box = f'document.getElementById({json.dumps(anchor)}).getBoundingClientRect().top'
    assert -1 <= page.value(box) < SIZES['desktop'][1]
