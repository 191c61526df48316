"""The validated experiment file, and its expansion into episodes."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, field_validator

from alpha_chaos import calibration, catalogues
from alpha_chaos.calibration import Calibration
from alpha_chaos.plugins import BadSetting, Plugin, parse, unknown
from alpha_chaos.resources import config_folder
from alpha_chaos.settings_file import Location, SettingsFile, find
from alpha_chaos.variation import Variation

if TYPE_CHECKING:
    from alpha_chaos.bodies.base import Body
    from alpha_chaos.drivers.base import Driver
    from alpha_chaos.faults.base import Fault
    from alpha_chaos.planners.base import Planner
    from alpha_chaos.recovery.base import Recovery
    from alpha_chaos.tasks.base import Task

DrawRule = Literal['mersenne_twister', 'seed_sequence']
GuardMode = Literal['off', 'observe', 'block']
SeedRule = Literal['run_id_modulo', 'run_id_hash', 'episode_hash']
# Names become parts of file names, of run_ids and of ROS names.
Word = Annotated[str, StringConstraints(pattern=r'^[a-z][a-z0-9_]*$', max_length=60)]
Settings = dict[str, JsonValue]

SIM: Settings = {'kind': 'sim'}

MAX_EPISODES = 1000  # of a condition: run_ids count with three digits


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class Episode(_Strict):
    """Everything that one episode depends on, ready to be sent to the nodes as JSON."""

    experiment: str = Field(description='name of the experiment')
    run_id: str = Field(description='the same for all arms of a pair, e.g. grip_slip_low_003')
    arm: str
    planner: Settings = Field(description='settings of the planner plug-in')
    condition: str = Field(description='cell of the experiment: run_id without its number')
    fault_class: str = Field(description='condition without its label')
    label: str = Field(
        default='', description='name of the intensity, of a grid all of them; empty for none'
    )
    intensity: float | None = None
    calibration: str = Field(description='what turned the intensity into physical units')
    episode_index: int = Field(ge=0, description='number of the episode in its condition')
    seed: int = Field(ge=0)
    draws: DrawRule
    body: Settings = Field(description='settings of the body plug-in')
    driver: Settings = Field(default=SIM, description='settings of the driver plug-in')
    task: Settings = Field(description='settings of the task plug-in')
    faults: tuple[Settings, ...] = Field(
        default=(), description='settings of the fault plug-ins, in physical units'
    )
    recovery: Settings = Field(
        default={'kind': 'none'}, description="settings of the arm's recovery plug-in"
    )
    guard: GuardMode = Field(
        default='off', description='whether plans are checked before they are carried out'
    )
    control: str = Field(
        default='', description='fault-free condition on the same seeds; empty where there is none'
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


class ConditionSettings(_Strict):
    """One entry of `conditions` in an experiment file: a cell, or one cell for each label."""

    name: Word
    faults: tuple[Settings, ...] = Field(
        default=(),
        description='kind of each fault, and settings that no calibration gives or that shall '
        'differ from it',
    )
    labels: tuple[Word, ...] = Field(
        default=(), description='intensities to go through, each a cell <name>_<label>'
    )
    label: Word | None = Field(default=None, description='the one intensity of a cell <name>')
    intensity: float | None = Field(
        default=None, ge=0, le=1, description='the same as a number without a label [1]'
    )
    grid: dict[Word, Annotated[tuple[Word, ...], Field(min_length=1)]] = Field(
        default={},
        description='faults and the labels of each; every combination is a cell '
        '<name>_<label>_<label>',
    )
    body: Settings = Field(default={}, description="changes to the experiment's body")
    task: Settings = Field(default={}, description="instead of the experiment's task")
    control: Word | None = Field(
        default=None,
        description='cell to compare with on the same seeds; by default the first one without '
        'faults that has the same body and task. Needs seed_rule: episode_hash',
    )
    episodes: int = Field(default=1, ge=1, le=MAX_EPISODES)


class ExperimentSettings(_Strict):
    """A file of `config/experiments`."""

    description: str
    master_seed: int = Field(ge=0, strict=True)
    seed_rule: SeedRule = Field(
        default='run_id_hash',
        description='run_id_modulo: the paper, master_seed + first 32 bits of the SHA-256 of '
        'run_id modulo 10000; run_id_hash: 63 bits of the SHA-256 of both; episode_hash: of '
        'master_seed and the number of the episode, so that it is the same in every condition',
    )
    draws: DrawRule = 'seed_sequence'
    calibration: str = Field(default='', description='needed where a condition has an intensity')
    body: Settings
    driver: Settings = Field(
        default=SIM, description='what moves it: its own physics (sim), or another driver'
    )
    vary: Variation | None = Field(
        default=None, description="what is drawn for each episode from the episode's seed"
    )
    task: Settings
    guard: GuardMode = Field(
        default='off',
        description='off; observe: every plan is checked in a symbolic world first; block: and '
        'not carried out if anything in it fails',
    )
    arms: dict[Word, Settings] = Field(
        min_length=1,
        description="planner of each arm, its 'recovery' if it has one, and its own 'guard'",
    )
    conditions: tuple[ConditionSettings, ...] = Field(min_length=1)
    real_time_factor: float = Field(
        default=0.0, ge=0, le=1000, description='0: as fast as possible'
    )

    @field_validator('real_time_factor')
    @classmethod
    def _is_a_pace(cls, factor: float) -> float:
        if 0 < factor < 0.001:
            raise ValueError('must be 0, for as fast as possible, or at least 0.001')
        return factor


@dataclass(frozen=True)
class Arm:
    """What is compared: one side of a pair."""

    name: str
    planner: 'Planner'
    recovery: 'Recovery'
    guard: GuardMode = 'off'


@dataclass(frozen=True)
class Cell:
    """Episodes that differ in nothing but their seed."""

    name: str
    fault_class: str
    label: str
    intensity: float | None
    faults: tuple['Fault', ...]
    body: 'Body'
    task: 'Task'
    control: str
    episodes: int

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Return the run_id of each episode."""
        return tuple(f'{self.name}_{index:03d}' for index in range(self.episodes))


