"""Connections with deadlines: uvicorn has none for headers and bodies, and no limit of idle connections.

A connection waits for headers, then for the body, then for the answer. Each phase has a time limit, however slowly
bytes arrive. At the limit of connections, the oldest one that is not being answered is closed for a new one, so idle
and slow sockets do not block others. A WebSocket has no deadline, and counts as a connection until it is closed.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

MAX_CONNECTIONS: Final = 1_000
_RESERVED_FILES: Final = 128
"""Files that the store, Dagster and the accept queue need besides the connections."""


class Phase(Enum):
    """The phase of a connection."""

    HEADERS = "headers"
    BODY = "body"
    ANSWER = "answer"
    UPGRADED = "upgraded"


DEADLINES: Final[Mapping[Phase, float]] = {
    Phase.HEADERS: 10.0,
    Phase.BODY: 30.0,
    Phase.ANSWER: 60.0,
}


def connection_limit() -> int:
    """The most connections: half of the files that this process may open, after its other files."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(16, min(MAX_CONNECTIONS, (files - _RESERVED_FILES) // 2))


@dataclass(slots=True)
class Connections:
    """The open connections of one server, oldest first, and their limits; `deadlines` are in seconds."""

    limit: int = field(default_factory=connection_limit)
    deadlines: Mapping[Phase, float] = field(default_factory=lambda: DEADLINES)
    opened: dict[DeadlineProtocol, None] = field(default_factory=dict)

    def add(self, connection: DeadlineProtocol) -> None:
        """Adds a connection.

        At the limit, the oldest one that is not being answered is closed, even with a half-sent request.

        A WebSocket is only closed if there is no other one.
        """
        if len(self.opened) >= self.limit:
            unanswered = (older for older in self.opened if older.phase in (Phase.HEADERS, Phase.BODY))
            upgraded = (older for older in self.opened if older.phase is Phase.UPGRADED)
            next(chain(unanswered, upgraded), connection).abort()
        self.opened[connection] = None

    def remove(self, connection: DeadlineProtocol) -> None:
        """Removes a closed connection."""
        self.opened.pop(connection, None)


class DeadlineProtocol(H11Protocol):
    """A connection of uvicorn with a deadline for each phase."""

    def __init__(self, *arguments: Any, connections: Connections, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._open = connections
        self._timer: asyncio.TimerHandle | None = None
        self._watched: tuple[Phase, int] | None = None

    @property
    def phase(self) -> Phase:
        """The present phase."""
        if self.transport is not None and self.transport.get_protocol() is not self:
            return Phase.UPGRADED
        if self.conn.their_state is h11.IDLE:
            return Phase.HEADERS
        return Phase.BODY if self.conn.their_state is h11.SEND_BODY else Phase.ANSWER

    def abort(self) -> None:
        """Closes the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._open.add(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.remove(self)
        self._cancel_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hands the connection to another protocol without deadlines. It still counts as a connection."""
        super().handle_websocket_upgrade(event)
        upgraded = self.transport.get_protocol()
        if upgraded is self:
            return
        self._cancel_timer()
        lost = upgraded.connection_lost

        def closed(exc: Exception | None) -> None:
            self._open.remove(self)
            lost(exc)

        upgraded.connection_lost = closed  # type: ignore[method-assign]  # nobody else is told

    def shutdown(self) -> None:
        """Ends the connection with the server. A request that is being answered is finished; others are dropped."""
        if self.phase is Phase.ANSWER:
            super().shutdown()
        else:
            self.abort()

    def send_400_response(self, msg: str) -> None:
        """Called if h11 refuses a request; its hint says whether the headers were too long (431)."""
        hint = getattr(sys.exc_info()[1], "error_status_hint", 400)
        if self.cycle is not None:
            # Its request may be answered at this moment, and that answer would come too late, as an error of the
            # server.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._send_error(hint, msg)

    def _watch(self) -> None:
        """Starts the phase's timer unless it runs: arriving bytes do not restart it."""
        watched = (self.phase, id(self.cycle))
        if watched == self._watched or self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        self._cancel_timer()
        self._watched = watched
        self._timer = self.loop.call_later(self._open.deadlines[self.phase], self._too_late)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        """Sends an error if possible and closes the connection. The application gets a disconnect."""
        is_unanswered = self.cycle is None or not self.cycle.response_started
        if self.phase is Phase.BODY and is_unanswered:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._send_error(408, "The request did not arrive in time.")
        self.abort_soon()

    def abort_soon(self) -> None:
        """Closes the connection and waits at most a second for the client to read the rest."""
        if not self.transport.is_closing():
            self.transport.close()
        self.loop.call_later(1.0, self.transport.abort)

    def _send_error(self, status: int, message: str) -> None:
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        response = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES.get(status, b""))
        for event in (response, h11.Data(data=message.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
