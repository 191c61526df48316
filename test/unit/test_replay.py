"""What was recorded is done again: the same draws, the same decisions, the same bits."""

import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_episodes import PERIOD_NS, Recorder, block, header, made, stamp
from rich.console import Console
from synthetic_runs import aborted, paper_run

from alpha_chaos.analysis.claims import read_claims
from alpha_chaos.analysis.difference import ABSENT
from alpha_chaos.analysis.execution import execute_again
from alpha_chaos.analysis.injection import pass_again
from alpha_chaos.analysis.replay import replay
from alpha_chaos.analysis.walk import ARM, GRIPPER, Command, Wait
from alpha_chaos.bag.definitions import typestore
from alpha_chaos.bag.plain import as_json
from alpha_chaos.bag.reader import Exchange, Recording
from alpha_chaos.bag.steps import Steps
from alpha_chaos.bodies.base import StateDigest
from alpha_chaos.bodies.kuka import Kuka
from alpha_chaos.experiment import Episode, Experiment
from alpha_chaos.faults.draws import draws_for
from alpha_chaos.journal import Journal
from alpha_chaos.plugins import BadSetting

ACTION = 'alpha_chaos/action/'
FIRST = -120
HIGH = (0.5, -0.15, 0.805)
LOW = (0.5, -0.15, 0.675)


def exchange(route: str, number: int, stage: str, message: Any, **changes: Any) -> Exchange:
    settings: dict[str, Any] = {
        'route': route,
        'sequence': number,
        'stage': stage,
        'side': 'server',
        'origin': 'consumer',
        'type': message.__msgtype__,
        'time_ns': 0,
        'message': message,
        'text': as_json(message),
    }
    return Exchange(**(settings | changes))


def a_move(place: tuple[float, float, float], step: int, reached: bool = True) -> Command:
    goal = made(ACTION + 'MoveTo_Goal', position_only=True)
    goal.target.header.frame_id = 'world'
    position = goal.target.pose.position
    position.x, position.y, position.z = place
    result = made(ACTION + 'MoveTo_Result', reached=reached, step=step)
    return Command(exchange(ARM, 1, 'request', goal), exchange(ARM, 1, 'response', result))


def a_grip(effort: float, step: int, name: str = 'red') -> Command:
    opening = 0.0 if effort else 0.08
    goal = made(ACTION + 'GripperCommand_Goal', opening=opening, max_effort=effort, object=name)
    result = made(ACTION + 'GripperCommand_Result', reached=True, step=step)
    return Command(exchange(GRIPPER, 1, 'request', goal), exchange(GRIPPER, 1, 'response', result))


MOVED = [Wait(120), a_move(HIGH, 240), a_move(LOW, 480), a_grip(500.0, 480), a_move(HIGH, 720)]


@pytest.fixture(scope='module')
def lived() -> Steps:
    """Return the states of a world that did what MOVED says, told by nobody but this test."""
    states = []
    with Kuka().world() as world:
        states.append(world.state())

        def go(steps: int) -> None:
            for _ in range(steps):
                world.step()
                states.append(world.state())

        go(120)
        for place in (HIGH, LOW):
            go(world.start_move(place, None))
        assert world.start_grip(0.0, 500.0, 'red') == 0
        go(world.start_move(HIGH, None))
    numbers = np.arange(FIRST, FIRST + len(states))
    return Steps.of(states, numbers, numbers * PERIOD_NS)


def again(moved: list[Wait | Command], recorded: Steps) -> Any:
    return execute_again(Kuka(), moved, recorded, Kuka().objects)


# -- physics


def test_the_same_commands_after_the_same_steps_give_the_same_bits(lived):
    executed = again(MOVED, lived)
    assert executed.apart is None
    digest = StateDigest()
    for index, step in enumerate(lived.step.tolist()):
        digest.update(step, lived.state(index))
    assert executed.digest == digest.hexdigest() == lived.digest()
    assert executed.steps == 120 + 3 * 240 + 1


def test_the_first_state_that_differs_is_named_and_by_how_much(lived):
    pose = lived.object_pose.copy()
    pose[400:, 1, 0] += 0.003
    apart = again(MOVED, replace(lived, object_pose=pose)).apart
    assert (apart.step, apart.what) == (400 + FIRST, 'object_pose')
    assert apart.by == pytest.approx(0.003)
    assert (apart.largest_object, apart.close) == ('green', False)
    assert apart.largest_m == pytest.approx(0.003)


