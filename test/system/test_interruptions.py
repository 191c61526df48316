"""Whatever is killed, whenever: the same command goes on, and ends with the same results."""

import os
import signal
import time

import pytest
import yaml

from alpha_chaos.bag.reader import Recording, TornBag
from alpha_chaos.resources import config_folder

# Which node is killed in the first attempt at which episode, in the order they are run. The last
# episode is not among them: its plan is rejected, and it is over before anyone can strike.
VICTIMS = {
    'control_000/oracle': 'sim',
    'control_000/oracle_json': 'recorder',
    'concurrent_000/oracle': 'fault_relay',
    'concurrent_000/oracle_json': 'supervisor',
    'unreachable_ik_low_000/oracle': 'safety_monitor',
    'unreachable_ik_low_000/oracle_json': 'oracle_planner',
    'planner_output_corruption_high_000/oracle': 'controller',
}


def attempts(run, episode):
    return [row for row in run.rows if f'{row.run_id}/{row.arm}' == episode]


def bag_of(run, episode):
    return run.folder / 'bags' / episode.replace('/', '.')


@pytest.fixture(scope='module')
def bereaved(new_run, wait):
    """Return a run in which every first attempt lost a node."""
    run = new_run('bereaved')
    # At three times the pace of the wall clock there is time to strike; the results are the same.
    settings = yaml.safe_load((config_folder() / 'experiments' / 'smoke.yaml').read_text())
    paced = run.folder.parent / 'smoke.yaml'
    paced.write_text(yaml.safe_dump({**settings, 'real_time_factor': 3.0}, sort_keys=False))
    call = run.start('--workers', '1', '--isolation', 'worker', experiment=str(paced))
    for episode, victim in VICTIMS.items():
        # The recorder begins first, so the attempt is under way, and the world not long there.
        wait(bag_of(run, episode).exists, f'the recording of {episode}', runner=call)
        call.note_shared_memory()
        os.kill(call.node(victim), signal.SIGKILL)
        wait(
            lambda episode=episode: len(attempts(run, episode)) == 2,
            f'a second attempt at {episode}',
            runner=call,
        )
    code = call.end()
    assert code == 0, f'{call.out}\n{call.err}\n{run.log()}'
    call.assert_no_traceback()
    call.assert_nothing_is_left()
    return run


@pytest.mark.parametrize('episode', VICTIMS)
def test_an_attempt_that_lost_a_node_is_aborted_and_names_it(bereaved, episode):
    lost, again = attempts(bereaved, episode)
    assert (lost.attempt, again.attempt) == (1, 2)
    assert (lost.status, lost.success) == ('aborted', None)
    assert lost.reason == f'node_died: {VICTIMS[episode]} (signal 9)'
    assert again.status != 'aborted'


def test_what_was_tried_again_ends_as_if_nothing_had_happened(bereaved, fresh):
    assert bereaved.verdicts() == fresh.verdicts()


@pytest.mark.parametrize('episode', VICTIMS)
def test_the_recording_up_to_then_is_kept_apart(bereaved, episode):
    lost, again = attempts(bereaved, episode)
    assert lost.bag.startswith('bags/torn/')
    if VICTIMS[episode] == 'recorder':
        with pytest.raises(TornBag):
            Recording(bereaved.folder / lost.bag)
    else:
        recording = Recording(bereaved.folder / lost.bag)
        assert not recording.complete
        assert recording.episode_id == f'{episode}#1'
        assert recording.episode.id == episode
    assert Recording(bereaved.folder / again.bag).digest() == again.digest


def test_no_shared_memory_is_left_by_those_that_were_killed(bereaved):
    (call,) = bereaved.calls
    call.assert_no_shared_memory_is_left()


# -- the runner itself


@pytest.fixture(scope='module')
def interrupted(new_run, wait):
    """Return a run that was stopped by Ctrl-C, then killed, and then left in peace.

    While it ran first, somebody else tried to run in the same folder.
    """
    run = new_run('interrupted')
    first = run.start('--workers', '2')
    wait(lambda: run.rows, 'a first row', runner=first)
    intruder = run.start('--workers', '2')
    intruder.end()
    first.interrupt()
    time.sleep(0.1)
    first.interrupt()  # an impatient hand
    first.end(60)
    known = len(run.rows)
    second = run.start('--workers', '2')
    wait(lambda: len(run.rows) > known, 'one more row', runner=second)
    wait(second.note_shared_memory, 'the next graph', runner=second)
    second.kill()
    second.assert_nothing_is_left()
    run.finish('--workers', '2')
    return run


def test_ctrl_c_ends_a_run_in_order(interrupted):
    first = interrupted.calls[0]
    assert first.process.returncode == 130
    assert 'the same command goes on where this one ended' in first.out
    first.assert_no_traceback()
    first.assert_nothing_is_left(0.0)


def test_a_second_runner_in_the_same_folder_is_refused(interrupted):
    first, intruder, *_ = interrupted.calls
    assert intruder.process.returncode == 2
    (line,) = intruder.err.splitlines()
    assert line.startswith('error: ')
    assert f'in use by process {first.process.pid} ' in line


def test_nothing_outlives_a_killed_runner(interrupted):
    *_, killed, last = interrupted.calls
    assert killed.process.returncode == -signal.SIGKILL
    assert killed.processes() == {}
    # What it left in shared memory is gone with the next run.
    assert last.process.returncode == 0
    killed.assert_no_shared_memory_is_left()


def test_a_run_that_was_stopped_and_killed_ends_like_any_other(interrupted, fresh):
    assert interrupted.verdicts() == fresh.verdicts()


def test_an_attempt_that_a_killed_runner_left_is_told_apart(interrupted):
    for row in interrupted.rows:
        if row.status == 'aborted':
            assert row.reason.startswith('interrupted: ')
    for row in interrupted.final.values():
        assert Recording(interrupted.folder / row.bag).digest() == row.digest


def test_ctrl_c_before_anything_runs_is_no_traceback(new_run, wait):
    run = new_run('early')
    call = run.start('--workers', '1')
    wait((run.folder / 'manifest.json').exists, 'the manifest', runner=call)
    call.interrupt()
    assert call.end(60) == 130
    call.assert_no_traceback()
    call.assert_nothing_is_left()
    assert run.rows == []
