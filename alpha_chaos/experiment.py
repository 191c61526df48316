"""The validated experiment file, and its expansion into episodes."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

DrawRule = Literal['mersenne_twister', 'seed_sequence']


class Episode(BaseModel):
    """Everything that one episode depends on, ready to be sent to the nodes as JSON."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    experiment: str = Field(description='name of the experiment')
    run_id: str = Field(description='the same for all arms of a pair, e.g. grip_slip_low_003')
    arm: str
    planner: dict[str, JsonValue] = Field(description='settings of the planner plug-in')
    condition: str = Field(description='cell of the experiment: run_id without its number')
    fault_class: str = Field(description='condition without its label')
    label: str = Field(default='', description='name of the intensity, empty for none')
    intensity: float | None = None
    calibration: str = Field(description='what turned the intensity into physical units')
    episode_index: int = Field(ge=0, description='number of the episode in its condition')
    seed: int = Field(ge=0)
    draws: DrawRule
    body: dict[str, JsonValue] = Field(description='settings of the body plug-in')
    task: dict[str, JsonValue] = Field(description='settings of the task plug-in')
    faults: tuple[dict[str, JsonValue], ...] = Field(
        default=(), description='settings of the fault plug-ins, in physical units'
    )
    think_time: Literal['frozen'] = 'frozen'
    real_time_factor: float = Field(default=0.0, ge=0, description='0: as fast as possible')

    @property
    def id(self) -> str:
        """Return what names the episode within its experiment."""
        return f'{self.run_id}/{self.arm}'

    def to_json(self) -> str:
        """Return the episode as one line of JSON."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str) -> 'Episode':
        """Return the episode that `to_json` wrote."""
        return cls.model_validate_json(text)
