"""Changes of slices for open pages: server-sent events, resumed by the number of a transition.

One look at the store serves all streams, and without a stream there is no look. So fifty pages cost the same as one. A
stream ends before the connection's deadline. The browser then opens the next one, which resumes.

    event: here      id: the last transition that was sent; every few seconds, so that silence means a lost connection
    event: changes   {"changes": [{"slice", "event", "run_state"}]}
    event: reset     too many changes: the page must load its data again

Source: the section "Server-sent events" of the HTML standard (`Last-Event-ID`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from functools import partial
from threading import Event as Flag
from typing import TYPE_CHECKING, Final

from tidemark.api.errors import BusyError
from tidemark.api.thread_limits import run_in
from tidemark.errors import TransientError
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from tidemark.api.thread_limits import BoundedPool
    from tidemark.state_store.reader import StateReader
    from tidemark.state_store.transition import Transition

MOST_AT_ONCE: Final = 500
"""The most changes between two looks that are sent one by one; after more, the page gets `reset`."""
_KEPT: Final = 2_000
_MOST_STREAMS: Final = 200
_LOOK_SECONDS: Final = 0.25
_HERE_SECONDS: Final = 5.0
_STREAM_SECONDS: Final = 45.0


class LiveChanges:
    """The streams of one server, all in its event loop; `close` may be called from any thread. `clock` is monotonic."""

    def __init__(
        self, read: StateReader, look_seconds: float = _LOOK_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._look_seconds, self._clock = read, look_seconds, clock
        self._closing = Flag()
        self._kept: deque[Transition] = deque(maxlen=_KEPT)
        self._last = 0
        self._streams = 0
        self._look: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Ends every stream at the next look."""
        self._closing.set()

    async def begin(self, pool: BoundedPool, after: int | None) -> AsyncIterator[bytes]:
        """A stream from a transition on, or from now. Raises BusyError and StateStoreDownError before it begins."""
        if self._streams >= _MOST_STREAMS:
            raise BusyError.of("pages", self._streams)
        last = await run_in(pool, self._read.last)
        return self._stream(pool, last if after is None else min(after, last))

    async def _stream(self, pool: BoundedPool, position: int) -> AsyncIterator[bytes]:
        end, said = self._clock() + _STREAM_SECONDS, self._clock()
        self._streams += 1
        try:
            yield b"retry: 500\n" + _message("here", position, {})
            while self._clock() < end and await self._next_look(pool):
                if self._last > position:
                    changes = await self._after(pool, position)
                    position = max(self._last, changes[-1].seq if changes else 0)
                    yield _changes(changes, position)
                    said = self._clock()
                elif self._clock() - said >= _HERE_SECONDS:
                    yield _message("here", position, {})
                    said = self._clock()
        finally:
            self._streams -= 1

    async def _next_look(self, pool: BoundedPool) -> bool:
        """Waits for the next look at the store. False after the last one."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._look_once(pool))
        with contextlib.suppress(TransientError):
            await asyncio.shield(self._look)
            return not self._closing.is_set()
        return False

    async def _look_once(self, pool: BoundedPool) -> None:
        await asyncio.sleep(self._look_seconds)
        last = await run_in(pool, self._read.last)
        if last > self._last:
            if last - self._last > _KEPT:  # no stream for a while: the kept transitions must not have gaps
                self._kept.clear()
            new = await run_in(pool, partial(self._read.after, max(self._last, last - _KEPT), _KEPT))
            self._kept.extend(new)
            self._last = max(last, new[-1].seq if new else 0)

    async def _after(self, pool: BoundedPool, position: int) -> Sequence[Transition]:
        """The transitions after a position, from memory; older ones from the store."""
        if self._kept and self._kept[0].seq <= position + 1:
            return [step for step in self._kept if step.seq > position]
        return await run_in(pool, partial(self._read.after, position, MOST_AT_ONCE + 1))


def _changes(changes: Sequence[Transition], position: int) -> bytes:
    if len(changes) > MOST_AT_ONCE:
        return _message("reset", position, {})
    told = [
        {"slice": str(step.slice), "event": step.event.value, "run_state": step.status.run_state.value}
        for step in changes
    ]
    return _message("changes", position, {"changes": told})


def _message(event: str, position: int, data: object) -> bytes:
    return f"event: {event}\nid: {position}\ndata: {json_text(data)}\n\n".encode()
