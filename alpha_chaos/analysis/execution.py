"""Execute a recorded attempt again: the same commands, after the same steps, on a new world."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alpha_chaos.analysis.difference import Unequal, unequal
from alpha_chaos.analysis.quiet import unheard
from alpha_chaos.analysis.walk import ARM, Command, Wait
from alpha_chaos.bag.plain import plain
from alpha_chaos.bag.steps import Steps
from alpha_chaos.bodies.base import BadCommand, Body, BodyState, World
from alpha_chaos.drivers.base import Driver, Limits
from alpha_chaos.drivers.sim import Sim

_SIM = Sim()
CLOSE_M = 1e-4  # what another processor may make of the same episode and still agree

_NUMBERS = ('joint_position', 'joint_velocity', 'object_pose')


@dataclass(frozen=True)
class Apart:
    """Where two runs of the same commands part.

    :param step: the first whose state differs
    :param what: the first field of it that does
    :param by: largest difference in that field and step; None where it is not a number
    :param largest_m: largest distance between two places of one object, over all steps
    :param largest_step: where that is
    """

    step: int
    what: str
    by: float | None
    largest_m: float
    largest_object: str
    largest_step: int

    @property
    def close(self) -> bool:
        """Whether no object is anywhere else, within `CLOSE_M`."""
        return self.largest_m <= CLOSE_M


@dataclass
class Executed:
    """What came of the commands.

    :param apart: None if every state is the recorded one, bit for bit
    :param unequal: where the body answered something else
    """

    digest: str
    steps: int
    apart: Apart | None
    unequal: list[Unequal] = field(default_factory=list)


def execute_again(
    body: Body,
    moved: Sequence[Wait | Command],
    recorded: Steps,
    object_names: Sequence[str],
    driver: Driver = _SIM,
) -> Executed:
    """Execute on a new world what moved the recorded one, and compare state by state.

    Every command gets as many steps as it had. A world that now wants more or fewer for it is
    named among the unequal.
    """
    with unheard():
        world = driver.world(body)
    with world:
        run = _Run(world, driver.limits, int(recorded.step[0]))
        for what in moved:
            if isinstance(what, Wait):
                run.go(what.steps)
            else:
                run.command(what)
    found = Steps.of(run.states, recorded.step, recorded.time_ns)
    return Executed(
        digest=found.digest(),
        steps=len(found),
        apart=_apart(recorded, found, object_names),
        unequal=run.unequal,
    )


class _Run:
    def __init__(self, world: World, limits: Limits, first_step: int) -> None:
        self._world = world
        self._limits = limits
        self._step = self._first_step = first_step
        self.states: list[BodyState] = [world.state()]
        self.unequal: list[Unequal] = []

    def go(self, steps: int) -> None:
        for _ in range(steps):
            self._world.step()
            self._step += 1
            self.states.append(self._world.state())

    def command(self, command: Command) -> None:
        goal, said = command.request.message, command.response.message
        had = int(said.step) - self._step  # steps, when it was recorded
        where = f'{command.request.route} {command.request.sequence}'
        found: dict[str, Any] = {'reached': False, 'message': ''}
        try:
            wanted = self._start(command.request.route, goal)
            if wanted < had or (said.reached and wanted != had):
                self.unequal.append((f'{where} steps', had, wanted))
            self.go(had)
            found['reached'] = wanted == had
            if wanted > had:
                if command.request.route == ARM:
                    self._world.halt()
                found['message'] = f'cancelled after {had} of {wanted} steps'
        except BadCommand as error:
            found['message'] = str(error)
            self.go(had)
        found |= self._outcome(command.request.route, goal, found)
        known = {key: plain(getattr(said, key)) for key in found}
        self.unequal += unequal(known, plain(found), f'{where} response')

    def _start(self, route: str, goal: Any) -> int:
        if route == ARM:
            frame = goal.target.header.frame_id
            if frame != 'world':
                raise BadCommand(f"target in frame {frame!r}; this body takes 'world'")
            self._limits.check(_target(goal), self._age_s(goal.target.header.stamp))
            turn = goal.target.pose.orientation
            orientation = None if goal.position_only else (turn.x, turn.y, turn.z, turn.w)
            return self._world.start_move(_target(goal), orientation)
        return self._world.start_grip(goal.opening, goal.max_effort, goal.object)

    def _age_s(self, stamp: Any) -> float | None:
        """Return how long ago a goal was stamped; None for no stamp."""
        stamped_ns = int(stamp.sec) * 10**9 + int(stamp.nanosec)
        now_ns = round((self._step - self._first_step) * self._world.step_period_s * 1e9)
        return (now_ns - stamped_ns) / 1e9 if stamped_ns else None

    def _outcome(self, route: str, goal: Any, found: dict[str, Any]) -> dict[str, Any]:
        if route == ARM:
            tip = self._world.end_effector()
            return {'error': math.dist(tip.position_m, _target(goal))}
        if found['message'] and not found['reached']:
            return {}
        outcome = self._world.grip_outcome()
        return {
            'reached': found['reached'] and outcome.reached,
            'message': outcome.message,
            'opening': outcome.opening_m,
            'effort': outcome.effort_n,
            'stalled': outcome.stalled,
        }


def _target(goal: Any) -> tuple[float, float, float]:
    place = goal.target.pose.position
    return place.x, place.y, place.z


def _apart(recorded: Steps, found: Steps, object_names: Sequence[str]) -> Apart | None:
    """Compare two runs over the steps that both have."""
    both = min(len(recorded), len(found))
    same = np.ones(both, bool)
    for name in (*_NUMBERS, 'held'):
        one, other = getattr(recorded, name)[:both], getattr(found, name)[:both]
        if one.shape != other.shape:
            same[:] = False
        else:
            same &= _bits(one, both) == _bits(other, both)
    same &= _contacts(recorded, both) == _contacts(found, both)
    if same.all():
        return None
    first = int(np.argmin(same))
    what, by = _first_field(recorded.state(first), found.state(first))
    largest, step, name = _largest(recorded, found, both, object_names)
    return Apart(int(recorded.step[first]), what, by, largest, name, step)


def _bits(values: NDArray[Any], rows: int) -> NDArray[np.object_]:
    """Return the bytes of every row: NaN is like NaN, and 0.0 not like -0.0."""
    flat = np.ascontiguousarray(values).reshape(rows, -1)
    width = max(1, flat.shape[1] * flat.itemsize)
    data = flat.tobytes()
    return np.array([data[at * width : (at + 1) * width] for at in range(rows)], object)


def _contacts(steps: Steps, rows: int) -> NDArray[np.object_]:
    bounds = steps.contact_from.tolist()
    found = np.empty(rows, object)
    for row in range(rows):
        part = slice(bounds[row], bounds[row + 1])
        found[row] = b''.join(
            values[part].tobytes()
            for values in (steps.contact_link, steps.contact_object, steps.contact_force)
        )
    return found


def _first_field(one: BodyState, other: BodyState) -> tuple[str, float | None]:
    for name in _NUMBERS:
        a, b = getattr(one, name), getattr(other, name)
        if a.tobytes() != b.tobytes():
            return name, float(np.max(np.abs(a - b))) if a.shape == b.shape else None
    if one.held != other.held:
        return 'held', None
    for name in ('contact_link', 'contact_object'):
        if getattr(one, name).tobytes() != getattr(other, name).tobytes():
            return 'contacts', None
    return 'contact_force', float(np.max(np.abs(one.contact_force - other.contact_force)))


def _largest(
    recorded: Steps, found: Steps, both: int, object_names: Sequence[str]
) -> tuple[float, int, str]:
    ours, theirs = recorded.object_pose[:both, :, :3], found.object_pose[:both, :, :3]
    if ours.shape != theirs.shape or not ours.size:
        return math.inf, int(recorded.step[0]), ''
    far = np.linalg.norm(ours - theirs, axis=2)
    far[np.isnan(far)] = np.inf
    step, index = np.unravel_index(int(np.argmax(far)), far.shape)
    return float(far[step, index]), int(recorded.step[step]), object_names[int(index)]
