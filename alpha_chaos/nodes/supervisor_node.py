"""The supervisor: runs attempts, one after the other, and is the only node that knows the phases.

It gets jobs from a feed (the matrix runner's connection) or, started on its own, from its
parameters, and answers each with a journal row.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field
from rclpy.action import ActionClient
from rclpy.task import Future
from std_msgs.msg import Header

from alpha_chaos.action import ExecutePlan
from alpha_chaos.catalogues import bodies, planners, tasks
from alpha_chaos.course import Course, hear, known_facts, read_actions
from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.experiment import Episode
from alpha_chaos.graph import GUARD
from alpha_chaos.guard import Hand
from alpha_chaos.health import Condition, Level
from alpha_chaos.journal import Journal, Row
from alpha_chaos.jsonl import LinesError
from alpha_chaos.ledger import Ledger
from alpha_chaos.msg import (
    ActionPlan,
    EpisodePhase,
    EpisodeResult,
    SceneObservation,
    TopicCount,
)
from alpha_chaos.nodes.clock import to_seconds
from alpha_chaos.nodes.convert import (
    block_positions,
    observed_at,
    placement_message,
    plan_message,
    point,
    waypoints_message,
)
from alpha_chaos.nodes.episode_node import EpisodeNode, EpisodeParams
from alpha_chaos.nodes.flow import Flow, TimedOut, Wait, after, in_time
from alpha_chaos.nodes.spin import run
from alpha_chaos.plugins import BadSetting, parse
from alpha_chaos.printable import printable
from alpha_chaos.recovery.base import Facts
from alpha_chaos.run.job import Job, entries, next_job, set_apart
from alpha_chaos.srv import Advance, AwaitCount, CheckPlan, Finish, Plan, Reset
from alpha_chaos.tasks.base import Advance as AdvancePhase
from alpha_chaos.tasks.base import Execute, MakePlan, Observe, Phase, Task

HARNESS_ERRORS = 3
RETRY_S = 0.01  # between two questions whether a node is ready
# A node answers into the void if it has not found this one yet (rmw_fastrtps waits for 0.1 s), so
# the first question is asked again.
RESET_S = 3.0


class Feed(Protocol):
    """Where jobs come from and rows go to."""

    def receive(self) -> Job | None:
        """Return the next job, None when there are no more. May block."""

    def tell(self, text: str) -> None:
        """Say what is being done, for whoever watches."""

    def answer(self, row: Row, ledger: list[dict[str, Any]]) -> None:
        """Hand over the row of the last job, and what its faults decided."""


class SupervisorParams(EpisodeParams):
    """Parameters of the supervisor."""

    nodes: list[str] = Field([], description='nodes of the graph, in the order they begin')
    driver: str = Field('sim', description='the node among them that moves the robot')
    planners: list[str] = Field([], description='planner nodes among them')
    recorded: list[str] = Field([], description="what the recorder hears: 'publisher topic'")
    scene_chain: list[str] = Field([], description='nodes a scene passes on its way here')
    ready_timeout: float = Field(30.0, gt=0, description='for all nodes to be connected [s]')
    plan_timeout: float = Field(240.0, gt=0, description='for a planner to answer [s]')
    motion_timeout: float = Field(
        120.0,
        gt=0,
        description='for a plan to be carried out; longer below real time, as that is slower [s]',
    )
    answer_timeout: float = Field(30.0, gt=0, description='for any other answer [s]')
    experiment: str = Field('', description='run by itself: name or file of the experiment')
    run_id: str = Field('', description='run by itself: scenario of the experiment')
    arm: str = Field('', description='run by itself: planner arm of the experiment')
    out: str = Field(
        '', description='run by itself: folder for bag and journal; empty: the result is printed'
    )
    llm: str = Field('', description="where the model runs; empty: as the experiment's arm says")
    model: str = Field('', description="tag of the model; empty: as the experiment's arm says")
    speed: float = Field(0.0, ge=0, description='real-time factor; 0: as fast as possible [1]')


class SupervisorNode(EpisodeNode):
    """Walks through the phases of the task and asks the other nodes."""

    params_model = SupervisorParams
    params: SupervisorParams

    def __init__(self, feed: Feed | None = None, **options: Any) -> None:
        super().__init__('supervisor', **options)
        self.exit_code = Future()
        self._feed = feed or FromParameters(self.params, self.get_logger().info)
        self._phases = self.outlet(EpisodePhase, 'phase')
        self._results = self.outlet(EpisodeResult, 'result')
        self.listen(SceneObservation, 'scene', self._on_scene)
        self._scene_topic = self.resolve_topic_name('scene')
        self._advance = self.create_client(Advance, f'{self.params.driver}/advance')
        self._plan = {
            name: self.create_client(Plan, f'{name}/plan') for name in self.params.planners
        }
        self._check = (
            self.create_client(CheckPlan, f'{GUARD}/check') if GUARD in self.params.nodes else None
        )
        self._execute = ActionClient(self, ExecutePlan, 'execute_plan')
        self._per_node = {
            name: {
                kind: self.create_client(kind, f'{name}/{verb}')
                for kind, verb in (
                    (Reset, 'reset'),
                    (Finish, 'finish'),
                    (AwaitCount, 'await_count'),
                )
            }
            for name in self.params.nodes
        }
        self._flow: Flow | None = None
        self._phase = ''
        self._recording = Condition('recording', Level.STALE, 'nothing was recorded yet')
        self._jobs = threading.Thread(target=self._take_jobs, daemon=True)
        self._taken = threading.Semaphore(0)
        self._jobs.start()

    # -- jobs

    def _take_jobs(self) -> None:
        """Wait for jobs in a thread of its own; everything else happens on the executor's."""
        while True:
            job = self._feed.receive()
            while self.executor is None:
                time.sleep(0.001)
            if job is None:
                self.executor.create_task(self._no_more)
                return
            self.executor.create_task(self._start, job)
            self._taken.acquire()

    def _no_more(self) -> None:
        self.exit_code.set_result(getattr(self._feed, 'exit_code', 0))

    def _start(self, job: Job) -> None:
        started = time.monotonic()
        record = EpisodeRecord(job.episode, job.attempt, job.bag_name)

        def ended(_: Any, error: BaseException | None) -> None:
            if not self.context.ok():  # told to stop: the attempt is nobody's fault, and no result
                return
            abort: Abort | None = None
            if isinstance(error, Abort):
                abort = error
            elif isinstance(error, TimedOut):
                abort = Abort('timeout', str(error))
            elif error is not None:
                abort = Abort('harness', f'{type(error).__name__}: {error}')
            if abort is not None:
                self.get_logger().error(f'{job.id}: {abort}')
            wall_s = time.monotonic() - started
            try:
                row = record.row(wall_s, abort)
            except ValueError as error:  # what was learned is no row: the runner must still hear
                abort = Abort('harness', printable(f'no row can be made of this: {error}'))
                row = EpisodeRecord(job.episode, job.attempt, job.bag_name).row(wall_s, abort)
            self.episode_id = ''
            self._feed.answer(row, record.ledger)
            self._taken.release()

        self._flow = Flow(self._attempt(job, record), ended)

    def destroy_node(self) -> None:
        """Let the thread go first if there are no more jobs: it still holds the executor."""
        if self.exit_code.done():
            self._jobs.join(1.0)
        super().destroy_node()

    def conditions(self) -> Iterator[Condition]:
        """Yield how far the episode has come, and what became of the last recording."""
        if self.episode is not None:
            about = {'run_id': self.episode.run_id, 'arm': self.episode.arm, 'phase': self._phase}
            yield Condition('episode', message=self._phase, values=about)
        yield self._recording

    # -- one attempt

    async def _attempt(self, job: Job, record: EpisodeRecord) -> None:
        episode = job.episode
        task: Task = parse(tasks(), episode.task, 'task')
        course = Course(task, record)
        await self._reset(job)
        for phase in course:
            self._say(phase.name)
            await self._go_through(phase, task, record)
            course.passed(phase, self._facts(task, record))
        self._say('drain')
        counts = await self._drain(record)
        self._say('judge')
        positions = {
            block.name: (block.pose.position.x, block.pose.position.y, block.pose.position.z)
            for block in self._truth.objects
        }
        record.judgement = task.judge(positions)
        record.steps = max(0, int(self._truth.step))
        self._publish_result(record, job)
        self._say('done')
        await self._close_recording(record, counts)

    async def _go_through(self, phase: Phase, task: Task, record: EpisodeRecord) -> None:
        if isinstance(phase, AdvancePhase):
            await self._let_pass(phase.steps)
        elif isinstance(phase, Observe):
            await self._observe(task, record)
        elif isinstance(phase, MakePlan):
            await self._ask_for_plan(phase, task, record)
        elif isinstance(phase, Execute):
            await self._carry_out(record)

    def _facts(self, task: Task, record: EpisodeRecord) -> Facts:
        scene = self._scene
        return known_facts(
            task,
            record,
            None if scene is None else block_positions(scene),
            math.nan if scene is None else observed_at(scene),
            to_seconds(self.now),
            self._completed,
        )

    async def _reset(self, job: Job) -> None:
        deadline = time.monotonic() + self.params.ready_timeout
        request = Reset.Request(
            episode_id=job.id, episode=job.episode.to_json(), bag=job.bag or ''
        )
        # First this node: the scene may come in as soon as the body begins.
        own = Reset.Response()
        while not self._on_reset(request, own).ready:
            if time.monotonic() > deadline:
                raise Abort('not_ready', own.message)
            await Wait(after(self, RETRY_S))
        missing = ''
        for name in self.params.nodes:
            client = self._per_node[name][Reset]
            while True:
                if not client.service_is_ready():
                    missing = f'node {name} is not there'
                else:
                    response = await self._ask_to_begin(name, request)
                    if response.failed:
                        raise Abort('reset_failed', response.message)
                    if response.ready:
                        break
                    missing = response.message
                if time.monotonic() > deadline:
                    raise Abort('not_ready', missing)
                await Wait(after(self, RETRY_S))
        guard = () if self._check is None else (self._check,)
        for client in (*self._plan.values(), *guard, self._advance):
            while not client.service_is_ready():
                if time.monotonic() > deadline:
                    raise Abort('not_ready', f'service {client.srv_name} is not there')
                await Wait(after(self, RETRY_S))
        while not self._execute.server_is_ready():
            if time.monotonic() > deadline:
                raise Abort('not_ready', 'action execute_plan is not there')
            await Wait(after(self, RETRY_S))

    async def _ask_to_begin(self, name: str, request: Reset.Request) -> Reset.Response:
        try:
            return await self._call(self._per_node[name][Reset], request, f'{name}/reset', RESET_S)
        except TimedOut as error:
            return Reset.Response(message=str(error))

    def begin(self, episode: Episode, request: Reset.Request) -> None:
        """Forget the last attempt."""
        self._scene: SceneObservation | None = None
        self._plan_message: Any = None  # accepted, and not replaced since
        self._hand = Hand()
        self._truth: Any = None
        self._sim_counts: dict[str, int] = {}
        self._completed = False  # the last plan was carried out to its end

    @property
    def _motion_limit_s(self) -> float:
        """How long a motion may take: longer where it is slowed down to be watched [s]."""
        factor = 0.0 if self.episode is None else self.episode.real_time_factor
        return self.params.motion_timeout / (min(factor, 1.0) or 1.0)

    async def _let_pass(self, steps: int) -> None:
        response = await self._call(
            self._advance,
            Advance.Request(episode_id=self.episode_id, steps=steps),
            f'{self.params.driver}/advance',
            self._motion_limit_s,
        )
        if not response.ok:
            raise Abort('body', response.message)
        self._truth = response.objects
        self.now = response.objects.header.stamp
        self._sim_counts = _counts(response.published)

    async def _observe(self, task: Task, record: EpisodeRecord) -> None:
        """Wait until everything the body has shown has come through, then take the newest."""
        topic, counts = 'objects', self._sim_counts
        for name in self.params.scene_chain:
            source = self._counted_as(topic, counts)
            response = await self._await_count(name, source, counts[source])
            topic, counts = _next_topic(topic), _counts(response.published)
        await self._own_count(self._scene_topic, counts[self._counted_as(topic, counts)])
        truth = {block.name: block.pose.position for block in self._truth.objects}
        block = task.objects[0]
        true = _xyz(truth.get(block))
        if self._scene is None:
            record.failed('no_observation: no scene came through')
            return
        self.get_logger().info(f'observed at {to_seconds(self.now):.3f} s')
        record.observed(
            to_seconds(self.now),
            observed_at(self._scene),
            block_positions(self._scene).get(block),
            true,
        )

    async def _ask_for_plan(self, phase: MakePlan, task: Task, record: EpisodeRecord) -> None:
        self._plan_message = None
        if self._scene is None:
            return
        episode = record.episode
        planner = parse(planners(), episode.planner, 'planner')
        if planner.node not in self._plan:
            raise Abort('harness', f'planner node {planner.node} is not in this graph')
        body = parse(bodies(), episode.body, 'body')
        first = task.placements[0]
        response = await self._call(
            self._plan[planner.node],
            Plan.Request(
                episode_id=self.episode_id,
                block=first.block,
                zone=point(first.position_m),
                success_radius=first.radius_m,
                scene=self._scene,
                waypoints=waypoints_message(body.waypoints),
                placements=[*map(placement_message, task.placements)],
                reasons=list(phase.reasons),
            ),
            f'{planner.node}/plan',
            self.params.plan_timeout,
        )
        seen = block_positions(self._scene)
        plan = hear(record, response, planner.kind, seen, task.placements, body.waypoints)
        if plan is None:
            return
        header = Header(stamp=self.now, frame_id=self._scene.header.frame_id)
        message = plan_message(plan, header, self.episode_id)
        if episode.guard == 'off' or await self._passes_guard(message, record):
            self._plan_message = message

    async def _passes_guard(self, plan: ActionPlan, record: EpisodeRecord) -> bool:
        """Ask the guard about a plan; return whether it may be carried out."""
        if self._check is None:
            raise Abort('harness', f'node {GUARD} is not in this graph')
        tip_m = self._hand.tip_m
        response = await self._call(
            self._check,
            CheckPlan.Request(
                episode_id=self.episode_id,
                plan=plan,
                scene=self._scene,
                has_moved=tip_m is not None,
                tip=point(tip_m or (0.0, 0.0, 0.0)),
                closed=self._hand.closed,
            ),
            f'{GUARD}/check',
        )
        if not response.ok:
            raise Abort('guard', response.message)
        record.guarded(response.verdict)
        return not response.verdict.blocked

    async def _carry_out(self, record: EpisodeRecord) -> None:
        self._completed = False
        if self._plan_message is None:
            return
        limit = self._motion_limit_s
        accepted = await in_time(
            self,
            self._execute.send_goal_async(
                ExecutePlan.Goal(plan=self._plan_message),
                feedback_callback=lambda said: self._feed.tell(f'  {said.feedback.action}'),
            ),
            self.params.answer_timeout,
            'execute_plan',
        )
        if not accepted.accepted:
            raise Abort('controller', 'refused the plan')
        try:
            answer = await in_time(self, accepted.get_result_async(), limit, 'execute_plan')
        except TimedOut:
            accepted.cancel_goal_async()
            raise
        await self._let_pass(0)  # what time it is, and how much the body has sent meanwhile
        self._completed = bool(answer.result.completed)
        self._hand = self._hand.after(
            read_actions(self._plan_message.actions), answer.result.executed
        )
        if not answer.result.completed:
            record.failed(f'execution: {answer.result.message}')

    # -- the end of an attempt

    async def _drain(self, record: EpisodeRecord) -> dict[str, int]:
        """Let every message arrive, end the attempt on every node but the recorder."""
        counts: dict[str, int] = {}
        reports: dict[str, Any] = {}
        driver = self.params.driver
        order = [driver, *self.params.scene_chain, 'safety_monitor']
        order += [name for name in self.params.nodes if name not in order and name != 'recorder']
        hears = {'perception': 'objects', 'fault_relay': 'scene', 'safety_monitor': 'step_state'}
        for name in order:
            if (topic := hears.get(name)) and (
                source := self._counted_as(topic, counts)
            ) in counts:
                await self._await_count(name, source, counts[source])
            response = await self._call(
                self._per_node[name][Finish],
                Finish.Request(episode_id=self.episode_id),
                f'{name}/finish',
            )
            if not response.ok:
                raise Abort('finish_failed', response.message)
            reports[name] = json.loads(response.report)
            counts.update(_counts(response.published))
        record.digest = reports[driver]['digest']
        if 'fault_relay' in reports:
            record.relayed(reports['fault_relay'])
        monitor = reports['safety_monitor']
        if not monitor['gap'] and monitor['last_step'] != reports[driver]['step']:
            monitor['gap'] = f'ended at {monitor["last_step"]} of {reports[driver]["step"]}'
        if monitor['gap']:
            raise Abort('missed_step', monitor['gap'])
        record.safety = {key: monitor[key] for key in ('raw_sweeps', 'events')}
        return counts

    def _publish_result(self, record: EpisodeRecord, job: Job) -> None:
        row = record.row(0.0)
        self._results.send(
            EpisodeResult(
                stamp=self.now,
                episode_id=self.episode_id,
                run_id=row.run_id,
                arm=row.arm,
                condition=row.condition,
                status=row.status,
                reason=row.reason,
                success=bool(row.success),
                final_error=float('nan') if row.final_error_m is None else row.final_error_m,
                steps=row.steps or 0,
                digest=row.digest,
                journal=row.model_dump_json(),
            )
        )

    async def _close_recording(self, record: EpisodeRecord, counts: dict[str, int]) -> None:
        if 'recorder' not in self.params.nodes:
            return
        counts.update(_counts(self.published()))
        for entry in self.params.recorded:
            topic = self._counted_as(entry.split()[1], counts)
            await self._await_count('recorder', topic, counts[topic])
        response = await self._call(
            self._per_node['recorder'][Finish],
            Finish.Request(episode_id=self.episode_id),
            'recorder/finish',
        )
        if not response.ok:
            raise Abort('recording', response.message)
        report = json.loads(response.report)
        if not record.bag:
            return
        wrong = [
            f'{topic}: {got} of {counts[topic]}'
            for topic, got in report['counts'].items()
            if got != counts[topic]
        ]
        record.recording = {
            'messages': report['messages'],
            'bytes': report['bytes'],
            'lost': sum(max(0, counts[topic] - got) for topic, got in report['counts'].items()),
            'sha256': report['sha256'],
        }
        self._recording = Condition(
            'recording',
            Level.ERROR if wrong else Level.OK,
            '; '.join(wrong),
            {key: record.recording[key] for key in ('messages', 'bytes', 'lost')},
        )
        if wrong:
            raise Abort('recording', f'not what was sent: {", ".join(wrong)}')

    # -- asking

    async def _call(self, client: Any, request: Any, what: str, limit: float = 0.0) -> Any:
        future = client.call_async(request)
        try:
            return await in_time(self, future, limit or self.params.answer_timeout, what)
        except TimedOut:
            client.remove_pending_request(future)  # a late answer finds nobody
            raise

    async def _await_count(self, node: str, topic: str, count: int) -> Any:
        response = await self._call(
            self._per_node[node][AwaitCount],
            AwaitCount.Request(episode_id=self.episode_id, topic=topic, received=count),
            f'{node}/await_count of {topic}',
        )
        if not response.ok:
            raise Abort('harness', response.message)
        return response

    async def _own_count(self, topic: str, count: int) -> None:
        future = Future()
        self._on_await_count(
            AwaitCount.Request(episode_id=self.episode_id, topic=topic, received=count),
            AwaitCount.Response(),
            future.set_result,
        )
        await in_time(self, future, self.params.answer_timeout, topic)

    def _on_scene(self, message: SceneObservation) -> None:
        self._scene = message

    def _say(self, phase: str) -> None:
        self._phase = phase
        self._feed.tell(phase)
        self._phases.send(EpisodePhase(stamp=self.now, episode_id=self.episode_id, phase=phase))

    def _counted_as(self, topic: str, counts: Mapping[str, int]) -> str:
        """Return the full name of a topic; remapped, unless that was done for this node alone."""
        full = self.resolve_topic_name(topic, only_expand=True)
        return full if full in counts else self.resolve_topic_name(topic)


