"""What a benchmark needs of a task: to tell it, to carry a plan out, to judge one."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from alpha_chaos.worldmodel.plan_text import Plan
from alpha_chaos.worldmodel.run import StepResult
from alpha_chaos.worldmodel.verdict import Verdict


@dataclass(frozen=True)
class Briefing:
    """What a language model is told about a task, in the words of what judges it.

    :param rules: of the world: how plans are written, what actions there are and what they need
    :param situation: the task itself, and the objects in their places
    """

    rules: str
    situation: str


class Executor(Protocol):
    """A plan under way, told step by step."""

    def step(self, line: str) -> StepResult:
        """Carry out one line of a plan, and return what it did."""

    def scene(self) -> Mapping[str, str]:
        """Return what can be seen: of each object, in words, where and how it is."""


class Exam(ABC):
    """A task that plans are judged on.

    :param golden: text of a plan that is right; None if nobody wrote one
    """

    title: str
    technique: str
    golden: str | None

    @abstractmethod
    def judge(self, plan: Plan) -> Verdict:
        """Return the verdict on a plan."""

    @abstractmethod
    def briefing(self) -> Briefing:
        """Return what a language model is told."""

    @abstractmethod
    def begin(self) -> Executor:
        """Begin to carry out a plan."""


def plan_format(example: str) -> str:
    """Return how a plan is written.

    :param example: an object of the task, as class and id
    """
    return (
        'A plan has one step on each line:\n'
        f'1. [ACTION] {example} ...\n'
        'Arguments stand in the order that the action lists; behind a colon stands what they '
        'have to be. An object is written as its class and its number. A value has no number and '
        'no space: <5_minutes>, <180C>, <0.25_m>. '
        'Arguments with ? may be left out.'
    )
