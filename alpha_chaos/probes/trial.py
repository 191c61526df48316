"""A trial: whether a graph is in its steady state before, while and after faults strike.

The course is a coroutine over a `Graph`, so that time and traffic may be real or made up. Whatever
happens in it, what it has done is undone.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, Protocol

from pydantic import JsonValue

from alpha_chaos.probes.base import Finding, Phase, Verdict, Watch
from alpha_chaos.probes.config import SteadyState, Step

LOOK_S = 0.1  # between two looks at the graph
ASK_S = 1.0  # between two looks whether the relay still has the faults
UNDO_TRIES = 3

Settings = Mapping[str, JsonValue]


class RelayLost(Exception):
    """The relay does not answer, or has not what was given to it."""


class Refused(Exception):
    """The relay does not take a fault; the text is its own."""


@dataclass(frozen=True)
class Armed:
    """A fault that the relay has.

    :param struck: messages that it has changed, delayed or lost
    """

    settings: Settings
    struck: int


@dataclass(frozen=True)
class Orphan:
    """A fault that an earlier trial wanted to take back.

    :param handle: None if it was killed before it learned it
    """

    run: int
    step: int
    settings: Settings
    handle: int | None = None


@dataclass(frozen=True)
class Look:
    """What of a graph is there at a moment.

    :param nodes: full names
    :param senders: publishers, by the name of the probe that listens to them
    :param blind: names of the probes that cannot see anything yet
    """

    nodes: frozenset[str]
    senders: Mapping[str, int]
    blind: Set[str] = frozenset()


class Graph(Protocol):
    """The graph, with the relay in it, as a trial needs it."""

    def now_s(self) -> float:
        """Return the time of a steady clock [s]."""

    def look(self) -> Look:
        """Return what is there now."""

    def begin_phase(self) -> None:
        """Call every service anew: what was asked for before tells nothing about this phase."""

    async def pause(self, seconds: float) -> None:
        """Let time pass; messages are shown to `Trial.show` meanwhile."""

    async def armed(self) -> Mapping[int, Armed]:
        """Return the relay's faults by handle; raises RelayLost."""

    async def arm(self, fault: Settings) -> int:
        """Give the relay a fault and return its handle; raises RelayLost and Refused."""

    async def disarm(self, handle: int) -> None:
        """Take a fault from the relay; one that is not there is none. Raises RelayLost."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended.

    :param reason: why the verdict is not `held`
    :param findings: by phase and name of the probe, in the order of time
    :param struck: how often each step of the method struck; None where nobody knows
    :param left: faults that may still be armed, because nobody could take them back
    :param stopped: somebody has ended it before its time
    """

    verdict: Verdict
    reason: str
    findings: Mapping[tuple[Phase, str], Finding]
    struck: tuple[int | None, ...] = ()
    left: tuple[Settings, ...] = ()
    stopped: bool = False


@dataclass
class _Observed:
    """A probe in the present phase; `broken` is how its watch failed."""

    watch: Watch
    broken: str = ''


@dataclass
class _Undo:
    """How one step is taken back."""

    index: int  # of the step
    settings: Settings
    due_s: float
    handle: int | None = None


@dataclass
class _State:
    findings: dict[tuple[Phase, str], Finding] = field(default_factory=dict)
    undos: list[_Undo] = field(default_factory=list)
    struck: dict[int, int] = field(default_factory=dict)
    left: list[Settings] = field(default_factory=list)
    why_left: str = ''
    known: frozenset[int] = frozenset()


