"""The capture's own counters against the files of its commits: a lost and a doubled row are seen, wherever they arise.

Commits are written here as the capture writes them: rows, and in the same commit what it counted before it merged.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from tests.center.detectors.test_outside import OutsideWorld
from tidemark.capture.commits.commit_state import CommitState
from tidemark.center.detectors.counted_tables import CountedTables
from tidemark.center.detectors.late_counts import LateCountsDetector
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.dependency_model.status import RunState
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BEGIN = datetime(2024, 6, 2, 22, tzinfo=UTC)
"""Midnight in Paris, by whose clock the column is."""
LOCAL = datetime(2024, 6, 3)  # noqa: DTZ001 - the column has no zone
SPAN = "start: 2024-06-03T00\nend: 2024-06-03T02\ntime_zone: Europe/Paris\n"
SOURCE = "source: {table: shop.orders, instances: [a, b]}\nkey: [id]\n"
BOTH = {"hour@2024-06-03T00", "hour@2024-06-03T01"}
Rows = list[tuple[int, int]]
"""(id, minute)."""


class CapturedShop(OutsideWorld):
    """A captured table of two instances, and the two hours that are complete by its counts."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.table = folder / "orders"
        declared = "completeness: {time_column: at, time_zone: Europe/Paris, capture: true}\n"
        orders = f"kind: Snapshot\nperiod: hour\n{SPAN}{SOURCE}{declared}"
        hour = f"kind: Virtual\nperiod: hour\n{SPAN}probe: {{counts: {{of: orders}}, settle_for: 1m}}\n"
        super().__init__(folder, instance, orders=orders, hour=hour)
        self.counts, self.now, self.batch = RecordCounts(self.store.database), BEGIN + timedelta(hours=3), 0
        entities, secrets = [self.graph.entity("orders")], ConnectionSecrets({})
        self.counting = CountedTables(lambda: entities, lambda _: self.table, self.counts, secrets, lambda: self.now)
        self.late = LateCountsDetector(self.counts, self.center, self.store.read, self.look)

    def commit(self, rows: Rows, brings: dict[int, int], until: dict[str, int]) -> None:
        """One commit: rows in the lake, what the capture counted by minute, and how far each instance is."""
        self.batch += 1
        first = int(LOCAL.replace(tzinfo=UTC).timestamp()) // 60
        state = CommitState(
            batch=self.batch,
            minutes={first + minute: count for minute, count in brings.items()},
            watermarks={name: int((BEGIN.timestamp() + minute * 60) * 1000) for name, minute in until.items()},
        )
        said = CommitProperties(custom_metadata={"userMetadata": state.to_json()})
        data = {"id": [number for number, _ in rows], "at": [LOCAL + timedelta(minutes=at) for _, at in rows]}
        write_deltalake(self.table, pa.table(data), mode="append", commit_properties=said)

    def complete(self) -> set[str]:
        self.counting.count_all()
        assert self.counting.troubles == {}
        self.late.poll()
        self.go_on(5)
        return {text for text in BOTH if self.status(text)[0] is RunState.COMPLETED}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[CapturedShop]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield CapturedShop(tmp_path, instance)


def every_minute(first: int, end: int) -> tuple[Rows, dict[int, int]]:
    return [(minute, minute) for minute in range(first, end)], dict.fromkeys(range(first, end), 1)


def test_an_hour_is_complete_once_every_instance_has_passed_it(shop: CapturedShop) -> None:
    shop.commit(*every_minute(0, 60), {"a": 61, "b": 30})
    assert shop.complete() == set(), "the other instance is at half past"
    shop.commit(*every_minute(60, 90), {"a": 90, "b": 90})
    assert shop.complete() == {"hour@2024-06-03T00"}
    shop.commit(*every_minute(90, 120), {"a": 120, "b": 121})
    assert shop.complete() == BOTH


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(minute, minute) for minute in range(60) if minute != 7], "lost between the counter and the files"),
        ([(minute, minute) for minute in range(60)] + [(7, 7)], "merged twice"),
    ],
)
def test_a_row_that_the_merge_loses_or_doubles_is_seen(shop: CapturedShop, rows: Rows, told: str) -> None:
    _, brings = every_minute(0, 60)
    shop.commit(rows, brings, {"a": 60, "b": 60})
    shop.commit(*every_minute(60, 120), {"a": 120, "b": 120})
    assert shop.complete() == {"hour@2024-06-03T01"}, told


def test_what_anybody_deletes_or_writes_again_opens_the_hour_again(shop: CapturedShop) -> None:
    shop.commit(*every_minute(0, 120), {"a": 120, "b": 120})
    assert shop.complete() == BOTH
    whole = DeltaTable(shop.table).version()
    DeltaTable(shop.table).delete("id = 7")
    assert shop.complete() == {"hour@2024-06-03T01"}
    DeltaTable(shop.table).restore(whole)
    shop.go_on(60)
    assert shop.complete() == BOTH
    write_deltalake(shop.table, pa.table({"id": [99], "at": [LOCAL + timedelta(minutes=99)]}), mode="append")
    assert shop.complete() == {"hour@2024-06-03T00"}, "the same row twice"


@pytest.mark.slow
def test_a_deleted_order_is_missed_by_nobody(shop: CapturedShop) -> None:
    """The source deleted it, and the capture counted that."""
    shop.commit(*every_minute(0, 120), {"a": 120, "b": 120})
    assert shop.complete() == BOTH
    DeltaTable(shop.table).delete("id = 7")
    shop.commit([], {7: -1}, {"a": 121, "b": 121})
    assert shop.complete() == BOTH


def test_a_table_that_is_captured_anew_is_counted_anew(shop: CapturedShop) -> None:
    import shutil

    shop.commit(*every_minute(0, 120), {"a": 120, "b": 120})
    assert shop.complete() == BOTH
    shutil.rmtree(shop.table)
    shop.batch = 0
    shop.commit(*every_minute(0, 50), {"a": 120, "b": 120})
    shop.commit(*every_minute(50, 120), {"a": 120, "b": 120})
    assert shop.complete() == BOTH
    counted = {
        side: sum(row[3] for row in shop.counts.within("orders", 0, 1 << 40) if row[1] == side)
        for side in ("source", "lake")
    }
    assert counted == {"source": 120, "lake": 120}
