"""Runs a slow step of the center in a separate thread, so that no decision waits for it."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class BackgroundStep:
    """Repeats one step, never twice at once. A center that ends does not wait for it."""

    def __init__(self, name: str, step: Callable[[], None]) -> None:
        self._name, self._step, self._running = name, step, Future[None]()
        self._running.set_result(None)

    def poll(self) -> None:
        """Start it again, unless it is running. Raises the error of the last time, once."""
        if not self._running.done():
            return
        last, self._running = self._running, Future[None]()
        Thread(target=self._work, args=(self._running,), name=self._name, daemon=True).start()
        last.result()

    def _work(self, running: Future[None]) -> None:
        try:
            running.set_result(self._step())
        except BaseException as error:  # noqa: BLE001 - raised again by the next look at it
            running.set_exception(error)
