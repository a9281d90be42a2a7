"""Sampled memory and processor time of this process and its children (the JVM)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

import psutil

if TYPE_CHECKING:
    from types import TracebackType


class Usage:
    """Use as a context; `megabytes` is the largest resident size of all processes together.

    `cpu_seconds` is the processor time since the start. The last moments of a child are not counted.
    """

    def __init__(self, every_seconds: float = 0.5) -> None:
        self.megabytes = 0.0
        self._me = psutil.Process()
        self._children = set[int]()
        self._spent: dict[int, float] = {}
        self._before = _spent(self._me)
        self._every_seconds = every_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="usage", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def cpu_seconds(self) -> float:
        """Processor seconds of all processes together."""
        return sum(self._spent.values()) - self._before

    def look(self) -> None:
        """Measure once. The context does this every `every_seconds` in a thread; do not call it then."""
        children = self._me.children(recursive=True)
        # A program that the JVM forks shares the JVM's pages until it runs, and would count twice.
        lasting = [child for child in children if child.pid in self._children]
        self.megabytes = max(self.megabytes, sum(_resident(child) for child in (self._me, *lasting)))
        self._spent.update((child.pid, _spent(child)) for child in (self._me, *lasting))
        self._children = {child.pid for child in children}

    def _watch(self) -> None:
        self.look()
        while not self._stop.wait(self._every_seconds):
            self.look()


def _resident(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 2**20
    except psutil.NoSuchProcess:
        return 0.0


def _spent(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)
