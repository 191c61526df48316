"""The record of every attempt of a run: what is written, and how it is read again."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from alpha_chaos import jsonl
from alpha_chaos.closing import Closing
from alpha_chaos.plugins import explain
from alpha_chaos.printable import printable

FILE = 'journal.jsonl'
Status = Literal['done', 'task_failed', 'aborted']


def _nan_is_unknown(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _any_text(value: Any) -> str:
    # pydantic's own string refuses lone surrogates, which a model can send and we must keep.
    if not isinstance(value, str):
        raise ValueError('text is expected')
    return value


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_as_json(item) for item in value]
    raise ValueError(f'{type(value).__name__} does not fit into JSON')


def _as_evidence(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError('an object is expected')
    return {str(key): _as_json(item) for key, item in value.items()}


# As a Python object, and so on disk, it is the original; pydantic's own JSON, made for sending,
# escapes what has no UTF-8 form.
Text = Annotated[
    str, PlainValidator(_any_text), PlainSerializer(printable, return_type=str, when_used='json')
]
Name = Annotated[str, Field(min_length=1)]
Number = Annotated[float | None, BeforeValidator(_nan_is_unknown)]  # NaN comes in as None
Count = Annotated[int, Field(ge=0)]
Evidence = Annotated[dict[str, Any], PlainValidator(_as_evidence)]


class Part(BaseModel):
    """What lines are made of: a misspelt key is an error, and so is infinity."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class Observation(Part):
    """How old and how wrong the scene was that the planner saw; None where nothing lagged."""

    requested_lag_s: Number = None
    delivered_lag_s: Number = None
    staleness_m: Number = Field(default=None, description='seen to true position of the block [m]')


class Slip(Part):
    """The draw of a grasp slip; `probability` is None where no slip was configured."""

    probability: Number = None
    draw: Number = None
    slipped: bool | None = None


class Corruption(Part):
    """The draw of a plan corruption; `probability` is None where none was configured."""

    probability: Number = None
    draw: Number = None
    kind: Text = Field(
        default='', description='what was done to the text, empty when it passed unharmed'
    )


class PlanVerdict(Part):
    """What the parser said; `valid` is None if no plan came."""

    valid: bool | None = None
    reasons: tuple[Text, ...] = ()
    n_actions: Count = 0
    text: Text = Field(
        default='', description='the reply as it reached the parser, empty for typed plans'
    )


class SafetyEvent(Part):
    """One continuous violation of a rule; the fields are those of SafetyEvent.msg."""

    rule: Name
    key: Text
    open_step: int
    close_step: int
    duration_steps: Count
    raw_sweeps: Count = 0
    peak: Number = Field(default=None, description='largest force [N] or distance outside [m]')
    open_at_end: bool = False


class Safety(Part):
    """What the monitor saw; `raw_sweeps` is None if it saw nothing of the episode."""

    raw_sweeps: Count | None = None
    events: tuple[SafetyEvent, ...] = ()


class PlannerRecord(Part):
    """Where the plan came from; the fields are those of PlannerInfo.msg."""

    planner: str = ''
    provider: str = ''
    model: str = ''
    digest: str = ''
    prompt_sha256: str = ''
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    wall_s: Number = None
    cached: bool = False
    done_reason: str = ''
    calls: Count = Field(
        default=0, description='answers; tokens and time are sums, the rest is the last one'
    )


class RecoveryRecord(Part):
    """What the arm did beyond asking and acting once."""

    kind: str = 'none'
    tries: Count = Field(default=0, description='rounds of recovery begun')
    plans: Count = Field(default=0, description='answers of the planner')
    observations: Count = Field(default=0, description='scenes that were looked at')


class GuardFailure(Part):
    """One thing that the guard found wrong with a plan; fields are those of PlanFailure.msg."""

    action: int
    rule: Name
    family: str = ''
    kind: Name
    severity: Count
    reversible: bool
    message: Text
    planted: int
    sealed: int

    def __str__(self) -> str:
        """Return where it shows, and what it is."""
        where = 'at the end' if self.action < 0 else f'actions[{self.action}]'
        return f'{where}: {self.message}'


class GuardVerdict(Part):
    """What the guard found about one plan; the fields are those of PlanVerdict.msg."""

    clean: bool
    blocked: bool
    goal_reached: bool
    failures: tuple[GuardFailure, ...] = ()

    @property
    def objections(self) -> tuple[str, ...]:
        """What speaks against the plan, for its planner to read; nothing against a clean one."""
        if self.clean or self.failures:
            return tuple(map(str, self.failures))
        return ('at the end: the goal is not reached',)


class GuardRecord(Part):
    """What the guard did in an attempt: a verdict for each plan that the parser accepted."""

    mode: Name
    verdicts: tuple[GuardVerdict, ...] = ()


class FaultProof(Part):
    """Whether a fault manifested in this episode, and what shows it."""

    fault: Name
    exercised: bool
    evidence: Evidence = Field(default_factory=dict)


class Recording(Part):
    """What the bag holds; None where there is no bag."""

    messages: Count | None = None
    bytes: Count | None = None
    lost: Count | None = None
    sha256: str = Field(
        default='', description="of the bag's metadata.yaml, which has that of its MCAP file in it"
    )


