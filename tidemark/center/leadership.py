"""Holds the lease of the center in a separate thread."""

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
    from collections.abc import Callable

    from tidemark.state_store.lease import Lease

_EVERY_SECONDS: Final = 1.5


class Leadership:
    """Tries to hold the lease until it is closed; `fencing_token` shows success."""

    def __init__(self, lease: Lease, beside: Callable[[], None] = lambda: None) -> None:
        """`beside` is called in the same thread after each renewal, whatever the center's own thread does."""
        self._lease, self._beside = lease, beside
        self._held, self._until, self._answered_at = LeaseState("", None), 0.0, float("-inf")
        self._closed, self._boundary = Event(), TurnBoundary("the lease of the center is not renewed")
        self._boundary_beside = TurnBoundary("the health of the center is not stored")
        self._thread = Thread(target=self._keep, name="lease", daemon=True)

    @property
    def fencing_token(self) -> int | None:
        """None while another process is active, or while the store has not answered for the lease's duration."""
        return self._held.fencing_token if time.monotonic() < self._until else None

    @property
    def is_led(self) -> bool:
        """Whether any process held the lease at the store's last answer.

        False if the store has not answered for the lease's duration.
        """
        is_fresh = time.monotonic() - self._answered_at < self._lease.seconds
        return is_fresh and (self._held.fencing_token is not None or self._held.holder not in ("", self._lease.holder))

    @property
    def holder(self) -> str:
        """The active process, if known."""
        return self._held.holder

    def __enter__(self) -> Self:
        self._keep_once()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lease, so that the next center need not wait."""
        self._closed.set()
        self._thread.join()
        self._until = 0.0
        try:
            self._lease.release()
        except TransientError:  # it expires
            return

    def _keep(self) -> None:
        while not self._closed.wait(_EVERY_SECONDS):
            self._keep_once()

    def _keep_once(self) -> None:
        if self._boundary.run(self._hold) and self.fencing_token is not None:
            self._boundary_beside.run(self._beside)

    def _hold(self) -> None:
        asked_at = time.monotonic()
        self._held, self._answered_at = self._lease.hold(), time.monotonic()
        self._until = asked_at + self._lease.seconds


def holder_name(role: str) -> str:
    """The name of this process for messages, different from every other one: `center host:4711 3f2a`."""
    return f"{role} {socket.gethostname()}:{os.getpid()} {uuid.uuid4().hex[:4]}"
