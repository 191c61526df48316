"""What is found out about a plan."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Kind = Literal['syntax', 'immediate', 'latent']


class Link(NamedTuple):
    """One step of a causal chain: what it made, and how it was written. Step 0: the start."""

    step: int
    fact: str
    action: str


class Failure(NamedTuple):
    """One thing that is wrong with a plan.

    :param step: where it shows; 0 for the state after the last step
    :param rule: name of the audit, or of what the step needed
    :param planted: step that planted the harm; 0: it was there at the start
    :param sealed: step after which it cannot be undone; None if it can
    :param chain: how it came to be, in order
    """

    step: int
    rule: str
    kind: Kind
    reversible: bool
    message: str
    family: str = ''
    severity: int = 1
    planted: int | None = None
    sealed: int | None = None
    chain: tuple[Link, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return it for a JSON file. What an immediate failure does not have is left out."""
        known: dict[str, Any] = {
            'step': self.step,
            'rule': self.rule,
            'kind': self.kind,
            'reversible': self.reversible,
            'message': self.message,
        }
        if self.family:
            known |= {'family': self.family, 'severity': self.severity}
        if self.planted is not None:
            known |= {'planted': self.planted, 'sealed': self.sealed}
        if self.chain:
            known['chain'] = [link._asdict() for link in self.chain]
        return known


@dataclass(frozen=True)
class Verdict:
    """What became of a plan. Failures with the same text are one.

    :param goal_reached: None if the task has no goal
    :param seconds: how long the plan takes in the world [s]
    """

    steps: int
    failures: tuple[Failure, ...]
    goal_reached: bool | None
    seconds: float = 0.0

    @property
    def immediate(self) -> int:
        """Return how many failures show at their step; mistakes of syntax are among them."""
        return sum(failure.kind != 'latent' for failure in self.failures)

    @property
    def latent(self) -> int:
        """Return how many failures no precondition prevents."""
        return sum(failure.kind == 'latent' for failure in self.failures)

    @property
    def irreversible(self) -> int:
        """Return how many failures nothing can undo."""
        return sum(not failure.reversible for failure in self.failures)

    @property
    def clean(self) -> bool:
        """Tell whether nothing failed, and the goal is reached if there is one."""
        return not self.failures and self.goal_reached is not False

    def json(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return {
            'immediate': self.immediate,
            'latent': self.latent,
            'irreversible': self.irreversible,
            'goal_reached': self.goal_reached,
            'clean': self.clean,
            'steps': self.steps,
            'failures': [failure.json() for failure in self.failures],
        }


def once(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Return the failures with each text once, the first of its kind."""
    kept: dict[tuple[str, str, str], Failure] = {}
    for failure in failures:
        kept.setdefault((failure.kind, failure.rule, failure.message), failure)
    return tuple(kept.values())
