"""What a node says of itself to people who watch: conditions, rates and delays.

Nothing here decides anything; it is fed with counts that are kept anyway, and with the time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Level(IntEnum):
    """How it stands, with the numbers of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class Condition:
    """One thing about a node.

    :param what: what it is about; the node's name is put before it
    :param message: one line for people
    :param values: details, in this order
    """

    what: str
    level: Level = Level.OK
    message: str = ''
    values: Mapping[str, str | int | float] = field(default_factory=dict)


class Rates:
    """How fast counters go, from one look at them to the next."""

    def __init__(self, counts: Mapping[str, int], now_s: float) -> None:
        """Begin with the counters as they are."""
        self._counts = dict(counts)
        self._at_s = now_s

    def look(self, counts: Mapping[str, int], now_s: float) -> dict[str, float]:
        """Return the rate of each counter since the last look [1/s].

        A counter that went back has begun anew; one that is new began at 0.
        """
        past_s, before = now_s - self._at_s, self._counts
        self._counts, self._at_s = dict(counts), now_s
        if past_s <= 0:
            return dict.fromkeys(counts, 0.0)
        return {
            name: (count - known if count >= (known := before.get(name, 0)) else count) / past_s
            for name, count in counts.items()
        }


@dataclass(frozen=True)
class Delay:
    """Delays of one period of time [s]."""

    count: int = 0
    mean_s: float = 0.0
    longest_s: float = 0.0


class Delays:
    """Gathers delays; what it costs and keeps does not grow with their number."""

    def __init__(self) -> None:
        self._count, self._sum_s, self._longest_s = 0, 0.0, 0.0

    def add(self, delay_s: float) -> None:
        """Take one more."""
        self._count += 1
        self._sum_s += delay_s
        if delay_s > self._longest_s:
            self._longest_s = delay_s

    def take(self) -> Delay:
        """Return what was gathered since the last time."""
        if not self._count:
            return Delay()
        taken = Delay(self._count, self._sum_s / self._count, self._longest_s)
        self._count, self._sum_s, self._longest_s = 0, 0.0, 0.0
        return taken


# -- streams


@dataclass
class Received:
    """What came in on a topic since the reset.

    :param announced: largest count that somebody who knows the publisher's has asked for
    :param lost: by the middleware, as far as it has noticed
    """

    count: int = 0
    announced: int = 0
    lost: int = 0

    @property
    def missing(self) -> int:
        """Return how many of the announced messages are not here, or not yet."""
        return max(0, self.announced - self.count)


@dataclass(frozen=True)
class Sent:
    """What went out on a topic since the reset.

    :param connected: subscribers now
    :param expected: those without which no attempt begins
    """

    count: int
    connected: int
    expected: int


class Streams:
    """Looks at the streams of a node, again and again."""

    def __init__(self, now_s: float) -> None:
        self._rates = Rates({}, now_s)
        self._missing: dict[str, int] = {}  # at the last look

    def look(
        self, received: Mapping[str, Received], sent: Mapping[str, Sent], now_s: float
    ) -> Condition:
        """Return how they stand: counts, rates since the last look, and what is wrong."""
        counts = {f'{name} received': stream.count for name, stream in received.items()}
        counts |= {f'{name} sent': stream.count for name, stream in sent.items()}
        values: dict[str, str | int | float] = {**counts}
        rates = self._rates.look(counts, now_s)
        values |= {f'{name} [Hz]': rate for name, rate in rates.items()}
        values |= {f'{name} lost': stream.lost for name, stream in received.items()}
        found = [*self._losses(received), *_lonely(sent)]
        return Condition(
            'streams',
            max((level for level, _ in found), default=Level.OK),
            '; '.join(text for _, text in found),
            values,
        )

    def _losses(self, received: Mapping[str, Received]) -> list[tuple[Level, str]]:
        # What was announced may be under way; what is missing at the next look, too, is not.
        before, self._missing = self._missing, {}
        found = []
        for name, stream in received.items():
            self._missing[name] = stream.missing
            if missing := min(stream.missing, before.get(name, 0)):
                found.append(
                    (Level.WARN, f'{name}: {missing} of {stream.announced} messages are missing')
                )
            if stream.lost:
                found.append((Level.ERROR, f'{name}: {stream.lost} messages were lost'))
        return found


def _lonely(sent: Mapping[str, Sent]) -> list[tuple[Level, str]]:
    return [
        (Level.WARN, f'{name}: {out.connected} of {out.expected} subscribers connected')
        for name, out in sent.items()
        if out.connected < out.expected
    ]


def attempt_condition(
    episode_id: str, under_way: bool, *, trouble: str = '', foreign: int = 0
) -> Condition:
    """Return how the attempt of a node stands.

    :param trouble: why it must not count
    :param foreign: messages of other attempts that were dropped
    """
    level, message = Level.OK, 'under way' if under_way else 'over'
    if not episode_id:
        level, message = Level.STALE, 'none has begun'
    elif trouble:
        level, message = Level.ERROR, trouble
    elif foreign:
        level, message = Level.WARN, f'{foreign} messages of other attempts were dropped'
    return Condition(
        'attempt', level, message, {'episode_id': episode_id, 'foreign messages': foreign}
    )
