"""The interface of all grids: slices are numbered without gaps, so that counting is arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tidemark.dependency_model.suggestion import quote_value
from tidemark.dependency_model.time.window import Window
from tidemark.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.time.period import Period
    from tidemark.dependency_model.time.zone import Zone

_KEY_LIMIT = 32
_MEMORY = 100_000
_STRETCH = 4


class Grid(ABC):
    """The slices of one period on one local clock. `start(n + 1)` is the end of slice `n`: no gap, no overlap.

    Ordinals are whole numbers; instants are seconds since 1970-01-01T00:00Z.
    """

    def __init__(self, period: Period, zone: Zone) -> None:
        self.period = period
        self.zone = zone
        self._keys: dict[int, str] = {}
        self._ordinals: dict[str, int] = {}

    @abstractmethod
    def start(self, ordinal: int) -> int:
        """The instant at which a slice begins."""

    @abstractmethod
    def at(self, instant: int) -> int:
        """The slice that contains an instant."""

    @abstractmethod
    def _print(self, ordinal: int) -> str:
        """The key of a slice."""

    @abstractmethod
    def _parse(self, key: str) -> int:
        """The slice of a key. Raises ParseError and NoSuchSliceError."""

    @property
    @abstractmethod
    def first(self) -> int:
        """The first slice: the one in which 1970-01-01 begins."""

    @property
    @abstractmethod
    def last(self) -> int:
        """The last slice, in 2199."""

    def window(self, ordinal: int) -> Window:
        """The window of a slice."""
        return Window.of_seconds(self.start(ordinal), self.start(ordinal + 1))

    def key(self, ordinal: int) -> str:
        """The key of a slice, such as `2026-03-29T03`."""
        key = self._keys.get(ordinal)
        if key is None:
            key = self._print(ordinal)
            if len(self._keys) >= _MEMORY:
                self._keys.clear()
            self._keys[ordinal] = key
        return key

    def keys(self, ordinals: Sequence[int]) -> Sequence[str]:
        """The keys of many slices."""
        if not isinstance(ordinals, range) or len(ordinals) < _STRETCH:
            return [self.key(ordinal) for ordinal in ordinals]
        return self._print_all(ordinals)

    def _print_all(self, ordinals: range) -> list[str]:
        """The keys of a range of slices."""
        return [self.key(ordinal) for ordinal in ordinals]

    def ordinal(self, key: str) -> int:
        """The number of the slice with this key, which must be in canonical form. Raises ParseError."""
        ordinal = self._ordinals.get(key)
        if ordinal is None:
            ordinal = self._check(key)
            if len(self._ordinals) >= _MEMORY:
                self._ordinals.clear()
            self._ordinals[key] = ordinal
        return ordinal

    def _check(self, key: str) -> int:
        if len(key) > _KEY_LIMIT:
            raise ParseError(f"this is not the key of a {self.period} slice", found=quote_value(key))
        ordinal = self._parse(key)
        if not self.first <= ordinal <= self.last:
            raise ParseError("slices must be from 1970 to 2199", found=quote_value(key))
        return ordinal
