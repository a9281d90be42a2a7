"""The steps of a tick, each by itself: what one of them raises is kept and logged, and the others go on.

Where the state store or Dagster's storage does not answer, or another center has taken over, no step can do anything:
that ends the tick, which is tried again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, TypeVar

from tidemark.center.outages import STORAGE_ERRORS
from tidemark.state_store.errors import (
    EventKnownError,
    FencedError,
    StateConflictError,
    StateStoreDamagedError,
    StateStoreDownError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

_END_OF_TICK: Final = (
    *(StateStoreDownError, StateStoreDamagedError, StateConflictError, EventKnownError, FencedError),
    *STORAGE_ERRORS,
)
_LOGGER: Final = logging.getLogger("tidemark.center")


class IsolatedSteps:
    """`troubles` holds, by the name of the step, what each raised since the last `begin`."""

    def __init__(self) -> None:
        self.troubles: dict[str, Exception] = {}
        self._logged: dict[str, str] = {}

    def begin(self) -> None:
        """The next round: what goes wrong from now on is counted again, and logged where it is another trouble."""
        self._logged = {name: _text(error) for name, error in self.troubles.items()}
        self.troubles = {}

    def run(self, name: str, step: Callable[[], Value], otherwise: Value) -> Value:
        """What the step returns; `otherwise` where it raises. Raises what ends the tick."""
        try:
            return step()
        except _END_OF_TICK:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this step alone
            self.note(name, error)
            return otherwise

    def note(self, name: str, error: Exception) -> None:
        """A step has failed in its own way."""
        self.troubles[name] = error
        if self._logged.get(name) != _text(error):
            _LOGGER.warning("%s: %s; the rest goes on", name, _text(error))
            _LOGGER.debug("%s", name, exc_info=error)

    @property
    def summary(self) -> list[str]:
        """A line for each trouble, for people."""
        return [f"{name}: {_text(error)}" for name, error in self.troubles.items()]


def _text(error: Exception) -> str:
    """The kind of an error and what it says, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
