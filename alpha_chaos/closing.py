"""Objects that hold something until they are closed, for use in a `with` statement."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TypeVar

C = TypeVar('C', bound='Closing')


class Closing(ABC):
    """Closed at the end of a `with` statement, whatever happens in it."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held. Closing twice is harmless."""

    def __enter__(self: C) -> C:
        """Return the object itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()
