"""Mutants of golden plans before the engine: what it flags, and whether it should."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from numpy.random import Generator, default_rng

from alpha_chaos import catalogues
from alpha_chaos.worldmodel.domain import load_domain
from alpha_chaos.worldmodel.mutations.base import Operator
from alpha_chaos.worldmodel.mutations.golden import Golden, Mutant
from alpha_chaos.worldmodel.parts import Domain
from alpha_chaos.worldmodel.plan_text import Plan
from alpha_chaos.worldmodel.verdict import Verdict
from alpha_chaos.worldmodel.world import Task, World, load_tasks, task_world

FLAGGED = 0.95  # of harmful mutants, at least


@dataclass(frozen=True)
class Case:
    """A mutant that is to be judged."""

    task: str
    operator: Operator
    mutant: Mutant
    world: World

    def trial(self) -> 'Trial':
        """Return what the engine makes of it."""
        verdict = self.world.judge(Plan.of(self.mutant.steps))
        return Trial(self.task, self.operator, self.mutant, verdict)


@dataclass(frozen=True)
class Trial:
    """A mutant, and what the engine made of it."""

    task: str
    operator: Operator
    mutant: Mutant
    verdict: Verdict

    @property
    def right(self) -> bool:
        """Tell whether the engine flags it if it is harmful, and only then."""
        return self.verdict.clean is not self.operator.harmful

    @property
    def by_family(self) -> bool:
        """Tell whether a rule of the family that is about such harm was broken."""
        families = {failure.family for failure in self.verdict.failures}
        return self.operator.family in families or (
            not self.operator.family and self.verdict.goal_reached is False
        )

    @property
    def seen_as(self) -> str:
        """Return what it was flagged by: latent before immediate before goal; or clean."""
        if self.verdict.latent:
            return 'latent'
        if self.verdict.immediate:
            return 'immediate'
        return 'clean' if self.verdict.clean else 'goal'


def cases(
    domain: Domain, tasks: Iterable[Task], operators: Mapping[str, type[Operator]]
) -> Iterator[Case]:
    """Yield every mutant of every task, task after task."""
    made = [kind.example for kind in operators.values()]
    for task in tasks:
        world = task_world(domain, task)
        golden = Golden(task, world)
        for operator in made:
            for mutant in operator.mutants(golden):
                yield Case(task.name, operator, mutant, world)


def drawn(found: Iterable[Case], count: int, rng: Generator) -> list[Case]:
    """Return some mutants of each operator, drawn without putting back."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in found:
        groups[case.operator.kind].append(case)
    return [
        group[i] for group in groups.values() for i in sorted(rng.permutation(len(group))[:count])
    ]


def try_world(world: str, per_operator: int | None = None) -> list[Trial]:
    """Return the trials of the mutants of a world's tasks.

    :param per_operator: only so many of each operator, always the same
    :raises BadSetting: for an unknown world, or with what is wrong with it or its tasks
    """
    domain = load_domain(world)
    found: Iterable[Case] = cases(domain, load_tasks(domain).values(), catalogues.mutations())
    if per_operator is not None:
        found = drawn(found, per_operator, default_rng(0))
    return [case.trial() for case in found]


def good_enough(trials: Iterable[Trial]) -> bool:
    """Tell whether enough of the harmful mutants are flagged, and none of the harmless."""
    harmful, flagged = 0, 0
    for trial in trials:
        if trial.operator.harmful:
            harmful += 1
            flagged += trial.right
        elif not trial.right:
            return False
    return flagged >= FLAGGED * harmful
