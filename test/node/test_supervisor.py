"""The supervisor with the whole graph on one stage: what is a result, and what is an abort."""

import queue
import threading

import pytest

from alpha_chaos.bag.reader import Recording
from alpha_chaos.faults.draws import generator
from alpha_chaos.graph import episode_graph
from alpha_chaos.msg import SafetyEvent, StepState
from alpha_chaos.nodes.clock import to_seconds
from alpha_chaos.nodes.oracle_planner_node import OraclePlannerNode
from alpha_chaos.planners.base import PlanReply, Provenance
from alpha_chaos.run.job import Job
from alpha_chaos.run.processes import node_class

PLAN_STEPS = 5 * 240 + 2 * 90  # of body panda: five motions, and closing and opening the hand
REST_STEPS = 60
NOBODY = Provenance(planner='nobody', provider='scripted')


class Feed:
    """Hands out the jobs that a test gives it, and keeps the answers."""

    def __init__(self):
        self.jobs, self.rows, self.told = queue.SimpleQueue(), [], []

    def receive(self):
        return self.jobs.get()

    def tell(self, text):
        self.told.append(text)

    def answer(self, row, ledger):
        self.rows.append(row)


class Graph:
    """All nodes of the graph on a stage, for attempts at one episode."""

    def __init__(self, stage, episode, *, without=(), planner=OraclePlannerNode, **parameters):
        self.stage, self.episode, self.feed = stage, episode, Feed()
        self.nodes = {}
        for spec in episode_graph(['oracle_planner']).nodes:
            if spec.name in without:
                continue
            make = planner if spec.name == 'oracle_planner' else node_class(spec)
            supervises = spec.name == 'supervisor'
            settings = {**spec.parameters, **(parameters if supervises else {})}
            feed = self.feed if supervises else None
            remap = dict(spec.remappings)
            self.nodes[spec.name] = stage.add(make, remap=remap, feed=feed, **settings)

    def begin(self, attempt=1, bag=''):
        """Give the supervisor a job; return the attempt's id."""
        job = Job(self.episode, attempt, str(bag), str(bag))
        self.feed.jobs.put(job)
        return job.id

    def row(self, number=1):
        """Return the answer, once so many are there."""
        self.stage.until(lambda: len(self.feed.rows) == number, 'the row', 120)
        return self.feed.rows[-1]

    def run(self, attempt=1, bag=''):
        self.begin(attempt, bag)
        return self.row(len(self.feed.rows) + 1)

    def end(self):
        """Tell the supervisor that there are no more jobs; its thread must be gone."""
        supervisor = self.nodes['supervisor']
        self.feed.jobs.put(None)
        self.stage.until(supervisor.exit_code.done, 'the end of the supervisor')