def test_a_difference_in_the_last_bit_is_one_but_a_close_one(lived):
    joints = lived.joint_position.copy()
    joints[700, 3] = np.nextafter(joints[700, 3], 9)
    apart = again(MOVED, replace(lived, joint_position=joints)).apart
    assert (apart.step, apart.what, apart.close) == (700 + FIRST, 'joint_position', True)
    assert 0 < apart.by < 1e-15
    assert apart.largest_m == 0


@pytest.mark.parametrize('value', [-0.0, math.nan])
def test_what_compares_equal_but_is_not_the_same_is_noticed(lived, value):
    velocity = lived.joint_velocity.copy()
    assert velocity[0, 0] == 0
    velocity[0, 0] = value
    assert again(MOVED, replace(lived, joint_velocity=velocity)).apart.step == FIRST


def test_held_and_contacts_are_part_of_a_state(lived):
    held = lived.held.copy()
    held[-1] = -1
    apart = again(MOVED, replace(lived, held=held)).apart
    assert (apart.step, apart.what) == (720, 'held')
    force = lived.contact_force.copy()
    force[-1] += 1.0
    apart = again(MOVED, replace(lived, contact_force=force)).apart
    assert apart.what == 'contact_force'
    assert apart.by == pytest.approx(1.0)


def test_another_command_leads_elsewhere_from_where_it_was_given(lived):
    moved = [*MOVED[:3], a_grip(0.0, 480, ''), MOVED[4]]
    apart = again(moved, lived).apart
    assert apart.step == 481
    assert apart.largest_object == 'red'
    assert not apart.close


def test_an_answer_that_the_body_does_not_give_is_named(lived):
    wrong = a_grip(500.0, 480)
    wrong.response.message.stalled = False
    wrong.response.message.opening = 0.06
    wrong.response.message.effort = 500.0
    places = again([*MOVED[:3], wrong, MOVED[4]], lived).unequal
    assert ('gripper/command 1 response.stalled', False, True) in places
    assert not any('opening' in place or 'effort' in place for place, _, _ in places)


def test_a_motion_that_was_cancelled_gets_the_steps_it_had(lived):
    cut = a_move(HIGH, 100, reached=False)
    cut.response.message.message = 'cancelled after 100 of 240 steps'
    executed = again([Wait(120), cut], lived)
    assert executed.apart is None
    assert executed.steps == 221
    assert not any('message' in place or 'reached' in place for place, _, _ in executed.unequal)


def test_a_command_that_the_body_refused_is_refused_again(lived):
    refused = a_grip(500.0, 0, 'purple')
    refused.response.message.reached = False
    refused.response.message.message = "unknown object 'purple'; known: red, green, blue"
    assert again([Wait(120), refused], lived).unequal == []
    elsewhere = a_move(HIGH, 0, reached=False)
    elsewhere.request.message.target.header.frame_id = 'camera'
    elsewhere.response.message.message = "target in frame 'camera'; this body takes 'world'"
    places = [place for place, _, _ in again([Wait(120), elsewhere], lived).unequal]
    assert places == ['arm/move_to 1 response.error']


def test_a_motion_that_takes_another_time_is_named(lived):
    places = again([Wait(120), a_move(HIGH, 239)], lived).unequal
    assert ('arm/move_to 1 steps', 239, 240) in places


# -- faults


def an_episode(*faults: dict[str, Any]) -> Episode:
    plain = Experiment.load('smoke').episode('control_000', 'oracle')
    return plain.model_copy(update={'faults': faults, 'draws': 'seed_sequence'})


