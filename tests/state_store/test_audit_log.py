"""Entries are numbered in the order of their commits, survive whatever text callers write, and end by age alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidemark.state_store import audit_log
from tidemark.state_store.audit_log import AuditEntry, AuditLog

if TYPE_CHECKING:
    import pytest

    from tidemark.state_store.database import Database

NOW = 1_780_000_000.0


def entry(action: str = "report", who: str = "token:airflow") -> AuditEntry:
    return AuditEntry(who, "10.0.0.5", action, "ods@2024-06-02", "import 4711")


def test_entries_are_shown_newest_first_in_pages(database: Database) -> None:
    log = AuditLog(database, clock=lambda: NOW)
    for number in range(5):
        log.add(entry(f"action {number}", "token:a" if number % 2 else "token:b"))
    assert [row.number for row in log.rows(2)] == [5, 4]
    assert [row.number for row in log.rows(2, before=4)] == [3, 2]
    assert [row.number for row in log.rows(who="token:a")] == [4, 2]
    (row,) = log.rows(1)
    assert (row.at, row.entry) == (datetime.fromtimestamp(NOW, UTC), entry("action 4", "token:b"))


def test_entries_of_many_threads_are_all_there_once(database: Database) -> None:
    log = AuditLog(database)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: log.add(entry(f"action {number}")), range(100)))
    rows = log.rows(1_000)
    assert [row.number for row in rows] == list(range(100, 0, -1))
    assert {row.entry.action for row in rows} == {f"action {number}" for number in range(100)}


def test_every_writer_of_a_shared_commit_gets_its_error(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    log, closed = AuditLog(database), OSError("the disk is full")

    def full(_connection: object) -> int:
        raise closed

    monkeypatch.setattr(audit_log, "database_now", lambda *_: full(None))
    with ThreadPoolExecutor(8) as pool:
        raised = list(pool.map(lambda _: _failure(log), range(50)))
    assert raised == [closed] * 50
    assert log.rows() == []
    monkeypatch.undo()
    log.add(entry())
    assert [row.number for row in log.rows()] == [1]


def _failure(log: AuditLog) -> BaseException | None:
    try:
        log.add(entry())
    except OSError as error:
        return error
    return None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text(st.characters(codec=None), max_size=50), min_size=5, max_size=5))
def test_any_text_is_stored(database: Database, texts: list[str]) -> None:
    log = AuditLog(database)
    log.add(AuditEntry(*texts))
    (row,) = log.rows(1)
    assert len(row.entry.why) == len(texts[4])


def test_a_text_without_end_is_cut(database: Database) -> None:
    log = AuditLog(database)
    log.add(AuditEntry(*["x" * 100_000] * 5))
    (row,) = log.rows(1)
    assert len(row.entry.subject) + len(row.entry.why) + len(row.entry.who) < 10_000


def test_old_entries_end_and_numbers_go_on(database: Database) -> None:
    now = [NOW]
    log = AuditLog(database, clock=lambda: now[0])
    for _ in range(3):
        log.add(entry())
        now[0] += 10
    assert log.trim(datetime.fromtimestamp(NOW + 5, UTC)) == 1
    assert log.trim(datetime.fromtimestamp(NOW + 5, UTC)) == 0
    assert log.trim(datetime.fromtimestamp(NOW + 1_000, UTC)) == 1
    assert [row.number for row in log.rows()] == [3], "the newest one stays, so that no number comes twice"
    log.add(entry())
    assert [row.number for row in log.rows()] == [4, 3]
