"""What the robot says about itself is no worse than it may be."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import Field, JsonValue

from alpha_chaos.faults.base import Fields, Unreadable
from alpha_chaos.names import Name
from alpha_chaos.probes.base import Finding, Probe, TopicSource, Watch

# In the order of their numbers in diagnostic_msgs/DiagnosticStatus, which is that of badness.
LEVELS = ('ok', 'warn', 'error', 'stale')
Level = Literal['ok', 'warn', 'error', 'stale']


class DiagnosticsLevel(Probe):
    """No status is worse than the level that its name is allowed. Each name must report."""

    kind: Literal['diagnostics_level'] = 'diagnostics_level'
    topic: Name = Field(default='/diagnostics', description='its name')
    worst: dict[str, Level] = Field(
        min_length=1,
        description="worst level by name of the status: ok, warn, error, stale; '*' in a name "
        'stands for anything',
    )

    @property
    def source(self) -> TopicSource:
        """The topic."""
        return TopicSource(self.topic, 'diagnostic_msgs/msg/DiagnosticArray')

    def watch(self, start_s: float) -> Watch:
        """Return a watch to which nobody has reported."""
        return _Levels(self)


DiagnosticsLevel.example = DiagnosticsLevel(worst={'lidar: *': 'warn', 'battery': 'ok'})


class _Levels(Watch):
    def __init__(self, probe: DiagnosticsLevel) -> None:
        self._worst = probe.worst
        self._seen: dict[str, int] = {}  # worst level, by name in the settings
        self._deviation = ''
        self._unreadable = ''

    def on_message(self, now_s: float, read: Callable[[], Fields]) -> None:
        try:
            for status in read().get('status'):
                self._see(status)
        except (Unreadable, AttributeError, TypeError) as error:
            self._unreadable = str(error)

    def _see(self, status: Any) -> None:
        level = status.level[0] if isinstance(status.level, bytes) else int(status.level)
        for pattern, worst in self._worst.items():
            if not fnmatchcase(status.name, pattern):
                continue
            self._seen[pattern] = max(self._seen.get(pattern, 0), level)
            if level > LEVELS.index(worst) and not self._deviation:
                said = f', {status.message!r}' if status.message else ''
                self._deviation = f'{status.name} is at {_word(level)}{said}, worse than {worst}'

    def judge(self, now_s: float) -> Finding:
        measured: dict[str, JsonValue] = {
            'levels': {name: _word(level) for name, level in self._seen.items()}
        }
        if self._deviation:
            return Finding('deviated', measured, self._deviation)
        if self._unreadable:
            return Finding('unknown', measured, self._unreadable)
        silent = [name for name in self._worst if name not in self._seen]
        if silent:
            return Finding('unknown', measured, f'nothing was heard of {", ".join(silent)}')
        return Finding('held', measured)


def _word(level: int) -> str:
    return LEVELS[level] if level < len(LEVELS) else f'level {level}'
