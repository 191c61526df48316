"""Episodes of the pick-and-place task on a body: the oracle's plan, carried out without nodes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from alpha_chaos.bodies.base import BodyState, GripOutcome, StateDigest, Tabletop
from alpha_chaos.safety.rules import StepView
from alpha_chaos.tasks.base import Advance, Execute, Judgement, Observe
from alpha_chaos.tasks.pick_place import PickPlace

TASK = PickPlace()
OPEN_M = 0.08  # what the controller asks for
GRIP_N = 500.0


@dataclass
class Run:
    """What happened; steps count from 0, the first observation."""

    body: Tabletop
    states: dict[int, BodyState] = field(default_factory=dict)
    moved_to_m: list[tuple[float, float, float]] = field(default_factory=list)
    grip: GripOutcome | None = None
    judgement: Judgement | None = None
    digest: str = ''
    phases: dict[str, tuple[int, int]] = field(default_factory=dict)  # first and last step

    def place_m(self, name: str, step: int) -> tuple[float, ...]:
        return tuple(self.states[step].object_pose[self.body.objects.index(name), :3].tolist())

    def positions_m(self, step: int) -> dict[str, tuple[float, ...]]:
        return {name: self.place_m(name, step) for name in self.body.objects}

    def views(self) -> list[StepView]:
        return [
            StepView(
                step=step,
                object_names=self.body.objects,
                object_position_m=state.object_pose[:, :3],
                held=state.held,
                contact_link=state.contact_link,
                contact_object=state.contact_object,
                contact_force_n=state.contact_force,
            )
            for step, state in self.states.items()
        ]

    @property
    def error_m(self) -> float:
        return self.judgement.final_error_m

    @property
    def last(self) -> BodyState:
        return self.states[max(self.states)]


def run_episode(
    body: Tabletop,
    *,
    steps_ago: int = 0,
    offset_m: Callable[[float, float], tuple[float, float]] = lambda x, y: (0.0, 0.0),
    effort_factor: float | None = None,
    look: bool = True,
    task: PickPlace = TASK,
) -> Run:
    """Run the task's phases.

    :param steps_ago: age of the scene that the plan is made from
    :param offset_m: by which the arm goes astray, for a target at x, y
    :param effort_factor: as the arm begins to lift, the gripper is commanded again with this share
        of the effort it reported
    :param look: False to look at the world no more than the plan needs; there is no digest then
    """
    run, digest = Run(body), StateDigest()
    with body.world() as world:
        step = task.first_step
        run.states[step] = world.state()

        def advance(steps, name):
            nonlocal step
            run.phases[name] = (step + 1, step + steps)
            for _ in range(steps):
                world.step()
                step += 1
                if look:
                    run.states[step] = world.state()
                    digest.update(step, run.states[step])

        def move(point, height_m, name):
            x, y, z = point
            dx, dy = offset_m(x, y)
            advance(world.start_move((x + dx, y + dy, z + height_m), None), name)
            run.moved_to_m.append(world.end_effector().position_m)

        def execute(seen):
            at = body.waypoints
            move(seen, at.hover, 'hover')
            move(seen, at.grasp, 'grasp')
            advance(world.start_grip(0.0, GRIP_N, task.block), 'grip')
            run.grip = world.grip_outcome()
            if effort_factor is not None:
                effort_n = effort_factor * run.grip.effort_n
                advance(world.start_grip(0.0, effort_n, task.block), 'slip')
            move(seen, at.lift, 'lift')
            move(task.zone, at.zone_hover, 'zone_hover')
            move(task.zone, at.zone_place, 'zone_place')
            advance(world.start_grip(OPEN_M, 0.0, ''), 'release')

        for phase in task.phases:
            match phase:
                case Advance():
                    advance(phase.steps, phase.name)
                case Observe():
                    run.states.setdefault(step, world.state())
                    seen = run.place_m(task.block, step - steps_ago)
                case Execute():
                    execute(seen)
        run.states.setdefault(step, world.state())
        run.judgement = task.judge(run.positions_m(step))
    run.digest = digest.hexdigest()
    return run