class Row(Part):
    """One attempt of one episode.

    `done`: it ran to its end and the task succeeded. `task_failed`: it ran and the task did not,
    also because the plan was rejected. `aborted`: the infrastructure failed; nothing is known
    about the task, so `success` is None and `reason` says what broke, its type first:
    'node_died: sim (signal 9)', 'timeout: plan', 'model_not_found'.

    Unknown numbers are None; a NaN given becomes None. Unknown text is empty.
    """

    run_id: Name
    arm: Name
    attempt: int = Field(1, ge=1)
    condition: Name
    fault_class: str = ''
    label: str = ''
    intensity: Number = None
    calibration: str = ''
    episode_index: int = Field(ge=0)
    seed: int
    control: str = Field(default='', description='fault-free condition on the same seeds')
    status: Status
    reason: Text = ''
    success: bool | None = None
    secondary_success: bool | None = None
    final_error_m: Number = None
    steps: Count | None = None
    digest: str = ''
    observation: Observation = Observation()
    slip: Slip = Slip()
    offset_m: Number = None
    corruption: Corruption = Corruption()
    plan: PlanVerdict = PlanVerdict()
    safety: Safety = Safety()
    planner: PlannerRecord = PlannerRecord()
    recovery: RecoveryRecord = RecoveryRecord()
    faults: tuple[FaultProof, ...] = ()
    guard: GuardRecord | None = Field(default=None, description='None, and not written: off')
    recording: Recording = Recording()
    wall_s: Number = None
    bag: str = ''

    @model_serializer(mode='wrap')
    def _without_a_guard_that_is_off(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if self.guard is None:
            del written['guard']
        return written

    @model_validator(mode='after')
    def _status_and_success_agree(self) -> 'Row':
        expected = {'done': True, 'task_failed': False, 'aborted': None}[self.status]
        if self.success is not expected:
            raise ValueError(
                f'status {self.status!r} needs success {expected}, not {self.success}'
            )
        if self.status == 'aborted' and not self.reason:
            raise ValueError('an aborted attempt needs its reason')
        return self

    @property
    def key(self) -> tuple[str, str]:
        """The episode this attempt belongs to: (run_id, arm)."""
        return self.run_id, self.arm

    @property
    def reason_type(self) -> str:
        """The reason up to its first colon: what attempts are counted by."""
        return self.reason.partition(':')[0].strip()


@dataclass(frozen=True)
class Contents:
    """A journal as read: its rows, and the torn end of its last line if there is one."""

    rows: tuple[Row, ...]
    torn: bytes = b''


def _as_rows(path: Path, objects: Iterable[Mapping[str, Any]]) -> tuple[Row, ...]:
    rows = []
    for number, item in enumerate(objects, start=1):
        try:
            rows.append(Row.model_validate(item))
        except ValidationError as error:
            raise jsonl.CorruptLine(path, number, explain(error)) from None
    return tuple(rows)


def read(folder: Path) -> Contents:
    """Return the journal of a run, also while it is being written; no file is an empty journal.

    :raises jsonl.CorruptLine: naming file and line
    """
    path = folder / FILE
    found = jsonl.read(path)
    return Contents(_as_rows(path, found.objects), found.torn)


class Journal(Closing):
    """The one writer of a run's journal.

    Opening it locks the folder, reads what is there into `rows`, and moves a torn last line to
    `journal.torn`; `torn` holds those bytes, for the caller to report.

    :raises jsonl.Busy: when another runner holds the folder, naming it
    :raises jsonl.CorruptLine: when the journal cannot be trusted
    """

    def __init__(self, folder: Path, purpose: str = 'running a matrix') -> None:
        self._lines = jsonl.Appender(folder / FILE, purpose)
        try:
            self.rows = list(_as_rows(self._lines.path, self._lines.objects))
        except jsonl.CorruptLine:
            self._lines.close()
            raise
        self.torn = self._lines.torn

    def append(self, row: Row) -> None:
        """Add one attempt; it is on disk when this returns."""
        self._lines.append([row.model_dump()])
        self.rows.append(row)

    def close(self) -> None:
        """Unlock the folder. Closing twice is harmless."""
        self._lines.close()


class HasKey(Protocol):
    """Anything that names an episode."""

    @property
    def run_id(self) -> str:
        """The scenario, shared by every arm of a pair."""

    @property
    def arm(self) -> str:
        """The planner arm."""


E = TypeVar('E', bound=HasKey)


def final(rows: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """Return the attempt that counts for each (run_id, arm), in order of first appearance.

    It is the last one that was not aborted, or the last aborted one if all were.
    """
    chosen: dict[tuple[str, str], Row] = {}
    for row in rows:
        before = chosen.get(row.key)
        if before is None or before.status == 'aborted' or row.status != 'aborted':
            chosen[row.key] = row
    return chosen


def missing(episodes: Iterable[E], rows: Iterable[Row]) -> list[E]:
    """Return, in their order, the episodes that have no result yet: what a resume must run."""
    results = final(rows)
    return [
        episode
        for episode in episodes
        if (row := results.get((episode.run_id, episode.arm))) is None or row.status == 'aborted'
    ]


def next_attempt(rows: Iterable[Row], run_id: str, arm: str) -> int:
    """Return the number of the next attempt at an episode; the first is 1."""
    return max((row.attempt for row in rows if row.key == (run_id, arm)), default=0) + 1
