"""Peak memory of this process and its children (the JVM), sampled."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final, Self

import psutil

if TYPE_CHECKING:
    from types import TracebackType

_EVERY_SECONDS: Final = 0.5


class PeakMemory:
    """Use as a context; `megabytes` is the largest resident set seen, all processes together."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        me = psutil.Process()
        while True:
            self.megabytes = max(self.megabytes, sum(_resident(one) for one in (me, *me.children(recursive=True))))
            if self._stop.wait(_EVERY_SECONDS):
                return


def _resident(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 2**20
    except psutil.NoSuchProcess:
        return 0.0