@dataclass(frozen=True)
class Experiment:
    """An experiment in which every name is known and every number is in its range."""

    name: str
    description: str
    master_seed: int
    seed_rule: SeedRule
    draws: DrawRule
    calibration: Calibration | None
    body: 'Body'
    driver: 'Driver'
    vary: Variation | None
    task: 'Task'
    arms: tuple[Arm, ...]
    cells: tuple[Cell, ...]
    real_time_factor: float

    @classmethod
    def load(cls, name: str, config: Path | None = None) -> 'Experiment':
        """Return the experiment of this name, or in this file.

        :param name: of a file in `config/experiments`, or the path of a .yaml file
        :param config: folder of configuration; None for the package's own
        :raises BadSetting: naming file, line and setting, and what would be right
        """
        config = config or config_folder()
        file = SettingsFile(find('experiment', name, config / 'experiments', Path()))
        return _Reader(file, config / 'calibrations').experiment()

    def seed(self, run_id: str) -> int:
        """Return the seed of an episode, the same in all arms."""
        if self.seed_rule == 'run_id_modulo':
            digest = hashlib.sha256(run_id.encode()).hexdigest()
            return self.master_seed + int(digest[:8], 16) % 10_000
        if self.seed_rule == 'episode_hash':
            run_id = str(int(run_id.rpartition('_')[2]))
        digest = hashlib.sha256(f'{self.master_seed}/{run_id}'.encode()).hexdigest()
        return int(digest[:16], 16) >> 1

    def episodes(self, arms: Iterable[str] | None = None) -> list[Episode]:
        """Return the episodes in the order of the file, those of a pair next to each other.

        :param arms: names of the arms to run, None for all
        :raises BadSetting: for an arm that there is not
        """
        chosen = self._chosen(arms)
        return [
            Episode(
                experiment=self.name,
                run_id=run_id,
                arm=arm.name,
                planner=_settings(arm.planner),
                condition=cell.name,
                fault_class=cell.fault_class,
                label=cell.label,
                intensity=cell.intensity,
                calibration=self.calibration.name if self.calibration else '',
                episode_index=index,
                seed=self.seed(run_id),
                draws=self.draws,
                body=body,
                driver=_settings(self.driver),
                task=_settings(cell.task),
                faults=tuple(map(_settings, cell.faults)),
                recovery=_settings(arm.recovery),
                guard=arm.guard,
                control=cell.control,
                real_time_factor=self.real_time_factor,
            )
            for cell in self.cells
            for index, run_id in enumerate(cell.run_ids)
            for body in (self._drawn_body(cell, run_id),)
            for arm in chosen
        ]

    def _drawn_body(self, cell: Cell, run_id: str) -> Settings:
        if self.vary is None:
            return _settings(cell.body)
        return _settings(self.vary.drawn(cell.body, self.seed(run_id)))

    def episode(self, run_id: str, arm: str) -> Episode:
        """Return one episode; raises BadSetting for a run_id or an arm that there is not."""
        for episode in self.episodes([arm]):
            if episode.run_id == run_id:
                return episode
        known = [run_id for cell in self.cells for run_id in cell.run_ids]
        close = unknown('run_id', run_id, known).split(' known: ')[0]
        cells = ', '.join(f'{cell.run_ids[0]} to {cell.episodes - 1:03d}' for cell in self.cells)
        raise BadSetting(f'{close} known: {cells}')

    def with_planner(self, kind: str, settings: Mapping[str, JsonValue]) -> 'Experiment':
        """Return the experiment with other settings for the planners of one kind.

        :raises BadSetting: for settings that the planner does not have
        """
        return replace(
            self,
            arms=tuple(
                replace(arm, planner=_changed(arm.planner, settings))
                if arm.planner.kind == kind
                else arm
                for arm in self.arms
            ),
        )

    def with_replicates(self, episodes: int) -> 'Experiment':
        """Return the experiment with this many episodes in every cell.

        :raises BadSetting: for more than run_ids can count
        """
        if not 1 <= episodes <= MAX_EPISODES:
            raise BadSetting(f'replicates: {episodes} is not between 1 and {MAX_EPISODES}')
        return replace(self, cells=tuple(replace(cell, episodes=episodes) for cell in self.cells))

    def with_driver(self, kind: str) -> 'Experiment':
        """Return the experiment with this driver; one that it has keeps its settings.

        :raises BadSetting: for a driver that there is not, or that takes part in no episodes
        """
        if kind == self.driver.kind:
            return self
        return replace(self, driver=_driver({'kind': kind}))

    def manifest(self) -> dict[str, Any]:
        """Return the experiment as it was expanded, as JSON."""
        return {
            'name': self.name,
            'description': self.description,
            'fingerprint': self.fingerprint(),
            'master_seed': self.master_seed,
            'seed_rule': self.seed_rule,
            'draws': self.draws,
            'calibration': self.calibration.as_json() if self.calibration else None,
            'body': _settings(self.body),
            'driver': _settings(self.driver),
            'vary': self.vary.model_dump(mode='json') if self.vary else None,
            'task': _settings(self.task),
            'arms': {arm.name: _settings(arm.planner) for arm in self.arms},
            'recoveries': {arm.name: _settings(arm.recovery) for arm in self.arms},
            'guards': {arm.name: arm.guard for arm in self.arms},
            'cells': [
                {
                    'name': cell.name,
                    'fault_class': cell.fault_class,
                    'label': cell.label,
                    'intensity': cell.intensity,
                    'faults': [_settings(fault) for fault in cell.faults],
                    'body': _settings(cell.body),
                    'task': _settings(cell.task),
                    'control': cell.control,
                    'episodes': cell.episodes,
                    'seeds': [self.seed(run_id) for run_id in cell.run_ids],
                }
                for cell in self.cells
            ],
            'real_time_factor': self.real_time_factor,
        }

    def fingerprint(self) -> str:
        """Return a hash over all episodes of all arms: equal for experiments that are the same.

        Texts for people do not count, nor does the speed at which one watches.
        """
        lines = []
        for episode in self.episodes():
            line = episode.model_dump(exclude={'real_time_factor'})
            # Runs of before there was a choice go on.
            for part, key, before in (
                (line, 'driver', _settings(_driver(SIM))),
                (line, 'guard', 'off'),
                (line['planner'], 'context_tokens', None),
                (line['planner'], 'prompting', 'base'),
            ):
                if key in part and part[key] == before:
                    del part[key]
            lines.append(line)
        return hashlib.sha256(json.dumps(lines, sort_keys=True).encode()).hexdigest()

    def _chosen(self, names: Iterable[str] | None) -> tuple[Arm, ...]:
        if names is None:
            return self.arms
        known = [arm.name for arm in self.arms]
        wanted = set(names)
        for name in sorted(wanted.difference(known)):
            raise BadSetting(unknown('arm', name, known))
        return tuple(arm for arm in self.arms if arm.name in wanted)


