"""What an intensity between 0 and 1 means in physical units, for each fault."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag

from alpha_chaos.catalogues import faults
from alpha_chaos.plugins import BadSetting, unknown
from alpha_chaos.settings_file import SettingsFile, find


class Linear(BaseModel):
    """A number that grows with the intensity."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    intercept: float
    slope: float


def _shape(value: Any) -> str:
    if not isinstance(value, dict | Linear):
        return 'constant'
    return 'linear' if isinstance(value, Linear) or {'intercept', 'slope'} & {*value} else 'label'


Parameter = Annotated[
    Annotated[Linear, Tag('linear')]
    | Annotated[dict[str, float], Tag('label')]
    | Annotated[JsonValue, Tag('constant')],
    Discriminator(_shape),
]


class CalibrationFile(BaseModel):
    """A file of `config/calibrations`."""

    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)

    description: str
    extends: str = Field(default='', description='calibration that this one changes')
    intensities: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default={}, description='the labelled intensities [1]'
    )
    parameters: dict[str, dict[str, Parameter]] = Field(
        default={}, description='for each fault, what its settings are made from'
    )


@dataclass(frozen=True)
class Calibration:
    """A calibration with everything it extends."""

    name: str
    description: str
    intensities: Mapping[str, float]
    parameters: Mapping[str, Mapping[str, Linear | dict[str, float] | JsonValue]]

    def as_json(self) -> dict[str, Any]:
        """Return the calibration, with everything it extends, for the record."""
        parameters: dict[str, Any] = {
            kind: {
                key: parameter.model_dump() if isinstance(parameter, Linear) else parameter
                for key, parameter in known.items()
            }
            for kind, known in self.parameters.items()
        }
        return {
            'name': self.name,
            'description': self.description,
            'intensities': dict(self.intensities),
            'parameters': parameters,
        }

    def intensity(self, label: str) -> float:
        """Return the intensity that a label stands for; raises BadSetting for an unknown label."""
        if label not in self.intensities:
            raise BadSetting(unknown('label', label, self.intensities))
        return self.intensities[label]

    def settings(self, kind: str, label: str, intensity: float) -> dict[str, JsonValue]:
        """Return what this calibration says about a fault, nothing for a fault it does not know.

        :raises BadSetting: for a setting given by label, when there is no such label
        """
        found: dict[str, JsonValue] = {}
        for key, parameter in self.parameters.get(kind, {}).items():
            if isinstance(parameter, Linear):
                found[key] = parameter.intercept + parameter.slope * intensity
            elif not isinstance(parameter, dict):
                found[key] = parameter
            elif label in parameter:
                found[key] = parameter[label]
            else:
                raise BadSetting(
                    f'calibration {self.name!r} gives {kind}.{key} for the labels '
                    f'{", ".join(parameter)}, not for {label!r} or an intensity without a label'
                )
        return found


def load(name: str, folder: Path, beside: Path) -> Calibration:
    """Return the calibration of this name, with everything it extends.

    :param name: of a file in `folder`, or a path, relative to the folder `beside`
    :raises BadSetting: naming file, line, and what would be right
    """
    return _load(name, folder, beside, ())


def _load(name: str, folder: Path, beside: Path, below: tuple[Path, ...]) -> Calibration:
    file = SettingsFile(find('calibration', name, folder, beside))
    content = file.read_as(CalibrationFile)
    _check(file, content)
    intensities: dict[str, float] = {}
    parameters: dict[str, dict[str, Any]] = {}
    if content.extends:
        if file.path.resolve() in below:
            raise file.problem(('extends',), 'calibrations extend each other in a circle')
        base = _load(content.extends, folder, file.path.parent, (*below, file.path.resolve()))
        intensities.update(base.intensities)
        parameters.update({kind: dict(known) for kind, known in base.parameters.items()})
    intensities.update(content.intensities)
    for kind, changes in content.parameters.items():
        parameters.setdefault(kind, {}).update(changes)
    return Calibration(file.path.stem, content.description, intensities, parameters)


def _check(file: SettingsFile, content: CalibrationFile) -> None:
    """Refuse what names a fault or a setting that there is not."""
    known = faults()
    for kind, parameters in content.parameters.items():
        if kind not in known:
            raise file.problem(('parameters', kind), unknown('fault', kind, known))
        for key in parameters:
            if key not in known[kind].model_fields:
                text = f'{kind}: {unknown("key", key, known[kind].model_fields)}'
                raise file.problem(('parameters', kind, key), text)