class Trial:
    """One course.

    :param record: keeps a line of the journal; it is on disk when this returns
    :param orphans: what trials before this one have not taken back, because they were killed
    """

    def __init__(
        self,
        settings: SteadyState,
        graph: Graph,
        record: Callable[[dict[str, Any]], None],
        orphans: Sequence[Orphan] = (),
    ) -> None:
        self._settings = settings
        self._orphans = orphans
        self._graph = graph
        self._record = record
        self._begun_s = graph.now_s()
        self._observed: dict[str, _Observed] = {}
        self._state = _State()
        self.stopped = False
        self._unwritten = ''

    def stop(self) -> None:
        """Let it end as soon as what was done is undone; `stopped` says so from now on."""
        self.stopped = True

    def show(self, name: str, sight: Callable[[Watch], None]) -> None:
        """Let the watch of a probe see something; nobody may be watching now.

        A probe that fails becomes one that does not know.
        """
        observed = self._observed.get(name)
        if observed is None or observed.broken:
            return
        try:
            sight(observed.watch)
        except Exception as error:  # whatever a plug-in makes of what it sees
            observed.broken = f'the probe failed: {type(error).__name__}: {error}'

    async def run(self) -> Outcome:
        """Go through the phases and return how it ended; never raises an `Exception`."""
        try:
            self._note('begun', settings=self._settings.as_json())
            broken = await self._course()
        except (RelayLost, Refused) as error:
            broken = str(error)
        except Exception as error:  # ours, or a full disk: what was armed has to go all the same
            broken = f'{type(error).__name__}: {error}'
        await self._undo_all()
        outcome = self._conclude(broken)
        self._note_if_possible(
            'ended',
            verdict=outcome.verdict,
            reason=outcome.reason,
            struck=list(outcome.struck),
            left=[dict(settings) for settings in outcome.left],
            stopped=outcome.stopped,
        )
        return self._conclude(broken) if self._unwritten else outcome

    async def _course(self) -> str:
        """Return why there is no verdict; empty if there is one, or if it was stopped."""
        settings = self._settings
        self._state.known = frozenset(await self._take_orphans())
        await self._pause(settings.find_s, lambda: not self._graph.look().blind)
        await self._observe('before', settings.before_s)
        if not self.stopped and (reason := _worst(self._state.findings)[1]):
            return f'it was not in its steady state, so nothing was done: {reason}'
        await self._observe('during', settings.during_s, settings.method)
        await self._undo_all()
        if not self._state.left:
            await self._pause(settings.settle_s)
            await self._observe('after', settings.after_s)
        return ''

    async def _pause(self, seconds: float, enough: Callable[[], bool] = lambda: False) -> None:
        """Let time pass, until it is enough or somebody stops the trial."""
        end_s = self._graph.now_s() + seconds
        while not self.stopped and not enough():
            left_s = end_s - self._graph.now_s()
            if left_s <= 0:
                return
            await self._graph.pause(min(LOOK_S, left_s))

    async def _observe(self, phase: Phase, length_s: float, method: tuple[Step, ...] = ()) -> None:
        if self.stopped:
            return
        graph = self._graph
        start_s = asked_s = graph.now_s()
        end_s = start_s + length_s
        self._note('phase', phase=phase, length_s=length_s)
        self._observed = {
            name: _Observed(probe.watch(start_s))
            for name, probe in self._settings.probes.items()
            if phase in probe.phases
        }
        graph.begin_phase()
        waiting = list(enumerate(method))
        try:
            while not self.stopped and (now_s := graph.now_s()) < end_s:
                for index, step in [(i, s) for i, s in waiting if start_s + s.start_s <= now_s]:
                    waiting.remove((index, step))
                    await self._apply(index, step)
                for undo in [undo for undo in self._state.undos if undo.due_s <= now_s]:
                    await self._undo(undo)
                if self._state.undos and now_s - asked_s >= ASK_S:
                    asked_s = now_s
                    await self._look_after_faults()
                self._look()
                if phase == 'during' and self._settings.undo_at_once and self._has_deviated():
                    break
                await self._pause(min(LOOK_S, end_s - graph.now_s()))
        finally:
            self._close(phase, complete=graph.now_s() >= end_s)

    def _look(self) -> None:
        look = self._graph.look()
        for name in self._observed:
            self.show(name, methodcaller('on_senders', look.senders.get(name, 0)))
            self.show(name, methodcaller('on_nodes', look.nodes))

    def _has_deviated(self) -> bool:
        now_s = self._graph.now_s()
        return any(_judge(each, now_s).verdict == 'deviated' for each in self._observed.values())

    def _close(self, phase: Phase, complete: bool) -> None:
        now_s = self._graph.now_s()
        for name, observed in self._observed.items():
            finding = _judge(observed, now_s)
            if finding.verdict == 'held' and not complete:
                finding = Finding('unknown', finding.measured, 'the phase was cut short')
            self._state.findings[phase, name] = finding
            self._note_if_possible(
                'finding',
                phase=phase,
                probe=name,
                verdict=finding.verdict,
                measured=finding.measured,
                reason=finding.reason,
            )
        self._observed = {}

    # -- faults

    async def _take_orphans(self) -> Mapping[int, Armed]:
        """Take back what is left of earlier trials; return what is armed besides."""
        armed = dict(await self._graph.armed())
        for orphan in self._orphans:
            # With its settings, too: a relay that was started anew begins to count again.
            handles = [
                handle
                for handle, fault in armed.items()
                if fault.settings == orphan.settings and orphan.handle in (None, handle)
            ]
            for handle in handles:
                await self._graph.disarm(handle)
                del armed[handle]
            self._note(
                'orphan_undone',
                of_run=orphan.run,
                step=orphan.step,
                fault=dict(orphan.settings),
                found=bool(handles),
            )
        return armed

    async def _apply(self, index: int, step: Step) -> None:
        undo = _Undo(index, step.settings, self._graph.now_s() + step.for_s)
        self._note('undo_registered', step=index, fault=dict(step.settings))
        self._state.undos.append(undo)
        undo.handle = await self._graph.arm(step.settings)
        self._note('fault_armed', step=index, id=undo.handle)

    async def _look_after_faults(self) -> None:
        armed = await self._graph.armed()
        for undo in self._state.undos:
            if undo.handle is not None and undo.handle in armed:
                self._state.struck[undo.index] = armed[undo.handle].struck
            else:
                raise RelayLost('the relay has no fault of ours any more: somebody took it away')

    async def _undo_all(self) -> None:
        for undo in reversed(tuple(self._state.undos)):
            await self._undo(undo)

    async def _undo(self, undo: _Undo) -> None:
        """Take one step back; what cannot be taken back is remembered."""
        self._state.undos.remove(undo)
        error: Exception | None = None
        tries = 1 if self._state.left else UNDO_TRIES  # who was silent so long stays silent
        for attempt in range(tries):
            try:
                await self._disarm(undo)
            except Exception as failure:  # whatever it is, the others have to be undone, too
                error = failure
                if attempt + 1 < tries:
                    await self._graph.pause(LOOK_S)
            else:
                self._note_if_possible('fault_undone', step=undo.index)
                return
        self._state.left.append(undo.settings)
        self._state.why_left = str(error)
        self._note_if_possible('undo_failed', step=undo.index, reason=str(error))

    async def _disarm(self, undo: _Undo) -> None:
        armed = await self._graph.armed()
        if undo.handle is not None:
            handles = [undo.handle]
        else:  # whether it was armed is not known: its answer never came
            handles = [
                handle
                for handle, fault in armed.items()
                if handle not in self._state.known and fault.settings == undo.settings
            ]
        for handle in handles:
            if handle in armed:
                self._state.struck[undo.index] = armed[handle].struck
                await self._graph.disarm(handle)

    # -- what is said about it

    def _conclude(self, broken: str) -> Outcome:
        state = self._state
        verdict, reason = _worst(state.findings)
        struck = tuple(state.struck.get(index) for index in range(len(self._settings.method)))
        idle = [index for index, times in enumerate(struck) if times == 0]
        if state.left:
            broken = broken or state.why_left
            broken += f'; {len(state.left)} of its faults may still be armed'
        broken = broken or self._unwritten
        if broken:
            verdict, reason = 'unknown', broken
        elif self.stopped and verdict != 'deviated':
            verdict, reason = 'unknown', 'it was stopped'
        elif verdict == 'held' and idle:
            kinds = ', '.join(str(self._settings.method[index].settings['kind']) for index in idle)
            verdict, reason = 'unknown', f'there was nothing for {kinds} to strike'
        return Outcome(
            verdict, reason, dict(state.findings), struck, tuple(state.left), self.stopped
        )

    def _note(self, event: str, **more: Any) -> None:
        at_s = round(self._graph.now_s() - self._begun_s, 6)
        self._record({'event': event, 'at_s': at_s, **more})

    def _note_if_possible(self, event: str, **more: Any) -> None:
        try:
            self._note(event, **more)
        except (OSError, ValueError) as error:  # a full disk must not keep a fault armed
            self._unwritten = f'the journal could not be written: {error}'


def _judge(observed: _Observed, now_s: float) -> Finding:
    if observed.broken:
        return Finding('unknown', reason=observed.broken)
    try:
        return observed.watch.judge(now_s)
    except Exception as error:  # see Trial.show
        observed.broken = f'the probe failed: {type(error).__name__}: {error}'
        return Finding('unknown', reason=observed.broken)


def _worst(findings: Mapping[tuple[Phase, str], Finding]) -> tuple[Verdict, str]:
    """Return the worst there is, and which one it was: deviated, then unknown, then held."""
    verdicts: tuple[Verdict, ...] = ('deviated', 'unknown')
    for verdict in verdicts:
        for (phase, name), finding in findings.items():
            if finding.verdict == verdict:
                return verdict, f'{phase}: {name}: {finding.reason}'
    return 'held', ''
