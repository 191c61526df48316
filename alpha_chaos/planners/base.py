"""What every planner must do, and what it may ask of a language model."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from alpha_chaos.plan import ActionPlan, Placement, Vector, Waypoints, Words, zone_centres
from alpha_chaos.plugins import Plugin


@dataclass(frozen=True)
class PlanRequest:
    """What a planner may know.

    :param block: block to move, the first one if there are several
    :param zone: centre of its zone, world frame [m]
    :param success_radius: largest distance block to zone that counts as success [m]
    :param blocks: where the blocks were seen, world frame [m]
    :param observed_s: simulated time at which they were seen [s]
    :param reasons: why an earlier plan was rejected; empty on the first request
    :param placements: every block to move, in order; empty for the one above
    """

    block: str
    zone: Vector
    success_radius: float
    blocks: Mapping[str, Vector]
    observed_s: float
    waypoints: Waypoints
    reasons: tuple[str, ...] = ()
    placements: tuple[Placement, ...] = ()

    @property
    def wanted(self) -> tuple[Placement, ...]:
        """Return where each block shall end, in the order in which they are to be moved."""
        return self.placements or (Placement(self.block, self.zone, self.success_radius),)

    @property
    def words(self) -> Words:
        """Return what the plan can name."""
        return Words.of(self.wanted)

    def resolve(self, plan: ActionPlan) -> ActionPlan:
        """Return a plan with its targets in numbers; raises PlanProblem like `plan.resolve`."""
        return plan.resolve(self.blocks, zone_centres(self.wanted), self.waypoints)


@dataclass(frozen=True)
class Provenance:
    """Where a plan came from.

    :param provider: 'scripted', 'embedded' or 'ollama'
    :param digest: sha256 of the model, empty for a scripted planner
    :param prompt_sha256: sha256 of the whole prompt, empty for a scripted planner
    :param wall_s: wall-clock time of the call that made the reply [s]; of the first call if cached
    :param done_reason: why generation ended ('stop', 'length'), empty for a scripted planner
    """

    planner: str
    provider: str = 'scripted'
    model: str = ''
    digest: str = ''
    prompt_sha256: str = ''
    prompt_tokens: int = 0
    completion_tokens: int = 0
    wall_s: float = 0.0
    cached: bool = False
    done_reason: str = ''


@dataclass(frozen=True)
class PlanReply:
    """A planner's answer: a typed plan, or text, or the typed reason why there is neither.

    With an error, `text` is what the model had written until then, for the record.
    """

    plan: ActionPlan | None
    text: str | None
    info: Provenance
    error: str = ''
    message: str = ''
    infrastructure: bool = False  # the error says nothing about the planner


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen. Temperature 0 is greedy: the seed then changes nothing."""

    temperature: float = 0.0
    top_p: float = 0.9
    seed: int = 42
    max_tokens: int = 400


@dataclass(frozen=True)
class CompletionRequest:
    """One question to a language model.

    :param schema: JSON schema that the answer is held to; None for free text
    """

    system: str
    prompt: str
    schema: Mapping[str, Any] | None
    options: Sampling = field(default_factory=Sampling)

    @property
    def prompt_sha256(self) -> str:
        """The sha256 over system text and prompt."""
        text = json.dumps([self.system, self.prompt])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Completion:
    """What a language model answered.

    :param digest: sha256 of the model
    :param wall_s: wall-clock time of the call that made the answer [s]
    :param cached: an answer recorded earlier was used
    :param done_reason: 'stop', or 'length' when the limit of tokens cut it off
    :param thinking: what the model wrote beside its answer; never part of the plan
    """

    text: str
    provider: str
    model: str
    digest: str
    prompt_tokens: int
    completion_tokens: int
    wall_s: float
    done_reason: str
    cached: bool = False
    thinking: str = ''


# Raises `planners.providers.base.ProviderError` when there is no answer.
Complete = Callable[[CompletionRequest], Completion]


class Planner(Plugin):
    """Turns a task and a scene into a plan.

    A refusal, or a reply that is no plan, is an answer and not an exception: it is a result.
    """

    node: ClassVar[Literal['oracle_planner', 'llm_planner']]
    needs_llm: ClassVar[bool] = False

    @abstractmethod
    def plan(self, request: PlanRequest, complete: Complete | None) -> PlanReply:
        """Return a plan for the request, or why there is none.

        :param complete: asks the language model; None for planners that need none
        """
