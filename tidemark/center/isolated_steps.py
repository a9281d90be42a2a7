"""Isolates the steps of a tick: an error in one is stored and logged, and the others continue.

If the state store or Dagster's storage does not answer, or another center has taken over, no step can work: the tick
ends and is repeated.
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
    """`troubles` has the error of each step since the last `begin`, by name."""

    def __init__(self) -> None:
        self.troubles: dict[str, Exception] = {}
        self._logged: dict[str, str] = {}

    def begin(self) -> None:
        """Start the next round: errors count again, and are logged if they are new."""
        self._logged = {name: _text(error) for name, error in self.troubles.items()}
        self.troubles = {}

    def run(self, name: str, step: Callable[[], Value], otherwise: Value) -> Value:
        """The result of the step; `otherwise` if it raises. Raises errors that end the tick."""
        try:
            return step()
        except _END_OF_TICK:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it concerns this step alone
            self.note(name, error)
            return otherwise

    def note(self, name: str, error: Exception) -> None:
        """A step has reported an error."""
        self.troubles[name] = error
        if self._logged.get(name) != _text(error):
            _LOGGER.warning("%s: %s; the rest goes on", name, _text(error))
            _LOGGER.debug("%s", name, exc_info=error)

    @property
    def summary(self) -> list[str]:
        """One line for each error."""
        return [f"{name}: {_text(error)}" for name, error in self.troubles.items()]


def _text(error: Exception) -> str:
    """Type and message of an error, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
