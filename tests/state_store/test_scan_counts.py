"""Counts of filters: safe beside other writers, and bounded by age."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tidemark.state_store.scan_counts import KEPT_DAYS, ScanCounts
from tidemark.state_store.schema import SCAN_COUNTS

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

TABLE = "/warehouse/orders"
BY_USER = frozenset({"user_id"})


def test_writers_do_not_lose_each_others_counts(database: Database) -> None:
    counts = ScanCounts(database)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: counts.add({(TABLE, BY_USER): 1, ("/else", frozenset()): 2}), range(50)))
    assert counts.of(TABLE) == {BY_USER: 50}
    assert counts.of("/else") == {frozenset(): 100}
    assert counts.of("/nowhere").total() == 0


def test_old_counts_of_scans_are_deleted(database: Database) -> None:
    counts = ScanCounts(database)
    counts.add({(TABLE, BY_USER): 1})
    with database.writing() as connection:
        connection.execute(SCAN_COUNTS.update().values(day=SCAN_COUNTS.c.day - KEPT_DAYS))
    counts.add({(TABLE, BY_USER): 1})
    assert counts.of(TABLE) == {BY_USER: 2}
    with database.writing() as connection:
        old = (
            SCAN_COUNTS.c.day
            == SCAN_COUNTS.select()
            .with_only_columns(SCAN_COUNTS.c.day)
            .order_by(SCAN_COUNTS.c.day)
            .limit(1)
            .scalar_subquery()
        )
        connection.execute(SCAN_COUNTS.update().where(old).values(day=SCAN_COUNTS.c.day - 1))
    counts.add({("/else", frozenset({"a"})): 1})
    assert counts.of(TABLE) == {BY_USER: 1}
