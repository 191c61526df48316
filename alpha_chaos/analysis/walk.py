"""Walk through a recorded attempt again, as its supervisor and its controller did.

Phases, parser, recovery policy and verdict are the same functions, but what they are told comes
from the recording: the states of every step, the scenes that came through, the answers of the
planner and those of arm and gripper. The outcome is the attempt's row of the journal, and the
list of what moved the world.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_chaos.analysis.difference import ABSENT, Contradiction
from alpha_chaos.analysis.injection import CONSUMER, Passed
from alpha_chaos.bag.plain import as_json
from alpha_chaos.bag.reader import Exchange, Message, Recording
from alpha_chaos.catalogues import bodies, planners, tasks
from alpha_chaos.course import Course, hear, known_facts
from alpha_chaos.episode import Abort, EpisodeRecord
from alpha_chaos.experiment import Episode
from alpha_chaos.guard import Guard, Hand, Verdict
from alpha_chaos.plan import ActionPlan, Grip, MoveTo, Placement, ResolvedMoveTo
from alpha_chaos.plugins import parse
from alpha_chaos.recovery.base import Facts
from alpha_chaos.tasks.base import (
    Advance,
    Execute,
    MakePlan,
    Observe,
    Phase,
    Task,
)

Vector = tuple[float, float, float]

SCENE = 'scene'
ARM, GRIPPER = 'arm/move_to', 'gripper/command'
LAST_PHASES = ('drain', 'judge', 'done')


@dataclass(frozen=True)
class Wait:
    """Simulated time that passed with nothing commanded, in steps."""

    steps: int


@dataclass(frozen=True)
class Command:
    """What a body was told, whether by a consumer or by a fault, and what it answered."""

    request: Exchange
    response: Exchange


@dataclass
class Walked:
    """Where the walk led.

    :param moved: what moved the world, in order
    :param phases: names, as the supervisor said them
    :param verdicts: of the guard, on each plan that was accepted
    """

    record: EpisodeRecord
    moved: list[Wait | Command] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)


def walk(
    recording: Recording, exchanges: Sequence[Exchange], passed: Passed, record: EpisodeRecord
) -> Walked:
    """Return the way through an attempt that was recorded to its end; fills `record`.

    :param passed: what became of the traffic in the relay
    :raises Contradiction: where the recording does not show what its settings lead to
    """
    return _Walk(recording, exchanges, passed, record).run()


class _Walk:
    def __init__(
        self,
        recording: Recording,
        exchanges: Sequence[Exchange],
        passed: Passed,
        record: EpisodeRecord,
    ) -> None:
        self._recording = recording
        self._states = recording.step_states
        self._names = recording.description.object_names
        self._exchanges = exchanges
        self._next = 0  # exchange
        self._record = record
        self._episode: Episode = record.episode
        self._task: Task = parse(tasks(), self._episode.task, 'task')
        self._walked = Walked(record)
        self._delivered = passed.delivered.get(SCENE, [])
        # Nobody hears the relay where there is none.
        topic = '/relay/scene' if '/relay/scene' in recording.types else '/scene'
        self._scenes: list[Message] = list(recording.messages(topic))
        self._scene: Any = None
        self._at = 0  # index of the newest state
        self._now = 0  # index of the state the supervisor has last heard of
        self._plan: ActionPlan | None = None  # accepted, and not replaced since
        self._hand = Hand()
        self._guard: Guard | None = None
        if self._episode.guard != 'off':
            body = parse(bodies(), self._episode.body, 'body')
            self._guard = Guard(self._episode.guard, self._task, body)
        self._completed = False

    def run(self) -> Walked:
        first = self._states.step[:1].tolist()
        if first != [self._task.first_step]:
            raise Contradiction('/step_state first step', first, [self._task.first_step])
        course = Course(self._task, self._record)
        for phase in course:
            self._walked.phases.append(phase.name)
            self._go_through(phase)
            course.passed(phase, self._facts())
        self._check_end()
        places = self._states.object_pose[self._now, :, :3].tolist()
        self._record.judgement = self._task.judge(dict(zip(self._names, places, strict=True)))
        self._record.steps = max(0, int(self._states.step[self._now]))
        self._record.digest = self._states.digest()
        return self._walked

    def _check_end(self) -> None:
        said = [phase.phase for phase in self._recording.decoded('/phase')]
        found = [*self._walked.phases, *LAST_PHASES]
        if said != found:
            raise Contradiction('/phase', said, found)
        if self._next < len(self._exchanges):
            raise Contradiction('/exchanges', _describe(self._exchanges[self._next]), ABSENT)
        if self._at != len(self._states) - 1:
            last = int(self._states.step[-1])
            raise Contradiction('/step_state last step', last, self._task.first_step + self._at)

    # -- phases

    def _go_through(self, phase: Phase) -> None:
        if isinstance(phase, Advance):
            self._let_pass(phase.steps)
        elif isinstance(phase, Observe):
            self._observe()
        elif isinstance(phase, MakePlan):
            self._ask_for_plan(phase)
        elif isinstance(phase, Execute):
            self._carry_out()

    def _let_pass(self, steps: int) -> None:
        self._walked.moved.append(Wait(steps))
        self._move_to(self._at + steps)
        self._now = self._at

    def _move_to(self, index: int) -> None:
        if not self._at <= index < len(self._states):
            last = self._task.first_step + index
            raise Contradiction('/step_state last step', int(self._states.step[-1]), last)
        self._at = index

    def _observe(self) -> None:
        self._now = self._at
        stamp_ns = int(self._states.time_ns[self._now])
        # The newest that came of everything that was seen up to now.
        there = [out for came_ns, out in self._delivered if came_ns <= stamp_ns]
        if there and 0 < there[-1] <= len(self._scenes):
            self._scene = self._scenes[there[-1] - 1].decode()
        if self._scene is None:
            self._record.failed('no_observation: no scene came through')
            return
        block = self._task.objects[0]
        self._record.observed(
            self._seconds(),
            _seconds(self._scene),
            _places(self._scene).get(block),
            self._true(block),
        )

    def _seconds(self) -> float:
        stamp_ns = int(self._states.time_ns[self._now])
        return float(stamp_ns // 10**9) + float(stamp_ns % 10**9) * 1e-9

    def _true(self, block: str) -> Vector | None:
        if block not in self._names:
            return None
        x, y, z = self._states.object_pose[self._now, self._names.index(block), :3].tolist()
        return x, y, z

    def _facts(self) -> Facts:
        scene = self._scene
        return known_facts(
            self._task,
            self._record,
            None if scene is None else _places(scene),
            math.nan if scene is None else _seconds(scene),
            self._seconds(),
            self._completed,
        )

    def _ask_for_plan(self, phase: MakePlan) -> None:
        self._plan = None
        if self._scene is None:
            return
        planner = parse(planners(), self._episode.planner, 'planner')
        call = self._call(f'{planner.node}/plan')
        asked, answer = call[0].message, call[-1].message
        first = self._task.placements[0]
        for name, said, known in (
            ('scene', as_json(asked.scene), as_json(self._scene)),
            ('reasons', list(asked.reasons), list(phase.reasons)),
            ('block', asked.block, first.block),
            ('zone', _xyz(asked.zone), first.position_m),
            ('success_radius', asked.success_radius, first.radius_m),
            ('placements', *_placed(asked, self._task.placements)),
        ):
            if said != known:
                raise Contradiction(f'{call[0].route} {call[0].sequence} {name}', said, known)
        waypoints = parse(bodies(), self._episode.body, 'body').waypoints
        seen = _places(self._scene)
        try:
            self._plan = hear(
                self._record, answer, planner.kind, seen, self._task.placements, waypoints
            )
        except Abort as abort:
            raise Contradiction(f'{call[0].route} error', abort.kind, 'a result') from None
        if self._plan is not None and self._guard is not None:
            verdict = self._guard.check(self._plan, seen, self._hand)
            self._walked.verdicts.append(verdict)
            self._record.guarded(verdict)
            if verdict.blocked:
                self._plan = None

    def _carry_out(self) -> None:
        self._completed = False
        if self._plan is None:
            return
        for index, action in enumerate(self._plan.actions):
            goal, result = self._command(action)
            if (said := _goal(goal)) != (asked := _wanted(action)):
                raise Contradiction(f'{goal.route} {goal.sequence}', said, asked)
            if not result.message.reached:
                why = f'action {index} {describe(action)}: {result.message.message}'
                self._record.failed(f'execution: {why}')
                self._hand = self._hand.after(self._plan, index)
                return
        self._hand = self._hand.after(self._plan, len(self._plan.actions))
        self._completed = True

    def _command(self, action: Any) -> tuple[Exchange, Exchange]:
        """Take one command and everything that came with it; return the consumer's two ends."""
        call = self._call(ARM if isinstance(action, MoveTo) else GRIPPER)
        for at, entry in enumerate(call):
            if entry.side != 'server' or entry.stage != 'request':
                continue
            key = entry.route, entry.sequence
            response = next(
                (
                    later
                    for later in call[at:]
                    if later.stage == 'response'
                    and later.side == 'server'
                    and (later.route, later.sequence) == key
                ),
                None,
            )
            if response is None:
                raise Contradiction(_describe(entry), ABSENT, 'a response')
            self._walked.moved.append(Command(entry, response))
            self._move_to(int(response.message.step) - self._task.first_step)
        return call[0], call[-1]

    def _call(self, route: str) -> list[Exchange]:
        """Take the exchanges from a consumer's request up to its response."""
        begin = self._next
        for at in range(begin, len(self._exchanges)):
            entry = self._exchanges[at]
            if at == begin and (entry.route, entry.origin) != (route, CONSUMER):
                raise Contradiction('/exchanges', _describe(entry), f'{route} request')
            mine = entry.route == route and entry.sequence == self._exchanges[begin].sequence
            if mine and (entry.stage, entry.side) == ('response', 'client'):
                self._next = at + 1
                return list(self._exchanges[begin : at + 1])
        raise Contradiction('/exchanges', ABSENT, f'{route} request and response')


