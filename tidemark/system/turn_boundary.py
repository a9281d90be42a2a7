"""The error boundary of a background thread: errors of one turn are logged, and the next turn follows."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from tidemark.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER: Final = logging.getLogger("tidemark")


class TurnBoundary:
    """`what` is the work that stops meanwhile, such as "the lease is not renewed"."""

    def __init__(self, what: str) -> None:
        self._what, self._last = what, ""

    def run(self, turn: Callable[[], object]) -> bool:
        """Call `turn`; returns whether it succeeded. The same error is logged once until a turn succeeds."""
        try:
            turn()
        except Exception as error:  # noqa: BLE001 - a thread that ended here would never be started again
            self._log(error)
            return False
        self._last = ""
        return True

    def _log(self, error: Exception) -> None:
        text = str(error) if isinstance(error, TransientError) else f"unexpected {type(error).__name__}: {error}"
        if text != self._last:
            _LOGGER.warning("%s: %s", self._what, text)
        self._last = text