class Traffic:
    """Records what passes a relay that does as it is told here."""

    def __init__(self, folder: Path) -> None:
        self.recorder = Recorder(folder)
        self.folder = folder
        self.numbers: dict[str, int] = {}

    def scene(self, time_ns: int, x: float, topic: str = '/scene') -> None:
        scene = made(
            'alpha_chaos/msg/SceneObservation',
            header=header(time_ns),
            sequence=time_ns // 10**8 + 1,
            blocks=[block('red', (x, 0.0, 0.7))],
        )
        self.recorder.write(topic, time_ns, scene)

    def half(self, time_ns: int, entry: Exchange) -> None:
        payload = bytes(typestore().serialize_cdr(entry.message, entry.type))
        self.recorder.write(
            '/exchanges',
            time_ns,
            made(
                'alpha_chaos/msg/Exchange',
                stamp=stamp(time_ns),
                route=entry.route,
                sequence=entry.sequence,
                stage=entry.stage,
                side=entry.side,
                origin=entry.origin,
                type=entry.type,
                payload=np.frombuffer(payload, np.uint8),
                text=as_json(entry.message),
            ),
        )

    def call(self, time_ns: int, command: Command, number: int, sent: Any = None) -> None:
        """Record a call; `sent` is what the provider got, if that is something else."""
        request = replace(command.request, sequence=number, side='client')
        response = replace(command.response, sequence=number, side='server')
        self.half(time_ns, request)
        self.half(time_ns, replace(request, side='server', message=sent or request.message))
        self.half(time_ns, response)
        self.half(time_ns, replace(response, side='client'))

    def passed(self, *faults: dict[str, Any]) -> Any:
        self.recorder.close()
        recording = Recording(self.folder)
        return pass_again(recording, list(recording.exchanges()), an_episode(*faults))


LAG = {'kind': 'sensor_lag', 'lag_s': 0.25}


def lagging(folder: Path, sent: list[int]) -> Traffic:
    """Record six scenes, of which those of these numbers went on."""
    traffic = Traffic(folder)
    for number in range(6):
        traffic.scene(number * 10**8, float(number))
    for what in sent:
        traffic.scene(what * 10**8, float(what), '/relay/scene')
    return traffic


def test_a_scene_that_lags_is_the_one_of_then(tmp_path):
    passed = lagging(tmp_path / 'bag', [0, 0, 0, 0, 1, 2]).passed(LAG)
    # Nothing was recorded of the decisions, and that is all that differs.
    assert passed.unequal == [
        (f'/fault_events: scene {number} message sensor_lag', ABSENT, 'a decision')
        for number in range(1, 7)
    ]
    assert passed.delivered['scene'] == [(number * 10**8, number + 1) for number in range(6)]
    assert [entry['detail']['delivered_sequence'] for entry in passed.decisions] == [
        1, 1, 1, 1, 2, 3,
    ]  # fmt: skip
    generator = draws_for(an_episode(LAG), 0)
    assert [entry['draw'] for entry in passed.decisions] == [generator.random() for _ in range(6)]


def test_a_scene_that_should_not_have_gone_on_is_named(tmp_path):
    passed = lagging(tmp_path / 'bag', [0, 0, 0, 0, 2, 2]).passed(LAG)
    assert ('/relay/scene 5.sequence', 3, 2) in passed.unequal
    assert ('/relay/scene 5.blocks[0].pose.position.x', 2.0, 1.0) in passed.unequal


def test_a_scene_that_is_missing_is_named(tmp_path):
    passed = lagging(tmp_path / 'bag', [0, 1, 2, 3, 4]).passed()
    assert passed.unequal == [('/relay/scene messages', 5, 6)]


def test_without_a_fault_everything_passes_as_it_is(tmp_path):
    traffic = lagging(tmp_path / 'bag', [0, 1, 2, 3, 4, 5])
    traffic.call(5 * 10**8, a_move(HIGH, 240), 1)
    passed = traffic.passed()
    assert (passed.unequal, passed.decisions, passed.proofs) == ([], [], [])


def test_a_request_that_was_changed_by_nobody_is_named(tmp_path):
    traffic = Traffic(tmp_path / 'bag')
    other = a_move(LOW, 240).request.message
    traffic.call(0, a_move(HIGH, 240), 1, sent=other)
    assert traffic.passed().unequal == [
        ('arm/move_to 1 request (server).target.pose.position.z', LOW[2], HIGH[2])
    ]


def test_a_request_is_pushed_by_the_fault_and_by_nothing_else(tmp_path):
    push = {'kind': 'unreachable_target', 'offset_m': 0.125, 'direction': [1, 0, 0]}
    traffic = Traffic(tmp_path / 'bag')
    traffic.call(0, a_move(HIGH, 240), 1, sent=a_move((0.625, *HIGH[1:]), 240).request.message)
    passed = traffic.passed(push)
    subject = 'arm/move_to 1 request unreachable_target'
    assert passed.unequal == [(f'/fault_events: {subject}', ABSENT, 'a decision')]
    (decision,) = passed.decisions
    assert (decision['triggered'], decision['detail']['offset_m']) == (True, 0.125)