@dataclass(frozen=True)
class _Level:
    """An intensity, and what it means."""

    calibration: Calibration
    label: str
    intensity: float

    def settings(self, kind: str) -> Settings:
        return self.calibration.settings(kind, self.label, self.intensity)


class _Reader:
    """Turns the settings of one file into an experiment, or into the complaint about them."""

    def __init__(self, file: SettingsFile, calibrations: Path) -> None:
        self._file = file
        self._settings = file.read_as(ExperimentSettings)
        self._calibration: Calibration | None = None
        if name := self._settings.calibration:
            with self._at(('calibration',)):
                self._calibration = calibration.load(name, calibrations, file.path.parent)

    def experiment(self) -> Experiment:
        settings = self._settings
        with self._at(('body',)):
            self._body: Body = parse(catalogues.bodies(), settings.body, 'body')
        with self._at(('task',)):
            self._task: Task = parse(catalogues.tasks(), settings.task, 'task')
            _check_objects(self._task, self._body)
        with self._at(('driver',)):
            driver = _driver(settings.driver)
        return Experiment(
            name=self._file.path.stem,
            description=settings.description,
            master_seed=settings.master_seed,
            seed_rule=settings.seed_rule,
            draws=settings.draws,
            calibration=self._calibration,
            body=self._body,
            driver=driver,
            vary=settings.vary,
            task=self._task,
            arms=tuple(self._arm(name) for name in settings.arms),
            cells=self._cells(),
            real_time_factor=settings.real_time_factor,
        )

    def _arm(self, name: str) -> Arm:
        planner = dict(self._settings.arms[name])
        guard = self._guard(name, planner.pop('guard', self._settings.guard))
        recovery = planner.pop('recovery', {'kind': 'none'})
        if not isinstance(recovery, dict):
            text = 'a recovery is settings, as {kind: retry, tries: 2}'
            raise self._file.problem(('arms', name, 'recovery'), text)
        with self._at(('arms', name, 'recovery')):
            parsed = parse(catalogues.recoveries(), recovery, 'recovery')
        with self._at(('arms', name)):
            made = parse(catalogues.planners(), planner, 'planner')
        return Arm(name, made, parsed, guard)

    def _guard(self, arm: str, given: JsonValue) -> GuardMode:
        known: tuple[GuardMode, ...] = get_args(GuardMode)
        for mode in known:
            if mode == given:
                return mode
        raise self._file.problem(('arms', arm, 'guard'), unknown('guard', given, known))

    def _cells(self) -> tuple[Cell, ...]:
        cells: dict[str, Cell] = {}
        numbers: dict[str, int] = {}
        for number, condition in enumerate(self._settings.conditions):
            for cell in self._cells_of(condition, ('conditions', number)):
                if cell.name in cells:
                    text = f'there are two conditions {cell.name!r}'
                    raise self._file.problem(('conditions', number, 'name'), text)
                cells[cell.name] = cell
                numbers[cell.name] = number
        return tuple(
            replace(cell, control=self._control(cell, cells, ('conditions', numbers[cell.name])))
            for cell in cells.values()
        )

    def _control(self, cell: Cell, cells: Mapping[str, Cell], at: Location) -> str:
        """Return the name of the fault-free cell on the same seeds, '' if there is none."""
        condition = self._settings.conditions[int(at[1])]
        named = condition.control
        if self._settings.seed_rule != 'episode_hash':
            if named is not None:
                text = 'a control has the same seeds only under seed_rule: episode_hash'
                raise self._file.problem((*at, 'control'), text)
            return ''
        if named is None:
            if not cell.faults:
                return ''
            same = (
                other.name
                for other in cells.values()
                if not other.faults and (other.body, other.task) == (cell.body, cell.task)
            )
            named = next(same, '')
            if not named:
                return ''
        where = (*at, 'control')
        if named not in cells:
            raise self._file.problem(where, unknown('condition', named, cells))
        if named == cell.name or cells[named].faults:
            text = f'a control is another condition, without faults; {named!r} is not'
            raise self._file.problem(where, text)
        if cells[named].episodes < cell.episodes:
            text = (
                f'control {named!r} has {cells[named].episodes} episodes, so some of these '
                f'{cell.episodes} would have nothing to be compared with'
            )
            raise self._file.problem((*at, 'episodes'), text)
        return named

    def _cells_of(self, condition: ConditionSettings, at: Location) -> Iterator[Cell]:
        keys = ('grid', 'labels', 'label', 'intensity')
        given = [key for key in keys if getattr(condition, key) not in ({}, (), None)]
        if len(given) > 1:
            raise self._file.problem((*at, given[1]), f'give either {given[0]} or {given[1]}')
        if condition.grid and condition.faults:
            raise self._file.problem((*at, 'faults'), 'give either grid or faults')
        known = catalogues.faults()
        kinds = [
            *(((*at, 'faults', n), fault.get('kind')) for n, fault in enumerate(condition.faults)),
            *(((*at, 'grid', kind), kind) for kind in condition.grid),
        ]
        for where, kind in kinds:
            if not isinstance(kind, str) or kind not in known:
                raise self._file.problem(where, unknown('fault', kind, known))
        task = self._task_of(condition, at)
        body = self._body_of(condition, task, at)
        for label, intensity, faults in self._levels(condition, at):
            # A condition given one intensity is one cell, and needs no other name.
            many = condition.grid or condition.labels
            name = f'{condition.name}_{label}' if many else condition.name
            yield Cell(
                name, condition.name, label, intensity, faults, body, task, '', condition.episodes
            )

    def _task_of(self, condition: ConditionSettings, at: Location) -> 'Task':
        if not condition.task:
            return self._task
        with self._at((*at, 'task')):
            task: Task = parse(catalogues.tasks(), condition.task, 'task')
            _check_objects(task, self._body)
        return task

    def _body_of(self, condition: ConditionSettings, task: 'Task', at: Location) -> 'Body':
        body: Body = self._body
        where: Location = ('vary',)
        if condition.body:
            where = (*at, 'body')
            with self._at(where):
                changed = {**self._settings.body, **condition.body}
                body = parse(catalogues.bodies(), changed, 'body')
                _check_objects(task, body)
        if self._settings.vary is not None:
            with self._at(where):
                self._settings.vary.check(body)
        return body

    def _levels(
        self, condition: ConditionSettings, at: Location
    ) -> Iterator[tuple[str, float | None, tuple['Fault', ...]]]:
        """Return label, intensity and faults of each cell of a condition."""
        kinds = [str(fault['kind']) for fault in condition.faults]
        if condition.grid:
            for labels in product(*condition.grid.values()):
                chosen = zip(condition.grid, labels, strict=True)
                faults = [self._of_grid(kind, label, at) for kind, label in chosen]
                yield '_'.join(labels), None, tuple(faults)
        elif condition.labels:
            for number, label in enumerate(condition.labels):
                level = self._level(kinds, label, None, (*at, 'labels', number))
                yield label, level.intensity, self._faults(condition, level, at)
        elif condition.label is None and condition.intensity is None:
            yield '', None, self._faults(condition, None, at)
        else:
            where = (*at, 'intensity' if condition.label is None else 'label')
            level = self._level(kinds, condition.label or '', condition.intensity, where)
            yield level.label, level.intensity, self._faults(condition, level, at)

    def _of_grid(self, kind: str, label: str, at: Location) -> 'Fault':
        where = (*at, 'grid', kind)
        return self._fault({'kind': kind}, self._level((kind,), label, None, where), where)

    def _level(
        self, kinds: Sequence[str], label: str, intensity: float | None, at: Location
    ) -> '_Level':
        if self._calibration is None:
            raise self._file.problem(at, 'an intensity means nothing without a calibration')
        if not any(kind in self._calibration.parameters for kind in kinds):
            known = ', '.join(self._calibration.parameters)
            raise self._file.problem(
                at,
                f'calibration {self._calibration.name!r} has none of the faults of this '
                f'condition, so its intensity would change nothing; it has {known}',
            )
        with self._at(at):
            if intensity is None:
                intensity = self._calibration.intensity(label)
        return _Level(self._calibration, label, intensity)

    def _faults(
        self, condition: ConditionSettings, level: '_Level | None', at: Location
    ) -> tuple['Fault', ...]:
        return tuple(
            self._fault(settings, level, (*at, 'faults', number))
            for number, settings in enumerate(condition.faults)
        )

    def _fault(self, settings: Settings, level: '_Level | None', at: Location) -> 'Fault':
        with self._at(at):
            calibrated = level.settings(str(settings['kind'])) if level else {}
            return parse(catalogues.faults(), {**calibrated, **settings}, 'fault')

    @contextmanager
    def _at(self, location: Location) -> Iterator[None]:
        """Add the place in the file to a complaint about what stands there."""
        try:
            yield
        except BadSetting as error:
            raise self._file.problem(location, str(error)) from None


