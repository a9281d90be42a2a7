"""Stop signals for commands that serve."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """The stop signals received so far.

    Handlers in this process also undo an inherited `ignore` (of a shell's background job): the child gets the default.
    """
    seen: list[int] = []

    def note(signum: int, _frame: FrameType | None) -> None:
        seen.append(signum)

    before = {signum: signal.signal(signum, note) for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield seen
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
