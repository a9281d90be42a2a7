"""Wakes the service: PostgreSQL notifies of Dagster's events, other storages are polled.

Source: PostgreSQL, LISTEN and NOTIFY; dagster-postgres notifies the channel `run_events` of each event it stores.
"""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any, Final, Protocol

import psycopg2
from dagster_postgres import PostgresEventLogStorage

if TYPE_CHECKING:
    import dagster as dg

_CHANNEL: Final = "run_events"
_POLL_SECONDS: Final = 0.05
_UNHEARD_SECONDS: Final = 0.25
"""Events that are stored in batches are not notified."""
_TOGETHER_SECONDS: Final = 0.01


class Waker(Protocol):
    """Waits for events."""

    def wait(self) -> None:
        """Return when there may be something new."""

    def close(self) -> None: ...


class Polling:
    """Polls at short intervals."""

    def wait(self) -> None:
        time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Does nothing: there is no connection."""


class Listening:
    """Waits for notifications of PostgreSQL, with a time limit.

    Without a connection it polls, and tries to reconnect.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Any = None

    def wait(self) -> None:
        try:
            self._listen()
            if select.select([self._connection], [], [], _UNHEARD_SECONDS)[0]:
                time.sleep(_TOGETHER_SECONDS)  # events often come together
                self._connection.poll()
                self._connection.notifies.clear()
        except (psycopg2.Error, OSError, ValueError):
            self.close()
            time.sleep(_UNHEARD_SECONDS)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _listen(self) -> None:
        if self._connection is None:
            self._connection = psycopg2.connect(self._url, connect_timeout=5)
            self._connection.autocommit = True
            with self._connection.cursor() as cursor:
                cursor.execute(f"LISTEN {_CHANNEL}")


def waker_of(instance: dg.DagsterInstance) -> Waker:
    """The waker for the instance's event log."""
    storage = instance.event_log_storage
    if isinstance(storage, PostgresEventLogStorage):
        return Listening(storage.postgres_url.replace("postgresql+psycopg2://", "postgresql://"))
    return Polling()
