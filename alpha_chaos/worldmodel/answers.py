"""The record of a benchmark run: every answer that was judged, and every one that did not come."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from alpha_chaos import jsonl
from alpha_chaos.closing import Closing
from alpha_chaos.journal import Count, Name, Number, Part, Text
from alpha_chaos.plugins import explain
from alpha_chaos.worldmodel.verdict import Verdict

FILE = 'journal.jsonl'
MAX_PLAN = 1_000_000  # characters of a plan that are kept; one from a file can be longer

Origin = Literal['baseline', 'files', 'model']


class LinkRecord(Part):
    """One step of a causal chain."""

    step: Count
    fact: Text
    action: Text


class FailureRecord(Part):
    """One thing that is wrong with a plan; the fields are those of `verdict.Failure`."""

    step: Count
    rule: Text
    kind: Literal['syntax', 'immediate', 'latent']
    reversible: bool
    message: Text
    family: Text = ''
    severity: Count = 1
    planted: Count | None = None
    sealed: Count | None = None
    chain: tuple[LinkRecord, ...] = ()


class VerdictRecord(Part):
    """What became of a plan."""

    immediate: Count
    latent: Count
    irreversible: Count
    goal_reached: bool | None
    clean: bool
    steps: Count
    failures: tuple[FailureRecord, ...]

    @classmethod
    def of(cls, verdict: Verdict) -> 'VerdictRecord':
        """Return a verdict as it is written."""
        return cls.model_validate(verdict.json())


class Exchange(Part):
    """One question to the model and its reply; a reply from the cache has its first cost."""

    prompt_sha256: str
    reply: Text
    prompt_tokens: Count
    completion_tokens: Count
    wall_s: Number
    done_reason: str = ''
    cached: bool = False

    @property
    def cut_off(self) -> bool:
        """Whether the limit of tokens ended the reply."""
        return self.done_reason == 'length'


class Answer(Part):
    """One attempt at one task: a plan and its verdict, or the reason why there is none.

    :param plan_set: name of the condition, of the baseline or of the folder the plan is from
    """

    plan_set: Name
    task: Name
    technique: str = ''
    origin: Origin
    attempt: int = Field(1, ge=1)
    status: Literal['done', 'aborted']
    reason: Text = Field(default='', description='why it was aborted, its type first')
    plan: Text = Field(default='', description='as judged, if it is text and not too long')
    ended: str = Field(default='', description='why the model wrote no more')
    exchanges: tuple[Exchange, ...] = ()
    verdict: VerdictRecord | None = None

    @model_validator(mode='after')
    def _status_and_verdict_agree(self) -> 'Answer':
        if (self.status == 'done') != (self.verdict is not None):
            raise ValueError(f'status {self.status!r} does not go with this verdict')
        if self.status == 'aborted' and not self.reason:
            raise ValueError('an aborted attempt needs its reason')
        return self

    @property
    def key(self) -> tuple[str, str]:
        """What is answered: plan set and task."""
        return self.plan_set, self.task


def _as_answers(path: Path, objects: Iterable[Mapping[str, Any]]) -> list[Answer]:
    answers = []
    for number, item in enumerate(objects, start=1):
        try:
            answers.append(Answer.model_validate(item))
        except ValidationError as error:
            why = f'no answer in a benchmark: {explain(error)}'
            raise jsonl.CorruptLine(path, number, why) from None
    return answers


def read(folder: Path) -> list[Answer]:
    """Return the record of a run, also while it is being written; no file is an empty one.

    :raises jsonl.CorruptLine: naming file and line
    """
    path = folder / FILE
    return _as_answers(path, jsonl.read(path).objects)


def final(answers: Iterable[Answer]) -> dict[tuple[str, str], Answer]:
    """Return the attempt that counts for each plan set and task: the last that was not aborted."""
    chosen: dict[tuple[str, str], Answer] = {}
    for answer in answers:
        before = chosen.get(answer.key)
        if before is None or before.status == 'aborted' or answer.status == 'done':
            chosen[answer.key] = answer
    return chosen


class Answers(Closing):
    """The one writer of a run's record.

    :raises jsonl.Busy: when somebody else writes to it
    :raises jsonl.CorruptLine: when it cannot be trusted
    """

    def __init__(self, folder: Path) -> None:
        self._lines = jsonl.Appender(folder / FILE, 'running a benchmark')
        try:
            self.answers = _as_answers(self._lines.path, self._lines.objects)
        except jsonl.CorruptLine:
            self._lines.close()
            raise

    def add(self, answers: Iterable[Answer]) -> None:
        """Add attempts; they are on disk when this returns."""
        new = list(answers)
        if new:
            self._lines.append([answer.model_dump() for answer in new])
            self.answers += new

    def done(self) -> set[tuple[str, str]]:
        """Return plan set and task of everything that has a verdict."""
        return {answer.key for answer in self.answers if answer.status == 'done'}

    def next_attempt(self, key: tuple[str, str]) -> int:
        """Return the number of the next attempt at a task; the first is 1."""
        return max((answer.attempt for answer in self.answers if answer.key == key), default=0) + 1

    def close(self) -> None:
        """Let the next writer in."""
        self._lines.close()
