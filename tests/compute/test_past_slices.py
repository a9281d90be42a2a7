"""Slices at a past instant: exactly the versions that were reported by then, or a clear error."""

from __future__ import annotations

import gc
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import pytest
from deltalake import DeltaTable

from tests.compute.small_warehouse import small_warehouse
from tests.state_store.examples import chain
from tidemark import reader
from tidemark.compute.errors import NothingThereThenError
from tidemark.compute.runtime import Runtime
from tidemark.compute.snapshot_reader import Snapshots
from tidemark.delta.errors import VersionGoneError
from tidemark.delta.replace_partition import replace_partition
from tidemark.delta.retention import Retention
from tidemark.delta.vacuum import plan_vacuum
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.state_store.version_claims import claims_of_readers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.warehouse.warehouse import Warehouse

DAY: Final = datetime(2026, 3, 24, tzinfo=UTC).date()
TOTALS: Final = Slice("totals", str(DAY))
CAPTURED: Final = "kind: Snapshot\nperiod: day\nsource: {table: school.orders, instances: [a]}\nkey: [id]\n"
_FIRST, _AGAIN = "released launched started completed", "backfill_requested released launched started backfilled"


def told(warehouse: Warehouse, slice_: Slice, events: str, version: int) -> datetime:
    """These events are recorded, the last with a version of the table; returns when."""
    store = StateStore.of(warehouse.settings)
    last, current = store.read.last(), store.read.current(slice_)
    facts = Facts(snapshot_id=str(version))
    transitions = chain(slice_, events, last + 1, current.status if current else None, facts)
    store.write.append(transitions, after=last)
    store.close()
    return transitions[-1].record_time


@pytest.mark.spark
def test_a_past_slice_has_the_rows_of_that_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = small_warehouse(tmp_path, {"ods_orders": (CAPTURED, "")})
    path, orders = warehouse.table_path("totals"), Slice("ods_orders", str(DAY))
    instants, vacuumed = [], list[str]()
    for amount, events in ((10, _FIRST), (20, _AGAIN)):
        rows = spark.sql(f"SELECT 'cn' AS region, {amount} AS amount")
        version = replace_partition(rows, path, {"dt": DAY}).version
        vacuumed = vacuumed or [unquote(name) for name in DeltaTable(str(path)).file_uris()]
        instants.append(told(warehouse, TOTALS, events, version))
    spark.range(3).write.format("delta").save(str(warehouse.table_path("ods_orders")))
    captured = told(warehouse, orders, _FIRST, 0)
    spark.range(9).write.format("delta").mode("append").save(str(warehouse.table_path("ods_orders")))
    monkeypatch.setattr(reader, "_snapshots", lambda: Snapshots.of(Runtime(warehouse)))
    for instant, amount in zip(instants, (10, 20), strict=True):
        past = reader.snapshot("totals", str(DAY), as_of=instant)
        assert [tuple(row) for row in past.collect()] == [("cn", amount, DAY)]
    assert reader.snapshot("ods_orders", str(DAY), as_of=captured).count() == 3
    with pytest.raises(NothingThereThenError, match="the slice had no known version"):
        reader.snapshot("totals", str(DAY), as_of=instants[0] - timedelta(hours=1))
    with pytest.raises(ValueError, match="time zone"):
        reader.snapshot("totals", str(DAY), as_of=instants[0].replace(tzinfo=None))
    opened, database = Snapshots.of(Runtime(warehouse)), Database.of(warehouse.settings)
    assert claims_of_readers(database, str(path)) == []
    for _ in range(2):
        opened.read_as_of("totals", str(DAY), instants[0])
    kept = plan_vacuum(path, Retention(1, timedelta(0)), [], database).kept
    assert [(version.version, version.reasons[0][:15]) for version in kept] == [
        (0, "read by process"),
        (1, "the newest"),
    ]
    del opened
    gc.collect()
    assert claims_of_readers(database, str(path)) == []
    for name in vacuumed:
        Path(name.removeprefix("file://")).unlink()
    with pytest.raises(VersionGoneError, match="was vacuumed"):
        reader.snapshot("totals", str(DAY), as_of=instants[0])
    assert reader.snapshot("totals", str(DAY), as_of=instants[1]).count() == 1