def describe(action: Any) -> str:
    """Return an action of a resolved plan as the controller writes it."""
    if isinstance(action, ResolvedMoveTo):
        x, y, z = action.target
        return action.waypoint or f'MOVE_TO ({x:.3f}, {y:.3f}, {z:.3f})'
    return f'GRIP {action.block}' if isinstance(action, Grip) else 'RELEASE'


def _wanted(action: Any) -> list[Any]:
    if isinstance(action, MoveTo):
        return list(action.target)
    return [action.block if isinstance(action, Grip) else '', isinstance(action, Grip)]


def _goal(entry: Exchange) -> list[Any]:
    goal = entry.message
    if entry.route == ARM:
        return list(_xyz(goal.target.pose.position))
    return [goal.object, goal.max_effort > 0]


def _describe(entry: Exchange) -> str:
    by = '' if entry.origin == CONSUMER else f' by {entry.origin}'
    return f'{entry.route} {entry.sequence} {entry.stage} ({entry.side}){by}'


def _placed(asked: Any, known: Sequence[Placement]) -> tuple[Any, Any]:
    """Return what a planner was asked for, and what it should have been asked for."""
    if not hasattr(asked, 'placements'):  # recorded when there was one block to move
        return [], []
    said = [[it.block, it.zone, it.base, *_xyz(it.position), it.radius] for it in asked.placements]
    return said, [[it.block, it.zone, it.base, *it.position_m, it.radius_m] for it in known]


def _places(scene: Any) -> dict[str, Vector]:
    return {block.name: _xyz(block.pose.position) for block in scene.blocks}


def _xyz(point: Any) -> Vector:
    return point.x, point.y, point.z


def _seconds(scene: Any) -> float:
    stamp = scene.header.stamp
    return float(stamp.sec) + float(stamp.nanosec) * 1e-9