class FromParameters:
    """One job, as the node's parameters name it; its row goes into the folder's journal.

    The folder is held from the beginning, so that nobody else takes the same attempt.

    :raises BadSetting: for an episode that there is not, and a folder that cannot be used
    """

    def __init__(self, params: SupervisorParams, say: Callable[[str], None]) -> None:
        from alpha_chaos.run.single import one_episode

        self._say = say
        self.exit_code = HARNESS_ERRORS  # until there is a result
        if not params.experiment:
            raise BadSetting(
                'which episode? Set the parameters experiment, run_id, arm, and out to record it'
            )
        self._out = Path(params.out)
        out = self._out if params.out else None
        episode = one_episode(
            params.experiment,
            params.run_id,
            params.arm,
            out,
            driver=params.driver,
            llm=params.llm or None,
            model=params.model,
            speed=params.speed,
            say=say,
        )
        self._folder: tuple[Ledger, Journal] | None = None
        self._job: Job | None = Job(episode)
        if out is not None:
            try:
                journal = Journal(out, 'running an episode')
                self._folder = Ledger(out, 'running an episode'), journal
                self._job = next_job(episode, journal, out)
            except (LinesError, OSError) as error:
                raise BadSetting(str(error)) from None

    def receive(self) -> Job | None:
        """Return the job once."""
        job, self._job = self._job, None
        return job

    def tell(self, text: str) -> None:
        """Say it in the log."""
        self._say(text)

    def answer(self, row: Row, ledger: list[dict[str, Any]]) -> None:
        """Keep the row, the journal last, for it is what counts; tell how it ended."""
        if self._folder is None:
            print(row.model_dump_json(), flush=True)
        else:
            if row.status == 'aborted':
                row = set_apart(row, self._out)
            with self._folder[0] as lines, self._folder[1] as journal:
                lines.extend(entries(row, ledger))
                journal.append(row)
        why = f' ({row.reason})' if row.reason else ''
        error = '' if row.final_error_m is None else f', {row.final_error_m:.4f} m from the goal'
        self._say(f'{row.run_id}/{row.arm}: {row.status}{why}{error}')
        self.exit_code = HARNESS_ERRORS if row.status == 'aborted' else 0


def _counts(published: list[TopicCount]) -> dict[str, int]:
    return {entry.topic: int(entry.count) for entry in published}


def _next_topic(topic: str) -> str:
    return {'objects': 'scene', 'scene': 'relay/scene'}[topic]


def _xyz(position: Any) -> tuple[float, float, float] | None:
    return None if position is None else (position.x, position.y, position.z)


def main() -> int:
    """Run the node."""
    return run(SupervisorNode)


if __name__ == '__main__':
    raise SystemExit(main())
