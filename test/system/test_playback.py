"""A recording is published again by the command line, and read into a table by the example."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_chaos.run.domains import Domains

ROOT = Path(__file__).parents[2]
EPISODE = ('control_000', 'oracle')


@pytest.fixture
def row(fresh):
    return fresh.final['/'.join(EPISODE)]


@pytest.fixture
def domain(monkeypatch):
    domains = Domains()
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domains.claim()))
    yield
    domains.close()


@pytest.mark.usefixtures('domain')
def test_a_recording_is_published_to_its_end_with_0(cli, fresh, row):
    done = cli('replay', '--ros', fresh.folder, *EPISODE, '--rate', 20, folder=fresh.folder)
    assert done.returncode == 0, done.stderr
    assert f'played 5.8 of 5.8 s, {row.recording.messages} messages' in done.stderr
    assert done.stderr.count('\n') == 2  # what is played, and that it was


@pytest.mark.usefixtures('domain')
def test_a_signal_ends_it_with_0(fresh, row):
    command = [sys.executable, '-m', 'alpha_chaos.cli', 'replay', '--ros', '--loop', row.bag]
    with subprocess.Popen(command, cwd=fresh.folder, stderr=subprocess.PIPE, text=True) as player:
        assert 'plays' in player.stderr.readline()
        player.send_signal(signal.SIGTERM)
        assert player.wait(30) == 0
        assert 'Traceback' not in player.stderr.read()


@pytest.mark.parametrize(
    ('arguments', 'why'),
    [
        (['--rate', '2'], '--rate is about publishing: add --ros'),
        (['--ros', 'control_00', 'oracle'], "did you mean 'control_000'"),
        (['--ros', *EPISODE, '--begin', '9'], 'there is nothing to play'),
    ],
)
def test_what_cannot_be_published_is_refused_in_one_line(cli, fresh, arguments, why):
    refused = cli('replay', fresh.folder, *arguments, folder=fresh.folder)
    assert refused.returncode == 2
    assert refused.stderr.startswith('error: ')
    assert refused.stderr.count('\n') == 1
    assert why in refused.stderr


def test_the_example_makes_a_table_of_any_recording(fresh, row, tmp_path):
    script = ROOT / 'docs/examples/bag_to_pandas.py'
    made = subprocess.run(
        [sys.executable, script, fresh.folder / row.bag, tmp_path / 'table.csv'],
        env={**os.environ, 'PYTHONPATH': ''},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    header, *rows = (tmp_path / 'table.csv').read_text().splitlines()
    assert len(rows) == 1381  # 120 steps to settle, 1 and 1260 of the plan
    names = header.split(',')
    assert set(names[1:]) <= set(made.stdout.split())
    assert names[:2] == ['time_s', 'red_to_zone_m']
    assert names[-1] == 'lbr_iiwa_joint_7_rad'
    time_s, error_m, *_ = map(float, rows[-1].split(','))
    assert time_s == pytest.approx(1380 / 240)
    assert error_m == pytest.approx(row.final_error_m, abs=1e-12)
