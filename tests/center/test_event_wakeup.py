"""The service looks again when PostgreSQL says so, and goes on looking when PostgreSQL is gone."""

from __future__ import annotations

import time
from threading import Timer
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
    monkeypatch.setattr(waking, "_UNHEARD_SECONDS", 30.0)
    waker = Listening(postgres_server.dsn)
    timer = Timer(0.5, notify, [postgres_server.dsn])
    timer.start()
    begun = time.monotonic()
    waker.wait()
    assert 0.2 < time.monotonic() - begun < 15
    timer.join()
    waker.close()


def test_without_a_server_it_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waking, "_UNHEARD_SECONDS", 0.01)
    waker = Listening("postgresql://nobody@127.0.0.1:1/none")
    begun = time.monotonic()
    for _ in range(3):
        waker.wait()
    assert time.monotonic() - begun >= 0.03
    Polling().wait()
    waker.close()
