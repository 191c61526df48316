"""The relay's file: which routes there are and what happens on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from alpha_chaos.catalogues import transit_faults
from alpha_chaos.names import Name, TypeName
from alpha_chaos.plugins import BadSetting, parse, unknown
from alpha_chaos.resources import config_folder
from alpha_chaos.settings_file import Location, SettingsFile, find
from alpha_chaos.transit.base import Kind, TransitFault
from alpha_chaos.transit.schedule import YEAR_S
from alpha_chaos.transit.stack import Limits

# On a route, at a time: each message passes one after the other, and each goes a call deeper.
MOST_FAULTS = 100
FOLDERS: dict[Kind, str] = {'topic': 'msg', 'service': 'srv', 'action': 'action'}


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid', allow_inf_nan=False)


class Qos(_Strict):
    """What is to differ from the source's QoS."""

    reliability: Literal['reliable', 'best_effort'] | None = Field(
        None, description="not given: the source's"
    )
    durability: Literal['volatile', 'transient_local'] | None = Field(
        None, description="not given: the source's"
    )
    history: Literal['keep_last', 'keep_all'] = Field(
        'keep_last', description='nobody can see the history of a source'
    )
    depth: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description='messages kept; not given: 1 a publisher of a latched topic, 1000 of another',
    )
    deadline_s: float | None = Field(
        None, gt=0, le=YEAR_S, description="of the output [s]; not given: the source's"
    )


class _RouteFile(_Strict):
    output: Name | None = Field(
        None, description='name at which consumers find it; not given: `relay/` before the name'
    )
    type: TypeName | None = Field(
        None, description='its interface; not given: found in the graph once somebody offers it'
    )
    faults: list[dict[str, Any]] = Field(
        [],
        max_length=MOST_FAULTS,
        description='what happens there, in this order; kinds and settings are listed below',
    )


class TopicFile(_RouteFile):
    """A topic."""

    qos: Qos = Field(Qos(), description='what is to differ from the QoS of the source')


class ServiceFile(_RouteFile):
    """A service."""


class ActionFile(_RouteFile):
    """An action."""


class RelayFile(_Strict):
    """The keys of the file."""

    seed: int = Field(0, ge=0, lt=2**63, description='of all draws; same seed, same decisions')
    allow: list[Name] = Field(
        [], description='routes that faults may touch, by name; the parameter `allow` goes before'
    )
    hold: Limits = Field(
        Limits(), description='how much one side of a route may hold back; the rest is lost'
    )
    topics: dict[Name, TopicFile | None] = Field({}, description='topics that pass, by name')
    services: dict[Name, ServiceFile | None] = Field({}, description='services that pass, by name')
    actions: dict[Name, ActionFile | None] = Field({}, description='actions that pass, by name')
    steady_state: dict[str, Any] | None = Field(
        None, description='what `alpha-chaos steady-state` does with it; the relay does not look'
    )


@dataclass(frozen=True)
class Route:
    """A topic, service or action that passes the relay.

    :param type: its interface, empty if it is to be found in the graph
    """

    kind: Kind
    name: str
    output: str
    type: str = ''
    qos: Qos = field(default_factory=Qos)
    faults: tuple[TransitFault, ...] = ()


@dataclass(frozen=True)
class RelayConfig:
    """A relay's file, read and checked."""

    seed: int
    allow: tuple[str, ...]
    hold: Limits
    routes: tuple[Route, ...]

    @classmethod
    def load(cls, path: Path) -> 'RelayConfig':
        """Read a file.

        :raises BadSetting: naming the file, the line and the key of the first mistake
        """
        file = SettingsFile(path)
        if not isinstance(file.content, dict):
            raise file.mistake((), 'expected keys: ' + ', '.join(RelayFile.model_fields))
        read = file.read_as(RelayFile)
        groups: tuple[tuple[Kind, Mapping[str, _RouteFile | None]], ...] = (
            ('topic', read.topics),
            ('service', read.services),
            ('action', read.actions),
        )
        routes: list[Route] = []
        for kind, group in groups:
            for name, given in group.items():
                at = (f'{kind}s', name)
                route = _route(kind, name, given)
                if route.type and f'/{FOLDERS[kind]}/' not in route.type:
                    raise file.mistake((*at, 'type'), f'{route.type} is no type of a {kind}')
                if why := clash(route, routes):
                    raise file.mistake((*at, 'output'), why)
                faults = given.faults if given else []
                read_faults = tuple(
                    read_fault(file, (*at, 'faults', index), kind) for index in range(len(faults))
                )
                routes.append(_with(route, read_faults))
        names = [route.name for route in routes]
        for index, allowed in enumerate(read.allow):
            if allowed not in names:
                raise file.mistake(('allow', index), unknown('route', allowed, names))
        return cls(read.seed, tuple(read.allow), read.hold, tuple(routes))


def find_relay_file(name: str) -> Path:
    """Return the path of a relay's file, given by its path or by a name from config/relay.

    :raises BadSetting: listing the known names
    """
    return find('relay file', name, config_folder() / 'relay', Path.cwd())


def _route(kind: Kind, name: str, given: _RouteFile | None) -> Route:
    given = given or _RouteFile()
    qos = given.qos if isinstance(given, TopicFile) else Qos()
    return Route(kind, name, given.output or default_output(name), given.type or '', qos)


def _with(route: Route, faults: tuple[TransitFault, ...]) -> Route:
    return Route(route.kind, route.name, route.output, route.type, route.qos, faults)


def default_output(name: str) -> str:
    """Return where consumers find what passes: `/scan` becomes `/relay/scan`."""
    if name.startswith('~'):
        return f'~/relay{name[1:]}'
    return f'/relay{name}' if name.startswith('/') else f'relay/{name}'


def clash(route: Route, others: list[Route]) -> str:
    """Return why a route cannot be beside others; empty if it can.

    A chain of routes, or a ring of them, would feed the relay with what it has sent.
    """
    if route.output == route.name:
        return f'the output of {route.name} is the route itself'
    for other in others:
        if other.kind != route.kind:
            continue
        if other.name == route.name:
            return f'{route.name} is routed twice'
        if other.output == route.output:
            return f'{other.name} and {route.name} have the same output {route.output}'
        if other.output == route.name or other.name == route.output:
            return f'{other.name} and {route.name} make a chain; route one of them'
    return ''


def read_fault(file: SettingsFile, at: Location, kind: Kind) -> TransitFault:
    """Return the fault at a location of a file, for a route of a kind.

    :raises BadSetting: naming the line
    """
    settings: Any = file.content
    for part in at:
        settings = settings[part]
    known = transit_faults()
    named = settings.get('kind')
    if not isinstance(named, str) or named not in known:
        raise file.mistake((*at, 'kind'), unknown('fault', named, known))
    fault = file.read_as(known[named], at)
    try:
        fault.side_on(kind)
    except ValueError as error:
        raise file.mistake((*at, 'side'), str(error)) from None
    return fault


def parse_fault(settings: Mapping[str, Any], kind: Kind) -> TransitFault:
    """Return the fault that settings describe, for a route of a kind.

    :raises BadSetting: naming what would be right
    """
    fault = parse(transit_faults(), settings, 'fault')
    try:
        fault.side_on(kind)
    except ValueError as error:
        raise BadSetting(str(error)) from None
    return fault
