"""What a camera's pipeline says of each object, gathered into one picture of the scene."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar('P')


@dataclass(frozen=True)
class Picture(Generic[P]):
    """What was seen at one moment.

    :param poses: by name, in the order in which the names are known; what was not seen is not here
    """

    stamp_ns: int
    poses: dict[str, P]


class Sightings(Generic[P]):
    """Gathers sightings that carry the stamp of the picture they come from.

    A picture is complete when every object was seen in it, or when something of a later one comes:
    then the others were hidden. No clock is involved.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._stamp_ns = -1
        self._open: dict[str, P] = {}
        self.late = 0  # sightings of pictures that were complete, or of the past

    def see(self, name: str, stamp_ns: int, pose: P) -> list[Picture[P]]:
        """Add a sighting and return the pictures that are complete now."""
        done = []
        if stamp_ns < self._stamp_ns or (stamp_ns == self._stamp_ns and not self._open):
            self.late += 1
            return []
        if stamp_ns > self._stamp_ns:
            if self._open:
                done.append(self._close())
            self._stamp_ns = stamp_ns
        self._open[name] = pose
        if len(self._open) == len(self._names):
            done.append(self._close())
        return done

    def _close(self) -> Picture[P]:
        seen, self._open = self._open, {}
        ordered = {name: seen[name] for name in self._names if name in seen}
        return Picture(self._stamp_ns, ordered)