@pytest.fixture
def graph(stage, control):
    """Return a function that puts the graph on the stage."""
    made = []

    def make(episode=control, **options):
        made.append(Graph(stage, episode, **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


def planner(plan):
    """Return a planner node that plans with a function of the request."""

    class Thinker:
        def plan(self, request, complete):
            return plan(request)

    class Node(OraclePlannerNode):
        def begin(self, episode, request):
            super().begin(episode, request)
            self._planner = Thinker()

    return Node


def strikes_once(fault, draws_a_message):
    """Return a seed with which a fault of probability 0.5 strikes first, and then no more."""
    for seed in range(1000):
        draws = generator('seed_sequence', seed, fault, 0)
        first = [float(draws.random(draws_a_message)[0]) for _ in range(4)]
        if first[0] < 0.5 and min(first[1:]) >= 0.5:
            return seed
    raise AssertionError('no such seed')


def with_recovery(episode, recovery, fault=None, *, seed=0, planner='oracle'):
    return episode.model_copy(
        update={
            'planner': {'kind': planner},
            'faults': () if fault is None else (fault,),
            'recovery': recovery,
            'seed': seed,
            'draws': 'seed_sequence',
            # Its grasp is robust, so that a recovery ends as it should.
            'body': {'kind': 'panda'},
        }
    )


def test_a_rejected_plan_is_asked_for_again(graph, control, tmp_path):
    fault = {'kind': 'plan_corruption', 'probability': 0.5}
    seed = strikes_once('plan_corruption', 4)
    episode = with_recovery(
        control, {'kind': 'retry', 'tries': 2}, fault, seed=seed, planner='oracle_json'
    )
    row = graph(episode).run(bag=tmp_path / 'bag')
    assert (row.status, row.reason, row.steps) == ('done', '', PLAN_STEPS + REST_STEPS)
    assert (row.recovery.kind, row.recovery.tries, row.recovery.plans) == ('retry', 1, 2)
    assert (row.planner.calls, row.plan.valid) == (2, True)
    asked = [
        list(exchange.message.reasons)
        for exchange in Recording(tmp_path / 'bag').exchanges()
        if exchange.type.endswith('Plan_Request') and exchange.side == 'client'
    ]
    assert asked[0] == []
    assert asked[1][0].startswith('missing key')


def test_after_the_last_try_a_rejected_plan_stays_rejected(graph, control):
    fault = {'kind': 'plan_corruption', 'probability': 1.0}
    episode = with_recovery(control, {'kind': 'retry', 'tries': 2}, fault, planner='oracle_json')
    row = graph(episode).run()
    assert (row.status, row.steps, row.recovery.plans) == ('task_failed', 60, 3)
    assert row.reason.startswith('plan_rejected: ')


def test_a_lost_block_is_fetched_again(graph, control, tmp_path):
    fault = {'kind': 'grasp_slip', 'probability': 0.5, 'effort_factor': 0.0}
    seed = strikes_once('grasp_slip', 1)
    episode = with_recovery(control, {'kind': 'regrasp', 'tries': 2}, fault, seed=seed)
    row = graph(episode).run(bag=tmp_path / 'bag')
    assert row.status == 'done', row.reason
    assert (row.recovery.tries, row.recovery.plans, row.recovery.observations) == (1, 2, 3)
    assert row.steps == 2 * (PLAN_STEPS + 60) + REST_STEPS  # each look waits for 60 steps
    assert row.slip.slipped
    recording = Recording(tmp_path / 'bag')
    assert recording.digest() == row.digest


def test_an_old_scene_is_looked_at_again(graph, control):
    fault = {'kind': 'sensor_lag', 'lag_s': 0.5}
    row = graph(with_recovery(control, {'kind': 'replan'}, fault)).run()
    # Seen are 0 s, where the blocks still fall, then 0.5 s and 1.0 s, which agree.
    assert (row.recovery.tries, row.recovery.observations) == (2, 3)
    assert row.observation.delivered_lag_s == pytest.approx(0.5)
    assert row.observation.staleness_m < 1e-4
    assert (row.status, row.steps) == ('done', 2 * 120 + PLAN_STEPS + REST_STEPS)


def test_attempts_follow_each_other_and_end_the_same(graph, tmp_path):
    whole = graph()
    rows = [whole.run(number, tmp_path / str(number)) for number in (1, 2)]
    for row in rows:
        assert (row.status, row.steps) == ('done', 1260), row.reason
        assert row.recording.lost == 0
        recording = Recording(tmp_path / str(row.attempt))
        assert recording.digest() == row.digest
        begun = {said.phase: to_seconds(said.stamp) for said in recording.decoded('/phase')}
        # 120 steps of settling, and 5 motions of 240, at 240 Hz.
        assert begun['plan'] == pytest.approx(0.5)
        assert begun['rest'] == pytest.approx(5.5)
    one, other = rows
    assert one.digest == other.digest
    assert one.safety == other.safety


def test_a_node_that_is_not_there_is_named(graph):
    row = graph(without=['perception'], ready_timeout=0.5).run()
    assert (row.status, row.reason) == ('aborted', 'not_ready: node perception is not there')


def test_a_subscriber_that_is_not_there_is_named(graph):
    row = graph(without=['safety_monitor'], ready_timeout=0.5, nodes=['recorder', 'sim']).run()
    assert row.status == 'aborted'
    assert row.reason.startswith('not_ready: sim waits for /')


def test_a_planner_that_never_answers_is_an_abort_and_its_late_answer_is_nobodys(graph):
    think = threading.Event()

    def plan(request):
        assert think.wait(60)
        return PlanReply(None, '{"actions":[{"action":"RELEASE"}]}', NOBODY)

    whole = graph(planner=planner(plan), plan_timeout=0.5)
    row = whole.run()
    assert row.status == 'aborted'
    assert row.reason == 'timeout: no answer from oracle_planner/plan within 0.5 s'
    assert row.success is None
    think.set()
    after = whole.run(2)
    assert (after.status, after.plan.n_actions) == ('task_failed', 1)
    assert after.steps == 60


def test_a_motion_that_is_slowed_down_has_as_much_more_time(graph, control):
    slow = control.model_copy(update={'real_time_factor': 0.5})
    row = graph(slow, motion_timeout=0.7).run()  # settling takes 120 steps: 1 s at that pace
    assert row.reason == 'timeout: no answer from execute_plan within 1.4 s'


def test_an_error_of_the_provider_is_an_abort_with_its_type_first(graph):
    whole = graph(
        planner=planner(
            lambda _: PlanReply(
                None,
                None,
                NOBODY,
                error='model_not_found',
                message="model '7e1' is not there",
                infrastructure=True,
            )
        )
    )
    row = whole.run()
    assert row.status == 'aborted'
    assert row.reason == "model_not_found: model '7e1' is not there"


def test_an_error_of_the_planner_is_a_result_and_nothing_moves(graph, tmp_path):
    whole = graph(
        planner=planner(
            lambda _: PlanReply(None, None, NOBODY, error='empty_reply', message='no text')
        )
    )
    row = whole.run(bag=tmp_path / 'bag')
    assert (row.status, row.reason) == ('task_failed', 'plan_rejected: empty_reply: no text')
    assert (row.plan.valid, row.plan.n_actions, row.steps) == (False, 0, 60)
    routes = {exchange.route for exchange in Recording(tmp_path / 'bag').exchanges()}
    assert routes == {'oracle_planner/plan'}


def test_text_that_is_no_plan_is_a_result_and_kept(graph):
    row = graph(planner=planner(lambda _: PlanReply(None, 'I would\x00 rather', NOBODY))).run()
    assert (row.status, row.plan.valid) == ('task_failed', False)
    assert row.reason.startswith('plan_rejected: ')
    assert row.plan.text == 'I would\\u0000 rather'


def test_a_motion_that_fails_is_a_result_with_its_reason(graph):
    # Reachable for the parser, but red is then in no gripper and green cannot be gripped twice.
    text = (
        '{"actions":[{"action":"GRIP","block":"red"},{"action":"GRIP","block":"green"},'
        '{"action":"RELEASE"}]}'
    )
    row = graph(planner=planner(lambda _: PlanReply(None, text, NOBODY))).run()
    assert row.status == 'task_failed'
    assert row.reason.startswith('execution: action 1 GRIP green: cannot hold green')


def test_a_step_too_many_is_an_abort(graph):
    whole = graph()
    stage = whole.stage
    steps = stage.voice('alpha_chaos/msg/StepState', 'step_state')
    stage.until(lambda: steps.get_subscription_count() == 2, 'monitor and recorder')
    whole.begin()
    monitor = whole.nodes['safety_monitor']
    stage.until(lambda: monitor.episode_id, 'the beginning')
    steps.publish(StepState(episode_id=monitor.episode_id, step=17))
    row = whole.row()
    assert row.status == 'aborted'
    assert row.reason.startswith('missed_step: expected step ')


def test_a_message_too_many_on_a_recorded_topic_is_an_abort(graph, tmp_path):
    whole = graph()
    stage = whole.stage
    events = stage.voice('alpha_chaos/msg/SafetyEvent', 'safety_events')
    whole.begin(bag=tmp_path / 'bag')
    stage.until((tmp_path / 'bag').exists, 'the recording')
    events.publish(SafetyEvent(rule='violent_contact', key='nobody'))
    row = whole.row()
    assert row.status == 'aborted'
    assert row.reason.startswith('recording: not what was sent: /safety_events: ')


def test_what_cannot_be_put_into_a_row_is_an_abort_too(graph, monkeypatch):
    whole = graph()
    monkeypatch.setattr(
        whole.nodes['sim'], 'end', lambda: {'digest': ['no', 'text'], 'step': 1260}
    )
    row = whole.run()
    assert row.status == 'aborted'
    assert row.reason.startswith('harness: no row can be made of this: ')
    assert 'digest' in row.reason


def test_a_world_that_breaks_is_an_abort_and_no_failure_of_the_task(graph, monkeypatch):
    whole = graph()
    stage, sim = whole.stage, whole.nodes['sim']
    whole.begin()
    stage.until(lambda: sim._step >= 30, 'the first motion')

    def crash():
        raise RuntimeError('the physics server is gone')

    monkeypatch.setattr(sim._world, 'step', crash)
    row = whole.row()
    assert (row.status, row.success) == ('aborted', None)
    assert 'the physics server is gone' in row.reason
