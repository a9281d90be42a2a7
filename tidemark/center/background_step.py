"""A step of the center that may take long: in a thread of its own, so that no decision waits for it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class BackgroundStep:
    """Does one thing again and again, never twice at once."""

    def __init__(self, name: str, step: Callable[[], None]) -> None:
        self._step, self._running = step, Future[None]()
        self._running.set_result(None)
        self._thread = ThreadPoolExecutor(1, name)

    def poll(self) -> None:
        """Begin it again, unless it goes on. Raises what it raised the last time, once."""
        if not self._running.done():
            return
        last, self._running = self._running, self._thread.submit(self._step)
        last.result()
