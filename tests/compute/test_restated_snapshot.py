"""A restated snapshot wherever it is read: in SQL, in its checks and metadata; what cannot have it says so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tidemark.capture.snapshots.late.late_change_table import late_path
from tidemark.compute.errors import RepairSourceError, SnapshotMissingError
from tidemark.compute.runtime import Runtime
from tidemark.compute.slice_computer import Computer
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.compute.table_version_tags import claims_of_tags, version_of_tag
from tidemark.dagster.metadata.slice import preview_table
from tidemark.delta.clustering.usage_recorder import UsageRecorder
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.retention import Retention
from tidemark.delta.vacuum import plan_vacuum, vacuum
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.scan_counts import ScanCounts
from tidemark.state_store.snapshot_registry import TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CAPTURED = """
kind: Snapshot
period: day
source: {table: school.sales, instances: [a]}
key: [id]
allowed_lateness: 10m
keep_snapshots: 3
late_events: restate
quality: [{unique: [_shard, id]}, {row_count: {min: 1, max: 3}}]
"""
COLUMNS = "_shard STRING, id INT, amount INT, region STRING"
OWN = "_op STRING, _offset BIGINT, _row INT, _batch INT, _event_ms BIGINT, _tagged_ms BIGINT"
DAY = Slice("sales", "2026-03-23")
NOW = datetime(2026, 3, 25, tzinfo=UTC)
SAID = "snapshot('nothing', 'never')"
# Midnight in Paris.
END_MS = int(datetime(2026, 3, 23, 23, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def runtime(tmp_path: Path, spark: SparkSession) -> Runtime:
    """Version 0 is the 23rd, version 1 the newest; two late changes of the 23rd are kept, one belongs to it by name."""
    runtime = Runtime(small_warehouse(tmp_path, {"sales": (CAPTURED, "")}))
    path = runtime.warehouse.table_path("sales")
    for rows in ([("a.s", 1, 10, "cn"), ("a.s", 2, 5, "eu")], [("a.s", 9, 99, "cn")]):
        spark.createDataFrame(rows, COLUMNS).write.format("delta").mode("overwrite").save(str(path))
    late = [
        ("a.s", 2, 7, "eu", "u", 20, 0, 5, END_MS - 1, END_MS),
        ("a.s", 3, 1, "eu", "c", 21, 0, 6, END_MS - 1, END_MS),
    ]
    kept = late_path(runtime.warehouse.settings.warehouse, "sales")
    spark.createDataFrame(late, f"{COLUMNS}, {OWN}").write.format("delta").save(str(kept))
    runtime.registry.tag([TaggedSnapshot("sales", "day", DAY.key, 0, 2, NOW)])
    return runtime


def computer(spark: SparkSession, runtime: Runtime) -> Computer:
    usage = UsageRecorder(ScanCounts(runtime.database))
    return Computer(spark, runtime.warehouse, runtime.registry, usage, runtime.profiles, runtime.results)


def restate(runtime: Runtime, late_batch: int) -> None:
    runtime.registry.restate([("sales", "day", DAY.key)], late_batch)


def test_a_snapshot_that_waits_for_late_events_is_not_read(spark: SparkSession, runtime: Runtime) -> None:
    (captured,) = runtime.warehouse.source_tables()
    assert (captured.restated, captured.lateness) == (frozenset({"sales"}), {"sales": 600_000})
    assert captured.kept == {"sales": 3}
    runtime.registry.forget("sales")
    runtime.registry.tag([TaggedSnapshot("sales", "day", DAY.key, 0, 2, NOW, late_until=END_MS + 60_000)])
    with pytest.raises(SnapshotMissingError, match=r"still waits for late events: .*past 2026-03-23 23:01:00 UTC"):
        computer(spark, runtime).rows_of(Slice("totals", DAY.key))
    runtime.registry.stop_waiting([("sales", "day", DAY.key)])
    assert computer(spark, runtime).rows_of(Slice("totals", DAY.key)).count() > 0


@pytest.mark.long
def test_queries_checks_and_metadata_are_of_the_rows_that_it_has_now(spark: SparkSession, runtime: Runtime) -> None:
    seen = []
    for late_batch in (5, 6):
        restate(runtime, late_batch)
        by_region = computer(spark, runtime).rows_of(Slice("totals", DAY.key)).collect()
        (told,) = computer(spark, runtime).snapshots([DAY])
        assert all(check.passed for check in told.audit.checks)
        seen.append(
            (
                {row["region"]: row["amount"] for row in by_region},
                told.metrics.rows,
                "| 7 |" in preview_table(told.sample),
            )
        )
    assert seen == [
        ({"cn": 10, "eu": 7}, 2, True),
        ({"cn": 10, "eu": 8}, 3, True),
    ]


@pytest.mark.long
def test_vacuum_keeps_its_version_and_a_repair_from_its_name_is_refused(runtime: Runtime) -> None:
    assert version_of_tag(runtime.warehouse, runtime.registry, "sales", DAY.key) == 0
    restate(runtime, 5)
    path, settings = runtime.warehouse.table_path("sales"), runtime.warehouse.settings
    claims = claims_of_tags(runtime.warehouse, runtime.registry, "sales")
    keep_least, later, database = Retention(versions=1), datetime(2099, 1, 1, tzinfo=UTC), Database.of(settings)
    assert 0 not in {kept.version for kept in plan_vacuum(path, keep_least, [], database, later).kept}
    vacuum(path, keep_least, claims, database, later)
    assert sorted(read_rows(path, 0)["id"].to_pylist()) == [1, 2]
    with pytest.raises(RepairSourceError, match="restated: it is not a single version any more"):
        version_of_tag(runtime.warehouse, runtime.registry, "sales", DAY.key)


def test_readers_in_python_and_sql_get_it(spark: SparkSession, runtime: Runtime) -> None:
    restate(runtime, 6)
    snapshots = Snapshots(spark, runtime)
    rows = snapshots.read("sales", DAY.key).collect()
    assert sorted((row["id"], row["amount"], str(row["dt"])) for row in rows) == [
        (1, 10, DAY.key),
        (2, 7, DAY.key),
        (3, 1, DAY.key),
    ]
    text = """-- of snapshot('nothing', 'never')
        SELECT t.id, "snapshot('nothing', 'never')" AS said FROM snapshot('sales', '2026-03-23') AS t
        JOIN Snapshot ( 'sales' , '2026-03-23' ) USING (id) WHERE t.region = 'eu' ORDER BY id"""
    assert [tuple(row) for row in snapshots.sql(text).collect()] == [(2, SAID), (3, SAID)]
    with pytest.raises(SnapshotMissingError, match="2026-03-24"):
        snapshots.sql("SELECT * FROM snapshot('sales', '2026-03-24')")
