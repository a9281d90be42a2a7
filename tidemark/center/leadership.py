"""Holding the lease of the center in a thread of its own, whatever the service is busy with."""

from __future__ import annotations

import os
import socket
import time
import uuid
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Self

from tidemark.errors import TransientError
from tidemark.state_store.lease import LeaseState
from tidemark.system.turn_boundary import TurnBoundary

if TYPE_CHECKING:
    from tidemark.state_store.lease import Lease

_EVERY_SECONDS: Final = 1.5


class Leadership:
    """Tries to hold the lease until it is closed; what it has of it is `fencing_token`."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._held, self._until, self._answered_at = LeaseState("", None), 0.0, float("-inf")
        self._closed, self._boundary = Event(), TurnBoundary("the lease of the center is not renewed")
        self._thread = Thread(target=self._keep, name="lease", daemon=True)

    @property
    def fencing_token(self) -> int | None:
        """None while somebody else is active, or the store has not answered for as long as the lease lasts."""
        return self._held.fencing_token if time.monotonic() < self._until else None

    @property
    def is_led(self) -> bool:
        """Whether the lease was held by somebody, this process or another one, when the store last answered.

        A store that has not answered for as long as the lease lasts says nothing: False.
        """
        is_fresh = time.monotonic() - self._answered_at < self._lease.seconds
        return is_fresh and (self._held.fencing_token is not None or self._held.holder not in ("", self._lease.holder))

    @property
    def holder(self) -> str:
        """Who is active, as far as is known."""
        return self._held.holder

    def __enter__(self) -> Self:
        self._keep_once()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let go, so that the next one need not wait."""
        self._closed.set()
        self._thread.join()
        self._until = 0.0
        try:
            self._lease.release()
        except TransientError:  # it runs out by itself
            return

    def _keep(self) -> None:
        while not self._closed.wait(_EVERY_SECONDS):
            self._keep_once()

    def _keep_once(self) -> None:
        self._boundary.run(self._hold)

    def _hold(self) -> None:
        asked_at = time.monotonic()
        self._held, self._answered_at = self._lease.hold(), time.monotonic()
        self._until = asked_at + self._lease.seconds


def holder_name(role: str) -> str:
    """Who this is, for people, and like nobody else: `center host:4711 3f2a`."""
    return f"{role} {socket.gethostname()}:{os.getpid()} {uuid.uuid4().hex[:4]}"
