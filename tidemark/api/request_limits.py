"""Limits on the size of requests and on the rate of a caller's writes, around the application. Pure ASGI.

    431  the address and the headers together are longer than 16 kB
    429  a caller writes more often, or more, than its token bucket fills: each 4 kB of a body count as a write

Source of the rate limit: the token bucket of RFC 2697. Each caller has one, or each address if callers have no name.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

from tidemark.system.http_guard import Refusal, announced_bytes, caller_of, send_refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tidemark.system.http_guard import AsgiApp, Receive, Scope, Send

MAX_HEADER_BYTES: Final = 16 * 1024
DEFAULT_WRITES_PER_SECOND: Final = 500.0
_BURST_SECONDS: Final = 10.0
_MAX_CLIENTS: Final = 10_000
WRITE_BYTES: Final = 4 * 1024
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class TokenBuckets:
    """`rate` tokens a second for each client, and at most `burst` at once (default: ten seconds' worth).

    `refused` counts refused writes; `clock` is monotonic.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic, burst: float | None = None) -> None:
        self._rate, self._burst, self._clock = rate, burst or max(1.0, rate * _BURST_SECONDS), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._turn = Lock()
        self.refused = 0

    def take(self, client: str, cost: float = 1.0) -> bool:
        """Whether the client may write now. A write that costs more than a full bucket leaves a debt."""
        with self._turn:
            now = self._clock()
            tokens, filled_at = self._buckets.pop(client, (self._burst, now))
            tokens = min(self._burst, tokens + (now - filled_at) * self._rate)
            is_allowed = tokens >= min(cost, self._burst)
            self._buckets[client] = (tokens - cost * is_allowed, now)
            if len(self._buckets) > _MAX_CLIENTS:
                self._buckets.popitem(last=False)
            self.refused += not is_allowed
            return is_allowed


class HeaderLimit:
    """An ASGI application that passes only requests with short headers to another one."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await send_refusal(refusal, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = sum(len(name) + len(value) for name, value in scope["headers"])
        if headers + len(scope["raw_path"]) + len(scope["query_string"]) > MAX_HEADER_BYTES:
            return Refusal(431, "the headers are too long", f"at most {MAX_HEADER_BYTES} bytes, including the address")
        return None


class WriteLimit:
    """An ASGI application behind the guard, which limits the writes of each caller to another application."""

    def __init__(self, app: AsgiApp, buckets: TokenBuckets) -> None:
        self._app, self._buckets = app, buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _READS or self._may_write(scope):
            await self._app(scope, receive, send)
        else:
            await send_refusal(
                Refusal(429, "too many writes", "fewer or shorter requests in a second from one caller"), send
            )

    def _may_write(self, scope: Scope) -> bool:
        return self._buckets.take(caller_of(scope).limited_by, 1.0 + announced_bytes(scope) // WRITE_BYTES)
