"""PyIceberg reads each slice and tag as delta-rs does, whatever happened to the files in between."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.engines.iceberg.iceberg_rows import iceberg_table, lake_of, rows_of, same_rows, tags, written
from tests.engines.paste import python_text
from tests.engines.small_lake import DAYS, HOURS, MONDAY, NOW, TAG, small_lake
from tests.project import CHECKOUT
from tidemark.catalog.notes import iceberg_troubles
from tidemark.compute.vacuum import vacuum_entity
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.iceberg_metadata import FOLDER, IcebergMetadata
from tidemark.delta.retention import Retention
from tidemark.dependency_model.slice import Slice
from tidemark.engines.engine_text import engine_text
from tidemark.engines.iceberg.iceberg_tables import IcebergTables
from tidemark.engines.iceberg.manifests import ManifestFolder
from tidemark.engines.iceberg.unused_files import delete_unused
from tidemark.engines.slice_location import slice_location, tag_location
from tidemark.engines.table_uri import table_uri
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from tidemark.compute.runtime import Runtime

TUESDAY: Final = MONDAY + timedelta(days=1)
_FURTHER_POINTS: Final = ("manifest", "listing", "written", "hinted")
_KEPT: Final = """
import sys
from pathlib import Path
from tests.engines.iceberg.test_iceberg_tables import runtime_at
from tidemark.engines.iceberg.iceberg_tables import IcebergTables
from tidemark.engines.iceberg.manifests import ManifestFolder
from tidemark.engines.table_uri import table_uri
from tidemark.engines.iceberg.unused_files import delete_unused
runtime = runtime_at(Path(sys.argv[1]))
IcebergTables(runtime.warehouse, runtime.database).write("daily")
"""


def day_rows(day: date, first: int, region: str | None = "eu", count: int = 3) -> pa.Table:
    ids = pa.array(range(first, first + count), pa.int64())
    columns = {"id": ids, "dt": pa.array([day] * count), "region": pa.array([region] * count, pa.string())}
    return pa.table(columns)


class Daily:
    """A table `daily` of days, written as runs write it, with the state that they leave."""

    def __init__(self, folder: Path) -> None:
        self.runtime = lake_of(folder, {"daily": "period: day\n"})
        self.path = self.runtime.warehouse.table_path("daily")
        self._told = 0

    def run(self, day: date, rows: pa.Table) -> int:
        """One commit that makes `rows` the slice, and the transition that says so."""
        version = self.overwrite(day, rows)
        self.tell(day, version)
        return version

    def overwrite(self, day: date, rows: pa.Table) -> int:
        there = DeltaTable.is_deltatable(str(self.path))
        where = f"dt = '{day}'" if there else None
        write_deltalake(str(self.path), rows, mode="overwrite", predicate=where, partition_by=["dt"])
        return DeltaTable(str(self.path)).version()

    def tell(self, day: date, version: int) -> None:
        store = StateStore.of(self.runtime.warehouse.settings)
        told = store.read.last()
        complete_after(store, Slice("daily", str(day)), version, told)
        store.close()

    def ids(self, tag: str) -> list[int]:
        return sorted(row["id"] for row in rows_of(self.runtime, "daily", tag))

    def vacuum(self) -> None:
        registry = SnapshotRegistry(self.runtime.database)
        vacuum_entity(self.runtime.warehouse, registry, "daily", Retention(1, timedelta(0)))


def complete_after(store: StateStore, slice_: Slice, version: int, seq: int) -> None:
    from tidemark.dependency_model.entity.dependency import COMPLETED
    from tidemark.dependency_model.status import Event, RunState, SliceStatus
    from tidemark.state_store.transition import Facts, Transition

    done = SliceStatus(RunState.COMPLETED, frozenset({COMPLETED}), generation=seq + 1)
    facts = Facts(snapshot_id=str(version))
    told = Transition(seq + 1, str(seq + 1), slice_, Event.COMPLETED, done, "test", "", NOW, NOW, facts)
    store.write.append([told], after=seq, cursors={})


def runtime_at(folder: Path) -> Runtime:
    from tidemark.compute.runtime import Runtime
    from tidemark.system.settings import Settings
    from tidemark.warehouse.warehouse import load_warehouse

    return Runtime(load_warehouse(Settings.at(folder / "data"), folder / "declared"))


def test_each_slice_and_tag_is_read_as_delta_rs_reads_it(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    assert written(runtime, "clicks") == len(HOURS)
    assert written(runtime, "ods_orders") == len(DAYS) + 1
    for entity, keys in {"clicks": HOURS, "ods_orders": DAYS}.items():
        for key in keys:
            expected = python_text(engine_text("delta", slice_location(runtime, entity, key)).text)
            assert same_rows(rows_of(runtime, entity, key), expected), key
        assert same_rows(rows_of(runtime, entity), read_rows(runtime.warehouse.table_path(entity)))
    tagged = python_text(engine_text("delta", tag_location(runtime, "ods_orders", TAG)).text)
    assert same_rows(rows_of(runtime, "ods_orders", TAG), tagged)


def test_a_snapshot_names_the_version_and_the_generation(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    written(runtime, "clicks")
    snapshot = iceberg_table(runtime, "clicks").snapshot_by_name(HOURS[1])
    assert snapshot is not None
    assert snapshot.summary is not None
    told = snapshot.summary.additional_properties
    assert (told["tidemark.version"], told["tidemark.generation"], told["tidemark.name"]) == ("1", "1", HOURS[1])


def test_nothing_is_written_without_a_change(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    written(runtime, "clicks")
    folder = IcebergMetadata.of(runtime.warehouse.settings.warehouse, "clicks").location
    assert isinstance(folder, Path)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    written(runtime, "clicks")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_restated_slice_is_replaced_once_its_run_is_known(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    written(daily.runtime, "daily")
    version = daily.overwrite(MONDAY, day_rows(MONDAY, 10))
    written(daily.runtime, "daily")
    assert daily.ids(str(MONDAY)) == [0, 1, 2]
    assert daily.ids("main") == [10, 11, 12]
    daily.vacuum()
    assert daily.ids(str(MONDAY)) == [0, 1, 2]
    daily.tell(MONDAY, version)
    written(daily.runtime, "daily")
    daily.vacuum()
    assert daily.ids(str(MONDAY)) == [10, 11, 12]
    assert len(list(Path(str(daily.path)).rglob("*.parquet"))) == 1


def test_a_rewritten_slice_keeps_its_rows_and_frees_its_old_files(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    for first in (10, 20):
        write_deltalake(str(daily.path), day_rows(MONDAY, first), mode="append", partition_by=["dt"])
    daily.tell(MONDAY, 2)
    daily.run(TUESDAY, day_rows(TUESDAY, 30))
    written(daily.runtime, "daily")
    before = daily.ids(str(MONDAY))
    assert len(before) == 9
    DeltaTable(str(daily.path)).optimize.compact()
    daily.vacuum()
    assert daily.ids(str(MONDAY)) == before
    written(daily.runtime, "daily")
    daily.vacuum()
    assert daily.ids(str(MONDAY)) == before
    assert len(list(Path(str(daily.path)).rglob("*.parquet"))) == 2


def test_a_slice_whose_version_is_vacuumed_has_the_rows_of_the_newest(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    daily.overwrite(MONDAY, day_rows(MONDAY, 10))
    table = DeltaTable(str(daily.path))
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    written(daily.runtime, "daily")
    assert daily.ids(str(MONDAY)) == [10, 11, 12]


def test_an_empty_slice_has_a_tag_without_rows(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    daily.tell(TUESDAY, 0)
    assert written(daily.runtime, "daily") == 2
    assert daily.ids(str(TUESDAY)) == []


def test_a_table_without_a_commit_is_no_failure(tmp_path: Path) -> None:
    runtime = lake_of(tmp_path, {"daily": "period: day\n"})
    assert written(runtime, "daily") is None


def test_a_dropped_tag_is_no_tag_any_more(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    written(runtime, "ods_orders")
    registry = SnapshotRegistry(runtime.database)
    registry.drop("ods_orders", "name", TAG)
    written(runtime, "ods_orders")
    assert tags(runtime, "ods_orders") == set(DAYS)


def test_a_table_that_was_made_again_begins_anew(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    written(daily.runtime, "daily")
    before = iceberg_table(daily.runtime, "daily").metadata
    shutil.rmtree(Path(str(daily.path)))
    daily.run(MONDAY, day_rows(MONDAY, 40))
    written(daily.runtime, "daily")
    assert daily.ids(str(MONDAY)) == [40, 41, 42]
    assert iceberg_table(daily.runtime, "daily").metadata.table_uuid != before.table_uuid


def test_old_tags_keep_their_schema(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    written(daily.runtime, "daily")
    more = day_rows(TUESDAY, 10).append_column("note", pa.array(["a", "b", None]))
    write_deltalake(str(daily.path), more, mode="append", schema_mode="merge", partition_by=["dt"])
    daily.tell(TUESDAY, 1)
    written(daily.runtime, "daily")
    assert {*rows_of(daily.runtime, "daily", str(MONDAY))[0]} == {"id", "dt", "region"}
    noted = {row["id"]: row["note"] for row in rows_of(daily.runtime, "daily")}
    assert noted == {**dict.fromkeys((0, 1, 2)), 10: "a", 11: "b", 12: None}


def test_column_mapping_is_refused_noted_and_tried_again(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    write_deltalake(str(daily.path), day_rows(MONDAY, 0), partition_by=["dt"])
    log = Path(str(daily.path)) / "_delta_log" / f"{1:020d}.json"
    metadata = next(line for line in (log.parent / f"{0:020d}.json").read_text().splitlines() if "metaData" in line)
    log.write_text(metadata.replace('"configuration":{}', '"configuration":{"delta.columnMapping.mode":"name"}'))
    daily.tell(MONDAY, 0)
    tables = IcebergTables(daily.runtime.warehouse, daily.runtime.database)
    tables.keep()
    assert "column mapping" in (iceberg_troubles(daily.runtime.database).get("daily") or "")
    log.unlink()
    tables.keep()
    assert iceberg_troubles(daily.runtime.database).all() == {}
    assert daily.ids(str(MONDAY)) == [0, 1, 2]


@pytest.mark.parametrize(
    "point",
    [
        "iceberg.committed",
        *(pytest.param(f"iceberg.{point}", marks=pytest.mark.long) for point in _FURTHER_POINTS),
    ],
)
@pytest.mark.slow
def test_a_process_that_dies_leaves_a_whole_table(tmp_path: Path, point: str) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    written(daily.runtime, "daily")
    daily.run(TUESDAY, day_rows(TUESDAY, 10))
    died = subprocess.run(
        [sys.executable, "-c", _KEPT, str(tmp_path)],
        env={**os.environ, "TIDEMARK_CRASH_AT": point, "PYTHONPATH": str(CHECKOUT)},
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    assert daily.ids(str(MONDAY)) == [0, 1, 2]
    assert written(daily.runtime, "daily") == 2
    assert (daily.ids(str(TUESDAY)), len(daily.ids("main"))) == ([10, 11, 12], 6)


def test_two_writers_commit_one_version_after_the_other(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    written(daily.runtime, "daily")
    metadata = IcebergMetadata.of(daily.runtime.warehouse.settings.warehouse, "daily")
    newest = metadata.newest()
    assert newest is not None
    assert not metadata.put(newest)
    assert metadata.put(newest._replace(number=newest.number + 1))
    daily.run(TUESDAY, day_rows(TUESDAY, 10))
    assert written(daily.runtime, "daily") == 2


def test_old_metadata_is_deleted(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    metadata = IcebergMetadata.of(daily.runtime.warehouse.settings.warehouse, "daily")
    for number in range(30):
        daily.overwrite(MONDAY, day_rows(MONDAY, number))
        written(daily.runtime, "daily")
    newest = metadata.newest()
    assert newest is not None
    assert newest.number == 30
    assert isinstance(metadata.location, Path)
    assert len(list((metadata.location / FOLDER).glob("v*.metadata.json"))) == 20


def test_files_that_no_snapshot_lists_are_deleted(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    for first in (10, 20):
        daily.run(TUESDAY, day_rows(TUESDAY, first))
        written(daily.runtime, "daily")
    metadata = IcebergMetadata.of(daily.runtime.warehouse.settings.warehouse, "daily")
    newest = metadata.newest()
    assert newest is not None
    assert isinstance(metadata.location, Path)
    folder = ManifestFolder(metadata.location, table_uri(metadata.location), {}, NOW)
    before = {*(metadata.location / FOLDER).glob("*.avro")}
    delete_unused(folder, newest.content["snapshots"], NOW - timedelta(days=9_000))
    assert {*(metadata.location / FOLDER).glob("*.avro")} == before
    delete_unused(folder, newest.content["snapshots"], NOW + timedelta(days=9_000))
    assert len({*(metadata.location / FOLDER).glob("*.avro")}) < len(before)
    assert (daily.ids(str(MONDAY)), daily.ids(str(TUESDAY)), len(daily.ids("main"))) == ([0, 1, 2], [20, 21, 22], 6)


def test_months_parts_and_static_tables_have_tags(tmp_path: Path) -> None:
    parts = 'period: day\nsub_partitions: {region: [eu, "c n"]}\n'
    runtime = lake_of(tmp_path, {"monthly": "period: month\n", "parts": parts, "cities": "kind: Static\n"})
    first = date(2026, 3, 1)
    tables = {
        "monthly": (pa.table({"n": [1, 2], "dt": [first, date(2026, 4, 1)]}), ["dt"]),
        "parts": (pa.table({"n": [1, 2], "dt": [MONDAY] * 2, "region": ["eu", "c n"]}), ["dt", "region"]),
        "cities": (pa.table({"n": [1]}), None),
    }
    for name, (rows, columns) in tables.items():
        write_deltalake(str(runtime.warehouse.table_path(name)), rows, partition_by=columns)
    store = StateStore.of(runtime.warehouse.settings)
    slices = [
        Slice("monthly", "2026-03"),
        Slice("parts", str(MONDAY), (("region", "c n"),)),
        Slice("cities", "static"),
    ]
    for seq, slice_ in enumerate(slices):
        complete_after(store, slice_, 0, seq)
    store.close()
    tags_there = {"monthly": ("2026-03", 1), "parts": (f"{MONDAY}/region=c%20n", 2), "cities": ("static", 1)}
    for name, (tag, expected) in tags_there.items():
        assert written(runtime, name) == 1
        assert [row["n"] for row in rows_of(runtime, name, tag)] == [expected]