def test_a_number_that_is_left_out_is_named(tmp_path):
    traffic = Traffic(tmp_path / 'bag')
    for number in (1, 3):
        traffic.call(0, a_move(HIGH, 240), number)
    assert ('arm/move_to 3 request (client) sequence', 3, 2) in traffic.passed().unequal


def test_a_response_that_never_came_is_named(tmp_path):
    traffic = Traffic(tmp_path / 'bag')
    request = replace(a_move(HIGH, 240).request, side='client')
    traffic.half(0, request)
    traffic.half(0, replace(request, side='server'))
    assert traffic.passed().unequal == [
        ('/exchanges', '(nothing)', 'arm/move_to response (server)')
    ]


SLIP = {'kind': 'grasp_slip', 'effort_factor': 0.0, 'probability': 1.0}


def slipping(folder: Path, *, left: float, succeeds: bool = True) -> Traffic:
    """Record a grasp and a lift before which the gripper is told once more."""
    traffic = Traffic(folder)
    traffic.call(0, a_move(LOW, 240), 1)
    grip = a_grip(500.0, 240)
    grip.response.message.stalled = True
    traffic.call(0, grip, 1)
    lift = a_move(HIGH, 480)
    asked = replace(lift.request, sequence=2, side='client')
    traffic.half(0, asked)
    weaker = a_grip(500.0, 240)
    weaker.request.message.max_effort = left
    weaker.response.message.reached = succeeds
    for half in (weaker.request, weaker.response):
        traffic.half(0, replace(half, sequence=2, origin='grasp_slip'))
    traffic.half(0, replace(asked, side='server'))
    for side in ('server', 'client'):
        traffic.half(0, replace(lift.response, sequence=2, side=side))
    return traffic


def test_a_command_that_a_fault_added_is_added_again(tmp_path):
    passed = slipping(tmp_path / 'bag', left=0.0).passed(SLIP)
    subject = 'arm/move_to 2 request grasp_slip'
    assert passed.unequal == [(f'/fault_events: {subject}', ABSENT, 'a decision')]
    assert passed.proofs[0]['exercised'] is True
    assert passed.decisions[0]['triggered'] is True


def test_a_command_that_a_fault_would_have_given_otherwise_is_named(tmp_path):
    passed = slipping(tmp_path / 'bag', left=50.0).passed(SLIP)
    assert ('gripper/command 2 request (server).max_effort', 50.0, 0.0) in passed.unequal


def test_a_command_that_no_fault_added_is_named(tmp_path):
    (difference,) = slipping(tmp_path / 'bag', left=0.0).passed().unequal
    assert difference == (
        '/exchanges 10',
        'gripper/command request (server) by grasp_slip',
        'arm/move_to request (server)',
    )


def test_how_an_added_command_ended_is_told_to_the_fault(tmp_path):
    passed = slipping(tmp_path / 'bag', left=0.0, succeeds=False).passed(SLIP)
    assert passed.decisions[0]['triggered'] is False


# -- which episodes


def a_run(folder: Path) -> Path:
    rows = paper_run(['oracle', 'llm'])
    with Journal(folder) as journal:
        journal.append(rows[0])
        journal.append(aborted(rows[1], 'timeout: plan'))
    return folder


def said(folder: Path, **options: Any) -> tuple[int, str]:
    out = io.StringIO()
    code = replay(folder, Console(file=out, width=200), workers=1, **options)
    return code, out.getvalue()


@pytest.mark.parametrize(
    ('run_id', 'arm', 'why'),
    [
        ('contrl_000', None, "unknown run_id 'contrl_000', did you mean 'control_000'?"),
        ('control_000', 'oracel', "unknown arm 'oracel', did you mean 'oracle'?"),
        ('control_001', 'oracle', 'control_001/oracle has no result: timeout: plan'),
    ],
)
def test_an_episode_that_there_is_not_is_bad_input(tmp_path, run_id, arm, why):
    with pytest.raises(BadSetting) as caught:
        said(a_run(tmp_path), run_id=run_id, arm=arm)
    assert why in str(caught.value)


def test_a_run_without_results_is_bad_input(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append(aborted(paper_run(['oracle'])[0], 'timeout: plan'))
    with pytest.raises(BadSetting, match='no episode has a result yet'):
        said(tmp_path)


def test_an_episode_without_its_recording_is_not_the_same(tmp_path):
    code, out = said(a_run(tmp_path))
    assert code == 4
    assert '0 of 1 episodes the same' in out
    assert 'said a recording, found there is no recording' in out
    assert len(read_claims(tmp_path).claims) == 1
