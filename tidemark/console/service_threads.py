"""A service with several threads: if one ends, the service ends, and its supervisor restarts it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Final

from tidemark.console.end_deadline import end_within
from tidemark.console.stop_signals import stop_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tidemark.console.service_beat import ServiceBeat

    GoesOn = Callable[[], bool]

WATCH_SECONDS: Final = 0.2


def serve_in_threads(works: Sequence[Callable[[GoesOn], None]], beat: ServiceBeat) -> None:
    """Run each work in a thread until a stop signal; each asks its argument whether to continue.

    Raises an error of a work.
    """
    ended = Event()
    with stop_signals() as signals, end_within(), ThreadPoolExecutor(len(works), "service") as pool:
        try:
            running = [pool.submit(work, lambda: not signals and not ended.is_set()) for work in works]
            while not signals and not any(work.done() for work in running):
                beat.beat()
                time.sleep(WATCH_SECONDS)
        finally:
            ended.set()
        for work in running:
            work.result()
