"""Limits the rate of data that one process sends to a place."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Bandwidth:
    """`bytes_per_second` None means unlimited. Thread-safe."""

    bytes_per_second: float | None
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    _free_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, count: int) -> None:
        """Wait until `count` bytes may be sent, after the time of the bytes before them."""
        if self.bytes_per_second is None:
            return
        with self._lock:
            now = self.clock()
            begins = max(now, self._free_at)
            self._free_at = begins + count / self.bytes_per_second
        if begins > now:
            self.pause(begins - now)
