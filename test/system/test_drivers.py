"""`alpha-chaos check-driver` against drivers good and bad, and an episode on mock_driver."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alpha_chaos import journal
from alpha_chaos.run.domains import Domains
from alpha_chaos.run.processes import environment

DOUBLES = Path(__file__).parents[1] / 'unit' / 'driver_doubles.py'
NODES = ('-m', 'alpha_chaos.nodes')
PATIENCE_S = 120.0

EPISODES = {
    'begins_attempts',
    'numbers_every_step',
    'stands_still_unless_told',
    'refuses_goals_of_other_attempts',
    'counts_what_it_sends',
}
# What each of the bad drivers breaks, and what cannot be kept beside it.
BROKEN = {
    'reckless': {
        'refuses_targets_that_are_not_finite',
        'refuses_targets_outside_the_workspace',
        'refuses_targets_in_unknown_frames',
        'refuses_stale_goals',
        'opens_and_closes',
        'refuses_grips_that_cannot_be',
    },
    'deaf': {
        'goes_on_after_a_refusal',
        'obeys_cancel',
        'goes_on_after_a_cancel',
        'ends_every_goal',
        'opens_and_closes',
        'publishes_joint_states',
        'publishes_objects',
    },
    'liar': {
        *EPISODES,
        'carries_out_motions',
        'reports_motions_honestly',
        'refuses_targets_that_are_not_finite',
        'obeys_cancel',
        'goes_on_after_a_cancel',
    },
}
UNSERVED = {'serves_arm', 'serves_gripper'}


class Stand:
    """Drivers on a domain of their own, and the command that checks them."""

    def __init__(self, domain, folder):
        self.env = {**os.environ, **environment(domain), 'COLUMNS': '200'}
        self.folder = folder
        self.processes = []

    def start(self, *command):
        with (self.folder / f'{len(self.processes)}.out').open('w') as out:
            process = subprocess.Popen(
                [sys.executable, *map(str, command)],
                cwd=self.folder,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.processes.append(process)

    def wait_for(self, name):
        """Wait until a node is on the network: later it is found in time, or it is not there."""
        deadline = time.monotonic() + PATIENCE_S
        while '/dev/shm/fastrtps_' not in Path(f'/proc/{name.pid}/maps').read_text():
            assert name.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def check(self, *options):
        """Return the exit code, the verdict on each clause, and all that was said."""
        for process in self.processes:
            self.wait_for(process)
        done = subprocess.run(
            [sys.executable, '-m', 'alpha_chaos.cli', 'check-driver', *options],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        found = re.findall(r'^(kept|BROKEN|not judged)\s+(\w+)$', done.stdout, re.MULTILINE)
        said = done.stdout + done.stderr
        assert 'Traceback' not in said
        return done.returncode, {clause: verdict for verdict, clause in found}, said

    def end(self):
        for process in self.processes:
            process.send_signal(signal.SIGINT)
        codes = []
        for process in self.processes:
            try:
                codes.append(process.wait(10))
            except subprocess.TimeoutExpired:
                process.kill()
                codes.append(process.wait())
        return codes


@pytest.fixture
def stand(tmp_path):
    domains = Domains()
    made = Stand(domains.claim(), tmp_path)
    yield made
    made.end()
    domains.close()


def clauses(verdicts, wanted):
    return {name for name, verdict in verdicts.items() if verdict == wanted}


# -- good drivers


@pytest.mark.parametrize('kind', ['sim', 'mock_driver'])
def test_the_drivers_for_episodes_keep_every_clause(stand, kind):
    stand.start(*NODES, kind)
    code, verdicts, said = stand.check('--node', kind)
    assert code == 0, said
    assert clauses(verdicts, 'kept') == verdicts.keys()
    # Each of them has a driver below that breaks it.
    assert verdicts.keys() == UNSERVED.union(*BROKEN.values())
    assert f'{len(verdicts)} clauses: {len(verdicts)} kept, 0 broken, 0 not judged' in said
    assert stand.end() == [0]


def test_a_bare_driver_needs_nothing_of_the_episodes(stand):
    stand.start(DOUBLES, 'baredriver')
    code, verdicts, said = stand.check()  # the node is found by what it serves
    assert code == 0, said
    assert clauses(verdicts, 'not judged') == EPISODES
    assert clauses(verdicts, 'kept') == verdicts.keys() - EPISODES
    assert '/bare_driver takes part in no episodes' in said


# A find_spec, not an import: the wheels of other packages may not suit this process.
@pytest.mark.skipif(
    importlib.util.find_spec('control_msgs') is None,
    reason='control_msgs is not on PyPI; source a ROS installation that has it to test '
    'joint_trajectory_driver against controllers',
)
def test_ros2_control_is_a_driver_too(stand):
    stand.start(DOUBLES, 'controllers')
    speed = ('--ros-args', '-p', 'joint_speed:=3.0')
    stand.start(*NODES, 'joint_trajectory_driver', *speed)
    code, verdicts, said = stand.check('--node', 'joint_trajectory_driver')
    assert code == 0, said
    assert clauses(verdicts, 'not judged') == EPISODES
    assert clauses(verdicts, 'kept') == verdicts.keys() - EPISODES
    assert stand.end() == [0, 0]


# -- broken ones


@pytest.mark.parametrize('kind', BROKEN)
def test_every_broken_clause_is_caught_and_named(stand, kind):
    stand.start(DOUBLES, kind)
    code, verdicts, said = stand.check('--patience', '2')
    assert code == 1, said
    assert clauses(verdicts, 'BROKEN') == BROKEN[kind], said
    (named,) = re.findall('^broken: (.*)$', said, re.MULTILINE)
    assert set(named.split(', ')) == BROKEN[kind]


def test_what_is_not_served_is_named_and_the_rest_is_not_judged(stand):
    stand.start(DOUBLES, 'baredriver')
    elsewhere = ('--arm-action', 'no/arm', '--gripper-action', 'no/gripper')
    code, verdicts, said = stand.check('--node', 'bare_driver', *elsewhere)
    assert code == 1, said
    assert clauses(verdicts, 'BROKEN') == UNSERVED
    assert clauses(verdicts, 'kept') == {'publishes_joint_states', 'publishes_objects'}


def test_an_action_that_is_served_in_part_is_not_served(stand):
    name = 'arm/move_to/_action/send_goal'
    stand.start(DOUBLES, 'baredriver', '--ros-args', '-r', f'{name}:=elsewhere/{name}')
    code, verdicts, said = stand.check('--node', 'bare_driver')
    assert (code, clauses(verdicts, 'BROKEN')) == (1, {'serves_arm'}), said
    assert 'not every part of the action is served there' in said


# -- bad input


@pytest.mark.parametrize(
    ('options', 'why'),
    [
        ([], 'no node serves arm/move_to'),
        (['--workspace', '1,2,3'], 'six numbers [m] are expected'),
        (['--workspace', '1,1,1,0,0,0'], 'six numbers [m] are expected'),
        (['--experiment', 'smokey'], "did you mean 'smoke'"),
    ],
)
def test_bad_input_is_refused_in_one_line(stand, options, why):
    code, verdicts, said = stand.check(*options)
    assert (code, verdicts) == (2, {})
    (line,) = said.splitlines()
    assert line.startswith('error: ')
    assert why in line


def test_a_node_that_is_not_there_is_told_apart_from_those_that_are(stand):
    stand.start(DOUBLES, 'baredriver')
    code, _, said = stand.check('--node', 'bare_drive')
    assert code == 2
    assert "unknown node '/bare_drive', did you mean '/bare_driver'?" in said


def test_who_serves_the_arm_under_another_name_as_a_relay_does_is_not_taken_for_the_driver(stand):
    parts = [f'arm/move_to/_action/{part}' for part in ('send_goal', 'feedback')]
    rules = [word for part in parts for word in ('-r', f'{part}:=relay/{part}')]
    stand.start(DOUBLES, 'baredriver', '--ros-args', *rules)
    code, verdicts, said = stand.check()
    assert (code, verdicts) == (2, {})
    assert 'no node serves arm/move_to; running: /bare_driver; --node names the one' in said


# -- episodes


def test_an_episode_on_mock_driver_is_run_verified_and_replayed(tmp_path, cli):
    episode = ('episode', '-e', 'smoke', '--run-id', 'control_000', '--arm', 'oracle_json')
    run = cli(*episode, '--driver', 'mock_driver', '--out', 'run', folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    (row,) = journal.read(tmp_path / 'run').rows
    assert (row.status, row.recording.lost) == ('done', 0)
    # A block of 0.06 m on the table at 0.625 m, in the middle of a zone at 0.65 m.
    assert row.final_error_m == pytest.approx(0.005)
    for command in ('verify', 'replay'):
        again = cli(command, 'run', folder=tmp_path)
        assert again.returncode == 0, again.stdout + again.stderr
    other = cli(*episode, '--out', 'run', folder=tmp_path)
    assert other.returncode == 2  # not the same run any more
    assert 'use another --out' in other.stderr


@pytest.mark.parametrize(
    ('driver', 'why'),
    [
        ('mock', "unknown driver 'mock'"),
        ('joint_trajectory_driver', 'takes part in no episodes'),
    ],
)
def test_a_driver_that_cannot_run_an_episode_is_refused(tmp_path, cli, driver, why):
    run = cli('matrix', '-e', 'smoke', '--driver', driver, '--out', 'run', folder=tmp_path)
    assert run.returncode == 2
    assert why in run.stderr
    assert not (tmp_path / 'run').exists()
