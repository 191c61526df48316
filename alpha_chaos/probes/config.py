"""What `steady_state:` in a relay's file says: the probes, what is done, and for how long."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from alpha_chaos.catalogues import probes
from alpha_chaos.plugins import unknown
from alpha_chaos.probes.base import Probe
from alpha_chaos.settings_file import SettingsFile
from alpha_chaos.transit.config import RelayConfig, read_fault

DAY_S = 86_400.0
KEY = 'steady_state'


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class StepFile(_Strict):
    """One fault, and when."""

    route: str = Field(description='route of this file that it strikes')
    fault: dict[str, Any] = Field(description='kind and settings, as in `faults` of a route')
    start_s: float = Field(
        0.0,
        ge=0,
        le=DAY_S,
        description='time from the beginning of the phase until it is armed [s]',
    )
    for_s: float = Field(gt=0, le=DAY_S, description='time until it is taken away again [s]')


class SteadyStateFile(_Strict):
    """The keys of the section."""

    probes: dict[str, dict[str, Any]] = Field(
        min_length=1, description='what is looked at, by a name of your choice'
    )
    method: list[StepFile] = Field(min_length=1, description='the faults')
    find_s: float = Field(
        10.0, ge=0, le=DAY_S, description='longest time until every probe sees something [s]'
    )
    before_s: float = Field(5.0, gt=0, le=DAY_S, description='time watched before the faults [s]')
    settle_s: float = Field(
        1.0, ge=0, le=DAY_S, description='time to recover, from the last fault until `after` [s]'
    )
    after_s: float = Field(5.0, gt=0, le=DAY_S, description='time watched after the faults [s]')
    undo_at_once: bool = Field(
        True, description='a probe that deviates while faults strike ends them'
    )


@dataclass(frozen=True)
class Step:
    """A fault of the method.

    :param settings: as the relay lists it
    :param start_s: from the beginning of the phase `during` until it is armed
    :param for_s: until it is taken away again
    """

    settings: dict[str, JsonValue]
    for_s: float
    start_s: float = 0.0


@dataclass(frozen=True)
class SteadyState:
    """The section, read and checked; for the times see `SteadyStateFile`."""

    probes: dict[str, Probe]
    method: tuple[Step, ...]
    find_s: float = 10.0
    before_s: float = 5.0
    settle_s: float = 1.0
    after_s: float = 5.0
    undo_at_once: bool = True

    @classmethod
    def load(cls, path: Path) -> 'SteadyState':
        """Read a relay's file.

        :raises BadSetting: naming the file, the line and the key of the first mistake
        """
        config = RelayConfig.load(path)
        file = SettingsFile(path)
        if KEY not in file.content:
            raise file.problem((), f'there is no `{KEY}:` in it, which says what is to be watched')
        read = file.read_as(SteadyStateFile, (KEY,))
        method = tuple(_step(file, config, index, step) for index, step in enumerate(read.method))
        found = {name: _probe(file, name, settings) for name, settings in read.probes.items()}
        made = cls(
            found,
            method,
            **read.model_dump(exclude={'probes', 'method'}),
        )
        lengths = {'before': made.before_s, 'during': made.during_s, 'after': made.after_s}
        for name, probe in found.items():
            for phase in probe.phases:
                if lengths[phase] < probe.shortest_s:
                    text = (
                        f'{name}: {phase} takes {lengths[phase]:g} s, and this probe needs '
                        f'{probe.shortest_s:g} s to tell anything'
                    )
                    raise file.problem((KEY, 'probes', name), text)
        return made

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as it goes into a journal."""
        return {
            'probes': {name: probe.model_dump(mode='json') for name, probe in self.probes.items()},
            'method': [asdict(step) for step in self.method],
            **{
                name: getattr(self, name)
                for name in SteadyStateFile.model_fields
                if name not in ('probes', 'method')
            },
        }

    @property
    def during_s(self) -> float:
        """How long faults strike."""
        return max(step.start_s + step.for_s for step in self.method)


def _probe(file: SettingsFile, name: str, settings: dict[str, Any]) -> Probe:
    at = (KEY, 'probes', name)
    kind, known = settings.get('kind'), probes()
    if not isinstance(kind, str) or kind not in known:
        raise file.problem((*at, 'kind'), unknown('probe', kind, known))
    return file.read_as(known[kind], at)


def _step(file: SettingsFile, config: RelayConfig, index: int, step: StepFile) -> Step:
    at = (KEY, 'method', index)
    routes = {route.name: route for route in config.routes}
    if step.route not in routes:
        raise file.problem((*at, 'route'), unknown('route', step.route, routes))
    fault = read_fault(file, (*at, 'fault'), routes[step.route].kind)
    settings = fault.model_dump(mode='json')
    if fault.schedule.when is None:
        # The relay ends it then, even if nobody is left to take it away.
        for_s = min(step.for_s, fault.schedule.for_s or step.for_s)
        settings['schedule']['for_s'] = for_s
    return Step({'route': step.route, **settings}, step.for_s, step.start_s)
