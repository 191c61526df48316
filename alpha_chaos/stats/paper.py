"""The paper's published numbers, and where in it they stand."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from alpha_chaos.settings_file import SettingsFile

FILE = 'paper_results.yaml'
Count = Annotated[int, Field(ge=0)]
Rate = Annotated[float, Field(ge=0, le=1)]
Length = Annotated[float, Field(ge=0)]
Arm = str


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class _Cited(_Part):
    where: str = Field(min_length=1, description='place in the paper')


class Overall(_Cited):
    """One arm over the whole matrix."""

    successes: Count
    n: Count
    interval: tuple[Rate, Rate]
    prompt_tokens: Count
    completion_tokens: Count
    wall_s: float = Field(description='mean of an episode [s]')


class SafetyCounts(_Part):
    """What the paper's monitor counted in one episode."""

    raw_sweeps: Count = 0
    events: Count = 0
    steps: Count = 0


class Condition(_Cited):
    """One condition in every arm; what the paper does not say is None or empty."""

    n: Count
    successes: Mapping[Arm, Count]
    interval: tuple[Rate, Rate] | None = None
    requested_lag_s: Length | None = None
    delivered_lag_s: Length | None = None
    staleness_m: Length | None = None
    slip_probability: Rate | None = None
    slipped: tuple[str, ...] = Field(default=(), description='run ids, the same in both arms')
    offset_m: Length | None = None
    final_error_m: Mapping[Arm, Length] = {}
    safety: Mapping[Arm, SafetyCounts] = {}

    @model_validator(mode='after')
    def _successes_fit(self) -> 'Condition':
        if any(count > self.n for count in self.successes.values()):
            raise ValueError('more successes than episodes')
        return self


class PublishedTest(_Cited):
    """One paired comparison."""

    arms: tuple[Arm, Arm]
    cohort: Literal['all', 'physical']
    pairs: Count
    successes: tuple[Count, Count]
    discordant: Count
    chi2_corrected: float
    p_corrected: Rate


class Model(_Cited):
    """The model that planned."""

    provider: str
    model: str
    digest: str


class Cohort(_Part):
    """The attempts of the pilot with one provider."""

    attempts: Count
    aborted: Mapping[str, Count] = Field(default={}, description='by reason')
    accepted: Count = 0
    successes: Count = 0
    successes_by_condition: Mapping[str, Count] = {}

    @model_validator(mode='after')
    def _adds_up(self) -> 'Cohort':
        if self.attempts != sum(self.aborted.values()) + self.accepted:
            raise ValueError('attempts are those aborted and those accepted')
        by_condition = sum(self.successes_by_condition.values())
        if self.successes > self.accepted or by_condition not in (0, self.successes):
            raise ValueError('successes are accepted, and are those of the conditions')
        return self


class Pilot(_Cited):
    """The attempts before the matrix, by provider."""

    cohorts: Mapping[str, Cohort]
    said: str = Field(description='what the paper says of what was left out')


class Paper(_Part):
    """Everything published that a run can be laid beside."""

    title: str
    author: str
    experiment: str = Field(description='the experiment file that repeats the matrix')
    master_seed: int
    episodes_per_arm: Count
    overall: Mapping[Arm, Overall]
    model: Model
    comparisons: tuple[PublishedTest, ...]
    conditions: Mapping[str, Condition]
    pilot: Pilot

    def belongs_to(self, experiment: str, conditions: Collection[str]) -> bool:
        """Return whether a run is of the published matrix: by name, and by its conditions."""
        return (
            experiment == self.experiment
            and bool(conditions)
            and all(name in self.conditions for name in conditions)
        )

    def comparison(self, first: Arm, second: Arm, cohort: str) -> PublishedTest | None:
        """Return the published test of two arms; None if there is none."""
        return next(
            (
                test
                for test in self.comparisons
                if test.arms == (first, second) and test.cohort == cohort
            ),
            None,
        )


def read_paper(path: Path) -> Paper:
    """Return the paper's numbers.

    :raises BadSetting: naming the line that is wrong
    """
    return SettingsFile(path).read_as(Paper)
