"""The service looks again when PostgreSQL says so, and goes on looking when PostgreSQL is gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import psycopg2
import pytest

from tidemark.center import event_wakeup as waking
from tidemark.center.event_wakeup import Listening, Polling

if TYPE_CHECKING:
    from tests.components.postgres import Postgres


def notify(dsn: str) -> None:
    connection = psycopg2.connect(dsn)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY run_events, '1'")
    connection.close()


@pytest.mark.components
def test_a_notification_ends_the_waiting(postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else does, in the time that a test has."""
    monkeypatch.setattr(waking, "_UNHEARD_SECONDS", 100_000.0)
    waker = Listening(postgres_server.dsn)
    waker._listen()
    notify(postgres_server.dsn)
    waker.wait()
    waker.close()


def test_without_a_server_it_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    slept = list[float]()
    monkeypatch.setattr(waking, "time", SimpleNamespace(sleep=slept.append))
    waker = Listening("postgresql://nobody@127.0.0.1:1/none")
    for _ in range(3):
        waker.wait()
    Polling().wait()
    assert slept == [waking._UNHEARD_SECONDS] * 3 + [waking._POLL_SECONDS]
    waker.close()