def _check_objects(task: 'Task', body: 'Body') -> None:
    for name in task.objects:
        if name not in body.objects:
            raise BadSetting(f'the body has no block {name!r}; it has {", ".join(body.objects)}')
    if not task.placements and any(phase.kind == 'plan' for phase in task.phases):
        raise BadSetting(
            f'task {task.kind!r} asks for a plan, and its `placements` say of no block where it '
            'shall end'
        )
    if any(place.base for place in task.placements) and not body.waypoints.zone_stack:
        raise BadSetting(f'body {body.kind!r} has no waypoint to put a block on another one')


def _driver(settings: Settings) -> 'Driver':
    driver = parse(catalogues.drivers(), settings, 'driver')
    if not driver.takes_episodes:
        able = [kind for kind, made in catalogues.drivers().items() if made.takes_episodes]
        raise BadSetting(
            f'driver {driver.kind!r} takes part in no episodes, it is for a graph of your own; '
            f'those that do: {", ".join(able)}'
        )
    return driver


def _settings(plugin: Plugin) -> Settings:
    return plugin.model_dump(mode='json')


def _changed(planner: 'Planner', settings: Mapping[str, JsonValue]) -> 'Planner':
    return parse(catalogues.planners(), {**_settings(planner), **settings}, 'planner')
